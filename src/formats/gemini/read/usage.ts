// Token counts of the Gemini format. Cached tokens are counted inside the prompt, thoughts beside the answer, and what
// built-in tools brought in beside both.

import type { Usage } from "../../../core/chat.ts";
import { isObject, type JsonObject, objectsIn } from "../../json/fields.ts";
import { type CountedParts, usageParts } from "../../provider/usage-parts.ts";

/** A count above this cannot be true. */
const TOKENS_MAX = 1e9;
const COUNTERS = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "toolUsePromptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
] as const;

/** Reads the counts of a whole response. Searches stand with its candidates. */
export function readResponseUsage({ usageMetadata, candidates }: JsonObject): Usage | null {
  return readGeminiUsage(usageMetadata, new Set(objectsIn(candidates).flatMap(searchesIn)).size);
}

/** Reads the counts; null when there are none, or such that cannot be true. `toldTier`: as an earlier event named it. */
export function readGeminiUsage(metadata: unknown, searches = 0, toldTier?: unknown): Usage | null {
  if (!isObject(metadata) || !isCount(metadata.promptTokenCount)) return null;
  const counts = COUNTERS.map((name) => metadata[name] ?? 0);
  if (!counts.every(isCount)) return null;
  const [prompt = 0, cached = 0, ofTools = 0, candidates = 0, thoughts = 0] = counts;
  const cacheRead = Math.min(cached, prompt);
  const input = prompt - cacheRead + ofTools;
  const output = candidates + thoughts;
  return {
    buckets: { input, cacheRead, cacheWrite: 0, output },
    longCacheWrite: 0,
    reasoning: thoughts,
    ...partsOf(metadata, searches, toldTier),
    reported: reportedAs({ prompt: prompt + ofTools, cacheRead, output, thoughts }),
  };
}

/** Searches by Google of which a candidate tells. One that is named twice or without words costs nothing more. */
export function searchesIn({ groundingMetadata }: JsonObject): readonly string[] {
  const { webSearchQueries: queries } = isObject(groundingMetadata) ? groundingMetadata : {};
  return Array.isArray(queries) ? queries.filter((query) => typeof query === "string" && query.trim() !== "") : [];
}

function partsOf(metadata: JsonObject, searches: number, toldTier: unknown): CountedParts {
  const { promptTokensDetails, toolUsePromptTokensDetails, cacheTokensDetails, candidatesTokensDetails } = metadata;
  const prompt = byModality(promptTokensDetails, toolUsePromptTokensDetails);
  const cached = byModality(cacheTokensDetails);
  const output = byModality(candidatesTokensDetails);
  const parts = {
    audioInput: prompt("AUDIO") - cached("AUDIO"),
    imageInput: prompt("IMAGE") - cached("IMAGE"),
    videoInput: prompt("VIDEO") - cached("VIDEO"),
    audioCacheRead: cached("AUDIO"),
    imageCacheRead: cached("IMAGE"),
    audioOutput: output("AUDIO"),
    imageOutput: output("IMAGE"),
    search: searches,
    searchedPrompt: Math.min(1, searches),
  };
  return usageParts(parts, metadata.serviceTier ?? metadata.trafficType ?? toldTier);
}

function byModality(...lists: readonly unknown[]): (modality: string) => number {
  const counts = lists.flatMap(objectsIn);
  return (modality) =>
    counts.reduce((sum, count) => {
      const { tokenCount } = count;
      return count.modality === modality && isCount(tokenCount) ? sum + tokenCount : sum;
    }, 0);
}

interface Counts {
  readonly prompt: number;
  readonly cacheRead: number;
  readonly output: number;
  readonly thoughts: number;
}

/** The counts that a chat-completions client sees. */
function reportedAs({ prompt, cacheRead, output, thoughts }: Counts): JsonObject {
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...(cacheRead > 0 ? { prompt_tokens_details: { cached_tokens: cacheRead } } : {}),
    ...(thoughts > 0 ? { completion_tokens_details: { reasoning_tokens: thoughts } } : {}),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}
