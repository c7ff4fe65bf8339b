// Usage as providers report it, in disjoint token buckets. Missing usage is estimated from the delivered content, within
// the bounds of the request.

import { promptTokens, type Usage } from "../core/chat.ts";
import { cacheWritePrice, longCacheWritePrice, type Price, type TokenBuckets } from "../core/money.ts";

export interface Metered {
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
}

export interface MeterInput {
  readonly usage: Usage | null;
  /** Used if usage is missing. */
  readonly estimate: TokenCounts;
}

export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function meter({ usage, estimate }: MeterInput): Metered {
  if (usage !== null) return { buckets: usage.buckets, isEstimated: false };
  return {
    buckets: { input: estimate.inputTokens, cacheRead: 0, cacheWrite: 0, output: estimate.outputTokens },
    isEstimated: true,
  };
}

/**
 * Tells whether usage is more than the request seems to allow. Hosts that search the web, or think beyond the cap, really
 * bill such usage. So it is charged like any other, and reported to the operator.
 */
export function exceeds({ buckets }: Usage, { inputTokens, outputTokens }: TokenCounts): boolean {
  return promptTokens(buckets) > inputTokens || buckets.output > outputTokens;
}

/** Prices the cache writes of an answer by their mix, because entries for an hour cost more than usual ones. */
export function priceFor({ buckets, longCacheWrite: long }: Usage, price: Price): Price {
  const written = buckets.cacheWrite;
  if (long === 0) return price;
  const usual = cacheWritePrice(price);
  const mixed = Math.ceil((usual * (written - long) + longCacheWritePrice(price) * long) / written);
  return { ...price, cacheWrite: mixed };
}

/** Makes usage if the provider reported none that can be true. */
export function estimatedUsage(buckets: TokenBuckets): Usage {
  return { buckets, longCacheWrite: 0, reasoning: 0 };
}
