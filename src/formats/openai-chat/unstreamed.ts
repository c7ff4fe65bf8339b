// A whole answer where a stream was asked for: some hosts do not stream every model. Its content becomes the chunks
// that a stream would have had.

import { isObject, type JsonObject } from "../wire/fields.ts";

const WHOLE = "stop";
const OPENING_BRACE = 0x7b;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Events never begin like this. Spaces before it are skipped; null when there is nothing else yet. */
export function beginsWhole(bytes: Uint8Array): boolean | null {
  const first = bytes.find((byte) => byte > 0x20);
  return first === undefined ? null : first === OPENING_BRACE;
}

/** The answer as it comes in. More than is accepted is thrown away, which leaves nothing that could be read. */
export class WholeBytes {
  #pieces: Uint8Array[] = [];
  #length = 0;

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > ANSWER_BYTES_MAX) this.#pieces = [];
    else this.#pieces.push(bytes);
  }

  take(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** What was said in one chunk, then how it ended. */
export function chunksOfWhole(completion: JsonObject): readonly JsonObject[] {
  const { choices: given, usage: _usage, x_groq: _groq, ...rest } = completion;
  const choices = (given as readonly unknown[]).filter(isObject);
  return [
    { ...rest, choices: choices.map(saidOf) },
    { ...rest, choices: choices.map(endOf) },
  ];
}

function saidOf({ message, finish_reason: _finish, ...rest }: JsonObject, position: number): JsonObject {
  const delta = isObject(message) ? message : {};
  const calls = delta.tool_calls;
  const indexed = Array.isArray(calls) ? { tool_calls: calls.filter(isObject).map(withIndex) } : {};
  return { index: position, ...rest, delta: { ...delta, ...indexed }, finish_reason: null };
}

function withIndex(call: JsonObject, index: number): JsonObject {
  return { ...call, index };
}

function endOf({ index, finish_reason: finish }: JsonObject, position: number): JsonObject {
  return { index: index ?? position, delta: {}, finish_reason: finish ?? WHOLE };
}
