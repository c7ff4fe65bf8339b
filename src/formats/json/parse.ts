// JSON objects that came as bytes, parsed: a provider's response, or the body of a request, of which UTF-8, depth, size and
// shape are checked before anything reads a field.

import { isAscii, isUtf8, transcode } from "node:buffer";
import { type UnreadText, withUnread } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import { isPlainName, type JsonField, type JsonSource, type ScannedObject, scanObject } from "../scan/scan.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { knownList, knownListAt } from "./known-lists.ts";

/** Depth limit for answers of providers and for our own texts. */
const RESPONSE_DEPTH_MAX = 200;

/** A provider's JSON object with the places of its fields; null when it is none, or nested absurdly deep. */
export function parseResponse(bytes: Buffer): ParsedBody | null {
  const scan = scanObject(bytes, RESPONSE_DEPTH_MAX);
  if (scan.state !== "object") return null;
  const body = parseObject(scan.isAscii ? bytes.toString("latin1") : bytes);
  return body === null ? null : { source: scan.source, body };
}

/** Parses bytes or a text; null when they are no JSON object. */
export function parseObject(given: Buffer | string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(given.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Finds the fields of a JSON text; null when the text is no object. */
export function scanText(bytes: Buffer): JsonSource | null {
  const scan = scanObject(bytes, RESPONSE_DEPTH_MAX);
  return scan.state === "object" ? scan.source : null;
}

/** Deeper bodies could exhaust the stack of a parser behind us. */
const DEPTH_MAX = 100;
/** The longest conversations have a quarter of the values. Parsing, or looking through, so much takes a tenth of a second. */
const LIMITS = { values: 100_000, bareBytes: 8 * 1024 * 1024 };

/** A body to read and to splice. */
export interface ParsedBody {
  readonly source: JsonSource;
  readonly body: JsonObject;
}

export function parseBody(bytes: Buffer): ParsedBody {
  const scanned = scanBody(bytes);
  return { source: scanned.source, body: parseText(decodeBody(scanned)) };
}

/** Finds the fields of a body. Throws every refusal that needs no parsing. */
export function scanBody(given: Buffer): ScannedObject {
  const bytes = withoutMark(given);
  const scan = scanObject(bytes, DEPTH_MAX, LIMITS, knownListAt);
  if (scan.state === "object") return scan;
  if (scan.state === "too-deep") {
    throw new GatewayError("badRequest", `The body is nested deeper than ${DEPTH_MAX} levels.`, { code: "too_deep" });
  }
  if (scan.state === "too-many") {
    throw tooMany(`The body has more than ${LIMITS.values} values. Send long content as text.`);
  }
  if (scan.state === "too-bare") {
    throw tooMany("The body has more than 8 MB of numbers or spaces. Send long content as text.");
  }
  parseText(decodeText(given));
  throw notAnObject();
}

export function parseText(text: string): JsonObject {
  const body = parseJson(text);
  if (isObject(body)) return body;
  throw notAnObject();
}

/** Some programs write a mark before the text; RFC 8259 lets us ignore it. */
function withoutMark(bytes: Buffer): Buffer {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}

/** The text of a body in one piece: a text put together from slices would be copied once more to be parsed. */
export function decodeBody({ source: { bytes }, isAscii }: ScannedObject): string {
  return isAscii ? bytes.toString("latin1") : decodeText(bytes);
}

export function decodeText(bytes: Buffer): string {
  // Node 20 decodes other text half as fast in one step as in these two.
  if (isUtf8(bytes)) return transcode(bytes, "utf8", "utf16le").toString("utf16le");
  throw new GatewayError("badRequest", "The body is not valid UTF-8.", { code: "invalid_json" });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError("badRequest", "The body is not valid JSON.", { code: "invalid_json", cause });
  }
}

function tooMany(message: string): GatewayError {
  return new GatewayError("tooLarge", message, { code: "too_many_values" });
}

function notAnObject(): GatewayError {
  return new GatewayError("badRequest", "The body must be a JSON object.", { code: "invalid_json" });
}

// A long body, parsed field by field. Of a long history only a few texts are read, and parsing all of them takes longer
// than everything else. So its long texts stay unparsed until somebody asks for them. Tools that came twice before are
// not parsed again.

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
