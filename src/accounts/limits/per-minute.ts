// The per-minute limit, in memory: never more than the limit in any 60 seconds, wherever they begin.
// Calls are counted by the second they arrive in. Those of one second count until the last of them is a minute old, so no
// client waits longer than a minute. Two weighted counters would be simpler, but admit nearly twice the limit in the 60
// seconds after a burst at the end of a minute.

export interface Admission {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the whole limit is free again if no further call is made; 0 when it is. */
  readonly resetSeconds: number;
  /** 0 when allowed, else the wait until the next call can succeed. */
  readonly retryAfterSeconds: number;
}

/** A per-minute limit, wherever it is counted. */
export interface CallLimits {
  /** Counts the call when it is allowed; a refused one does not count. Never rejects. */
  admit(id: string, limitPerMinute: number, nowMs: number): Promise<Admission>;
}

/** The limit of calls to this process alone. */
export interface Limiter {
  /** Counts the call when it is allowed; a refused one does not count. */
  admit(id: string, limitPerMinute: number, nowMs: number): Admission;
  /** The number of ids that are remembered. */
  size(): number;
}

const WINDOW_SECONDS = 60;
/** One more than the window, for the second that is leaving it. */
const SLOTS = WINDOW_SECONDS + 1;

interface Counter {
  /** Calls per second in a ring: second s is slot s % SLOTS. */
  readonly slots: Uint32Array;
  /** The milliseconds into its second at which the last call of each slot came. */
  readonly lastMs: Uint16Array;
  newestSecond: number;
  total: number;
}

/** Limits for a process that shares them with no other. */
export function createLocalLimits(): CallLimits {
  const { admit } = createLimiter();
  return { admit: async (id, limitPerMinute, nowMs) => admit(id, limitPerMinute, nowMs) };
}

export function createLimiter(): Limiter {
  // Two generations: an id that made no call for a whole window is forgotten with the older one.
  let active = new Map<string, Counter>();
  let idle = new Map<string, Counter>();
  let generation = 0;
  let latestSecond = 0;

  const counterOf = (id: string, second: number): Counter => {
    const current = Math.floor(second / SLOTS);
    if (current !== generation) {
      idle = current === generation + 1 ? active : new Map();
      active = new Map();
      generation = current;
    }
    const known = active.get(id) ?? idle.get(id);
    const counter = known ?? newCounter(second);
    active.set(id, counter);
    return counter;
  };

  return {
    admit: (id, limitPerMinute, nowMs) => {
      const second = notBefore(latestSecond, Math.floor(nowMs / 1000));
      if (second < latestSecond) {
        active.clear();
        idle.clear();
      }
      latestSecond = second;
      const at = { second, ms: Math.max(0, nowMs - second * 1000) };
      const counter = counterOf(id, second);
      advance(counter, at);
      const allowed = counter.total + 1 <= limitPerMinute;
      if (allowed) note(counter, at);
      return {
        allowed,
        limit: limitPerMinute,
        remaining: Math.max(0, limitPerMinute - counter.total),
        resetSeconds: secondsUntil(counter, 0, at),
        retryAfterSeconds: allowed ? 0 : Math.max(1, secondsUntil(counter, limitPerMinute - 1, at)),
      };
    },
    size: () => active.size + [...idle.keys()].filter((id) => !active.has(id)).length,
  };
}

/** A clock that steps back a little is held; after a far step the count starts again, or the window would freeze. */
function notBefore(latestSecond: number, second: number): number {
  return second >= latestSecond - SLOTS ? Math.max(latestSecond, second) : second;
}

interface Instant {
  readonly second: number;
  /** Within the second. */
  readonly ms: number;
}

function newCounter(second: number): Counter {
  return { slots: new Uint32Array(SLOTS), lastMs: new Uint16Array(SLOTS), newestSecond: second, total: 0 };
}

/** Forgets the seconds that left the window since the last call; at most SLOTS of them. */
function advance(counter: Counter, { second, ms }: Instant): void {
  const passed = Math.min(second - counter.newestSecond, SLOTS);
  for (let step = 1; step <= passed; step += 1) forget(counter, (counter.newestSecond + step) % SLOTS);
  counter.newestSecond = second;
  const oldest = (second + 1) % SLOTS;
  if (ms >= (counter.lastMs[oldest] ?? 0)) forget(counter, oldest);
}

function forget(counter: Counter, slot: number): void {
  counter.total -= counter.slots[slot] ?? 0;
  counter.slots[slot] = 0;
  counter.lastMs[slot] = 0;
}

function note(counter: Counter, { second, ms }: Instant): void {
  const slot = second % SLOTS;
  counter.slots[slot] = (counter.slots[slot] ?? 0) + 1;
  counter.lastMs[slot] = Math.max(counter.lastMs[slot] ?? 0, ms);
  counter.total += 1;
}

/** The seconds until no more than `count` calls are in the window. */
function secondsUntil(counter: Counter, count: number, { second, ms }: Instant): number {
  let total = counter.total;
  if (total <= count) return 0;
  for (let step = 0; step < SLOTS; step += 1) {
    const slot = (second + 1 + step) % SLOTS;
    total -= counter.slots[slot] ?? 0;
    const waitMs = step * 1000 + (counter.lastMs[slot] ?? 0) - ms;
    if (total <= count) return Math.min(WINDOW_SECONDS, Math.ceil(waitMs / 1000));
  }
  return WINDOW_SECONDS;
}
