// Names and small types of Converse, Bedrock's format for models of every maker: turns that consist of blocks, each an
// object with one field that says what it is.

import type { Usage } from "../../core/chat.ts";
import { readAnthropicUsage } from "../anthropic/usage.ts";
import type { ReasoningDetail } from "../convert/reasoning-details.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";

/** The name in the registry. */
export const CONVERSE = "converse";

export type ConverseBlock = JsonObject;

/** A message of the conversation. */
export interface ConverseTurn {
  readonly role: "user" | "assistant";
  readonly content: readonly ConverseBlock[];
}

/** Keeps in the prompt cache what stands before it. */
export const CACHE_POINT: ConverseBlock = { cachePoint: { type: "default" } };

/** Reasons for the end of an answer, in chat-completions' words. Others count as a usual end. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
};

export function finishReasonFor(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? "stop";
}

/** The model wrote something that Bedrock itself could not read, so there is no answer. */
export function isBroken(stopReason: unknown): boolean {
  return typeof stopReason === "string" && stopReason.startsWith("malformed_");
}

/** Without a word the answer can still be one: it was blocked, or thoughts used up the output cap. */
export function isMeantEmpty(stopReason: unknown): boolean {
  const finish = finishReasonFor(stopReason);
  return finish === "content_filter" || finish === "length";
}

/** Counts stand beside each other as in the Messages format, cached tokens outside of the input. */
export function readConverseUsage(usage: unknown, tier: unknown): Usage | null {
  if (!isObject(usage) || typeof usage.outputTokens !== "number") return null;
  const hourly = objectsIn(usage.cacheDetails).filter(({ ttl }) => ttl === "1h");
  const hour = hourly.reduce((sum, { inputTokens }) => sum + Number(inputTokens ?? 0), 0);
  return readAnthropicUsage({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation_input_tokens: usage.cacheWriteInputTokens,
    cache_creation: { ephemeral_1h_input_tokens: hour },
    service_tier: isObject(tier) ? tier.type : undefined,
  });
}

/** A signed or encrypted thought in the internal shape; null for one without what its model would check. */
export function detailOf({ reasoningText, redactedContent }: JsonObject): ReasoningDetail | null {
  if (typeof redactedContent === "string" && redactedContent !== "") {
    return { type: "reasoning.encrypted", format: CONVERSE, data: redactedContent };
  }
  const { text, signature } = isObject(reasoningText) ? reasoningText : {};
  if (typeof signature !== "string" || signature === "") return null;
  return { type: "reasoning.text", format: CONVERSE, text: textOrEmpty(text), signature };
}

/** The block that an entry of this format was made from. */
export function reasoningBlock({ text = "", signature = "", data }: ReasoningDetail): ConverseBlock {
  if (data !== undefined) return { reasoningContent: { redactedContent: data } };
  return { reasoningContent: { reasoningText: { text, signature } } };
}
