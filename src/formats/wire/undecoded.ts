// A body with a part that is not decoded: of a long history only a few texts are read, and decoding all of them takes
// longer than everything else.

import { isAscii, isUtf8 } from "node:buffer";
import { UNDECODED } from "../../core/chat.ts";
import type { JsonObject } from "./fields.ts";
import { decodeText, isPlain, lastPlaces, parseJson, parseText, type ScannedObject } from "./json-source.ts";

/** What of a body may stay undecoded. */
export interface UndecodedPart {
  readonly fields: ReadonlySet<string>;
  /** Whether a body can be read so; absent where all can. */
  allows?(body: JsonObject): boolean;
}

/**
 * A body with a part that is not decoded: `UNDECODED` marks it. It is parsed from a text with one character for each
 * byte, in which JSON means the same. Null for a body that needs no such thing, or cannot be read so.
 */
export function parseUndecoded(
  { source: { bytes, fields }, text }: ScannedObject,
  part: UndecodedPart,
): JsonObject | null {
  if (isAscii(bytes) || !isUtf8(bytes) || !fields.every(({ name }) => isPlain(name))) return null;
  const placeOf = lastPlaces(fields);
  const decoded = new Map<string, unknown>();
  let [isPartUndecoded, isPartEscaped] = [false, false];
  // What is decoded is parsed once, by itself. In the rest, null stands in its place.
  let [rest, restFrom] = ["", 0];
  for (const [place, { name, valueStart, end }] of fields.entries()) {
    const value = bytes.subarray(valueStart, end);
    if (placeOf.get(name) !== place) continue;
    if (part.fields.has(name)) {
      isPartUndecoded ||= !isAscii(value);
      // Also in a field that is ASCII: all of the part is written again as bytes.
      isPartEscaped ||= hasEscapedCharacters(text, valueStart, end);
      continue;
    }
    if (isAscii(value)) continue;
    decoded.set(name, parseJson(decodeText(value)));
    rest += `${text.slice(restFrom, valueStart)}null`;
    restFrom = end;
  }
  if (isPartUndecoded && isPartEscaped) return null;
  const body = parseText(rest + text.slice(restFrom)) as Record<string, unknown> & { [UNDECODED]?: true };
  // Not by assignment, which would mean something else for `__proto__`.
  for (const [name, value] of decoded) Object.defineProperty(body, name, { value });
  if (isPartUndecoded) body[UNDECODED] = true;
  return part.allows?.(body) === false ? null : body;
}

/** Escapes such as \u00e9 mean one character, and could not be told from bytes; \u0009 means a byte as well. */
function hasEscapedCharacters(text: string, start: number, end: number): boolean {
  for (let at = text.indexOf("\\u", start); at >= 0 && at < end; at = text.indexOf("\\u", at + 2)) {
    if (!/^00[0-7]/.test(text.slice(at + 2, at + 5))) return true;
  }
  return false;
}
