// JSON objects that came as bytes, parsed: a provider's response, or the body of a request, of which UTF-8, depth, size and
// shape are checked before anything reads a field.

import { isUtf8, transcode } from "node:buffer";
import { GatewayError } from "../../core/errors.ts";
import { type JsonSource, type ScannedObject, scanObject } from "../scan/scan.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { knownListAt } from "./known-lists.ts";

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

export function parseJson(text: string): unknown {
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
