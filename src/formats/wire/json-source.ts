// JSON objects as bytes: finds the top-level fields, so that a few can be changed without parsing and writing the rest.
// It also limits depth and size, which must happen before JSON.parse.

import { isAscii, isUtf8, transcode } from "node:buffer";
import { GatewayError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "./fields.ts";

/** Where a field stands in the bytes: its name, its value, its end. */
export interface JsonField {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The bytes as they came, and the places of the top-level fields. */
export interface JsonSource {
  readonly bytes: Buffer;
  readonly fields: readonly JsonField[];
  /** How many objects, arrays and elements of them there are. */
  readonly values: number;
}

/** Where a text stands, quotes included. */
interface TextPlace {
  readonly start: number;
  readonly end: number;
}

/** `text` is for the moment: a source may be kept for long. */
export interface ScannedObject {
  readonly source: JsonSource;
  readonly text: ByteText;
  /** Of objects in a list, as messages are. */
  readonly longTexts: readonly TextPlace[];
}

export type Scan =
  | (ScannedObject & { readonly state: "object" })
  | { readonly state: "too-deep" | "too-many" | "too-bare" | "not-object" };

/** How much may be in it before it is refused unparsed. */
export interface ScanLimits {
  /** Objects, arrays and their elements. */
  readonly values: number;
  /** Bytes outside of texts and names: they are looked at one by one. */
  readonly bareBytes: number;
}

const NO_LIMITS: ScanLimits = { values: Number.POSITIVE_INFINITY, bareBytes: Number.POSITIVE_INFINITY };

/** Shorter ones are parsed faster than left out. By hand. */
const LONG_TEXT_BYTES = 1024;
/** Of the fields of an object in a list that a top-level field has. */
const LISTED_DEPTH = 3;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** V8 gives longer texts memory of their own, which takes longer to get than to fill. */
const PIECE_BYTES = 112 * 1024;

/** Bytes as a text with one character for each, piece by piece: V8 begins a search in it in a tenth of the time of one in a buffer. */
class ByteText {
  readonly #bytes: Buffer;
  #piece: string;
  #start = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#piece = bytes.toString("latin1", 0, PIECE_BYTES);
  }

  slice(from: number, to: number): string {
    const start = this.#start;
    if (from < start || to > start + this.#piece.length) return this.#bytes.toString("latin1", from, to);
    return this.#piece.slice(from - start, to - start);
  }

  /** The place of the last character where none closes. */
  closingQuote(open: number): number {
    let from = open + 1;
    for (;;) {
      const found = this.#piece.indexOf('"', from - this.#start) + this.#start;
      if (found >= from) {
        if (!isEscaped(this.#bytes, found)) return found;
        from = found + 1;
      } else if (this.#next()) from = Math.max(from, this.#start);
      else return this.#bytes.length - 1;
    }
  }

  /** False where there is no other piece. */
  #next(): boolean {
    const end = this.#start + this.#piece.length;
    if (end >= this.#bytes.length) return false;
    this.#piece = this.#bytes.toString("latin1", end, end + PIECE_BYTES);
    this.#start = end;
    return true;
  }
}

/** After an odd number of backslashes. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/**
 * Finds the top-level fields. Says nothing about validity: what it finds holds for bytes that JSON.parse accepts.
 * Strings are skipped with the native search, which makes prose and base64 nearly free.
 */
export function scanObject(bytes: Buffer, maxDepth: number, limits: ScanLimits = NO_LIMITS): Scan {
  const text = new ByteText(bytes);
  const scanned = { bytes, text };
  const { values: maxValues, bareBytes: maxBareBytes } = limits;
  const fields: JsonField[] = [];
  const longTexts: TextPlace[] = [];
  let values = 0;
  let textBytes = 0;
  let position = skipSpace(bytes, 0);
  const isObject = bytes[position] === OPEN_OBJECT;
  let depth = 0;
  let keyStart = -1;
  let keyEnd = -1;
  let valueStart = -1;
  let lastSolid = position;
  for (; position < bytes.length; position++) {
    if (position - textBytes > maxBareBytes) return { state: "too-bare" };
    const byte = bytes[position] as number;
    if (byte === QUOTE) {
      const close = text.closingQuote(position);
      if (depth === 1 && keyStart < 0) {
        keyStart = position;
        keyEnd = close + 1;
      } else if (depth === LISTED_DEPTH && isLongText(position, close + 1)) {
        longTexts.push({ start: position, end: close + 1 });
      }
      textBytes += close - position;
      position = close;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > maxDepth) return { state: "too-deep" };
      values += 1;
      if (values > maxValues) return { state: "too-many" };
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0 && valueStart >= 0) {
        fields.push({ name: keyName(scanned, keyStart, keyEnd), start: keyStart, valueStart, end: lastSolid + 1 });
      }
      if (depth === 0) break;
    } else if (depth === 1 && byte === COLON && valueStart < 0) {
      valueStart = skipSpace(bytes, position + 1);
    } else if (byte === COMMA) {
      values += 1;
      if (values > maxValues) return { state: "too-many" };
      if (depth === 1 && valueStart >= 0) {
        fields.push({ name: keyName(scanned, keyStart, keyEnd), start: keyStart, valueStart, end: lastSolid + 1 });
        keyStart = keyEnd = valueStart = -1;
      }
    } else if (isSpace(byte)) {
      continue;
    }
    lastSolid = position;
  }
  return isObject ? { state: "object", source: { bytes, fields, values }, text, longTexts } : { state: "not-object" };
}

/** Whether it is long enough to be left out of what is parsed. Quotes included. */
export function isLongText(start: number, end: number): boolean {
  return end - start > LONG_TEXT_BYTES;
}

/** A field's value as it was written: spellings such as 1e3 or integers beyond 2^53 survive in it. */
export function rawValue(source: JsonSource, name: string): Buffer | null {
  const field = source.fields.findLast((candidate) => candidate.name === name);
  return field === undefined ? null : source.bytes.subarray(field.valueStart, field.end);
}

/** V8 copies so short a slice of a text. A longer one would keep the whole text alive. */
const COPIED_CHARS_MAX = 12;

function keyName({ bytes, text }: { bytes: Buffer; text: ByteText }, start: number, end: number): string {
  const isCopied = end - start - 2 <= COPIED_CHARS_MAX;
  const raw = isCopied ? text.slice(start + 1, end - 1) : bytes.toString("latin1", start + 1, end - 1);
  // An escaped or non-ASCII name has to be read as JSON: "\u0073ervice_tier" is service_tier.
  return isPlain(raw) ? raw : readEscapedName(bytes.toString("utf8", start, end));
}

export function isPlain(raw: string): boolean {
  return /^[\x20-\x5b\x5d-\x7e]*$/.test(raw);
}

function readEscapedName(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

function skipSpace(bytes: Buffer, position: number): number {
  let at = position;
  while (at < bytes.length && isSpace(bytes[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Of what providers send, and of what we wrote ourselves. */
const RESPONSE_DEPTH_MAX = 200;

/** A provider's JSON object with the places of its fields; null when it is none, or nested absurdly deep. */
export function parseResponse(bytes: Buffer): ParsedBody | null {
  const scan = scanObject(bytes, RESPONSE_DEPTH_MAX);
  if (scan.state !== "object") return null;
  const body = parseObject(isAscii(bytes) ? scan.text.slice(0, bytes.length) : bytes);
  return body === null ? null : { source: scan.source, body };
}

/** Null when they are no JSON object. */
export function parseObject(given: Buffer | string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(given.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Where the fields of a JSON text stand; null when it is no object. */
export function scanText(bytes: Buffer): JsonSource | null {
  const scan = scanObject(bytes, RESPONSE_DEPTH_MAX);
  return scan.state === "object" ? scan.source : null;
}

// A request body as bytes to a JSON object: UTF-8, depth, size and shape are checked before anything reads a field.

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

/** Where the fields stand; throws what can be said before anything is parsed. */
export function scanBody(given: Buffer): ScannedObject {
  const bytes = withoutMark(given);
  const scan = scanObject(bytes, DEPTH_MAX, LIMITS);
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
export function decodeBody({ source, text }: ScannedObject): string {
  return isAscii(source.bytes) ? text.slice(0, source.bytes.length) : decodeText(source.bytes);
}

export function decodeText(bytes: Buffer): string {
  // Node 20 decodes other text half as fast in one step as in these two.
  if (isUtf8(bytes)) return transcode(bytes, "utf8", "utf16le").toString("utf16le");
  throw new GatewayError("badRequest", "The body is not valid UTF-8.", { code: "invalid_json" });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

export function notJson(cause?: unknown): GatewayError {
  return new GatewayError("badRequest", "The body is not valid JSON.", { code: "invalid_json", cause });
}

function tooMany(message: string): GatewayError {
  return new GatewayError("tooLarge", message, { code: "too_many_values" });
}

function notAnObject(): GatewayError {
  return new GatewayError("badRequest", "The body must be a JSON object.", { code: "invalid_json" });
}
