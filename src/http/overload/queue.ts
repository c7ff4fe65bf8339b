// The queue in front of the gateway's own work (key, body, decision, hold). A few requests start in each turn of the event
// loop and the others wait here, so that turns stay short. A burst is finite and drains. A flood keeps arriving, and is cut
// to what starts soon.

import { type LoadState, OVERLOAD_POLICY } from "./policy.ts";
import { createTicker } from "./pressure.ts";

const { queue: queuePolicy, concurrency: concurrencyPolicy } = OVERLOAD_POLICY;

export interface RequestQueue {
  /** True when a request may start at once; it then counts as started. */
  tryStart(): boolean;
  /**
   * Adds a request that may not. It is started in its turn or rejected, perhaps at once. With `isFairOnly` it is added if
   * it gets a fair place, else rejected.
   */
  add(request: WaitingRequest, isFairOnly?: boolean): void;
  /** Counts a request whose body is complete as working until the returned function is called. */
  beginWork: ConcurrencyLimit["beginWork"];
  length(): number;
  close(): void;
}

interface WaitingRequest {
  /** Sender of the request, as far as it is known before the key is verified. */
  readonly client: string;
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
  const waiting = createWaitingList();
  let nonEmptySinceMs = 0;

  function startWaiting(): void {
    while (waiting.length() > 0 && concurrency.hasRoom()) {
      const { request, sinceMs } = waiting.takeNext();
      if (request.isDisconnected()) continue;
      concurrency.start();
      rate.count();
      request.start(nowMs() - sinceMs);
    }
  }

  const limit = (atMs: number): number => lengthLimit(flood.state(atMs), atMs - nonEmptySinceMs, rate.perMs());

  const measure = (): void => {
    const atMs = nowMs();
    rate.tick(atMs, waiting.length() > 0);
    flood.sample(waiting.length(), atMs);
    concurrency.update();
    const next = (): QueueEntry | null => waiting.takeOverdue(atMs, limit(atMs));
    for (let overdue = next(); overdue !== null; overdue = next()) {
      if (overdue.request.isDisconnected()) continue;
      flood.rejected(atMs);
      overdue.request.reject();
    }
  };
  const isNeeded = (): boolean => waiting.length() > 0;
  const ticker = createTicker({ everyMs: queuePolicy.tickMs, onWake: measure, onTick: measure, isNeeded });

  return {
    tryStart() {
      ticker.wake();
      if (waiting.length() > 0 || !concurrency.hasRoom()) return false;
      concurrency.start();
      return true;
    },
    add(request, isFairOnly = false) {
      ticker.wake();
      const atMs = nowMs();
      if (waiting.length() === 0) nonEmptySinceMs = atMs;
      flood.arrived();
      // Nothing may be running that would start it later.
      if (isFairOnly) concurrency.scheduleTurn();
      if (waiting.add({ request, sinceMs: atMs }, isFairOnly ? 0 : limit(atMs))) return;
      // A burst that is cut is no flood; a rejection during a flood prolongs it.
      if (flood.state(atMs) === "overloaded") flood.rejected(atMs);
      request.reject();
    },
    beginWork: concurrency.beginWork,
    length: waiting.length,
    close: ticker.stop,
  };
}

/**
 * The requests that wait. The first request of a client gets a fair place, also beyond the limit, and every other start
 * is theirs. So a client that sends far too much is rejected, and one that sends little is served as usual.
 */
