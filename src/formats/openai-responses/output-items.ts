// The items that an answer in the Responses format consists of, as the readers of whole answers and of streams take them.

import type { ReasoningDetail } from "../convert/reasoning-details.ts";
import { type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { RESPONSES } from "./items.ts";
import { clientToolOfItem } from "./to-chat/client-tools.ts";

/** A message, a tool call, a result, a thought. Messages of a request may leave out the type. */
export type Item = JsonObject;

/** A model's thoughts in words: a summary where the vendor gives no more, else the reasoning itself. */
export function reasoningText({ summary, content }: Item): string {
  const parts = objectsIn(summary).length > 0 ? objectsIn(summary) : objectsIn(content);
  return parts.flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : [])).join(PARAGRAPH);
}

/** Between parts that a client of another format reads as one text. */
export const PARAGRAPH = "\n\n";

/** The texts or refusals of a message item, in one. */
export function partText({ content }: Item, name: "text" | "refusal"): string {
  let all = "";
  for (const part of objectsIn(content)) if (typeof part[name] === "string") all += part[name];
  return all;
}

/** A call of a tool that the client runs. */
export function isCall({ type }: Item): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

/** A call of a tool of the vendor's that the client runs: only clients of the same format are given one. */
export function isClientCall({ type }: Item): boolean {
  return clientToolOfItem(textOrEmpty(type))?.call === type;
}

export function callId({ call_id: id }: Item): string {
  return textOrEmpty(id);
}

/** The arguments of a function, or the free text of a custom tool. */
export function callText({ type, arguments: text, input }: Item): string {
  return textOrEmpty(type === "custom_tool_call" ? input : text);
}

/** In the internal shape. */
export function writeCall(item: Item): JsonObject {
  const id = callId(item);
  if (item.type === "custom_tool_call")
    return { id, type: "custom", custom: { name: item.name, input: callText(item) } };
  return { id, type: "function", function: { name: item.name, arguments: callText(item) || "{}" } };
}

/** Reads an entry of `reasoning_details`; null for reasoning that cannot be sent back. */
export function detailOf(item: Item): ReasoningDetail | null {
  const { id, encrypted_content: data } = item;
  if (typeof data !== "string" || data === "") return null;
  const summary = reasoningText(item);
  return {
    type: "reasoning.encrypted",
    format: RESPONSES,
    ...(typeof id === "string" ? { id } : {}),
    ...(summary === "" ? {} : { summary }),
    data,
  };
}
