// JSON objects as bytes: finds the top-level fields, so that a few can be changed without parsing and writing the rest.
// The scan also limits depth and size, which must happen before JSON.parse. A scanner in WebAssembly reads the bytes
// piece by piece in the same memory: a text made of them would take longer to get than to scan.

import { CODE_WITHOUT_SIMD, SCANNER_CODE } from "./scanner-code.ts";

/** The place of a field in the bytes: its name, its value, its end. */
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
  /** The number of objects, arrays and elements of them. */
  readonly values: number;
  /** Set where "1h" stands in the bytes, with its quotes; absent where nobody has looked. */
  readonly hasHour?: boolean;
}

/** A long text of the object itself, of an object in one of its lists, or in a list of that one, at most three lists deep. */
interface LongText {
  readonly start: number;
  /** Quotes included, as in `start`. */
  readonly end: number;
  /** The place of the name that the text belongs to; -1 for none. */
  readonly nameStart: number;
  /** Set where JSON allows all of the text, and no character is written as an escape such as \u00e9. */
  readonly isPlain: boolean;
  /** Set where JSON.stringify would write the text like this. It never writes \/. */
  readonly isUsual: boolean;
}

export interface ScannedObject {
  readonly source: JsonSource;
  readonly longTexts: readonly LongText[];
  /** Set where all bytes are ASCII. */
  readonly isAscii: boolean;
}

export type Scan =
  | (ScannedObject & { readonly state: "object" })
  | { readonly state: "too-deep" | "too-many" | "too-bare" | "not-object" };

/** Limits beyond which an object is refused unparsed. */
export interface ScanLimits {
  /** Objects, arrays and their elements. */
  readonly values: number;
  /** Bytes outside of texts and names: they are looked at one by one. */
  readonly bareBytes: number;
}

const NO_LIMITS: ScanLimits = { values: 0xffff_ffff, bareBytes: 0xffff_ffff };

/** Shorter ones are parsed faster than left out. By hand. */
const LONG_TEXT_BYTES = 1024;

interface Scanner {
  readonly memory: { readonly buffer: ArrayBuffer };
  begin(maxDepth: number, maxValues: number, maxBareBytes: number, maxShortBytes: number): void;
  scan(length: number, place: number): number;
  skip(values: number, textBytes: number, flags: number, end: number): void;
}

