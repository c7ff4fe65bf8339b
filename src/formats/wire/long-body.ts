// A long body, read value by value: what came before is taken from there, and only the rest is scanned and parsed.
// Whatever is unusual gives null, and the body is read as a whole, which also knows the errors.

import { isAscii, isUtf8 } from "node:buffer";
import { UNDECODED } from "../../core/chat.ts";
import {
  closingQuote,
  DEPTH_MAX,
  decodeText,
  isPlain,
  type JsonField,
  LIMITS,
  type ParsedBody,
  parseObject,
  skipSpace,
} from "./json-source.ts";
import type { KnownValue, OwnValues } from "./known-values.ts";
import { hasEscapedCharacters, type UndecodedPart } from "./undecoded.ts";

/** Shorter bodies are parsed faster than looked up. */
const BYTES_MIN = 16 * 1024;
/** Longer ones are read in several turns of the event loop. */
const BYTES_MAX = 2 * 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** The state of one reading. */
interface Reading {
  readonly bytes: Buffer;
  readonly known: OwnValues;
  at: number;
  values: number;
  isUndecoded: boolean;
  isEscaped: boolean;
  /** The bytes from the first that had to be scanned, one character each. */
  text: string;
  textFrom: number;
}

/** `part` is left undecoded, as `parseUndecoded` does. Its arrays are looked up element by element, other values whole. */
export function readLongBody(bytes: Buffer, part: UndecodedPart, known: OwnValues): ParsedBody | null {
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX || !isUtf8(bytes)) return null;
  const reading: Reading = {
    bytes,
    known,
    at: skipSpace(bytes, 0),
    values: 1,
    isUndecoded: false,
    isEscaped: false,
    text: "",
    textFrom: -1,
  };
  const found = new Map<string, unknown>();
  const fields = bytes[reading.at] === OPEN_OBJECT ? readFields(reading, part, found) : null;
  if (fields === null || reading.values > LIMITS.values || (reading.isUndecoded && reading.isEscaped)) return null;
  const body = parseRest(bytes, fields, found) as (Record<string, unknown> & { [UNDECODED]?: true }) | null;
  if (body === null) return null;
  // Not by assignment, which would mean something else for `__proto__`.
  for (const [name, value] of found) Object.defineProperty(body, name, { value });
  if (reading.isUndecoded) body[UNDECODED] = true;
  if (reading.isUndecoded && part.allows?.(body) === false) return null;
  return { source: { bytes, fields, values: reading.values }, body };
}

/** Where the fields stand. The values of some are put into `found`. Null for anything but plain names, each once. */
function readFields(reading: Reading, part: UndecodedPart, found: Map<string, unknown>): readonly JsonField[] | null {
  const { bytes } = reading;
  const fields: JsonField[] = [];
  for (;;) {
    const start = skipSpace(bytes, reading.at + 1);
    const nameEnd = bytes[start] === QUOTE ? bytes.indexOf(QUOTE, start + 1) : -1;
    if (nameEnd < 0) return null;
    const name = bytes.toString("latin1", start + 1, nameEnd);
    const colon = skipSpace(bytes, nameEnd + 1);
    if (!isPlain(name) || bytes[colon] !== COLON || fields.some((field) => field.name === name)) return null;
    const valueStart = skipSpace(bytes, colon + 1);
    reading.at = valueStart;
    const value = part.fields.has(name) ? readPart(reading) : readWhole(reading);
    if (value === null) return null;
    if (value !== UNREAD) found.set(name, value);
    fields.push({ name, start, valueStart, end: reading.at });
    reading.at = skipSpace(bytes, reading.at);
    if (bytes[reading.at] === CLOSE_OBJECT) return fields;
    if (bytes[reading.at] !== COMMA) return null;
    reading.values += 1;
  }
}

/** A value that is so short that it is parsed with the rest. */
const UNREAD: unique symbol = Symbol("unread");

