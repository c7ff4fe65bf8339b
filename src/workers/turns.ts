// When a worker gets the next connection. Clients keep their connections, so one that gets many serves many for good. Of
// those that come at once, Node gives each to whichever worker is free first: some got three times as many as others
// (18 November 2026). Here a worker that is ahead waits for the others, and at the start for those that do not listen yet.

export interface TakingWorker {
  /** How many connections it got, compared with the others. */
  given: number;
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

export class Turns {
  readonly #joined: () => readonly TakingWorker[];
  #waiting: Waiting[] = [];
  #hasBegun = false;
  /** Those of the start that neither listen nor have failed yet. */
  readonly #starting = new Set<TakingWorker>();
  /** How many connections did not wait for them. */
  #early = 0;
  #start: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;

  /** `joined` lists the workers that take connections. */
  constructor(joined: () => readonly TakingWorker[]) {
    this.#joined = joined;
  }

  /** The worker is being started. Before `begin`, it is one that all wait for. */
  expect(worker: TakingWorker): void {
    if (!this.#hasBegun) this.#starting.add(worker);
  }

  /** The gateway can be stopped now, so connections may be answered. The other workers have been started. */
  begin(): void {
    this.#hasBegun = true;
    this.#start = setTimeout(() => this.open(), STARTING_MS_MAX).unref();
    this.look();
  }

  /** Nobody waits for the start of workers any more. */
  open(): void {
    clearTimeout(this.#start);
    this.#hasBegun = true;
    this.#starting.clear();
    this.look();
  }

  /** The worker takes connections from now on. */
  noteJoined(worker: TakingWorker): void {
    if (this.#starting.delete(worker)) this.look();
    else this.#level();
  }

  noteEnded(worker: TakingWorker): void {
    this.#starting.delete(worker);
    this.look();
  }

  /** Calls `give` when it is the worker's turn. */
  wait(worker: TakingWorker, give: () => void): void {
    this.#waiting.push({ worker, give });
    this.look();
  }

  /** To be called when a worker may have taken a connection. */
  look(): void {
    if (!this.#hasBegun) return;
    clearTimeout(this.#late);
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      if (this.#starting.size > 0) this.#early += 1;
      next.worker.given += 1;
      next.give();
    }
    if (this.#waiting.length > 0 && this.#starting.size === 0)
      this.#late = setTimeout(() => this.#level(), LATE_MS_MAX).unref();
  }

  #takeNext(): Waiting | undefined {
    const least = Math.min(...this.#joined().map(({ given }) => given));
    const isDue = ({ worker }: Waiting): boolean =>
      this.#starting.size > 0 ? this.#early < EARLY_MAX : worker.given < least + AHEAD_MAX;
    const next = this.#waiting.find(isDue);
    if (next !== undefined) this.#waiting = this.#waiting.filter((each) => each !== next);
    return next;
  }

  /** Also for a worker that joins after the start: it gets as many as the others from now on. */
  #level(): void {
    const most = Math.max(0, ...this.#joined().map(({ given }) => given));
    for (const worker of this.#joined()) worker.given = most;
    this.look();
  }
}
