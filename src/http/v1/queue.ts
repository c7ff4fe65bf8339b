// Requests that have come in whole and wait for the gateway itself, not for a provider. A burst is let in and worked
// off; a queue that stays longer than it may is held to the length that can be worked off in time.

export interface Queue {
  /** Gives the function that leaves the queue again; calling it twice does nothing. */
  enter(): () => void;
  /** Whether the next request should be refused. */
  isFull(): boolean;
  close(): void;
}

const TICK_MS = 100;
/** So much of the rate is that of the last tick. */
const NEWEST_SHARE = 0.2;
const PATIENCE_MS = 1_000;
/** How long after the last refusal the length stays held. */
const WARY_MS = 5_000;
/** A queue this short is never a reason, however slow the machine. */
const LENGTH_MIN = 256;

export function createQueue(delayMs: number, nowMs: () => number = () => performance.now()): Queue {
  let length = 0;
  let leftInTick = 0;
  let leavesPerMs = 0;
  let tickedAtMs = nowMs();
  let longSinceMs: number | null = null;
  let heldUntilMs = 0;
  const lengthMax = (): number => Math.max(LENGTH_MIN, leavesPerMs * delayMs);
  const timer = setInterval(() => {
    const atMs = nowMs();
    const rate = leftInTick / Math.max(1, atMs - tickedAtMs);
    leavesPerMs += NEWEST_SHARE * (rate - leavesPerMs);
    leftInTick = 0;
    tickedAtMs = atMs;
    longSinceMs = length > lengthMax() ? (longSinceMs ?? atMs) : null;
    if (longSinceMs !== null && atMs - longSinceMs >= PATIENCE_MS) heldUntilMs = atMs + WARY_MS;
  }, TICK_MS).unref();
  return {
    enter() {
      length += 1;
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        length -= 1;
        leftInTick += 1;
      };
    },
    isFull() {
      if (heldUntilMs === 0 || length < lengthMax()) return false;
      const atMs = nowMs();
      if (atMs >= heldUntilMs) return false;
      heldUntilMs = atMs + WARY_MS;
      return true;
    },
    close: () => clearInterval(timer),
  };
}
