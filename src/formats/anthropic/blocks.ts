// Types of the Messages format: turns that consist of content blocks. Both directions of the codec use them.

import { type UnreadText, unreadIn, withUnread } from "../../core/chat.ts";
import type { ReasoningDetail } from "../convert/reasoning-details.ts";
import { isObject, type JsonObject, textOrEmpty } from "../json/fields.ts";
import { normalFinish } from "../openai-chat/read-response.ts";

/** The name in the registry; `bridge.ts` and native events compare it. */
export const ANTHROPIC = "anthropic";

/** Fields that only the hosts of clouds have: the version of the format, and the betas of the header. */
export const CLOUD_FIELDS: readonly string[] = ["anthropic_version", "anthropic_beta"];

/** One piece of a turn: text, an image, a tool call, a result, a thought. */
export interface Block extends JsonObject {
  readonly type: string;
}

/** A message of the conversation. `system` stands among the messages only where the model takes it there. */
export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly Block[];
}

/** A text stands for one block of text. */
export function blocksOf(content: Turn["content"]): readonly Block[] {
  return typeof content === "string" ? [textBlock(content)] : content;
}

/** The blocks of a turn, or of a result. A text that was left in the body stays there. */
export function blocksIn(turn: Turn | Block): readonly Block[] {
  const text = unreadIn(turn, "content");
  if (text === null) return blocksOf(turn.content as Turn["content"]);
  return [withUnread(textBlock(""), { ...text, name: "text" })];
}

/** The text in the body that is all of these blocks; null where there is more, or another text. */
export function onlyUnread(blocks: readonly Block[]): UnreadText | null {
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" ? unreadIn(first, "text") : null;
}

export function textBlock(text: string): Block {
  return { type: "text", text };
}

/** Also thoughts that the provider shows only encrypted. */
export function isThinking({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** A signed or encrypted thought in the internal shape; null for a block without what its model would check. */
export function detailOf({ type, thinking, signature, data }: JsonObject): ReasoningDetail | null {
  if (type === "redacted_thinking" && typeof data === "string") {
    return { type: "reasoning.encrypted", format: ANTHROPIC, data };
  }
  if (type !== "thinking" || typeof signature !== "string" || signature === "") return null;
  return { type: "reasoning.text", format: ANTHROPIC, text: textOrEmpty(thinking), signature };
}

/** The block that an entry of this format was made from. */
export function thinkingBlock({ text = "", signature = "", data }: ReasoningDetail): Block {
  if (data !== undefined) return { type: "redacted_thinking", data };
  return { type: "thinking", thinking: text, signature };
}

/** Carries a cache mark from one form of a content part to the other. */
export function cacheMark({ cache_control: mark }: JsonObject): JsonObject {
  return isObject(mark) ? { cache_control: mark } : {};
}

// Reasons for the end of an answer, in the words of both formats.

/** From chat-completions to the Messages format. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  function_call: "tool_use",
  content_filter: "refusal",
};

/** From the Messages format to chat-completions, which has fewer words. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Facts about an answer's end, for writing it in this format. */
interface Ending {
  readonly finish: unknown;
  readonly hasToolCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Some hosts say `stop` although they called a tool, and a refusal is one whatever the finish says. */
export function stopReasonFor({ finish, hasToolCalls, hasRefusal }: Ending): string {
  if (hasRefusal) return "refusal";
  const named = normalFinish(finish, hasToolCalls);
  return STOP_REASONS[String(named)] ?? (hasToolCalls ? "tool_use" : "end_turn");
}

/** Reasons this table does not know yet count as a usual end. */
export function finishReasonFor(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? "stop";
}
