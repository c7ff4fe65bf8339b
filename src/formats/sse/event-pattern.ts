// Events that differ from an earlier one in nothing but some of their strings, as most events of a stream do. They are
// recognised by comparing characters, so that they need not be parsed.

import type { JsonObject } from "../json/fields.ts";

/** The texts in which one event differs from its pattern. */
export interface OwnTexts {
  /** In the order of the pattern, as JSON without quotes. */
  readonly json: readonly string[];
  /** The texts that are output, joined. */
  readonly output: string;
}

/** More than any event has. */
const TEXTS_MAX = 8;
const MARKS = /[\ue000-\ue007]/g;
const STRING_FIELD = /"(\w+)" ?: ?"/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class EventPattern {
  /** The pieces before, between and after the texts. */
  readonly #parts: readonly string[];
  readonly #isOutput: readonly boolean[];

  constructor(parts: readonly string[], isOutput: readonly boolean[]) {
    this.#parts = parts;
    this.#isOutput = isOutput;
  }

  get texts(): number {
    return this.#isOutput.length;
  }

  /** The event with a mark in place of each text. */
  get marked(): string {
    return this.#parts.map((part, index) => (index === 0 ? part : markOf(index - 1) + part)).join("");
  }

  /** The marks of those texts that are output. */
  get outputMarks(): readonly string[] {
    return this.#isOutput.flatMap((is, index) => (is ? [markOf(index)] : []));
  }

  /** Reads an event's texts; null when the event differs in anything else, or is no JSON. */
  match(data: string): OwnTexts | null {
    const parts = this.#parts;
    const json: string[] = [];
    let output = "";
    let at = 0;
    for (let index = 0; index < parts.length; index += 1) {
      if (index > 0) {
        const end = endOfText(data, at);
        const text = end < 0 ? null : decoded(data.slice(at, end));
        if (text === null) return null;
        json.push(text.json);
        if (this.#isOutput[index - 1] === true) output += text.value;
        at = end;
      }
      const part = parts[index] as string;
      if (!data.startsWith(part, at)) return null;
      at += part.length;
    }
    return at === data.length ? { json, output } : null;
  }
}

/** `names`: by the names of the strings that may differ, whether they are output. Null when the event has none. */
export function patternOf(data: string, names: ReadonlyMap<string, boolean>): EventPattern | null {
  const parts: string[] = [];
  const isOutput: boolean[] = [];
  let from = 0;
  for (const field of data.matchAll(STRING_FIELD)) {
    const is = names.get(field[1] as string);
    const start = field.index + field[0].length;
    if (is === undefined || start < from) continue;
    const end = endOfText(data, start);
    if (end < 0) return null;
    parts.push(data.slice(from, start));
    isOutput.push(is);
    from = end;
  }
  if (parts.length === 0 || parts.length > TEXTS_MAX) return null;
  return new EventPattern([...parts, data.slice(from)], isOutput);
}

/** Cuts the text written for a pattern at its marks. Null when a mark is missing, repeated or out of order. */
export function frameOf(marked: string, { texts }: Pick<EventPattern, "texts">): readonly string[] | null {
  const marks = marked.match(MARKS) ?? [];
  const isWhole = marks.length === texts && marks.every((mark, index) => mark === markOf(index));
  return isWhole ? marked.split(MARKS) : null;
}

/** A frame with its texts. */
export function fill(frame: readonly string[], { json }: OwnTexts): string {
  let text = frame[0] as string;
  for (let index = 1; index < frame.length; index += 1) text += (json[index - 1] as string) + frame[index];
  return text;
}

function markOf(index: number): string {
  return String.fromCharCode(0xe000 + index);
}

/** Finds the closing quote; -1 when there is none, or a character before it that JSON does not allow. */
function endOfText(data: string, from: number): number {
  for (let at = from; at < data.length; at += 1) {
    const code = data.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < 0x20) return -1;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

/** Reads a text as `JSON.parse` does and writes it as `JSON.stringify` does; null when the text is no JSON. */
function decoded(text: string): { readonly json: string; readonly value: string } | null {
  if (!text.includes("\\")) return { json: text, value: text };
  try {
    const value = JSON.parse(`"${text}"`) as string;
    return { json: JSON.stringify(value).slice(1, -1), value };
  } catch {
    return null;
  }
}

/** A chunk that is like an earlier one but for some texts. */
export interface RepeatedChunk {
  readonly pattern: ChunkPattern;
  readonly texts: OwnTexts;
}

/** The common part of all chunks of a pattern: the same object for each of them. */
export interface ChunkPattern {
  readonly texts: number;
  /** With a mark in place of each text. */
  readonly json: JsonObject;
  /** The same as text, cut at the marks. */
  readonly frame: readonly string[];
}
