// Usage as providers report it, put into disjoint token buckets. What is missing is estimated from what was delivered,
// within the bounds of the request.

import { promptTokens, type Usage } from "../core/chat.ts";
import { cacheWritePrice, longCacheWritePrice, type Price, type TokenBuckets } from "../core/money.ts";

export interface Metered {
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
}

export interface MeterInput {
  readonly usage: Usage | null;
  /** Stands in where usage is missing. */
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
 * More than the request seems to allow. Hosts that search the web or think apart from the cap do count more, and bill it;
 * so it is charged like any other usage, and the operator hears of it.
 */
export function exceeds({ buckets }: Usage, { inputTokens, outputTokens }: TokenCounts): boolean {
  return promptTokens(buckets) > inputTokens || buckets.output > outputTokens;
}

/** The price of this answer. Cache entries for an hour cost more than usual ones, so writes are priced by their mix. */
export function priceFor({ buckets, longCacheWrite: long }: Usage, price: Price): Price {
  const written = buckets.cacheWrite;
  if (long === 0) return price;
  const usual = cacheWritePrice(price);
  const mixed = Math.ceil((usual * (written - long) + longCacheWritePrice(price) * long) / written);
  return { ...price, cacheWrite: mixed };
}

/** Usage where the provider reported nothing that can be true. */
export function estimatedUsage(buckets: TokenBuckets): Usage {
  return { buckets, longCacheWrite: 0, reasoning: 0 };
}
