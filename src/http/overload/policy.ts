// Overload policy. Every constant that decides which requests start, wait or are rejected, each with its reason.
// The tables in docs/operate/limits.md are written from this file, comments included.

/** `overloaded` while a flood lasts and for some seconds afterwards, else `normal`. */
export type LoadState = "normal" | "overloaded";

/** Three thousand streams may be opened at once. They wait for providers, so only their start is work. */
const BURST_REQUESTS = 4_096;

export const OVERLOAD_POLICY = {
  admission: {
    /** Headers longer than this in all get 431. Twice Node's default, for large cookies and trace baggage. */
    headersMaxBytes: 32 * 1024,
    /** Node looks for overdue connections this often. Its own default is 30 s. */
    connectionCheckMs: 1_000,
    /** A late event loop rejects nobody below this many requests in flight. The machine is slow then, not the load high. */
    lateLoopMinRequests: 32,
    /** The log gets one line when rejecting begins, and another only after this long without a rejection. */
    logQuietMs: 10_000,
    /** After this long without a request, queue, event loop and memory are not measured until the next one comes. */
    idleMs: 5_000,
  },
  queue: {
    /** The queue is checked and its rate measured this often. */
    tickMs: 50,
    /** The queue may always hold this many. Normally that is a whole burst. */
    lengthMinRequests: { normal: BURST_REQUESTS, overloaded: 16 },
    /** The queue may hold more if all of them start within this time, at the measured rate. */
    drainMs: { normal: 2_000, overloaded: 25 },
    /** While overloaded, the next limit applies as long as the queue was empty within this time. */
    recentlyEmptyMs: 100,
    /** The length allowed then. A queue that was empty a moment ago shows that there is time for more. */
    recentlyEmptyMaxRequests: 256,
    /** The first requests of this many clients share every other start, also beyond the limit. One key cannot keep others out. */
    fairPlacesRequests: 64,
    /** A request in a queue that became too long is rejected only after it waited this long. */
    rejectAfterMs: 25,
    /** No request waits longer than this. The database may have stopped responding. */
    waitMaxMs: 30_000,
    /** The weight of the last tick in the measured rate. */
    newestTickRatio: 0.2,
  },
  flood: {
    /** A queue up to this length is no flood, however slowly it moves. A longer one serves the newest request first. */
    longQueueRequests: 1_024,
    /** A flood needs more arrivals than this since the queue was last empty. Fewer are a burst. */
    burstRequests: BURST_REQUESTS,
    /** A queue shorter than this part of its recent maximum is draining, so there is no flood. */
    progressRatio: 0.95,
    /** The time counted between two checks at most. A process that stood still says nothing about its queue. */
    sampleMaxMs: 100,
    /** The overloaded state lasts this long after the last rejection. Clients retry after 1 to 3 s and find the same load. */
    holdMs: 4_000,
  },
  concurrency: {
    /** Requests that start in one turn of the event loop. Between two turns, tokens are forwarded and connections accepted. */
    startsPerTurn: 8,
    /** Requests that may always work on key, body, decision and hold at once, so that they share commits. */
    workingMinRequests: 64,
    /** More may work at once where the database is slow by itself, up to this many. */
    workingMaxRequests: 1_024,
    /** The time within which all requests that work at once should finish. */
    workTargetMs: 15,
    /** Or within this multiple of the time the work takes when there is little to do, if that is longer. */
    workSlowdownRatio: 2,
    /** With at most this many working, the time measured is the database's own. */
    lightLoadMaxRequests: 8,
    /** The weight of the last tick in the measured averages. */
    newestTickRatio: 0.2,
  },
  rejection: {
    /** Retry-After is at least this. */
    retryAfterMinSeconds: 1,
    /** Retry-After is at most this. It is random, so that clients do not all come back in the same second. */
    retryAfterMaxSeconds: 3,
    /** The connection is closed instead of reading a body larger than this to its end. */
    discardMaxBytes: 64 * 1024,
    /** Rejections written in one turn of the event loop. Other work gets its time between two turns. */
    responsesPerTurn: 64,
    /** Rejected connections read again in one turn. That is as much work as a few served requests. */
    connectionsReadPerTurn: 32,
  },
  bodies: {
    /** Part of the memory that request bodies may take up. Each may be there four times: bytes, text, values, copy to send. */
    memoryRatio: 0.125,
    /** Bodies take up at most this part of the JavaScript heap, which holds text and values. */
    heapRatio: 0.25,
    /** Part of the budget that one key may use. */
    keyRatio: 0.5,
    /** Bodies up to this size may use the whole budget. The credits of larger ones are checked before they are read. */
    smallMaxBytes: 256 * 1024,
    /** Part of the budget that larger bodies may use, so that they never keep small ones out. */
    largeRatio: 0.75,
    /** A body without declared length is charged in steps. The first is this large, and each of the others doubles it. */
    firstStepBytes: 64 * 1024,
    /** Each value of a body is charged this much in addition: an empty object of two bytes takes up much more. */
    valueBytes: 64,
    /** A body without room waits this long before it is rejected. */
    waitMaxMs: 5_000,
  },
  pressure: {
    /** The delay of the event loop is measured this often. */
    tickMs: 50,
    /** Memory is measured once in this many ticks. */
    memoryCheckTicks: 10,
    /** The loop must be late for this long before requests are rejected. One long stall is over when it is noticed. */
    lateMinMs: 1_000,
    /** For this long afterwards, a loop that is late again rejects requests at once. */
    recoveryMs: 5_000,
  },
} as const;
