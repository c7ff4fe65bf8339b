// Token counts in both formats. Chat-completions counts cached tokens inside the prompt, the Messages format beside it.

import type { OwnSearches, Usage } from "../../core/chat.ts";
import type { TokenBuckets } from "../../core/money.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { usageParts } from "../provider/usage-parts.ts";

/** A count above this cannot be true. */
const TOKENS_MAX = 1e9;
const COUNTERS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const;

/** Reads the counts; null when there are none, or such that cannot be true. */
export function readAnthropicUsage(usage: unknown): Usage | null {
  if (!isObject(usage) || !isCount(usage.input_tokens)) return null;
  const counts = COUNTERS.map((name) => usage[name] ?? 0);
  if (!counts.every(isCount)) return null;
  const [input = 0, cacheRead = 0, cacheWrite = 0, output = 0] = counts;
  const thinking = isObject(usage.output_tokens_details) ? usage.output_tokens_details.thinking_tokens : null;
  const long = longWrites(usage);
  return {
    buckets: { input, cacheRead, cacheWrite, output },
    longCacheWrite: Math.min(long, cacheWrite),
    reasoning: countOf(thinking),
    ...usageParts({ search: searchesIn(usage) }, usage.service_tier),
    reported: reportedAs({ input, cacheRead, cacheWrite, output }, { long, thinking }),
  };
}

/** The counts that a chat-completions client sees: cached tokens are always named, also when there are none. */
function reportedAs(buckets: TokenBuckets, { long, thinking }: { long: number; thinking: unknown }): JsonObject {
  const { input, cacheRead, cacheWrite, output } = buckets;
  const prompt = input + cacheRead + cacheWrite;
  const longest = long > 0 ? { cache_write_1h_tokens: long } : {};
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite, ...longest },
    ...(isCount(thinking) ? { completion_tokens_details: { reasoning_tokens: thinking } } : {}),
  };
}

function searchesIn({ server_tool_use: used }: JsonObject): number {
  return isObject(used) ? countOf(used.web_search_requests) : 0;
}

function longWrites({ cache_creation: creation }: JsonObject): number {
  return isObject(creation) ? countOf(creation.ephemeral_1h_input_tokens) : 0;
}

/** Merges counts: those of a later event win, counter by counter, and those it leaves out stay. */
export function mergeAnthropicUsage(earlier: JsonObject, later: unknown): JsonObject {
  if (!isObject(later)) return earlier;
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

/** From whichever provider the counts came. */
export function writeAnthropicUsage({ buckets, reasoning, serviceTier, ownSearches }: Usage): JsonObject {
  return {
    input_tokens: buckets.input,
    cache_creation_input_tokens: buckets.cacheWrite,
    cache_read_input_tokens: buckets.cacheRead,
    output_tokens: buckets.output,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    ...(ownSearches === undefined ? {} : { server_tool_use: usesOf(ownSearches) }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
  };
}

function usesOf({ count, fetched }: OwnSearches): JsonObject {
  return { web_search_requests: count, ...(fetched === undefined ? {} : { web_fetch_requests: fetched.count }) };
}

function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
