// Token counts in chat-completions: read from wherever a host puts them, and written for a client. Cached tokens, read
// and written, are counted inside the prompt. Counts that cannot be true are treated as missing.

import type { Usage } from "../../core/chat.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { type CountedParts, usageParts } from "../provider/usage-parts.ts";

/** A count above this cannot be true. */
const TOKENS_MAX = 1e9;

/**
 * From a response or a chunk. Null when there are no counts, or such that cannot be true. `executed` are searches that no
 * count tells, and `told` is the tier that an earlier chunk named.
 */
export function readUsage(carrier: JsonObject, executed = executedIn(carrier), told?: unknown): Usage | null {
  const groq = isObject(carrier.x_groq) ? carrier.x_groq.usage : null;
  const usage = carrier.usage ?? groq;
  if (!isObject(usage)) return null;
  const prompt = usage.prompt_tokens;
  const completion = usage.completion_tokens ?? 0;
  if (!isCount(prompt) || !isCount(completion)) return null;
  const { prompt_tokens_details: details, completion_tokens_details: outputDetails } = usage;
  const output = completion + thoughtsBeside(usage, prompt + completion);
  const cacheRead = Math.min(cachedIn(usage), prompt);
  const cacheWrite = Math.min(detail(details, "cache_write_tokens"), prompt - cacheRead);
  const read: { -readonly [Name in keyof Usage]: Usage[Name] } = {
    buckets: { input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output },
    longCacheWrite: Math.min(detail(details, "cache_write_1h_tokens"), cacheWrite),
    reasoning: detail(outputDetails, "reasoning_tokens"),
    reported: { ...usage, prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
  };
  const { parts, serviceTier, isTierTold } = partsOf(
    usage,
    carrier.service_tier ?? usage.service_tier ?? told,
    executed,
  );
  if (parts !== undefined) read.parts = parts;
  if (serviceTier !== undefined) read.serviceTier = serviceTier;
  if (isTierTold) read.isTierTold = true;
  return read;
}

/** Most hosts name them among the details. DeepSeek and Moonshot have a field of their own, sometimes alone. */
function cachedIn(usage: JsonObject): number {
  const { prompt_tokens_details: details } = usage;
  return detail(details, "cached_tokens") || detail(usage, "prompt_cache_hit_tokens") || detail(usage, "cached_tokens");
}

/** xAI counts searches and opened pages of the web, and those of X, and bills both. Other hosts have one count. */
function searchesIn(usage: JsonObject, executed: number): number {
  const { server_side_tool_usage_details: details } = usage;
  if (isObject(details)) return detail(details, "web_search_calls") + detail(details, "x_search_calls");
  const counted = detail(usage.server_tool_use, "web_search_requests") || detail(usage, "num_search_queries");
  return counted || executed;
}

function executedIn({ choices }: JsonObject): number {
  return objectsIn(choices).flatMap(({ message }) => executedSearches(message)).length;
}

/** The searches among the tools that Groq ran for an answer. Opened pages cost nothing. */
export function executedSearches(message: unknown): readonly JsonObject[] {
  if (!isObject(message) || !Array.isArray(message.executed_tools)) return [];
  return objectsIn(message.executed_tools).filter(({ type }) => typeof type === "string" && /search/i.test(type));
}

function partsOf(usage: JsonObject, tier: unknown, executed: number): CountedParts {
  const { prompt_tokens_details: details, completion_tokens_details: outputDetails } = usage;
  const cached = isObject(details) ? details.cached_tokens_details : null;
  const audioCacheRead = detail(cached, "audio_tokens");
  const imageCacheRead = detail(cached, "image_tokens");
  const parts = {
    audioInput: detail(details, "audio_tokens") - audioCacheRead,
    imageInput: detail(details, "image_tokens") - imageCacheRead,
    audioCacheRead,
    imageCacheRead,
    audioOutput: detail(outputDetails, "audio_tokens"),
    imageOutput: detail(outputDetails, "image_tokens"),
    search: searchesIn(usage, executed),
  };
  return usageParts(parts, tier);
}

/**
 * Some hosts count what a model thought beside what it said, name it, and have it in their total. It is output, and they
 * bill it. A total that is wrong in any other way says nothing.
 */
function thoughtsBeside(
  { total_tokens: total, completion_tokens_details: details }: JsonObject,
  counted: number,
): number {
  const thoughts = isObject(details) ? details.reasoning_tokens : 0;
  return isCount(thoughts) && total === counted + thoughts ? thoughts : 0;
}

/** Writes the host's own counts, with everything else it said; from the buckets alone for hosts of another format. */
export function writeUsage({ buckets, longCacheWrite, reasoning, reported }: Usage): JsonObject {
  if (reported !== undefined) return reported;
  const { input, cacheRead, cacheWrite, output } = buckets;
  const prompt = input + cacheRead + cacheWrite;
  const hasCache = cacheRead > 0 || cacheWrite > 0;
  const long = longCacheWrite > 0 ? { cache_write_1h_tokens: longCacheWrite } : {};
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...(hasCache
      ? { prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite, ...long } }
      : {}),
    ...(reasoning > 0 ? { completion_tokens_details: { reasoning_tokens: reasoning } } : {}),
  };
}

export function detail(details: unknown, name: string): number {
  const value = isObject(details) ? details[name] : 0;
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
