// JSON objects put together from bytes: a few fields are changed, the rest stays as it was written.

import { isAscii } from "node:buffer";
import { writtenLiteral } from "../../core/chat.ts";
import type { JsonField, JsonSource } from "../scan/scan.ts";
import { BytePieces } from "./byte-pieces.ts";
import { isObject, type JsonObject } from "./fields.ts";

/** A field's new JSON text, or null to leave the field out. */
type FieldChanges = ReadonlyMap<string, string | Buffer | null>;

/**
 * The object with the changes made: a changed field keeps its place and a new one goes to the end. Of a repeated name
 * only the last stays, which is the one JSON.parse has read; another reader might take the first.
 */
export function spliceFields(source: JsonSource, changes: FieldChanges): Buffer {
  const { bytes } = source;
  // A short object is put together as a text, which takes half the time.
  const isText = bytes.length <= SHORT_BYTES && areTexts(changes) && isAscii(bytes);
  const text = isText ? bytes.toString("latin1") : null;
  const pieces = spliced(source, changes, text);
  return text === null ? joined(pieces) : Buffer.from(pieces.join(""));
}

/**
 * The same for a request body. What stays of a long one is not copied. The last piece is short: undici closes a
 * connection where the answer comes before it could write the last piece.
 */
export function spliceBody(source: JsonSource, changes: FieldChanges): Buffer | BytePieces {
  if (source.bytes.length < LONG_BYTES) return spliceFields(source, changes);
  const whole: Buffer[] = [];
  let short: Piece[] = [];
  const endShort = (): void => {
    if (short.length > 0) whole.push(joined(short));
    short = [];
  };
  for (const piece of spliced(source, changes, null)) {
    if (lengthOf(piece) < SHORT_BYTES) short.push(piece);
    else {
      endShort();
      whole.push(typeof piece === "string" ? Buffer.from(piece) : piece);
    }
  }
  endShort();
  return new BytePieces(whole);
}

/** The pieces in their order, of `text` where there is one. */
function spliced(source: JsonSource, changes: FieldChanges, text: string | null): readonly Piece[] {
  const { bytes, fields } = source;
  const placeOf = lastPlaces(fields);
  const pieces: Piece[] = ["{"];
  /** Neighbours that stay are copied together, with what stands between them. */
  let copiedFrom = -1;
  const copyTo = (end: number): void => {
    pieces.push(text === null ? bytes.subarray(copiedFrom, end) : text.slice(copiedFrom, end));
    copiedFrom = -1;
  };
  for (let place = 0; place < fields.length; place++) {
    const { name, start, valueStart } = fields[place] as JsonField;
    const change = changes.get(name);
    const isKept = change !== null && placeOf(name) === place;
    if (!isKept && copiedFrom >= 0) copyTo((fields[place - 1] as JsonField).end);
    if (!isKept) continue;
    if (copiedFrom < 0) {
      if (pieces.length > 1) pieces.push(",");
      copiedFrom = start;
    }
    if (change === undefined) continue;
    copyTo(valueStart);
    pieces.push(change);
  }
  if (copiedFrom >= 0) copyTo((fields.at(-1) as JsonField).end);
  for (const [name, change] of changes) {
    if (change === null || placeOf(name) >= 0) continue;
    pieces.push(`${pieces.length > 1 ? "," : ""}${JSON.stringify(name)}:`, change);
  }
  pieces.push("}");
  return pieces;
}

const SHORT_BYTES = 16 * 1024;
/**
 * Shorter bodies are sent as fast in one piece: pieces save a copy, but undici writes each by itself. From here on malloc
 * maps new memory for each copy, which doubles the price of a copy.
 */
const LONG_BYTES = 128 * 1024;

function areTexts(changes: FieldChanges): boolean {
  for (const change of changes.values()) if (change !== null && typeof change !== "string") return false;
  return true;
}

/** Most objects have so few fields that looking at each is quicker than a table. */
const FEW_FIELDS = 16;

/** The last place of a name; -1 where the object does not have it. */
function lastPlaces(fields: readonly JsonField[]): (name: string) => number {
  if (fields.length <= FEW_FIELDS) {
    return (wanted) => {
      let place = fields.length - 1;
      while (place >= 0 && fields[place]?.name !== wanted) place--;
      return place;
    };
  }
  const places = new Map(fields.map(({ name }, place) => [name, place]));
  return (wanted) => places.get(wanted) ?? -1;
}

type Piece = string | Buffer;

/** Into one piece of memory, each part once. */
export function joined(pieces: readonly Piece[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += lengthOf(piece);
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    at += typeof piece === "string" ? whole.write(piece, at) : piece.copy(whole, at);
  }
  return whole;
}

function lengthOf(piece: Piece): number {
  return typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
}

/** An object of ours as bytes, to be spliced like any other. Field by field, so that nothing has to be looked for again. */
export function sourceOf(object: JsonObject): JsonSource {
  const fields: JsonField[] = [];
  const pieces: Piece[] = [];
  let at = 0;
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const key = `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    const piece = name === "messages" ? writeJson(value) : JSON.stringify(value);
    // Behind the brace or comma that stands before it.
    const start = at + 1;
    const valueStart = at + lengthOf(key);
    pieces.push(key, piece);
    at = valueStart + lengthOf(piece);
    fields.push({ name, start, valueStart, end: at });
  }
  pieces.push(at === 0 ? "{}" : "}");
  return { bytes: joined(pieces), fields, values: 0 };
}

export function writeJson(value: unknown): Buffer {
  const pieces = Array.isArray(value) ? listPieces(value) : [];
  return pieces.length === 0 ? Buffer.from(JSON.stringify(value)) : joined(pieces);
}

/** A list with the texts that were left in a body as they stand there; none where it has no such text. */
function listPieces(list: readonly unknown[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const literals = list.map((entry) => (isObject(entry) ? writtenLiteral(entry) : null));
  if (literals.every((left) => left === null)) return pieces;
  let text = "[";
  for (const [index, entry] of list.entries()) {
    if (index > 0) text += ",";
    const left = literals[index] ?? null;
    if (left === null) text += JSON.stringify(entry);
    else {
      const { before, after } = around(entry as JsonObject, left.name);
      pieces.push(text + before, left.bytes.subarray(left.start, left.end));
      text = after;
    }
  }
  pieces.push(`${text}]`);
  return pieces;
}

/** The text that JSON.stringify writes before and after the value of a field. */
function around(object: JsonObject, name: string): { readonly before: string; readonly after: string } {
  let before = "{";
  let after = "";
  let isBefore = true;
  for (const field of Object.keys(object)) {
    if (field === name) {
      before += `${JSON.stringify(field)}:`;
      isBefore = false;
      continue;
    }
    const json = JSON.stringify(object[field]);
    if (json === undefined) continue;
    if (isBefore) before += `${JSON.stringify(field)}:${json},`;
    else after += `,${JSON.stringify(field)}:${json}`;
  }
  return { before, after: `${after}}` };
}
