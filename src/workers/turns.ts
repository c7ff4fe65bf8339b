// When a worker gets the next connection. Clients keep their connections, so one that gets many serves many for good. Of
// those that come at once, Node gives each to whichever worker is free first: some got three times as many as others
// (18 November 2026). Here a worker that is ahead waits for the others, and at the start for those that do not listen yet.

export interface TakingWorker {
  /** How many connections it got, compared with the others. */
  given: number;
}

export interface Turns {
  /** The worker is being started. Before `begin`, it is one that all wait for. */
  expect(worker: TakingWorker): void;
  /** The gateway can be stopped now, so connections may be answered. The other workers have been started. */
  begin(): void;
  /** Calls `give` when it is the worker's turn. */
  wait(worker: TakingWorker, give: () => void): void;
  /** To be called when a worker may have taken a connection. */
  look(): void;
  /** The worker takes connections from now on. */
  noteJoined(worker: TakingWorker): void;
  noteEnded(worker: TakingWorker): void;
  /** Nobody waits for the start of workers any more. */
  open(): void;
}

/** How long connections wait for workers that start. */
const STARTING_MS_MAX = 10_000;
/** So many do not wait for them, as somebody may wait for the first answer. */
const EARLY_MAX = 4;
/** So many connections more than another one, and a worker waits. */
const AHEAD_MAX = 4;
/** How long it waits. One that takes nothing for so long is busy or stuck, and owed nothing later. */
const LATE_MS_MAX = 20;

interface Waiting {
  readonly worker: TakingWorker;
  readonly give: () => void;
}

export function createTurns(joined: () => readonly TakingWorker[]): Turns {
  let waiting: Waiting[] = [];
  let hasBegun = false;
  /** Those of the start that neither listen nor have failed yet. */
  const starting = new Set<TakingWorker>();
  let early = 0;
  let start: NodeJS.Timeout | undefined;
  let late: NodeJS.Timeout | undefined;

  function look(): void {
    if (!hasBegun) return;
    clearTimeout(late);
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      if (starting.size > 0) early += 1;
      next.worker.given += 1;
      next.give();
    }
    if (waiting.length > 0 && starting.size === 0) late = setTimeout(level, LATE_MS_MAX).unref();
  }

  function takeNext(): Waiting | undefined {
    const least = Math.min(...joined().map(({ given }) => given));
    const isDue = ({ worker }: Waiting): boolean =>
      starting.size > 0 ? early < EARLY_MAX : worker.given < least + AHEAD_MAX;
    const next = waiting.find(isDue);
    if (next !== undefined) waiting = waiting.filter((each) => each !== next);
    return next;
  }

  /** Also for a worker that joins after the start: it gets as many as the others from now on. */
  function level(): void {
    const most = Math.max(0, ...joined().map(({ given }) => given));
    for (const worker of joined()) worker.given = most;
    look();
  }

  function open(): void {
    clearTimeout(start);
    hasBegun = true;
    starting.clear();
    look();
  }

  return {
    expect(worker) {
      if (!hasBegun) starting.add(worker);
    },
    begin() {
      hasBegun = true;
      start = setTimeout(open, STARTING_MS_MAX).unref();
      look();
    },
    wait(worker, give) {
      waiting.push({ worker, give });
      look();
    },
    look,
    noteJoined(worker) {
      if (starting.delete(worker)) look();
      else level();
    },
    noteEnded(worker) {
      starting.delete(worker);
      look();
    },
    open,
  };
}
