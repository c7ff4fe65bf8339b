// A request body as bytes to a JSON object: UTF-8, depth and shape are checked before anything reads a field.

import { GatewayError } from "../core/errors.ts";
import { isObject, type JsonObject } from "./fields.ts";
import { type JsonSource, scanObject } from "./json-source.ts";

const DEPTH_MAX = 100;

export function parseBody(bytes: Buffer): { source: JsonSource; body: JsonObject } {
  const scan = scanObject(bytes, DEPTH_MAX);
  if (scan.state === "too-deep") {
    throw new GatewayError("badRequest", `The body is nested deeper than ${DEPTH_MAX} levels.`, { code: "too_deep" });
  }
  const body = parseJson(bytes);
  if (scan.state !== "object" || !isObject(body)) {
    throw new GatewayError("badRequest", "The body must be a JSON object.", { code: "invalid_json" });
  }
  return { source: scan.source, body };
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    const isEncoding = cause instanceof TypeError;
    const message = isEncoding ? "The body is not valid UTF-8." : "The body is not valid JSON.";
    throw new GatewayError("badRequest", message, { code: "invalid_json", cause });
  }
}
