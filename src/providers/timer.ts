// The timeouts of one attempt: first byte, silence between bytes, and the whole. (Connecting is timed by the pool.)
// Three timers at most, re-armed rather than recreated.

import type { Timeouts } from "../core/model.ts";

const RELEASE_MS = 1_000;

export class AttemptTimeout extends Error {
  constructor(what: string, ms: number) {
    super(`${what} within ${ms} ms`);
    this.name = "AttemptTimeout";
  }
}

export class AttemptTimer {
  readonly #timeouts: Timeouts;
  readonly #onTimeout: (error: AttemptTimeout) => void;
  readonly #isStream: boolean;
  #total: NodeJS.Timeout;
  #first: NodeJS.Timeout | null;
  #idle: NodeJS.Timeout | null = null;

  /** `beginsWithinMs`: what is left for the first byte after earlier attempts. */
  constructor(
    timeouts: Timeouts,
    { isStream, beginsWithinMs = timeouts.firstByteMs }: { isStream: boolean; beginsWithinMs?: number },
    onTimeout: (error: AttemptTimeout) => void,
  ) {
    this.#timeouts = timeouts;
    this.#onTimeout = onTimeout;
    this.#isStream = isStream;
    const firstByteMs = Math.max(1, Math.min(timeouts.firstByteMs, beginsWithinMs));
    this.#total = this.#arm("the provider did not finish", timeouts.totalMs);
    // A plain answer comes whole at the end, so the default first-byte time would cut off long ones.
    const countsFirstByte = isStream || timeouts.isFirstByteConfigured;
    this.#first = countsFirstByte ? this.#arm("the provider sent no answer", firstByteMs) : null;
  }

  headersSeen(): void {
    if (!this.#isStream) this.#endFirst();
    this.suspend();
    this.#idle = this.#arm("the provider sent nothing more", this.#timeouts.idleMs);
  }

  bytesSeen(): void {
    this.#idle?.refresh();
  }

  /** In a stream, headers and comments alone do not end the wait for the first byte; an event does. */
  eventSeen(): void {
    this.#endFirst();
  }

  suspend(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }

  /** Nothing more is wanted of the provider; it gets a moment to end by itself. */
  release(): void {
    this.stop();
    this.#total = this.#arm("the provider did not end its answer", RELEASE_MS);
  }

  stop(): void {
    this.#endFirst();
    this.suspend();
    clearTimeout(this.#total);
  }

  #endFirst(): void {
    if (this.#first !== null) clearTimeout(this.#first);
    this.#first = null;
  }

  #arm(what: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#onTimeout(new AttemptTimeout(what, ms)), ms);
  }
}
