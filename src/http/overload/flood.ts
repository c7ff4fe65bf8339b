// Tells a flood from a burst: of a burst so many come and no more, and the line they make grows shorter; in a flood more
// come than a burst has, and the line stays long. Once there is one, it takes some seconds without a refusal until there
// is none.

export interface Patience {
  /** Somebody has joined the line. */
  joined(): void;
  /** To be called regularly with the length of the line. */
  look(length: number, atMs: number): void;
  /** Whether only as many may wait as will not wait long. */
  isOver(atMs: number): boolean;
  refused(atMs: number): void;
}

/** A line this short is no flood, however slowly it moves. */
export const LONG = 1_024;
/** So many may come together: a thousand clients at once, and each a second time. */
export const BURST = 2_048;
/** A line that has become shorter by a twentieth is getting somewhere. */
const PROGRESS = 0.95;
/** Between two looks the whole process may have stood still; that says nothing about the line. */
const LOOK_MS_MAX = 100;
/** Who was refused comes back after one to three seconds, and finds the line as it was. */
const HELD_MS = 4_000;

interface Look {
  readonly atMs: number;
  readonly length: number;
}

export function createPatience(queueMs: number): Patience {
  /** Since the line was last empty. */
  let joined = 0;
  /** Of the last `queueMs` that the line was long, in a time that stands still when the process does. */
  let looks: Look[] = [];
  let longMs = 0;
  let lookedAtMs = 0;
  let heldUntilMs = 0;

  /** As long as it was at any look: a line that many leave and as many join is shorter every other moment. */
  function isStuck(length: number): boolean {
    looks.push({ atMs: longMs, length });
    while ((looks[1]?.atMs ?? longMs) <= longMs - queueMs) looks.shift();
    const longest = Math.max(...looks.map((look) => look.length));
    return longMs - (looks[0] as Look).atMs >= queueMs && length > longest * PROGRESS;
  }

  return {
    joined() {
      joined += 1;
    },
    look(length, atMs) {
      const passedMs = Math.min(atMs - lookedAtMs, LOOK_MS_MAX);
      lookedAtMs = atMs;
      if (length === 0) joined = 0;
      if (length <= LONG) {
        longMs = 0;
        looks = [];
        return;
      }
      longMs += passedMs;
      if (isStuck(length) && joined > BURST) heldUntilMs = atMs + HELD_MS;
    },
    isOver: (atMs) => atMs < heldUntilMs,
    refused(atMs) {
      heldUntilMs = atMs + HELD_MS;
    },
  };
}
