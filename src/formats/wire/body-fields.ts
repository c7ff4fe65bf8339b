// A long body, parsed field by field. Of a long history only a few texts are read, and decoding all of them takes longer
// than everything else, so a part of the body can stay undecoded. Tools that came twice before are not parsed again.

import { isAscii, isUtf8 } from "node:buffer";
import { UNDECODED } from "../../core/chat.ts";
import type { JsonObject } from "./fields.ts";
import { decodeText, isPlain, type JsonField, parseJson, parseText, type ScannedObject } from "./json-source.ts";
import { knownList } from "./known-lists.ts";

/** What of a body may stay undecoded. */
export interface UndecodedPart {
  readonly fields: ReadonlySet<string>;
  /** Whether a body can be read so; absent where all can. */
  allows?(body: JsonObject): boolean;
}

/** A shorter body, and one with more fields, is parsed faster in one piece. By hand. */
const LONG_BYTES = 4 * 1024;
const FIELDS_MAX = 256;
const TOOL_FIELDS: ReadonlySet<string> = new Set(["tools", "functions"]);

/**
 * A body with its part undecoded where that is not ASCII: `UNDECODED` marks it. Such a part is parsed from a text with one
 * character for each byte, in which JSON means the same. Null for a body that is better parsed as a whole.
 */
export function parseFields(scanned: ScannedObject, part: UndecodedPart): JsonObject | null {
  const { source, text } = scanned;
  const { bytes, fields } = source;
  const isPlainBody = isAscii(bytes);
  if ((isPlainBody ? bytes.length < LONG_BYTES : !isUtf8(bytes)) || fields.length > FIELDS_MAX) return null;
  if (!isPlainBody && !fields.every(({ name }) => isPlain(name))) return null;
  const parts = [...part.fields].flatMap((part) => fields.findLast(({ name }) => name === part) ?? []);
  const isUndecoded = !isPlainBody && !parts.every((field) => isAscii(valueBytes(bytes, field)));
  // Also in a field that is ASCII: all of the part is written again as bytes.
  if (isUndecoded && parts.some((field) => hasEscapedCharacters(text, field))) return null;
  // The frame has every name, so an assignment to `__proto__` means nothing else.
  const body = parseText(frameOf(scanned)) as Record<string, unknown> & { [UNDECODED]?: true };
  // Of a repeated field the last value stays, as in JSON.parse.
  for (const field of fields) {
    const { name, valueStart, end } = field;
    const value = valueBytes(bytes, field);
    const parse = (): unknown =>
      parseJson(part.fields.has(name) || isAscii(value) ? text.slice(valueStart, end) : decodeText(value));
    body[name] = TOOL_FIELDS.has(name) ? knownList(value, parse) : parse();
  }
  if (isUndecoded) body[UNDECODED] = true;
  return isUndecoded && part.allows?.(body) === false ? null : body;
}

function valueBytes(bytes: Buffer, { valueStart, end }: JsonField): Buffer {
  return bytes.subarray(valueStart, end);
}

/** The body with null for every value: it is JSON exactly if the body is and its values are. */
function frameOf({ source: { fields }, text }: ScannedObject): string {
  let frame = "";
  let from = 0;
  for (const { valueStart, end } of fields) {
    frame += `${text.slice(from, valueStart)}null`;
    from = end;
  }
  return frame + text.slice(from);
}

/** Escapes such as \u00e9 mean one character, and could not be told from bytes; \u0009 means a byte as well. */
function hasEscapedCharacters(text: string, { valueStart, end }: JsonField): boolean {
  for (let at = text.indexOf("\\u", valueStart); at >= 0 && at < end; at = text.indexOf("\\u", at + 2)) {
    if (!/^00[0-7]/.test(text.slice(at + 2, at + 5))) return true;
  }
  return false;
}
