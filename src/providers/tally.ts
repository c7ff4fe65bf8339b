// Counts of the last seconds, in a ring of slots. Counting is constant work and allocates
// nothing.

/** Old counts are forgotten a tenth of the window at a time. */
const SLOTS = 10;

export class Tally {
  readonly #slotMs: number;
  readonly #counts = new Uint32Array(SLOTS);
  #newest = 0;
  #sum = 0;

  constructor(windowMs: number) {
    this.#slotMs = windowMs / SLOTS;
  }

  add(nowMs: number): void {
    const place = this.#turnTo(nowMs) % SLOTS;
    this.#counts[place] = (this.#counts[place] as number) + 1;
    this.#sum += 1;
  }

  count(nowMs: number): number {
    this.#turnTo(nowMs);
    return this.#sum;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  /** Forgets the slots that time has passed; a clock that goes back stays in the newest. */
  #turnTo(nowMs: number): number {
    const slot = Math.floor(nowMs / this.#slotMs);
    const passed = Math.min(slot - this.#newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const place = (slot - passed + step) % SLOTS;
      this.#sum -= this.#counts[place] as number;
      this.#counts[place] = 0;
    }
    if (passed > 0) this.#newest = slot;
    return this.#newest;
  }
}

// Retry budget of a provider: a share of its calls, and a few more, so that a failing provider is not called
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
    this.#calls.add(this.#now());
  }

  /** True if one more is allowed, which is then counted. */
  take(): boolean {
    const nowMs = this.#now();
    if (this.#retries.count(nowMs) >= FLOOR + SHARE * this.#calls.count(nowMs)) return false;
    this.#retries.add(nowMs);
    return true;
  }
}
