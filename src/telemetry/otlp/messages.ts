// Prompts and answers as OpenTelemetry's conventions have them: messages of parts, as JSON. Only made where the operator asks
// for content. The newest messages come first into the bound, because they are what a reader looks for.

import type { CapturedResponse } from "../../core/call-report.ts";
import { type ChatMessage, type ChatRequest, messageText } from "../../core/chat.ts";

/** In characters of text. Collectors refuse larger batches. */
const CHARS_MAX = 32 * 1024;
const CUT = "…";

type MessagePart = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

/** `gen_ai.input.messages`: the history, without its oldest messages where it is too long. */
export function inputMessages({ messages }: Pick<ChatRequest, "messages">): string {
  const shown: Message[] = [];
  const room = { chars: CHARS_MAX };
  for (let at = messages.length - 1; at >= 0 && room.chars > 0; at--)
    shown.unshift(messageOf(messages[at] as ChatMessage, room));
  return JSON.stringify(shown);
}

/** `gen_ai.output.messages`: one message, with the tool calls that arrived whole. */
export function outputMessages(said: CapturedResponse, finishReasons: readonly string[]): string {
  const room = { chars: CHARS_MAX };
  const text = said.text === "" ? [] : [textPart(said.text, room)];
  const calls = said.toolCalls().map((call) => callPart({ function: call }, room));
  // The conventions require a reason. A stream that broke off has none.
  const message = { role: "assistant", parts: [...text, ...calls], finish_reason: finishReasons[0] ?? "error" };
  return JSON.stringify([message]);
}

function messageOf(message: ChatMessage, room: Room): Message {
  const { role, content, tool_call_id: id, tool_calls: calls = [] } = message;
  if (role === "tool" || role === "function")
    return { role: "tool", parts: [{ type: "tool_call_response", id, response: cut(messageText(message), room) }] };
  const texts = Array.isArray(content)
    ? content.map((part: { type: string; text?: string }) =>
        typeof part.text === "string" ? textPart(part.text, room) : { type: part.type },
      )
    : [textPart(messageText(message), room)];
  const isEmpty = texts.length === 1 && texts[0]?.content === "";
  return { role, parts: [...(isEmpty ? [] : texts), ...calls.map((call) => callPart(call, room))] };
}

/** Characters that still fit, over all texts of an attribute. */
interface Room {
  chars: number;
}

function textPart(text: string, room: Room): MessagePart {
  return { type: "text", content: cut(text, room) };
}

function callPart(call: NonNullable<ChatMessage["tool_calls"]>[number], room: Room): MessagePart {
  const { name = "", arguments: given = "" } = call.function ?? {};
  return { type: "tool_call", id: call.id, name, arguments: jsonOr(cut(given, room)) };
}

/** Arguments are an object where they are whole. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function cut(text: string, room: Room): string {
  const kept = text.length <= room.chars ? text : `${text.slice(0, room.chars)}${CUT}`;
  room.chars = Math.max(0, room.chars - text.length);
  return kept;
}
