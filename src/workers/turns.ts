// When a worker gets the next connection. Clients keep their connections, so one that gets many serves many for good. Of
// those that come at once, Node gives each to whichever worker is free first: some got three times as many as others
// (18 November 2026). Here a worker that is ahead waits for the others, and at the start for those that do not listen yet.

export interface TakingWorker {
  /** How many connections it got, compared with the others. */
  given: number;
}

export interface Turns {
  /** Calls `give` when it is the worker's turn. */
  wait(worker: TakingWorker, give: () => void): void;
  /** To be called when a worker may have taken a connection. */
  look(): void;
  /** A worker takes connections from now on. */
  noteJoined(): void;
  /** A worker has ended. */
  noteEnded(): void;
  /** Nobody waits for the start of workers any more. */
  open(): void;
}

/** How long connections wait for workers that start. */
const STARTING_MS_MAX = 10_000;
/** So many connections more than another one, and a worker waits. At the start, the first worker gets as many. */
const AHEAD_MAX = 4;
/** How long it waits. One that takes nothing for so long is busy or stuck, and owed nothing later. */
const LATE_MS_MAX = 20;

/** For so many workers. */
export function createTurns(count: number, joined: () => readonly TakingWorker[]): Turns {
  let waiting: { readonly worker: TakingWorker; readonly give: () => void }[] = [];
  /** Workers that neither listen nor have failed yet: they have got nothing. */
  let starting = count;
  let start: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;

  function look(): void {
    clearTimeout(late);
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      next.worker.given += 1;
      next.give();
    }
    if (waiting.length > 0 && starting === 0) late = setTimeout(level, LATE_MS_MAX).unref();
  }

  function takeNext() {
    const least = starting > 0 ? 0 : Math.min(...joined().map(({ given }) => given));
    const next = waiting.find(({ worker }) => worker.given < least + AHEAD_MAX);
    if (next !== undefined) waiting = waiting.filter((each) => each !== next);
    return next;
  }

  /** Also for a worker that joins after the start: it gets as many as the others from now on. */
  function level(): void {
    const most = Math.max(0, ...joined().map(({ given }) => given));
    for (const worker of joined()) worker.given = most;
    look();
  }

  function expectLess(workers: number): void {
    starting = Math.max(0, starting - workers);
    if (starting === 0) clearTimeout(start);
    look();
  }

  const open = (): void => expectLess(count);
  return {
    wait(worker, give) {
      waiting.push({ worker, give });
      look();
    },
    look,
    noteJoined() {
      if (starting === 0) return level();
      start ??= setTimeout(open, STARTING_MS_MAX).unref();
      expectLess(1);
    },
    noteEnded: () => expectLess(1),
    open,
  };
}
