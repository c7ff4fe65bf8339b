// When a worker gets the next connection. Clients keep their connections, so one that gets many serves many for good. Of
// those that come at once, Node gives each to whichever worker is free first: some got three times as many as others
// (18 November 2026). Here a worker that is ahead waits for the others. At the start, all wait until all workers listen.

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

/** How long connections wait for the other workers at the start. */
const STARTING_MS_MAX = 10_000;
/** So many connections more than another one, and a worker waits. */
const AHEAD_MAX = 4;
/** How long it waits. One that takes nothing for so long is busy or stuck, and owed nothing later. */
const LATE_MS_MAX = 20;

/** For so many workers. */
export function createTurns(count: number, joined: () => readonly TakingWorker[]): Turns {
  let waiting: { readonly worker: TakingWorker; readonly give: () => void }[] = [];
  let isOpen = false;
  /** Workers that neither listen nor have failed yet. */
  let starting = count;
  let start: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;

  function look(): void {
    if (!isOpen) return;
    clearTimeout(late);
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      next.worker.given += 1;
      next.give();
    }
    if (waiting.length > 0) late = setTimeout(level, LATE_MS_MAX).unref();
  }

  function takeNext() {
    const least = Math.min(...joined().map(({ given }) => given));
    const next = waiting.find(({ worker }) => worker.given < least + AHEAD_MAX);
    if (next !== undefined) waiting = waiting.filter((each) => each !== next);
    return next;
  }

  /** Also for a worker that joins: it gets as many as the others from now on. */
  function level(): void {
    const most = Math.max(0, ...joined().map(({ given }) => given));
    for (const worker of joined()) worker.given = most;
    look();
  }

  function open(): void {
    clearTimeout(start);
    isOpen = true;
    look();
  }

  function noteStart(): void {
    starting -= 1;
    if (starting === 0) open();
    else look();
  }

  return {
    wait(worker, give) {
      waiting.push({ worker, give });
      look();
    },
    look,
    noteJoined() {
      start ??= setTimeout(open, STARTING_MS_MAX).unref();
      level();
      noteStart();
    },
    noteEnded: noteStart,
    open,
  };
}
