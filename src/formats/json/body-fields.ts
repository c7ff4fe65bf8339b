// A long body, parsed field by field. Of a long history only a few texts are read, and reading all of them takes longer
// than everything else. So a part of the body can stay undecoded, and long texts in it unparsed until somebody asks for
// them. Tools that came twice before are not parsed again.

import { isAscii, isUtf8 } from "node:buffer";
import { UNDECODED, type UnreadText, withUnread } from "../../core/chat.ts";
import { isPlainName, type JsonField, type JsonSource, type ScannedObject } from "../scan/scan.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { knownList } from "./known-lists.ts";
import { decodeText, parseJson, parseText } from "./parse.ts";

/** What of a body may stay undecoded. */
export interface UndecodedPart {
  readonly fields: ReadonlySet<string>;
  /** Whose long texts stay unparsed; absent for none. */
  readonly unread?: UnreadPart;
  /** Whether a body may be read so, by what is known before anything is parsed; absent where all may. */
  allowsSource?(source: JsonSource): boolean;
  /** Whether a body can be read so; absent where all can. */
  allows?(body: JsonObject): boolean;
}

/** One of the fields: a list of messages. */
interface UnreadPart {
  readonly list: string;
  /** What texts and lists of its entries are called, then those of the entries of such lists, and so on. */
  readonly names: readonly (readonly string[])[];
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
  const isAllowed = part.allowsSource?.(scanned.source) !== false;
  const values = fields.map((field) => {
    const isLong = field.name === part.unread?.list && field.end - field.valueStart >= unreadFromBytes;
    const left = isLong && isAllowed ? textsToLeave(scanned, field, part.unread.names) : NONE;
    return { field, left, source: bytes.subarray(field.valueStart, field.end) };
  });
  const parts = [...part.fields].flatMap((part) => values.findLast(({ field }) => field.name === part) ?? []);
  const isUndecoded = !scanned.isAscii && !parts.every(({ source }) => isAscii(source));
  if (isUndecoded && !isAllowed) return null;
  // Also in a field that is ASCII: all of the part is written again as bytes.
  if (
    isUndecoded &&
    scanned.isEscaped &&
    parts.some(({ field, left }) => hasEscapedCharacters(withMarks(bytes, field, left)))
  )
    return null;
  // The frame has every name, so an assignment to `__proto__` means nothing else.
  const body = parseText(frameOf(scanned)) as Record<string, unknown> & { [UNDECODED]?: true };
  // Of a repeated field the last value stays, as in JSON.parse.
  for (const { field, left, source } of values) {
    const { name } = field;
    const parse = (): unknown => {
      if (left.length > 0) return parseAround(bytes, field, { left, names: part.unread?.names ?? [] });
      return parseJson(part.fields.has(name) || isAscii(source) ? source.toString("latin1") : decodeText(source));
    };
    body[name] = TOOL_FIELDS.has(name) ? knownList(source, parse) : parse();
  }
  if (isUndecoded) body[UNDECODED] = true;
  const isWhole = !isUndecoded && values.every(({ left }) => left.length === 0);
  if (isWhole || part.allows?.(body) !== false) return body;
  // What is ASCII means the same decoded, so that only its long texts have to be read.
  return isUndecoded ? null : parseFields(scanned, part, Number.POSITIVE_INFINITY);
}

const NONE: readonly UnreadText[] = [];

/** Texts of other names belong to something that we do not know. */
function textsToLeave(
  { source: { bytes }, longTexts }: ScannedObject,
  { valueStart, end: valueEnd }: JsonField,
  names: UnreadPart["names"],
): readonly UnreadText[] {
  const known = [...new Set(names.flat())];
  return longTexts.flatMap(({ start, end, nameStart, isPlain, isUsual }) => {
    if (!isPlain || nameStart < valueStart || end > valueEnd) return [];
    const name = known.find(
      (name) => bytes.toString("latin1", nameStart + 1, nameStart + name.length + 2) === `${name}"`,
    );
    return name === undefined ? [] : [{ bytes, start, end, name, isUsual }];
  });
}

/** Stands for a literal in what is parsed. Nobody who writes a body can know it. */
const MARK = `${crypto.randomUUID()}:`;

interface LeftTexts extends Pick<UnreadPart, "names"> {
  readonly left: readonly UnreadText[];
}

/** A list without its long texts, which are put where their marks stand. Those with a mark elsewhere are parsed with it. */
function parseAround(bytes: Buffer, field: JsonField, { left, names }: LeftTexts): unknown {
  const placed = new Set<UnreadText>();
  const place = (entry: unknown, level: number): unknown => {
    if (!isObject(entry)) return entry;
    let text: UnreadText | undefined;
    for (const name of names[level] ?? []) {
      const value = entry[name];
      if (Array.isArray(value)) for (const [at, inner] of value.entries()) value[at] = place(inner, level + 1);
      else if (typeof value === "string" && value.startsWith(MARK)) text = left[Number(value.slice(MARK.length))];
    }
    if (text === undefined) return entry;
    placed.add(text);
    return withUnread(entry, text);
  };
  const value = parseJson(withMarks(bytes, field, left));
  const list = Array.isArray(value) ? value.map((entry) => place(entry, 0)) : value;
  if (placed.size === left.length) return list;
  return parseAround(bytes, field, { left: left.filter((text) => placed.has(text)), names });
}

/** One character for each byte. */
function withMarks(bytes: Buffer, { valueStart, end }: JsonField, left: readonly UnreadText[]): string {
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
  return text?.isPlain === true ? { bytes, start, end: text.end, name: "content", isUsual: text.isUsual } : null;
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
