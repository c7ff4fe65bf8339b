// Makes tool-call ids valid for a host. The new id depends only on the old one, so a call and its result in a later
// request still match.

import type { Tool } from "../../core/chat.ts";
import type { Dialect } from "../../core/model.ts";
import { isObject, type JsonObject } from "../json/fields.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** The ids that a host takes, and the length of a replacement. */
const RULES: Readonly<Record<Exclude<Dialect["toolIds"], "any">, { pattern: RegExp; length: number }>> = {
  "alphanumeric-9": { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
  "safe-40": { pattern: /^[A-Za-z0-9_-]{1,40}$/, length: 24 },
};

/** The same id where the host takes it. */
export function toolIdFor(id: string, rule: Dialect["toolIds"]): string {
  if (rule === "any" || RULES[rule].pattern.test(id)) return id;
  return hashText(id, RULES[rule].length);
}

/** Ids our stream reader gives to calls that came without one. */
const MADE_UP_ID = /^(call_\d+)?$/;

/** An id every format takes. One created for a host that sent none must not come back in a later turn for another call. */
export function clientToolId(id: string, index: number, { requestId }: { readonly requestId: string }): string {
  return toolIdFor(MADE_UP_ID.test(id) ? `call_${requestId}_${index}` : id, "safe-40");
}

/** For clients of chat-completions, which take any other id. */
export function uniqueToolId(id: string, index: number, context: { readonly requestId: string }): string {
  return MADE_UP_ID.test(id) ? clientToolId(id, index, context) : id;
}

/** FNV-1a, run on for as many letters as are wanted. Spread, not secrecy, is what counts here. */
export function hashText(text: string, length: number): string {
  let result = "";
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  let second = 0x9e3779b9;
  for (let index = text.length - 1; index >= 0; index--) {
    second = Math.imul(second ^ text.charCodeAt(index), 0x85ebca6b) >>> 0;
  }
  while (result.length < length) {
    state = Math.imul(state ^ second, 0x01000193) >>> 0;
    second = (Math.imul(second, 0xc2b2ae35) + 0x9e3779b9) >>> 0;
    result += ALPHABET.charAt((state ^ (state >>> 15)) % ALPHABET.length);
  }
  return result;
}

// Tool names made short enough for chat-completions hosts, and found again in the answer. As with ids, the new name
// depends on the old one alone.

/** Chat-completions takes no longer names. */
const NAME_LENGTH_MAX = 64;
const HASH_LENGTH = 8;

/** The same name where it is short and plain. */
export function shortToolName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, "_");
  if (safe === name && name.length <= NAME_LENGTH_MAX) return name;
  return `${safe.slice(0, NAME_LENGTH_MAX - HASH_LENGTH - 1)}_${hashText(name, HASH_LENGTH)}`;
}

/** Gives the name the client knows, among the tools it offered, for the one the provider used. */
export function toolNameRestorer(tools: readonly Pick<Tool, "name">[] = []): (name: string) => string {
  const originals = new Map<string, string>();
  for (const { name } of tools) {
    const short = shortToolName(name);
    if (short !== name) originals.set(short, name);
  }
  return (name) => originals.get(name) ?? name;
}

// The arguments of a tool call are JSON as text. Some hosts send the object itself, which no client can parse.

/** A call of a tool without parameters, for which some hosts send no arguments. */
export const NO_ARGUMENTS = "{}";

/** A call of a whole response that was not cut: no more arguments will come. */
export function withWholeArguments(call: JsonObject): JsonObject {
  const { function: called } = call;
  if (!isObject(called) || (called.arguments ?? "") !== "") return withTextArguments(call);
  return { ...call, function: { ...called, arguments: NO_ARGUMENTS } };
}

/** The same call where its arguments are text, or not there at all. */
export function withTextArguments(call: JsonObject): JsonObject {
  const { function: called } = call;
  if (!isObject(called) || !isObject(called.arguments)) return call;
  return { ...call, function: { ...called, arguments: JSON.stringify(called.arguments) } };
}
