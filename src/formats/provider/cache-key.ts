// The field by which hosts bring the requests of a session together, so that they find their prompt in the cache.

import type { Outgoing } from "../format.ts";

export const CACHE_KEY = "prompt_cache_key";

/** Returns the key to add; null where the request needs none. The client's own key counts. */
export function cacheKeyFor({ request, cacheHelp, model, refusedFields }: Outgoing): string | null {
  const key = cacheHelp?.key ?? null;
  if (key === null || request.body[CACHE_KEY] !== undefined) return null;
  return refusedFields.includes(CACHE_KEY) || model.dialect.refuses.includes(CACHE_KEY) ? null : key;
}
