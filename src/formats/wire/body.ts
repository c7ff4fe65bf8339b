// A request body as bytes to a JSON object: UTF-8, depth, size and shape are checked before anything reads a field.

import { GatewayError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { type JsonSource, scanObject } from "./json-source.ts";

const DEPTH_MAX = 100;
/** The longest conversations have a quarter of the values. Parsing, or looking through, so much takes a tenth of a second. */
const LIMITS = { values: 100_000, bareBytes: 8 * 1024 * 1024 };

export interface ParsedBody {
  readonly source: JsonSource;
  readonly body: JsonObject;
}

export function parseBody(bytes: Buffer): ParsedBody {
  const scanned = scanBody(bytes);
  return { source: scanned, body: parseText(decode(() => decoder.decode(scanned.bytes))) };
}

/** Where the fields stand; throws what can be said before anything is parsed. */
export function scanBody(bytes: Buffer): JsonSource {
  const scan = scanObject(withoutMark(bytes), DEPTH_MAX, LIMITS);
  if (scan.state === "object") return scan.source;
  if (scan.state === "too-deep") {
    throw new GatewayError("badRequest", `The body is nested deeper than ${DEPTH_MAX} levels.`, { code: "too_deep" });
  }
  if (scan.state === "too-many") {
    throw tooMany(`The body has more than ${LIMITS.values} values. Send long content as text.`);
  }
  if (scan.state === "too-bare") {
    throw tooMany("The body has more than 8 MB of numbers or spaces. Send long content as text.");
  }
  parseText(decode(() => decoder.decode(bytes)));
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

const decoder = new TextDecoder("utf-8", { fatal: true });

/** What the decoder throws, as an error of ours. */
export function decode(work: () => string): string {
  try {
    return work();
  } catch (cause) {
    throw new GatewayError("badRequest", "The body is not valid UTF-8.", { code: "invalid_json", cause });
  }
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
