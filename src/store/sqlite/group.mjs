// Chooses the waiting calls that are committed together. Plain JavaScript for the same reason as worker.mjs.

const GROUP_MAX = 512;
/** Background rows in one group beside the ledger's rows. */
export const BACKGROUND_ROWS_MAX = 256;

/** Takes all calls with a waiting caller, and a few others. Returns no call if the first one must run alone. */
export function splitGroup(queue, backgroundRowsMax) {
  const group = [];
  const left = [];
  let rows = 0;
  let size = 0;
  for (; size < queue.length && size < GROUP_MAX && queue[size].kind === "batch"; size += 1) {
    const message = queue[size];
    const isLater = message.isBackground === true && rows >= backgroundRowsMax;
    if (message.isBackground === true && !isLater) rows += rowsIn(message);
    (isLater ? left : group).push(message);
  }
  return { group, left: [...left, ...queue.slice(size)] };
}

function rowsIn({ statements }) {
  return statements.reduce((sum, { rows, packed }) => sum + (rows?.length ?? packed?.count ?? 1), 0);
}

/** Shortest time between two commits of records, because many records change the same pages. */
const COLLECT_MS = 200;

/** Delays background calls to collect more of them, and then calls `work`. */
export function createCollector(work) {
  let beganAtMs = 0;
  let timer = null;
  const isBackground = (message) => message.isBackground === true;
  return {
    mayWait(queue) {
      const waitMs = beganAtMs + COLLECT_MS - performance.now();
      if (waitMs <= 0 || !queue.every(isBackground)) return false;
      timer ??= setTimeout(() => {
        timer = null;
        work();
      }, waitMs);
      return true;
    },
    /** These are committed. */
    began(writes) {
      if (writes.some(isBackground)) beganAtMs = performance.now();
    },
    close: () => clearTimeout(timer),
  };
}
