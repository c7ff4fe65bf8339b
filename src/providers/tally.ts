// Calls of the last seconds and how many of them were marked (failed, or repeated), in a ring of slots. Counting is
// constant work and allocates nothing.

/** Old calls are forgotten a tenth of the window at a time. */
const SLOTS = 10;

export class Tally {
  readonly #slotMs: number;
  readonly #calls = new Uint32Array(SLOTS);
  readonly #marks = new Uint32Array(SLOTS);
  #newest = 0;
  #callsInAll = 0;
  #marksInAll = 0;

  constructor(windowMs: number) {
    this.#slotMs = windowMs / SLOTS;
  }

  add(nowMs: number, isMarked: boolean): void {
    const place = this.#turnTo(nowMs) % SLOTS;
    this.#calls[place] = (this.#calls[place] as number) + 1;
    this.#callsInAll += 1;
    if (!isMarked) return;
    this.#marks[place] = (this.#marks[place] as number) + 1;
    this.#marksInAll += 1;
  }

  calls(nowMs: number): number {
    this.#turnTo(nowMs);
    return this.#callsInAll;
  }

  marks(nowMs: number): number {
    this.#turnTo(nowMs);
    return this.#marksInAll;
  }

  clear(): void {
    this.#calls.fill(0);
    this.#marks.fill(0);
    this.#callsInAll = 0;
    this.#marksInAll = 0;
  }

  /** Forgets the slots that time has passed; a clock that goes back stays in the newest. */
  #turnTo(nowMs: number): number {
    const slot = Math.floor(nowMs / this.#slotMs);
    const passed = Math.min(slot - this.#newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const place = (slot - passed + step) % SLOTS;
      this.#callsInAll -= this.#calls[place] as number;
      this.#marksInAll -= this.#marks[place] as number;
      this.#calls[place] = 0;
      this.#marks[place] = 0;
    }
    if (passed > 0) this.#newest = slot;
    return this.#newest;
  }
}

// How many retries a provider gets: a share of its calls, and a few more, so that a failing provider is not called
// twice as often because it fails.

/** Retries are counted over this time. Behaviour 5. */
const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 20;

/** One for each provider. */
export class RetryBudget {
  readonly #now: () => number;
  readonly #calls = new Tally(WINDOW_MS);
  readonly #retries = new Tally(WINDOW_MS);

  constructor(now: () => number) {
    this.#now = now;
  }

  noteCall(): void {
    this.#calls.add(this.#now(), false);
  }

  /** Whether one more is allowed; it is then counted. */
  take(): boolean {
    const nowMs = this.#now();
    if (this.#retries.calls(nowMs) >= FLOOR + SHARE * this.#calls.calls(nowMs)) return false;
    this.#retries.add(nowMs, true);
    return true;
  }
}