/** The part of the interface that is used here. */
declare const WebAssembly: {
  validate(code: Uint8Array): boolean;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

// The memory of the scanner, as it is laid out there.
const PIECE_AT = 32;
const PIECE_BYTES = 65_536;
const FINDS_AT = 65_616;
const NUMBERS_OF_FIND = 5;
const NOT_ASCII = 1;
const HOUR = 4;
const HOUR_TEXT = '"1h"';
const ESCAPED_OR_BROKEN = 3;
const ENDED = 1;
const TOOLS_BEGIN = 5;
const REFUSALS = ["too-deep", "too-many", "too-bare"] as const;

const code = Buffer.from(SCANNER_CODE, "base64");
const hasSimd = WebAssembly.validate(code);
const module = new WebAssembly.Module(hasSimd ? code : Buffer.from(CODE_WITHOUT_SIMD, "base64"));
const scanner = new WebAssembly.Instance(module).exports as Scanner;
const piece = new Uint8Array(scanner.memory.buffer, PIECE_AT, PIECE_BYTES);
const finds = new Int32Array(scanner.memory.buffer, FINDS_AT);
const summary = new Int32Array(scanner.memory.buffer, 0, 6);
const [FINDS, VALUES, FLAGS, IS_OBJECT, TEXT_BYTES, LIST] = [0, 1, 2, 3, 4, 5];

/** A list that was scanned before, and what was found in it. */
export interface ScannedList {
  readonly bytes: Buffer;
  readonly values: number;
  readonly textBytes: number;
  readonly flags: number;
}

/** The list that these bytes have at this place, if it is known. */
export type FindList = (bytes: Buffer, at: number) => ScannedList | null;

/**
 * Finds the top-level fields. Says nothing about validity: what it finds holds for bytes that JSON.parse accepts. `find` is
 * asked about the list of tools; long texts in one that it knows are not found.
 */
export function scanObject(
  bytes: Buffer,
  maxDepth: number,
  limits: ScanLimits = NO_LIMITS,
  find: FindList = () => null,
): Scan {
  const fields: JsonField[] = [];
  const longTexts: LongText[] = [];
  scanner.begin(maxDepth, limits.values, limits.bareBytes, LONG_TEXT_BYTES - 1);
  let from = 0;
  let state = 0;
  let isHourCut = false;
  do {
    const length = bytes.copy(piece, 0, from, from + PIECE_BYTES);
    state = scanner.scan(length, from);
    if (state > ENDED && state < TOOLS_BEGIN) return { state: REFUSALS[state - 2] as "too-deep" };
    readFinds(bytes, fields, longTexts);
    if (state === TOOLS_BEGIN) {
      from = skipKnown(bytes, limits, find);
      continue;
    }
    from += PIECE_BYTES;
    // The scanner cannot see what stands half in one piece and half in the next.
    if (from < bytes.length) isHourCut ||= bytes.toString("latin1", from - 3, from + 3).includes(HOUR_TEXT);
    // The summary of the next piece, even of an empty one, has the part that was left out.
  } while (state === TOOLS_BEGIN || (from < bytes.length && state !== ENDED));
  if (summary[IS_OBJECT] !== 1) return { state: "not-object" };
  const flags = summary[FLAGS] as number;
  const hasHour = isHourCut || (flags & HOUR) !== 0;
  const source = { bytes, fields, values: summary[VALUES] as number, hasHour };
  return { state: "object", source, longTexts, isAscii: (flags & NOT_ASCII) === 0 };
}

/** Returns the place to go on at: behind a known list, else at its beginning, to find the limit that it exceeds. */
function skipKnown(bytes: Buffer, limits: ScanLimits, find: FindList): number {
  const at = summary[LIST] as number;
  const list = find(bytes, at);
  if (list === null) return at;
  const end = at + list.bytes.length;
  const bareBytes = end - (summary[TEXT_BYTES] as number) - list.textBytes;
  if ((summary[VALUES] as number) + list.values > limits.values || bareBytes > limits.bareBytes) return at;
  scanner.skip(list.values, list.textBytes, list.flags, end);
  return end;
}

/** Scans the bytes of a list, whose depth was limited when it came. */
export function scanList(bytes: Buffer): ScannedList {
  scanObject(Buffer.concat([LIST_FIELD, bytes, OBJECT_END]), 0x7fff_ffff);
  const flags = summary[FLAGS] as number;
  return {
    bytes,
    values: (summary[VALUES] as number) - 1,
    textBytes: (summary[TEXT_BYTES] as number) - LIST_NAME_BYTES,
    flags,
  };
}

const LIST_FIELD = Buffer.from('{"tools":');
const LIST_NAME_BYTES = '"tools'.length;
const OBJECT_END = Buffer.from("}");

function readFinds(bytes: Buffer, fields: JsonField[], longTexts: LongText[]): void {
  const end = (summary[FINDS] as number) * NUMBERS_OF_FIND;
  for (let at = 0; at < end; at += NUMBERS_OF_FIND) {
    const start = finds[at + 1] as number;
    const second = finds[at + 2] as number;
    const third = finds[at + 3] as number;
    const fourth = finds[at + 4] as number;
    if (finds[at] === 0) fields.push({ name: keyName(bytes, start, second), start, valueStart: third, end: fourth });
    else {
      const isPlain = (fourth & ESCAPED_OR_BROKEN) === 0;
      longTexts.push({ start, end: second, nameStart: third, isPlain, isUsual: fourth === 0 });
    }
  }
}

/** A field's value as it was written: spellings such as 1e3 or integers beyond 2^53 survive in it. */
export function rawValue(source: JsonSource, name: string): Buffer | null {
  const field = source.fields.findLast((candidate) => candidate.name === name);
  return field === undefined ? null : source.bytes.subarray(field.valueStart, field.end);
}

function keyName(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString("latin1", start + 1, end - 1);
  // An escaped or non-ASCII name has to be read as JSON: "\u0073ervice_tier" is service_tier.
  return isPlainName(raw) ? raw : readEscapedName(bytes.toString("utf8", start, end));
}

export function isPlainName(raw: string): boolean {
  return /^[\x20-\x5b\x5d-\x7e]*$/.test(raw);
}

function readEscapedName(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}
