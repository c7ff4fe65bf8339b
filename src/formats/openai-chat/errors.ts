// Errors in chat-completions: writes ours for a client, and reads a provider's as a ProviderFault. Behaviour 4.

import type { GatewayError } from "../../core/errors.ts";
import type { ProviderFault } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { faultOf, plainFault } from "../provider/faults.ts";

/** An error sent instead of a response, or as an event of a stream. */
export function writeOpenaiError(error: GatewayError, requestId: string): JsonObject {
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.details.code ?? null,
      param: error.details.param ?? null,
      request_id: requestId,
      ...(error.details.problems === undefined ? {} : { problems: error.details.problems }),
    },
  };
}

/** A provider's error body in any of its usual shapes. */
export function readOpenaiError(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  return body === null ? plainFault(bytes) : readFault(body);
}

/** The same error in a body or in an event of a stream. */
export function readFault(body: JsonObject): ProviderFault {
  const error = isObject(body.error) ? body.error : body;
  const message = typeof body.error === "string" ? body.error : error.message;
  const param = textOrEmpty(error.param);
  return faultOf(textOrEmpty(message), toText(error.code ?? error.type ?? ""), param);
}
