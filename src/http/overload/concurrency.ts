// Concurrency limit. A few requests start in each turn of the event loop, and a limited number work at once.
// A database that is slow by itself may have many requests waiting for it; one that is slow because of them may not.

import { type LoadState, OVERLOAD_POLICY } from "./policy.ts";

const policy = OVERLOAD_POLICY.concurrency;

export interface ConcurrencyLimit {
  hasRoom(): boolean;
  /** Counts a request as started in this turn. `onTurn` runs in the next one. */
  start(): void;
  /** Counts a request as working until the returned function is called. Calling that twice does no harm. */
  beginWork(): () => void;
  /** Sets the limits from the state and from what was measured since the last call. Must be called regularly. */
  update(state: LoadState): void;
}

/** `onTurn` runs when requests may start again. */
export function createConcurrencyLimit(onTurn: () => void, nowMs: () => number): ConcurrencyLimit {
  const throughput = createThroughput(nowMs());
  let state: LoadState = "normal";
  let started = 0;
  let working = 0;
  let workingMax: number = policy.workingMinRequests.normal;
  let isTurnScheduled = false;
  const turn = (): void => {
    isTurnScheduled = false;
    started = 0;
    onTurn();
  };
  const scheduleTurn = (): void => {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(turn);
  };
  return {
    hasRoom: () => started < policy.startsPerTurn[state] && working < workingMax,
    start() {
      started += 1;
      scheduleTurn();
    },
    beginWork() {
      const sinceMs = nowMs();
      working += 1;
      throughput.began(working);
      let isWorking = true;
      return () => {
        if (!isWorking) return;
        isWorking = false;
        working -= 1;
        // A queued request may be waiting for exactly this place.
        if (working === workingMax - 1) scheduleTurn();
        throughput.finished(nowMs() - sinceMs);
      };
    },
    update(newState) {
      const sustainable = throughput.sustainable(nowMs());
      const hadRoom = working < workingMax;
      state = newState;
      workingMax = Math.min(Math.max(sustainable, policy.workingMinRequests[state]), policy.workingMaxRequests);
      if (!hadRoom && working < workingMax) scheduleTurn();
    },
  };
}

/** Measures how many requests may work at once without slowing each other down. */
function createThroughput(startedAtMs: number) {
  let finishedPerMs = 0;
  /** What the work takes when there is little of it. */
  let unloadedMs = 0;
  // Since the last tick:
  let finished = 0;
  let finishedSumMs = 0;
  let workingPeak = 0;
  let tickedAtMs = startedAtMs;
  return {
    began(working: number): void {
      if (working > workingPeak) workingPeak = working;
    },
    finished(tookMs: number): void {
      finished += 1;
      finishedSumMs += tookMs;
    },
    /** Ends a tick. */
    sustainable(atMs: number): number {
      if (finished > 0) {
        finishedPerMs += policy.newestTickRatio * (finished / Math.max(1, atMs - tickedAtMs) - finishedPerMs);
        if (workingPeak <= policy.lightLoadMaxRequests) {
          unloadedMs += policy.newestTickRatio * (finishedSumMs / finished - unloadedMs);
        }
      }
      tickedAtMs = atMs;
      finished = finishedSumMs = workingPeak = 0;
      return Math.ceil(finishedPerMs * Math.max(policy.workTargetMs, policy.workSlowdownRatio * unloadedMs));
    },
  };
}
