// A long body, parsed field by field. Of a long history only a few texts are read, and reading all of them takes longer
// than everything else. So a part of the body can stay undecoded, and long texts in it unparsed until somebody asks for
// them. Tools that came twice before are not parsed again.

import { isAscii, isUtf8 } from "node:buffer";
import { UNDECODED, type UnreadText, withUnread } from "../../core/chat.ts";
import { isPlainName, type JsonField, type LongText, type ScannedObject } from "../scan/scan.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { decodeText, parseJson, parseText } from "./json-source.ts";
import { knownList } from "./known-lists.ts";

/** What of a body may stay undecoded. */
export interface UndecodedPart {
  readonly fields: ReadonlySet<string>;
  /** One of the fields: a list of messages whose long texts stay unparsed. Absent for none. */
  readonly messages?: string;
  /** Whether a body can be read so; absent where all can. */
  allows?(body: JsonObject): boolean;
}

/** A shorter body, and one with more fields, is parsed faster in one piece. By hand. */
const LONG_BYTES = 4 * 1024;
const FIELDS_MAX = 256;
/** Of a shorter history, parsing all texts takes no longer than leaving some. By hand. */
export const UNREAD_HISTORY_BYTES = 16 * 1024;
const TOOL_FIELDS: ReadonlySet<string> = new Set(["tools", "functions"]);

/**
 * A body with its part undecoded where that is not ASCII: `UNDECODED` marks it. Such a part is parsed from a text with one
 * character for each byte, in which JSON means the same. Null for a body that is better parsed as a whole.
 */
export function parseFields(
  scanned: ScannedObject,
  part: UndecodedPart,
  unreadFromBytes = UNREAD_HISTORY_BYTES,
): JsonObject | null {
  const { bytes, fields } = scanned.source;
  if ((scanned.isAscii ? bytes.length < LONG_BYTES : !isUtf8(bytes)) || fields.length > FIELDS_MAX) return null;
  if (!scanned.isAscii && !fields.every(({ name }) => isPlainName(name))) return null;
  const values = fields.map((field) => {
    const hasLeft = field.name === part.messages && field.end - field.valueStart >= unreadFromBytes;
    return { ...field, ...readValue(scanned, field, hasLeft ? scanned.longTexts : []) };
  });
  const parts = [...part.fields].flatMap((part) => values.findLast(({ name }) => name === part) ?? []);
  const isUndecoded = !scanned.isAscii && !parts.every(({ source }) => isAscii(source));
  // Also in a field that is ASCII: all of the part is written again as bytes.
  if (isUndecoded && scanned.isEscaped && parts.some(({ text }) => hasEscapedCharacters(text()))) return null;
  // The frame has every name, so an assignment to `__proto__` means nothing else.
  const body = parseText(frameOf(scanned)) as Record<string, unknown> & { [UNDECODED]?: true };
  // Of a repeated field the last value stays, as in JSON.parse.
  for (const { name, source, text, unread } of values) {
    const parse = (): unknown => {
      const value = parseJson(part.fields.has(name) || isAscii(source) ? text() : decodeText(source));
      if (unread.length === 0) return value;
      return Array.isArray(value) ? value.map((message) => withText(unread, message)) : parseJson(decodeText(source));
    };
    body[name] = TOOL_FIELDS.has(name) ? knownList(source, parse) : parse();
  }
  if (isUndecoded) body[UNDECODED] = true;
  return isUndecoded && part.allows?.(body) === false ? null : body;
}

/** A field's value: its bytes, and the text that is parsed, without the texts that stay unread. */
interface Value {
  readonly source: Buffer;
  text(): string;
  readonly unread: readonly UnreadText[];
}

/** Stands for a literal in what is parsed. Nobody who writes a body can know it. */
const MARK = `${crypto.randomUUID()}:`;

/** `longTexts`: those that may stay unread. */
function readValue({ source: { bytes } }: ScannedObject, field: JsonField, longTexts: readonly LongText[]): Value {
  const { valueStart, end } = field;
  const left = longTexts.filter((text) => text.start > valueStart && text.end < end && isUnreadContent(bytes, text));
  return {
    source: bytes.subarray(valueStart, end),
    text: () => withMarks(bytes, field, left),
    unread: left.map((text) => ({ bytes, start: text.start, end: text.end })),
  };
}

/** Other names may be those of parts, or of something that we do not know. */
const CONTENT = '"content"';

function isUnreadContent(bytes: Buffer, { nameStart, isPlain }: LongText): boolean {
  return isPlain && nameStart >= 0 && bytes.toString("latin1", nameStart, nameStart + CONTENT.length) === CONTENT;
}

/** One character for each byte. */
function withMarks(bytes: Buffer, { valueStart, end }: JsonField, left: readonly LongText[]): string {
  let text = "";
  let from = valueStart;
  for (const [index, place] of left.entries()) {
    text += `${bytes.toString("latin1", from, place.start)}"${MARK}${index}"`;
    from = place.end;
  }
  return text + bytes.toString("latin1", from, end);
}

/** The text at this place where it would stay unread in a long history; null where it would not. */
export function unreadAt({ source: { bytes }, longTexts }: ScannedObject, start: number): UnreadText | null {
  const text = longTexts.find((text) => text.start === start);
  return text?.isPlain === true ? { bytes, start, end: text.end } : null;
}

/** The message with the text that its mark stands for. */
function withText(unread: readonly UnreadText[], message: unknown): unknown {
  if (!isObject(message) || typeof message.content !== "string" || !message.content.startsWith(MARK)) return message;
  const text = unread[Number(message.content.slice(MARK.length))];
  return text === undefined ? message : withUnread(message, text);
}

/** The body with null for every value: it is JSON exactly if the body is and its values are. */
function frameOf({ source: { bytes, fields } }: ScannedObject): string {
  let frame = "";
  let from = 0;
  for (const { valueStart, end } of fields) {
    frame += `${bytes.toString("latin1", from, valueStart)}null`;
    from = end;
  }
  return frame + bytes.toString("latin1", from);
}

/** Escapes such as \u00e9 mean one character, and could not be told from bytes; \u0009 means a byte as well. */
function hasEscapedCharacters(text: string): boolean {
  for (let at = text.indexOf("\\u"); at >= 0; at = text.indexOf("\\u", at + 2)) {
    if (!/^00[0-7]/.test(text.slice(at + 2, at + 5))) return true;
  }
  return false;
}
