// Keys that were not found a moment ago, so that a client that repeats a wrong key does not reach the database each time.

export interface UnknownKeys {
  add(hash: string): void;
  has(hash: string): boolean;
}

const FORGET_AFTER_MS = 2_000;
const ENTRIES_MAX = 10_000;

export function createUnknownKeys(now: () => number): UnknownKeys {
  /** In the order of insertion, which is the order of expiry. */
  const untilMsByHash = new Map<string, number>();
  return {
    add: (hash) => {
      untilMsByHash.delete(hash);
      untilMsByHash.set(hash, now() + FORGET_AFTER_MS);
      if (untilMsByHash.size <= ENTRIES_MAX) return;
      const [oldest] = untilMsByHash.keys();
      if (oldest !== undefined) untilMsByHash.delete(oldest);
    },
    has: (hash) => {
      const untilMs = untilMsByHash.get(hash);
      if (untilMs === undefined) return false;
      if (untilMs > now()) return true;
      untilMsByHash.delete(hash);
      return false;
    },
  };
}
