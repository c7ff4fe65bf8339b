// Errors of the Responses format: OpenAI's usual error body, and events inside a stream.

import { type ErrorKind, type GatewayError, TOO_LONG } from "../../core/errors.ts";
import type { JsonObject } from "../json/fields.ts";
import { writeOpenaiError } from "../openai-chat/errors.ts";

/** Agents decide by the code whether to try again; what they do not know they repeat. */
const CODES: Readonly<Partial<Record<ErrorKind, string>>> = {
  noCredit: "insufficient_quota",
  rateLimited: "rate_limit_exceeded",
  badRequest: "invalid_prompt",
};

/** Credits that are only reserved come back, so these keep a code that is no reason to give up. */
export function writeResponsesError(error: GatewayError, requestId: string): JsonObject {
  const { error: fields } = writeOpenaiError(error, requestId) as { readonly error: JsonObject };
  return { error: fields.code === "insufficient_credits" ? { ...fields, code: CODES.noCredit } : fields };
}

/** The code of a response that failed. */
export function streamErrorCode({ kind, details }: GatewayError): string {
  if (details.code === TOO_LONG) return TOO_LONG;
  return CODES[kind] ?? "server_error";
}

/** The field of an `error` event. */
export function errorText(error: GatewayError): string {
  const { message, type, details } = error;
  return `"error":${JSON.stringify({ type, code: streamErrorCode(error), message, param: details.param ?? null })}`;
}
