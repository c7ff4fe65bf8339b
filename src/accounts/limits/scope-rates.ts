// Limits per minute of a scope, such as each member: requests and tokens. What a request takes is known when it has ended,
// so one may begin as long as the window of tokens has any room.

import { msUntil, type Taken, totalOf } from "../../core/processes/call-window.ts";
import type { CallLimits } from "./per-minute.ts";
import type { TakeFromWindow } from "./stored-bytes.ts";

export interface ScopeRates {
  /** Counts a request. Resolves to 0, or to the seconds to wait if none may begin now. */
  request(id: string, limitPerMinute: number): Promise<number>;
  /** Resolves to 0 while the window has room, or to the seconds to wait. */
  tokensWait(id: string, limitPerMinute: number): Promise<number>;
  /** Counts the tokens of a request that has ended. */
  note(id: string, tokens: number): void;
}

const WINDOW_SECONDS = 60;

export interface ScopeRatesOptions {
  readonly limiter: CallLimits;
  readonly take: TakeFromWindow;
  readonly now: () => number;
}

/** A question that waits, and one that is under way, to the window of an id. */
interface Asking {
  /** Tokens that the window does not count yet. */
  owed: number;
  running: Promise<unknown>;
  next: Promise<Taken | null> | null;
}

export function createScopeRates({ limiter, take, now }: ScopeRatesOptions): ScopeRates {
  const asked = new Map<string, Asking>();

  /** Counts tokens and sees the window. What comes while the store is asked goes out together after it. */
  function count(id: string, tokens: number): Promise<Taken | null> {
    const asking = asked.get(id) ?? { owed: 0, running: Promise.resolve(), next: null };
    asked.set(id, asking);
    asking.owed += tokens;
    asking.next ??= asking.running.then(() => {
      const request = { id: `tokens ${id}`, spanSeconds: WINDOW_SECONDS, unused: null, limit: Number.MAX_SAFE_INTEGER };
      const taken = take({ ...request, count: asking.owed });
      asking.owed = 0;
      asking.next = null;
      asking.running = taken.then(() => void (asking.next === null && asked.delete(id)));
      return taken;
    });
    return asking.next;
  }

  return {
    async request(id, limitPerMinute) {
      const { allowed, retryAfterSeconds } = await limiter.admit(`requests ${id}`, limitPerMinute, now());
      return allowed ? 0 : retryAfterSeconds;
    },
    async tokensWait(id, limitPerMinute) {
      const seen = await count(id, 0);
      if (seen === null || totalOf(seen.counts) < limitPerMinute) return 0;
      return Math.max(1, Math.ceil(msUntil(seen, limitPerMinute - 1, WINDOW_SECONDS) / 1000));
    },
    note(id, tokens) {
      if (tokens > 0) void count(id, tokens);
    },
  };
}
