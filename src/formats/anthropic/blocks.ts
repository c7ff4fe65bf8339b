// The words of the Messages format: turns made of content blocks, as both directions of the codec handle them.

import { isObject, type JsonObject } from "../wire/fields.ts";

export interface Block extends JsonObject {
  readonly type: string;
}

export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly Block[];
}

export function blocksOf(content: Turn["content"]): readonly Block[] {
  return typeof content === "string" ? [textBlock(content)] : content;
}

export function textBlock(text: string): Block {
  return { type: "text", text };
}

/** Text that is no human's: the router does not take what stands between these marks for a request. */
export function reminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

export function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value.type === "string";
}

export function isThinking({ type }: Block): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** Carries a cache mark from one form of a content part to the other. */
export function cacheMark({ cache_control: mark }: JsonObject): JsonObject {
  return isObject(mark) ? { cache_control: mark } : {};
}
