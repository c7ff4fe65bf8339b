// Which of the calls that wait are committed together. Plain JavaScript for the same reason as worker.mjs.

const GROUP_MAX = 512;
/** Rows of one group that nobody waits for, beside the ledger's. */
export const BACKGROUND_ROWS_MAX = 256;

/** All that somebody waits for, and of the rest as much as delays them little. Empty where the first stands alone. */
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
  return statements.reduce((sum, { rows }) => sum + (rows?.length ?? 1), 0);
}
