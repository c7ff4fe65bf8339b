// A long body, parsed field by field. Of a long history only a few texts are read, and parsing all of them takes longer
// than everything else. So its long texts stay unparsed until somebody asks for them. Tools that came twice before are
// not parsed again.

import { isAscii, isUtf8 } from "node:buffer";
import { type UnreadText, withUnread } from "../../core/chat.ts";
import { isPlainName, type JsonField, type JsonSource, type ScannedObject } from "../scan/scan.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { knownList } from "./known-lists.ts";
import { decodeText, parseJson, parseText } from "./parse.ts";

/** The field of a body whose long texts stay unparsed: a list of messages. */
export interface UnreadPart {
  readonly list: string;
  /** The names of texts and lists of its entries, then those of the entries of such lists, and so on. */
  readonly names: readonly (readonly string[])[];
  /** Says before any parsing whether a body's texts may stay unparsed; absent where they always may. */
  allowsSource?(source: JsonSource): boolean;
}

/** A shorter body, and one with more fields, is parsed faster in one piece. By hand. */
const LONG_BYTES = 4 * 1024;
const FIELDS_MAX = 256;
/** Length of a history from which leaving texts unparsed saves time. By hand. */
export const UNREAD_HISTORY_BYTES = 16 * 1024;
const TOOL_FIELDS: ReadonlySet<string> = new Set(["tools", "functions"]);

/** A body with long texts of its part unparsed. Null for a body that is better parsed as a whole. */
export function parseFields(
  scanned: ScannedObject,
  part: UnreadPart,
  unreadFromBytes = UNREAD_HISTORY_BYTES,
): JsonObject | null {
  const { bytes, fields } = scanned.source;
  if ((scanned.isAscii ? bytes.length < LONG_BYTES : !isUtf8(bytes)) || fields.length > FIELDS_MAX) return null;
  if (!scanned.isAscii && !fields.every(({ name }) => isPlainName(name))) return null;
  const isAllowed = part.allowsSource?.(scanned.source) !== false;
  const values = fields.map((field) => {
    const isLong = field.name === part.list && field.end - field.valueStart >= unreadFromBytes;
    return { field, left: isLong && isAllowed ? textsToLeave(scanned, field, part.names) : NONE };
  });
  // Decoding in pieces costs more than it saves where all of them are parsed.
  const isWorthIt = scanned.isAscii || values.some(({ field, left }) => left.length > 0 || TOOL_FIELDS.has(field.name));
  if (!isWorthIt) return null;
  // The frame has every name, so an assignment to `__proto__` means nothing else.
  const body = parseText(frameOf(scanned)) as Record<string, unknown>;
  // A repeated field keeps its last value, as in JSON.parse.
  for (const { field, left } of values) {
    const source = bytes.subarray(field.valueStart, field.end);
    const parse = (): unknown =>
      left.length > 0 ? parseAround(bytes, field, { left, names: part.names }) : parseJson(decoded(source));
    body[field.name] = TOOL_FIELDS.has(field.name) ? knownList(source, parse) : parse();
  }
  return body;
}

function decoded(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : decodeText(bytes);
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
  const value = parseJson(decoded(Buffer.from(withMarks(bytes, field, left), "latin1")));
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
