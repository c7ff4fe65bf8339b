// Names and small readers of the Responses format that both directions of the codec use.

import type { ResponseContext } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { shortToolName } from "../tools/calls.ts";

/** The name in the registry; `bridge.ts` and native events compare it. */
export const RESPONSES = "openai-responses";

/** Asks for what a provider has encrypted or signed of its reasoning. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** Tells whether `include` asks for reasoning that can be sent back. */
export function wantsEncrypted({ include }: JsonObject): boolean {
  return Array.isArray(include) && include.includes(ENCRYPTED_REASONING);
}

/** Tells whether a response carries encrypted reasoning: the client asked for it, or a later turn will need it. */
export function keepsEncrypted({ kept, request }: ResponseContext): boolean {
  return kept !== undefined || (request !== undefined && wantsEncrypted(request.body));
}

/** Tells whether reasoning that nobody signed is sealed, too: the client may keep no other. */
export function sealsTexts({ request }: ResponseContext): boolean {
  return request !== undefined && wantsEncrypted(request.body);
}

/** The kind of an input item. A message may leave its type out, and so may a reference. */
export function itemType({ type, role, id }: JsonObject): string {
  if (typeof type === "string") return type;
  if (role !== undefined) return "message";
  return id === undefined ? "" : "item_reference";
}

/** The name of a tool in chat-completions, which has no namespaces. It depends on both names alone. */
export function chatToolName(name: string, namespace: unknown): string {
  if (typeof namespace !== "string" || namespace === "") return shortToolName(name);
  return shortToolName(namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`);
}

/** The texts of parts, whatever their type says. */
export function partTexts(parts: unknown): readonly string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));
}
