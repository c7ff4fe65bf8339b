// Decides when a worker gets its next connection. Clients keep connections open, so a worker with many connections stays
// busy. Node gives a connection to the first free worker, and some workers got three times as many as others (18 November
// 2026). So a worker that is ahead waits for the others, at the start also for those that do not listen yet.

export interface TakingWorker {
  /** Connections that the worker got, relative to the others. */
  handed: number;
}

/** Decides when connections are handed over, and to which worker. */
export interface Distribution<T> {
  /** Notes a starting worker. */
  expect(worker: T): void;
  /** Hands out connections from now on: the gateway can be stopped, and all workers were started. */
  begin(): void;
  /** Ends the waiting for starting workers. */
  open(): void;
  /** Tells that the worker takes connections from now on. */
  noteJoined(worker: T): void;
  noteEnded(worker: T): void;
  /** Calls `hand` with a worker when the connection is due. Node chose `worker` for it. */
  wait(worker: T, hand: (target: T) => void): void;
  /** Hands out every connection that is due. Call this when that may have changed. */
  handOut(): void;
}

/** Time that connections wait for workers that start. */
const STARTING_MS_MAX = 10_000;
/** Connections that do not wait, so that the first answer comes soon. */
const EARLY_MAX = 4;
/** Lead over another worker at which a worker has to wait. */
const AHEAD_MAX = 4;
/** Longest wait for the others. Workers that accept nothing for 20 ms are treated as busy; they get no catch-up share. */
const LATE_MS_MAX = 20;

interface Waiting<T> {
  readonly worker: T;
  readonly hand: (target: T) => void;
}

export class Turns<T extends TakingWorker> implements Distribution<T> {
  readonly #joined: () => readonly T[];
  #waiting: Waiting<T>[] = [];
  #hasBegun = false;
  /** Starting workers that neither listen nor have failed yet. */
  readonly #starting = new Set<T>();
  /** Connections that did not wait for starting workers. */
  #early = 0;
  #startTimer: NodeJS.Timeout | undefined;
  #lateTimer: NodeJS.Timeout | undefined;

  /** `joined` lists the workers that take connections. */
  constructor(joined: () => readonly T[]) {
    this.#joined = joined;
  }

  /** Before `begin`, connections wait for this worker too. */
  expect(worker: T): void {
    if (!this.#hasBegun) this.#starting.add(worker);
  }

  begin(): void {
    this.#hasBegun = true;
    this.#startTimer = setTimeout(() => this.open(), STARTING_MS_MAX).unref();
    this.handOut();
  }

  open(): void {
    clearTimeout(this.#startTimer);
    this.#hasBegun = true;
    this.#starting.clear();
    this.handOut();
  }

  noteJoined(worker: T): void {
    if (this.#starting.delete(worker)) this.handOut();
    else this.#level();
  }

  noteEnded(worker: T): void {
    this.#starting.delete(worker);
    this.handOut();
  }

  /** Waits until it is the worker's turn. */
  wait(worker: T, hand: (target: T) => void): void {
    this.#waiting.push({ worker, hand });
    this.handOut();
  }

  handOut(): void {
    if (!this.#hasBegun) return;
    clearTimeout(this.#lateTimer);
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      if (this.#starting.size > 0) this.#early += 1;
      next.worker.handed += 1;
      next.hand(next.worker);
    }
    if (this.#waiting.length > 0 && this.#starting.size === 0)
      this.#lateTimer = setTimeout(() => this.#level(), LATE_MS_MAX).unref();
  }

  #takeNext(): Waiting<T> | undefined {
    const least = Math.min(...this.#joined().map(({ handed }) => handed));
    const isDue = ({ worker }: Waiting<T>): boolean =>
      this.#starting.size > 0 ? this.#early < EARLY_MAX : worker.handed < least + AHEAD_MAX;
    const next = this.#waiting.find(isDue);
    if (next !== undefined) this.#waiting = this.#waiting.filter((each) => each !== next);
    return next;
  }

  /** Makes all counts equal, so that a worker that joined late gets only its share of new connections. */
  #level(): void {
    const most = Math.max(0, ...this.#joined().map(({ handed }) => handed));
    for (const worker of this.#joined()) worker.handed = most;
    this.handOut();
  }
}
