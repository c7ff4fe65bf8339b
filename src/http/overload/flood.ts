// Flood detection. A burst is finite and its queue drains; a flood keeps arriving and its queue does not.
// A detected flood lasts until no request was rejected for some seconds.

import { type LoadState, OVERLOAD_POLICY } from "./policy.ts";

const policy = OVERLOAD_POLICY.flood;

export interface FloodDetector {
  /** Counts a request that has to wait. */
  arrived(): void;
  /** Takes a sample of the queue's length. Must be called regularly. */
  sample(length: number, atMs: number): void;
  /** Keeps the overloaded state going. */
  rejected(atMs: number): void;
  state(atMs: number): LoadState;
}

interface LengthSample {
  readonly atMs: number;
  readonly length: number;
}

/** `queueMs` is how long a long queue may go without draining. */
export function createFloodDetector(queueMs: number): FloodDetector {
  let arrivedSinceEmpty = 0;
  /** The samples of the last `queueMs` during which the queue was long. */
  let samples: LengthSample[] = [];
  /** A clock that runs only while the queue is long, and stands still when the process does. */
  let longForMs = 0;
  let sampledAtMs = 0;
  let overloadedUntilMs = 0;

  /** Compares with the longest sample: a queue that clients leave and rejoin is shorter at every other sample. */
  function isStuck(length: number): boolean {
    samples.push({ atMs: longForMs, length });
    while ((samples[1]?.atMs ?? longForMs) <= longForMs - queueMs) samples.shift();
    const longest = Math.max(...samples.map((sample) => sample.length));
    return longForMs - (samples[0] as LengthSample).atMs >= queueMs && length > longest * policy.progressRatio;
  }

  return {
    arrived() {
      arrivedSinceEmpty += 1;
    },
    sample(length, atMs) {
      const passedMs = Math.min(atMs - sampledAtMs, policy.sampleMaxMs);
      sampledAtMs = atMs;
      if (length === 0) arrivedSinceEmpty = 0;
      if (length <= policy.longQueueRequests) {
        longForMs = 0;
        samples = [];
        return;
      }
      longForMs += passedMs;
      if (isStuck(length) && arrivedSinceEmpty > policy.burstRequests) overloadedUntilMs = atMs + policy.holdMs;
    },
    rejected(atMs) {
      overloadedUntilMs = atMs + policy.holdMs;
    },
    state: (atMs) => (atMs < overloadedUntilMs ? "overloaded" : "normal"),
  };
}
