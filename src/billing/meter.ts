// Usage as providers report it, put into disjoint token buckets. What is missing is estimated from what was delivered,
// within the bounds of the request.

import type { Usage } from "../core/chat.ts";
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
  if (usage !== null) return { buckets: bucketsOf(usage), isEstimated: false };
  return {
    buckets: { input: estimate.inputTokens, cacheRead: 0, cacheWrite: 0, output: estimate.outputTokens },
    isEstimated: true,
  };
}

/**
 * More than the request seems to allow. Hosts that search the web or think apart from the cap do count more, and bill it;
 * so it is charged like any other usage, and the operator hears of it.
 */
export function exceeds(usage: Usage, { inputTokens, outputTokens }: TokenCounts): boolean {
  return usage.prompt_tokens > inputTokens || usage.completion_tokens > outputTokens;
}

/** Chat-completions counts cached tokens inside the prompt, reads and writes alike. */
export function bucketsOf(usage: Usage): TokenBuckets {
  const details = usage.prompt_tokens_details as Readonly<Record<string, unknown>> | null | undefined;
  const cacheRead = Math.min(count(details?.cached_tokens), usage.prompt_tokens);
  const cacheWrite = Math.min(count(details?.cache_write_tokens), usage.prompt_tokens - cacheRead);
  return {
    input: usage.prompt_tokens - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: usage.completion_tokens,
  };
}

/** What this answer is charged by: cache entries for an hour cost more than the usual ones, so writes are priced by their mix. */
export function priceFor(usage: Usage, price: Price): Price {
  const details = usage.prompt_tokens_details as Readonly<Record<string, unknown>> | null | undefined;
  const written = bucketsOf(usage).cacheWrite;
  const long = Math.min(count(details?.cache_write_1h_tokens), written);
  if (long === 0) return price;
  const usual = cacheWritePrice(price);
  const mixed = Math.ceil((usual * (written - long) + longCacheWritePrice(price) * long) / written);
  return { ...price, cacheWrite: mixed };
}

/** Buckets as a client sees them, where the provider reported nothing of use. */
export function usageOf({ input, cacheRead, cacheWrite, output }: TokenBuckets): Usage {
  const prompt = input + cacheRead + cacheWrite;
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}
