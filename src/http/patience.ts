// Tells a flood from a burst: a line that is long and grows shorter is a burst and is worked off, one that stays long is
// a flood. Once there is one, it takes some seconds without a refusal until there is none.

export interface Patience {
  /** To be called regularly with the length of the line. */
  look(length: number, atMs: number): void;
  /** Whether only as many may wait as will not wait long. */
  isOver(atMs: number): boolean;
  refused(atMs: number): void;
}

/** A line this short is no flood, however slowly it moves. */
export const LONG = 256;
/** A line that has become shorter by a twentieth is getting somewhere. */
const PROGRESS = 0.95;
/** A burst takes at most so many times as long to be worked off as a line may stay as long as it is. */
const BURST_FACTOR = 5;
/** Between two looks the whole process may have stood still; that says nothing about the line. */
const LOOK_MS_MAX = 100;
/** Who was refused comes back after one to three seconds, and finds the line as it was. */
const HELD_MS = 4_000;

export function createPatience(queueMs: number): Patience {
  let lookedAtMs = 0;
  let longMs = 0;
  let stuckMs = 0;
  let longest = 0;
  let heldUntilMs = 0;
  return {
    look(length, atMs) {
      const passedMs = Math.min(atMs - lookedAtMs, LOOK_MS_MAX);
      lookedAtMs = atMs;
      if (length <= LONG) {
        longMs = stuckMs = longest = 0;
        return;
      }
      longMs += passedMs;
      stuckMs += passedMs;
      if (length < longest * PROGRESS) {
        stuckMs = 0;
        longest = length;
      }
      longest = Math.max(longest, length);
      if (stuckMs >= queueMs || longMs >= BURST_FACTOR * queueMs) heldUntilMs = atMs + HELD_MS;
    },
    isOver: (atMs) => atMs < heldUntilMs,
    refused(atMs) {
      heldUntilMs = atMs + HELD_MS;
    },
  };
}
