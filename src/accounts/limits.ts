// The per-minute limit, in memory: never more than the limit in any 60 seconds, wherever they begin.
// A call is counted in the second it came in and counts until that second is wholly a minute old, so the window is
// between 60 and 61 seconds long. (Two counters, the older one weighted, would let nearly twice the limit through
// in the 60 seconds after a burst at the end of a minute.)

export interface Admission {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the whole limit is free again when nothing more is asked; 0 when it is. */
  readonly resetSeconds: number;
  /** 0 when allowed, else when the next call can succeed. */
  readonly retryAfterSeconds: number;
}

/** A limit, wherever it is counted: a value when that can be said at once. */
export interface CallLimits {
  /** Counts the call when it is allowed; a refused one does not count. Never rejects. */
  admit(id: string, limitPerMinute: number, nowMs: number): Admission | Promise<Admission>;
}

export interface Limiter extends CallLimits {
  /** Counts the call when it is allowed; a refused one does not count. */
  admit(id: string, limitPerMinute: number, nowMs: number): Admission;
  /** How many ids are remembered. */
  size(): number;
}

const WINDOW_SECONDS = 60;
const SLOTS = WINDOW_SECONDS + 1;

interface Counter {
  /** Calls per second, a ring: second s stands in slot s % SLOTS. */
  readonly slots: Uint32Array;
  newestSecond: number;
  total: number;
}

export function createLimiter(): Limiter {
  // Two generations: whoever was not seen for a whole window is forgotten when the older one is let go.
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
    const counter = known ?? { slots: new Uint32Array(SLOTS), newestSecond: second, total: 0 };
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
      const counter = counterOf(id, second);
      advance(counter, second);
      const allowed = counter.total + 1 <= limitPerMinute;
      if (allowed) {
        counter.slots[second % SLOTS] = (counter.slots[second % SLOTS] ?? 0) + 1;
        counter.total += 1;
      }
      return {
        allowed,
        limit: limitPerMinute,
        remaining: Math.max(0, limitPerMinute - counter.total),
        resetSeconds: secondsUntil(counter, 0),
        retryAfterSeconds: allowed ? 0 : Math.max(1, secondsUntil(counter, limitPerMinute - 1)),
      };
    },
    size: () => active.size + [...idle.keys()].filter((id) => !active.has(id)).length,
  };
}

/** A clock that steps back a little stands still for us; one that steps back far starts anew, or the window would freeze. */
function notBefore(latestSecond: number, second: number): number {
  return second >= latestSecond - SLOTS ? Math.max(latestSecond, second) : second;
}

/** Forgets the seconds that left the window since the last call; at most SLOTS of them. */
function advance(counter: Counter, second: number): void {
  const passed = Math.min(second - counter.newestSecond, SLOTS);
  for (let step = 1; step <= passed; step += 1) {
    const slot = (counter.newestSecond + step) % SLOTS;
    counter.total -= counter.slots[slot] ?? 0;
    counter.slots[slot] = 0;
  }
  counter.newestSecond = second;
}

/** How long until no more than `count` calls are in the window. */
function secondsUntil(counter: Counter, count: number): number {
  let total = counter.total;
  for (let step = 1; step <= SLOTS; step += 1) {
    if (total <= count) return step - 1;
    total -= counter.slots[(counter.newestSecond + step) % SLOTS] ?? 0;
  }
  return total <= count ? SLOTS : WINDOW_SECONDS;
}
