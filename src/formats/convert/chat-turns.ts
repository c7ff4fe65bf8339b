// Chat messages sorted into turns, for formats in which user and assistant alternate and results follow their calls.

import { type ChatMessage, partsOf } from "../../core/chat.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import type { Conversion } from "./conversion.ts";

/** The first turn must be a user's; this one says nothing that a model could answer. */
export const OPENING = "(The conversation begins with the next message.)";
/** Stands after a begun answer where a model does not go on with one. */
export const CONTINUE = "Continue exactly where your last message ends.";

/** Assistant messages in a row, and all that follows until the next one. */
export interface MessageGroup {
  readonly assistant: ChatMessage[];
  readonly replies: ChatMessage[];
}

export function groupsOf(messages: readonly ChatMessage[]): readonly MessageGroup[] {
  const found: MessageGroup[] = [];
  for (const message of messages) {
    const last = found.at(-1);
    const isAssistant = message.role === "assistant";
    const belongs = last !== undefined && (!isAssistant || last.replies.length === 0);
    const group = belongs ? last : { assistant: [], replies: [] };
    if (!belongs) found.push(group);
    (isAssistant ? group.assistant : group.replies).push(message);
  }
  return found;
}

export function isInstruction({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

/** Thoughts as parts of content, which some hosts write; only the model that had them reads them. */
const THOUGHTS: ReadonlySet<string> = new Set(["thinking", "reasoning"]);

/** Refuses content other than text where the format of a provider takes text alone: nothing is left out in silence. */
export function refuseMedia(message: ChatMessage, conversion: Conversion): void {
  for (const part of partsOf(message)) {
    if (typeof part.text === "string" || typeof part.refusal === "string") continue;
    if (THOUGHTS.has(part.type))
      conversion.note(
        "reasoning_dropped",
        "dropped thinking of earlier turns: only the model that made it can read it",
      );
    else conversion.refuse(`it takes text only in messages of the role '${message.role}', not '${part.type}'`);
  }
  const { audio } = message as unknown as JsonObject;
  if (isObject(audio)) conversion.refuse("the audio of an earlier answer is kept at the provider that made it");
}

/** The call that a result answers: its id, or for the deprecated `function` role its name. */
export function resultKey({ role, tool_call_id: id, name }: ChatMessage): string | null {
  if (role === "tool") return toText(id ?? "");
  return role === "function" ? `function:${toText(name ?? "")}` : null;
}

/** A call as a message makes it: `key` is what its result names. */
export interface AssistantCall {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export function readCalls(message: ChatMessage): readonly AssistantCall[] {
  const calls = (message.tool_calls ?? []).map((call) => {
    const id = toText(call.id ?? "");
    const custom = (call as JsonObject).custom;
    if (!isObject(custom))
      return { key: id, id, name: call.function?.name ?? "", text: call.function?.arguments ?? "" };
    return { key: id, id, name: toText(custom.name), text: JSON.stringify({ input: custom.input }) };
  });
  const old = (message as unknown as JsonObject).function_call;
  if (!isObject(old)) return calls;
  const name = toText(old.name);
  return [...calls, { key: `function:${name}`, id: "", name, text: toText(old.arguments ?? "") }];
}

/** The arguments of a call as an object. */
export function parseArguments(text: string, conversion: Conversion): JsonObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Models do write broken arguments; what they wrote must stay visible to the next one.
  }
  conversion.note("content_converted", "wrapped tool arguments that are not a JSON object");
  return { raw_arguments: text };
}

/** The media type is the first group. */
const DATA_URL = /^data:([^;,]*)[^,]*;base64,/;

/** Reads a data URL in base64; null when the text is none. */
export function readDataUrl(text: string): { readonly mediaType: string; readonly base64: string } | null {
  const match = DATA_URL.exec(text);
  return match === null ? null : { mediaType: match[1] ?? "", base64: text.slice(match[0].length) };
}
