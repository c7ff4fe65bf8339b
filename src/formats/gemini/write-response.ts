// A whole response in Gemini's format, written for a client: a provider's own bytes, or a chat completion converted.

import { promptTokens, type Usage } from "../../core/chat.ts";
import type { ResponseAdditions, ResponseContext, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { spliceFields } from "../json/splice.ts";
import { inOneMessage } from "../tools/searches.ts";
import { CandidateWriter, logprobsOf, rulesFor } from "./candidates.ts";
import { groundingOf } from "./grounding.ts";
import type { Part } from "./shape.ts";

/** From a provider of this format: its bytes but for the model name, missing usage and the added `service` object. */
export function passGeminiResponse(
  { native }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const changes = new Map([
    ["modelVersion", JSON.stringify(context.modelId)],
    ["service", JSON.stringify(service)],
  ]);
  if (usage !== null) changes.set("usageMetadata", JSON.stringify(writeGeminiUsage(usage)));
  return spliceFields(native.source, changes);
}

/** From a provider of another format. */
export function writeGeminiResponse(
  { completion, usage: counted }: WholeResponse,
  context: ResponseContext,
  { service, usage }: ResponseAdditions,
): Buffer {
  const rules = rulesFor(context);
  const choices = objectsIn(completion.choices);
  const candidates = choices.map((choice, index) => {
    const candidate = new CandidateWriter(rules);
    const { said, text, steps } = inOneMessage(isObject(choice.message) ? choice.message : {});
    const parts = [...candidate.add(said), ...candidate.rest()];
    const finishReason = candidate.finishReason(choice.finish_reason);
    return { content: writeContent(parts), finishReason, index, ...groundingOf(text, steps), ...logprobsOf(choice) };
  });
  const usageMetadata = writeGeminiUsage((usage ?? counted) as Usage);
  return Buffer.from(JSON.stringify({ candidates, usageMetadata, ...responseNames(context), service }));
}

/** Clients take content without a part for a broken response. */
export function writeContent(parts: readonly Part[]): JsonObject {
  return { parts: parts.length === 0 ? [{ text: "" }] : parts, role: "model" };
}

/** The names of every response, whole or as a chunk. */
export function responseNames({ modelId, requestId }: ResponseContext): JsonObject {
  return { modelVersion: modelId, responseId: requestId };
}

/** From whichever provider the counts came. Thoughts are counted beside the answer. */
export function writeGeminiUsage({ buckets, reasoning }: Usage): JsonObject {
  const prompt = promptTokens(buckets);
  const thoughts = Math.min(reasoning, buckets.output);
  return {
    promptTokenCount: prompt,
    ...(buckets.cacheRead > 0 ? { cachedContentTokenCount: buckets.cacheRead } : {}),
    candidatesTokenCount: buckets.output - thoughts,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: prompt + buckets.output,
  };
}
