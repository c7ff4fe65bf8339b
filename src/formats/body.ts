// A request body as bytes to a JSON object: UTF-8, depth, size and shape are checked before anything reads a field.

import { GatewayError } from "../core/errors.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { type JsonSource, scanObject } from "./json-source.ts";

const DEPTH_MAX = 100;
/** Objects, arrays and their elements. The longest conversations have a tenth of it; parsing so many takes 50 ms. */
const VALUES_MAX = 250_000;

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
  const scan = scanObject(withoutMark(bytes), DEPTH_MAX, VALUES_MAX);
  if (scan.state === "object") return scan.source;
  if (scan.state === "too-deep") {
    throw new GatewayError("badRequest", `The body is nested deeper than ${DEPTH_MAX} levels.`, { code: "too_deep" });
  }
  if (scan.state === "too-many") {
    const message = `The body has more than ${VALUES_MAX} values. Send long content as text.`;
    throw new GatewayError("tooLarge", message, { code: "too_many_values" });
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

function notAnObject(): GatewayError {
  return new GatewayError("badRequest", "The body must be a JSON object.", { code: "invalid_json" });
}
