// How many second tries a provider gets: a share of its calls, and a few more, so that a failing provider is not called
// twice as often because it fails.

import { Tally } from "./tally.ts";

const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 20;

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
