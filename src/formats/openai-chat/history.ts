// Adapts earlier turns of a conversation to one host. Models of other vendors leave reasoning text and thought
// signatures in them.

import type { ChatMessage, ToolCall } from "../../core/chat.ts";
import type { Dialect } from "../../core/model.ts";
import { withoutDetails } from "../convert/reasoning-details.ts";
import { isObject } from "../json/fields.ts";

/** Names under which hosts leave a model's thoughts in a message. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;

// Gemini refuses a call without the signature it gave; this value it accepts for calls that it did not make.
const FOREIGN_SIGNATURE = { google: { thought_signature: "skip_thought_signature_validator" } };

/** Tells whether earlier turns must be looked at: most hosts have no rules, and most turns no signatures. */
export function hasHistoryRules(messages: readonly ChatMessage[], dialect: Dialect): boolean {
  const { reasoningHistory = "keep", needsThoughtSignatures = false } = dialect;
  return reasoningHistory !== "keep" || needsThoughtSignatures || messages.some(hasDetails);
}

function hasDetails(message: ChatMessage): boolean {
  return (message as { reasoning_details?: unknown }).reasoning_details !== undefined;
}

/** The same message when nothing has to change. */
export function adaptHistory(message: ChatMessage, dialect: Dialect): ChatMessage {
  if (message.role !== "assistant") return message;
  const adapted = keepsReasoning(message, dialect) ? withoutDetails(message) : without(message, REASONING_FIELDS);
  const calls = message.tool_calls;
  if (calls === undefined || calls === null || calls.length === 0) return adapted;
  if (dialect.needsThoughtSignatures === true) return withSignature(adapted, calls);
  const isForeign = dialect.reasoningHistory === "drop" && calls.some((call) => "extra_content" in call);
  return isForeign ? { ...adapted, tool_calls: calls.map((call) => without(call, ["extra_content"])) } : adapted;
}

function keepsReasoning(message: ChatMessage, { reasoningHistory = "keep" }: Dialect): boolean {
  if (reasoningHistory === "tool-turns") return (message.tool_calls?.length ?? 0) > 0;
  return reasoningHistory === "keep";
}

/** Signs the first of several calls made at once: the others need no signature. */
function withSignature(message: ChatMessage, calls: readonly ToolCall[]): ChatMessage {
  const [first, ...others] = calls as readonly [ToolCall, ...ToolCall[]];
  if (isObject((first as { extra_content?: unknown }).extra_content)) return message;
  return { ...message, tool_calls: [{ ...first, extra_content: FOREIGN_SIGNATURE } as ToolCall, ...others] };
}

function without<T extends object>(value: T, names: readonly string[]): T {
  if (!names.some((name) => name in value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T;
}
