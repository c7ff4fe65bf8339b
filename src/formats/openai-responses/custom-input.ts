// Custom tools take plain text. Models of other formats call them as functions with one argument, so the text has to be
// found in JSON: at once in a whole call, and piece by piece in a stream.

import { isObject, type JsonObject } from "../json/fields.ts";

/** The one argument of such a function. */
const INPUT = "input";

/** The schema that stands for plain text. */
export const INPUT_SCHEMA: JsonObject = {
  type: "object",
  properties: { [INPUT]: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: [INPUT],
  additionalProperties: false,
};

export function writeInput(text: string): string {
  return JSON.stringify({ [INPUT]: text });
}

/** Reads a model's arguments as plain text. A model that ignores the schema is taken at its word. */
export function readInput(text: string): string {
  const decoder = createInputDecoder();
  return decoder.push(text) + decoder.end();
}

export interface InputDecoder {
  /** The text that these characters complete. */
  push(text: string): string;
  /** The rest at the end of the call. */
  end(): string;
}

const BEGINNING = /^\s*\{\s*"input"\s*:\s*"/;
/** A beginning that may still become the expected one. */
const OPEN_BEGINNING = /^\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?$/;
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const UNICODE_ESCAPE_LENGTH = 6;
const HIGH_SURROGATE = /^\\ud[89ab]/i;

/** Decodes the string after `{"input":"`. Arguments that begin in another way are read when they are whole. */
export function createInputDecoder(): InputDecoder {
  let state: "beginning" | "text" | "over" | "other" = "beginning";
  let held = "";

  function begin(): string {
    const match = BEGINNING.exec(held);
    if (match === null) {
      if (!OPEN_BEGINNING.test(held)) state = "other";
      return "";
    }
    state = "text";
    const rest = held.slice(match[0].length);
    held = "";
    return decode(rest);
  }

  /** Up to the closing quote; an escape that is cut in two waits for its other half. */
  function decode(piece: string): string {
    const text = held + piece;
    held = "";
    let decoded = "";
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at];
      if (character === '"') {
        state = "over";
        return decoded + text.slice(from, at);
      }
      if (character !== "\\") continue;
      decoded += text.slice(from, at);
      const length = escapeLength(text, at);
      if (at + length > text.length) {
        held = text.slice(at);
        return decoded;
      }
      decoded += unescaped(text.slice(at, at + length));
      from = at + length;
      at = from - 1;
    }
    return decoded + text.slice(from);
  }

  return {
    push(text) {
      if (state === "over" || text === "") return "";
      if (state === "text") return decode(text);
      held += text;
      return state === "beginning" ? begin() : "";
    },
    end() {
      const rest = state === "text" || state === "over" ? "" : otherInput(held);
      held = "";
      return rest;
    },
  };
}

/** Two halves of one character stay together: half a character cannot be written as UTF-8. */
function escapeLength(text: string, at: number): number {
  if (text[at + 1] !== "u") return 2;
  const end = at + UNICODE_ESCAPE_LENGTH;
  const mayHaveOther = HIGH_SURROGATE.test(text.slice(at, end)) && "\\u".startsWith(text.slice(end, end + 2));
  return mayHaveOther ? 2 * UNICODE_ESCAPE_LENGTH : UNICODE_ESCAPE_LENGTH;
}

function unescaped(sequence: string): string {
  const character = sequence[1] as string;
  if (character !== "u") return ESCAPES[character] ?? character;
  try {
    return JSON.parse(`"${sequence}"`) as string;
  } catch {
    return sequence;
  }
}

/** An object with one text in it means that text; anything else is what the model wrote. */
function otherInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return value;
    const values = isObject(value) ? Object.values(value) : [];
    const input = isObject(value) && typeof value[INPUT] === "string" ? value[INPUT] : values[0];
    if (typeof input === "string" && (values.length === 1 || input === (value as JsonObject)[INPUT])) return input;
    return values.length === 0 && isObject(value) ? "" : text;
  } catch {
    return text;
  }
}