function createWaitingList() {
  const queue: QueueEntry[] = [];
  const fairPlaces: QueueEntry[] = [];
  const requestsOf = new Map<string, number>();
  let isFairTurn = false;

  function count({ request: { client } }: QueueEntry, change: number): void {
    const requests = (requestsOf.get(client) ?? 0) + change;
    if (requests === 0) requestsOf.delete(client);
    else requestsOf.set(client, requests);
  }

  function takeFairPlace(entry: QueueEntry): boolean {
    const isFree = requestsOf.get(entry.request.client) === 1 && fairPlaces.length < queuePolicy.fairPlacesRequests;
    if (isFree) fairPlaces.push(entry);
    return isFree;
  }

  function taken(entry: QueueEntry): QueueEntry {
    count(entry, -1);
    return entry;
  }

  return {
    length: () => queue.length + fairPlaces.length,
    /** False when there is no room for it. */
    add(entry: QueueEntry, limit: number): boolean {
      count(entry, 1);
      if (takeFairPlace(entry)) return true;
      const hasRoom = queue.length + fairPlaces.length < limit;
      if (hasRoom) queue.push(entry);
      else count(entry, -1);
      return hasRoom;
    },
    /** A queue too long to drain soon serves the newest first: they see a normal latency, and only the oldest wait. */
    takeNext(): QueueEntry {
      isFairTurn = !isFairTurn || queue.length === 0;
      if (isFairTurn && fairPlaces.length > 0) return taken(fairPlaces.shift() as QueueEntry);
      const isLong = queue.length > OVERLOAD_POLICY.flood.longQueueRequests;
      return taken((isLong ? queue.pop() : queue.shift()) as QueueEntry);
    },
    /** The next one that has waited too long, or that is too many; null when there is none. */
    takeOverdue(atMs: number, limit: number): QueueEntry | null {
      for (const list of [fairPlaces, queue]) {
        const oldest = list[0];
        if (oldest !== undefined && atMs - oldest.sinceMs > queuePolicy.waitMaxMs) {
          list.shift();
          return taken(oldest);
        }
      }
      while (queue.length + fairPlaces.length > limit && queue.length > 0) {
        const oldest = queue[0] as QueueEntry;
        if (atMs - oldest.sinceMs <= queuePolicy.rejectAfterMs) return null;
        queue.shift();
        if (!takeFairPlace(oldest)) return taken(oldest);
      }
      return null;
    },
  };
}

/** Limits the number of requests that may wait. */
function lengthLimit(state: LoadState, nonEmptyMs: number, startsPerMs: number): number {
  const isRecentlyEmpty = nonEmptyMs <= queuePolicy.recentlyEmptyMs;
  if (state === "overloaded" && isRecentlyEmpty) return queuePolicy.recentlyEmptyMaxRequests;
  return Math.max(queuePolicy.lengthMinRequests[state], startsPerMs * queuePolicy.drainMs[state]);
}

/** Measures the requests that leave the queue in a millisecond, while some wait. */
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
      if (isWaiting) perMs += queuePolicy.newestTickRatio * (started / Math.max(1, atMs - tickedAtMs) - perMs);
      started = 0;
      tickedAtMs = atMs;
    },
  };
}

/**
 * Limits how many requests start in one turn, and how many work at once. A database that is slow by itself may have many
 * requests waiting for it; one that is slow because of them may not.
 */
export interface ConcurrencyLimit {
  hasRoom(): boolean;
  /** Counts a request as started in this turn. `onTurn` runs in the next one. */
  start(): void;
  /** Has `onTurn` run in the next turn. */
  scheduleTurn(): void;
  /** Counts a request as working until the returned function is called. Calling that twice does no harm. */
  beginWork(): () => void;
  /** Sets the limit from what was measured since the last call. Must be called regularly. */
  update(): void;
}

/** `onTurn` runs when requests may start again. */
export function createConcurrencyLimit(onTurn: () => void, nowMs: () => number): ConcurrencyLimit {
  const throughput = createThroughput(nowMs());
  let started = 0;
  let working = 0;
  let workingMax: number = concurrencyPolicy.workingMinRequests;
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
    hasRoom: () => started < concurrencyPolicy.startsPerTurn && working < workingMax,
    start() {
      started += 1;
      scheduleTurn();
    },
    scheduleTurn,
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
    update() {
      const sustainable = throughput.sustainable(nowMs());
      const hadRoom = working < workingMax;
      workingMax = Math.min(
        Math.max(sustainable, concurrencyPolicy.workingMinRequests),
        concurrencyPolicy.workingMaxRequests,
      );
      if (!hadRoom && working < workingMax) scheduleTurn();
    },
  };
}

/** Measures how many requests may work at once without slowing each other down. */
function createThroughput(startedAtMs: number) {
  let finishedPerMs = 0;
  /** The time that the work takes when there is little to do. */
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
        finishedPerMs +=
          concurrencyPolicy.newestTickRatio * (finished / Math.max(1, atMs - tickedAtMs) - finishedPerMs);
        if (workingPeak <= concurrencyPolicy.lightLoadMaxRequests) {
          unloadedMs += concurrencyPolicy.newestTickRatio * (finishedSumMs / finished - unloadedMs);
        }
      }
      tickedAtMs = atMs;
      finished = finishedSumMs = workingPeak = 0;
      return Math.ceil(
        finishedPerMs * Math.max(concurrencyPolicy.workTargetMs, concurrencyPolicy.workSlowdownRatio * unloadedMs),
      );
    },
  };
}

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
