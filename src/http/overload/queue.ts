// The queue in front of the gateway's own work (key, body, decision, hold). A few requests start in each turn of the event
// loop and the others wait here, so that turns stay short. A burst drains; a flood is cut to what starts soon.

import { type ConcurrencyLimit, createConcurrencyLimit } from "./concurrency.ts";
import { createFloodDetector } from "./flood.ts";
import { type LoadState, OVERLOAD_POLICY } from "./policy.ts";

const policy = OVERLOAD_POLICY.queue;

export interface RequestQueue {
  /** True when a request may start at once; it then counts as started. */
  tryStart(): boolean;
  /** Adds a request that may not. It is started in its turn or rejected, perhaps at once. */
  add(request: WaitingRequest): void;
  /** Counts a request whose body is complete as working until the returned function is called. */
  beginWork: ConcurrencyLimit["beginWork"];
  length(): number;
  close(): void;
}

interface WaitingRequest {
  isDisconnected(): boolean;
  start(waitedMs: number): void;
  reject(): void;
}

interface QueueEntry {
  readonly request: WaitingRequest;
  readonly sinceMs: number;
}

/** `queueMs` is how long a long queue may go without draining before it counts as a flood. */
export function createQueue(queueMs: number, nowMs: () => number = () => performance.now()): RequestQueue {
  const flood = createFloodDetector(queueMs);
  const rate = createStartRate(nowMs());
  const concurrency = createConcurrencyLimit(startWaiting, nowMs);
  const waiting: QueueEntry[] = [];
  let nonEmptySinceMs = 0;

  function startWaiting(): void {
    while (waiting.length > 0 && concurrency.hasRoom()) {
      const { request, sinceMs } = takeNext(waiting);
      if (request.isDisconnected()) continue;
      concurrency.start();
      rate.count();
      request.start(nowMs() - sinceMs);
    }
  }

  const limit = (atMs: number): number => lengthLimit(flood.state(atMs), atMs - nonEmptySinceMs, rate.perMs());

  function rejectOverdue(atMs: number): void {
    for (let oldest = waiting[0]; oldest !== undefined; oldest = waiting[0]) {
      const waitedMs = atMs - oldest.sinceMs;
      const isTooMany = waitedMs > policy.rejectAfterMs && waiting.length > limit(atMs);
      if (!isTooMany && waitedMs <= policy.waitMaxMs) return;
      waiting.shift();
      if (oldest.request.isDisconnected()) continue;
      flood.rejected(atMs);
      oldest.request.reject();
    }
  }

  const timer = setInterval(() => {
    const atMs = nowMs();
    rate.tick(atMs, waiting.length > 0);
    flood.sample(waiting.length, atMs);
    concurrency.update(flood.state(atMs));
    rejectOverdue(atMs);
  }, policy.tickMs).unref();

  return {
    tryStart() {
      if (waiting.length > 0 || !concurrency.hasRoom()) return false;
      concurrency.start();
      return true;
    },
    add(request) {
      const atMs = nowMs();
      if (waiting.length === 0) nonEmptySinceMs = atMs;
      flood.arrived();
      if (waiting.length < limit(atMs)) return void waiting.push({ request, sinceMs: atMs });
      // A burst that is cut is no flood; a rejection during a flood prolongs it.
      if (flood.state(atMs) === "overloaded") flood.rejected(atMs);
      request.reject();
    },
    beginWork: concurrency.beginWork,
    length: () => waiting.length,
    close: () => clearInterval(timer),
  };
}

/** A queue too long to drain soon serves the newest first: they see a normal latency, and only the oldest wait. */
function takeNext(waiting: QueueEntry[]): QueueEntry {
  const isLong = waiting.length > OVERLOAD_POLICY.flood.longQueueRequests;
  return (isLong ? waiting.pop() : waiting.shift()) as QueueEntry;
}

/** How many requests may wait. */
function lengthLimit(state: LoadState, nonEmptyMs: number, startsPerMs: number): number {
  const isRecentlyEmpty = nonEmptyMs <= policy.recentlyEmptyMs;
  if (state === "overloaded" && isRecentlyEmpty) return policy.recentlyEmptyMaxRequests;
  return Math.max(policy.lengthMinRequests[state], startsPerMs * policy.drainMs[state]);
}

/** How many requests leave the queue in a millisecond, measured while some wait. */
function createStartRate(startedAtMs: number) {
  let perMs = 0;
  let started = 0;
  let tickedAtMs = startedAtMs;
  return {
    perMs: () => perMs,
    count(): void {
      started += 1;
    },
    tick(atMs: number, isWaiting: boolean): void {
      if (isWaiting) perMs += policy.newestTickRatio * (started / Math.max(1, atMs - tickedAtMs) - perMs);
      started = 0;
      tickedAtMs = atMs;
    },
  };
}
