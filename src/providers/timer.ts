// The timeouts of one attempt: first byte, silence between bytes, and the whole. (Connecting is timed by the pool.)
// One timer serves all three: it fires when the earliest of them could be due, looks which is, and is set again.

import type { Timeouts } from "../core/model.ts";

/** A body that ends within this time leaves its connection for the next call. */
const RELEASE_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;
/** Timers may fire so much early. */
const EARLY_MS = 1;

export class AttemptTimeout extends Error {
  constructor(what: string, ms: number) {
    super(`${what} within ${ms} ms`);
  }
}

export class AttemptTimer {
  readonly #timeouts: Timeouts;
  readonly #onTimeout: (error: AttemptTimeout) => void;
  readonly #isStream: boolean;
  readonly #firstByteMs: number;
  readonly #startedAtMs = performance.now();
  #isBegun: boolean;
  /** From when on silence counts; NEVER while nothing is expected. */
  #silentSinceMs = NEVER;
  /** From when on nothing more was wanted. */
  #releasedAtMs = NEVER;
  #timer: NodeJS.Timeout;

  /** `beginsWithinMs`: what is left for the first byte after earlier attempts. */
  constructor(
    timeouts: Timeouts,
    { isStream, beginsWithinMs = timeouts.firstByteMs }: { isStream: boolean; beginsWithinMs?: number },
    onTimeout: (error: AttemptTimeout) => void,
  ) {
    this.#timeouts = timeouts;
    this.#onTimeout = onTimeout;
    this.#isStream = isStream;
    this.#firstByteMs = Math.max(1, Math.min(timeouts.firstByteMs, beginsWithinMs));
    // A plain answer comes whole at the end, so the default first-byte time would cut off long ones.
    this.#isBegun = !isStream && !timeouts.isFirstByteConfigured;
    this.#timer = setTimeout(() => this.#look(), this.#nextLookMs(this.#startedAtMs));
  }

  headersSeen(): void {
    if (!this.#isStream) this.#isBegun = true;
    this.resume();
  }

  bytesSeen(): void {
    if (this.#silentSinceMs !== NEVER) this.#silentSinceMs = performance.now();
  }

  /** In a stream, headers and comments alone do not end the wait for the first byte; an event does. */
  eventSeen(): void {
    this.#isBegun = true;
  }

  suspend(): void {
    this.#silentSinceMs = NEVER;
  }

  /** Silence counts again, from now on. */
  resume(): void {
    this.#silentSinceMs = performance.now();
  }

  /** Nothing more is wanted of the provider; it gets a moment to end by itself. */
  release(): void {
    this.stop();
    this.#isBegun = true;
    this.suspend();
    this.#releasedAtMs = performance.now();
    this.#timer = setTimeout(() => this.#look(), RELEASE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const nowMs = performance.now();
    const due = this.#due(nowMs + EARLY_MS);
    if (due === null) this.#timer = setTimeout(() => this.#look(), this.#nextLookMs(nowMs));
    else this.#onTimeout(due);
  }

  #due(nowMs: number): AttemptTimeout | null {
    const { totalMs, idleMs } = this.#timeouts;
    const isOver = (sinceMs: number, ms: number): boolean => nowMs - sinceMs >= ms;
    if (isOver(this.#releasedAtMs, RELEASE_MS)) {
      return new AttemptTimeout("the provider did not end its answer", RELEASE_MS);
    }
    if (!this.#isBegun && isOver(this.#startedAtMs, this.#firstByteMs)) {
      return new AttemptTimeout("the provider sent no answer", this.#firstByteMs);
    }
    if (isOver(this.#silentSinceMs, idleMs)) return new AttemptTimeout("the provider sent nothing more", idleMs);
    return isOver(this.#startedAtMs, totalMs) ? new AttemptTimeout("the provider did not finish", totalMs) : null;
  }

  /** Silence that has not begun could begin at once. */
  #nextLookMs(nowMs: number): number {
    const { totalMs, idleMs } = this.#timeouts;
    const silentSinceMs = Math.min(this.#silentSinceMs, nowMs);
    const firstByMs = this.#isBegun ? NEVER : this.#startedAtMs + this.#firstByteMs;
    return Math.min(this.#startedAtMs + totalMs, silentSinceMs + idleMs, firstByMs) - nowMs;
  }
}
