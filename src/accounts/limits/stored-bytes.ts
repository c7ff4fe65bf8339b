// The limit on bytes that a key stores per minute. A key may store as long as its window has any room, so a request that is
// larger than the rest of the window is not refused for ever.

import { msUntil, type RateRequest, type Taken } from "../../core/processes/call-window.ts";

/** Counts bytes under a key. Returns 0, or the seconds to wait if nothing may be stored now. */
export type StoredBytesLimit = (keyId: string, bytes: number, limitPerMinute: number) => Promise<number>;

/** Takes from a window. Resolves to null when the shared store does not answer. */
export type TakeFromWindow = (request: RateRequest) => Promise<Taken | null>;

const WINDOW_SECONDS = 60;
/** Windows count in units of so many bytes. */
const UNIT_BYTES = 1024;

export function createStoredBytesLimit(take: TakeFromWindow): StoredBytesLimit {
  return async (keyId, bytes, limitPerMinute) => {
    const limit = Math.ceil(limitPerMinute / UNIT_BYTES);
    const count = Math.max(1, Math.ceil(bytes / UNIT_BYTES));
    const request = { id: `stored ${keyId}`, limit, spanSeconds: WINDOW_SECONDS, count, unused: null };
    const taken = await take(request);
    if (taken === null || taken.granted > 0) return 0;
    return Math.max(1, Math.ceil(msUntil(taken, limit - 1, WINDOW_SECONDS) / 1000));
  };
}
