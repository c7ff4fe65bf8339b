// Types and names of the Gemini format: contents that consist of parts. Both ends of the codec use them.

import { isObject, type JsonObject } from "../json/fields.ts";

/** The name in the registry; `bridge.ts` and native events compare it. */
export const GEMINI = "gemini";

/** One piece of a turn: text, a thought, data, a call or its result. */
export type Part = JsonObject;

/** A turn of the conversation. */
export interface GeminiContent {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
}

/** Accepted in place of a signature for calls that Gemini did not make. */
export const FOREIGN_SIGNATURE = "skip_thought_signature_validator";

/** Parts in the order they came, or the one that stands for a list; whatever else is there is none. */
export function partsOf(content: unknown): readonly Part[] {
  if (!isObject(content)) return [];
  const { parts } = content;
  return (Array.isArray(parts) ? parts : [parts]).filter(isObject);
}
