// Token counts in both formats. Chat-completions counts cached tokens inside the prompt, the Messages format beside it.

import type { Usage } from "../../core/chat.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";

const TOKENS_MAX = 1e9;
const COUNTERS = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const;

/** Null when there are no counts, or such that cannot be true. */
export function readAnthropicUsage(usage: unknown): Usage | null {
  if (!isObject(usage) || !isCount(usage.input_tokens)) return null;
  const counts = COUNTERS.map((name) => usage[name] ?? 0);
  if (!counts.every(isCount)) return null;
  const [input = 0, cacheRead = 0, cacheWrite = 0, output = 0] = counts;
  const prompt = input + cacheRead + cacheWrite;
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details.thinking_tokens : null;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite, ...longWrites(usage) },
    ...(isCount(details) ? { completion_tokens_details: { reasoning_tokens: details } } : {}),
  };
}

function longWrites({ cache_creation: creation }: JsonObject): JsonObject {
  const tokens = isObject(creation) ? countOf(creation.ephemeral_1h_input_tokens) : 0;
  return tokens > 0 ? { cache_write_1h_tokens: tokens } : {};
}

/** What a later event of a stream says wins, counter by counter; what it leaves out stays. */
export function mergeAnthropicUsage(earlier: JsonObject, later: unknown): JsonObject {
  if (!isObject(later)) return earlier;
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

export function writeAnthropicUsage(usage: Usage): JsonObject {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cacheRead = Math.min(countOf(details.cached_tokens), usage.prompt_tokens);
  const cacheWrite = Math.min(countOf(details.cache_write_tokens), usage.prompt_tokens - cacheRead);
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const thinking = countOf(output.reasoning_tokens);
  return {
    input_tokens: usage.prompt_tokens - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: usage.completion_tokens,
    ...(thinking > 0 ? { output_tokens_details: { thinking_tokens: thinking } } : {}),
  };
}

function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