function readPart(reading: Reading): unknown {
  if (reading.bytes[reading.at] !== OPEN_ARRAY) return readValue(reading, true)?.value ?? null;
  const { bytes } = reading;
  const elements: unknown[] = [];
  reading.values += 1;
  for (;;) {
    reading.at = skipSpace(bytes, reading.at + 1);
    const element = readValue(reading, true);
    if (element === null) return null;
    elements.push(element.value);
    reading.at = skipSpace(bytes, reading.at);
    if (bytes[reading.at] === CLOSE_ARRAY) break;
    if (bytes[reading.at] !== COMMA) return null;
    reading.values += 1;
  }
  reading.at += 1;
  return elements;
}

function readWhole(reading: Reading): unknown {
  const { bytes, at } = reading;
  const first = bytes[at];
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return readValue(reading, false)?.value ?? null;
  if (first === QUOTE) {
    // In the bytes: most such texts are short and stand before anything that has to be scanned.
    const close = bytes.indexOf(QUOTE, at + 1);
    if (close < 0 || bytes[close - 1] === BACKSLASH) return null;
    reading.at = close + 1;
    return UNREAD;
  }
  while (reading.at < bytes.length && !isEndOfBare(bytes[reading.at] as number)) reading.at += 1;
  return UNREAD;
}

const BACKSLASH = 0x5c;

function isEndOfBare(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte <= 0x20;
}

type ReadValue = Omit<KnownValue, "bytes">;

/** An object, an array or a text: one that came before, or one that is scanned and parsed. */
function readValue(reading: Reading, isPart: boolean): ReadValue | null {
  const { bytes, known, at } = reading;
  const same = known.find(bytes, at, isPart);
  const value = same ?? scanValue(reading, isPart);
  if (value === null) return null;
  if (same !== null) reading.at += same.bytes.length;
  reading.values += value.values;
  reading.isUndecoded ||= value.isUndecoded;
  reading.isEscaped ||= isPart && value.isEscaped;
  return value;
}

function scanValue(reading: Reading, isPart: boolean): ReadValue | null {
  const { bytes, known, at } = reading;
  if (reading.textFrom < 0) {
    reading.text = bytes.toString("latin1", at);
    reading.textFrom = at;
  }
  const measured = measure(reading.text, at - reading.textFrom);
  if (measured === null) return null;
  const end = measured.end + reading.textFrom;
  const own = bytes.subarray(at, end);
  const text = reading.text.slice(at - reading.textFrom, measured.end);
  const isPlainText = isAscii(own);
  const value = parseValue(isPart || isPlainText ? text : decodeText(own));
  if (value === undefined) return null;
  reading.at = end;
  const read = {
    value,
    values: measured.values,
    isUndecoded: isPart && !isPlainText,
    isEscaped: isPart && hasEscapedCharacters(text, 0, text.length),
  };
  known.learn({ bytes: own, ...read }, isPart);
  return read;
}

interface Measured {
  readonly end: number;
  readonly values: number;
}

/** Null for what is no object, array or text, has no end, or is nested too deep. */
function measure(text: string, start: number): Measured | null {
  let [depth, values] = [0, 0];
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1;
      values += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
    else if (code === COMMA) values += 1;
    else if (depth === 0) return null;
    if (depth === 0) return { end: at + 1, values };
    // Up to two levels are around it.
    if (depth > DEPTH_MAX - 2) return null;
  }
  return null;
}

/** Undefined for what is no JSON. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body with null in the place of each value that was found. */
function parseRest(bytes: Buffer, fields: readonly JsonField[], found: ReadonlyMap<string, unknown>) {
  let [rest, from] = ["", 0];
  for (const { name, valueStart, end } of fields) {
    if (!found.has(name)) continue;
    rest += `${bytes.toString("utf8", from, valueStart)}null`;
    from = end;
  }
  return parseObject(rest + bytes.toString("utf8", from));
}
