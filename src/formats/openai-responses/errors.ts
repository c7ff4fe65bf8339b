// Errors inside a Responses stream. Outside of one the format has OpenAI's usual error body.

import { type ErrorKind, type GatewayError, TOO_LONG } from "../../core/errors.ts";

/** Agents decide by the code whether to try again; what they do not know they repeat. */
const CODES: Readonly<Partial<Record<ErrorKind, string>>> = {
  noCredit: "insufficient_quota",
  rateLimited: "rate_limit_exceeded",
  badRequest: "invalid_prompt",
};

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
