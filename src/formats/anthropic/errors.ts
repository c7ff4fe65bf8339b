// Errors in the Messages format: writes ours for a client, and reads a provider's as a ProviderFault.

import { type ErrorKind, type GatewayError, TOO_LONG } from "../../core/errors.ts";
import type { ProviderFault } from "../format.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { faultOf, plainFault } from "../provider/faults.ts";
import { BETA_HEADER, namedPart } from "./refusals.ts";

/** Types of errors that differ from the chat-completions shape. Behaviour 4. */
const TYPES: Readonly<Partial<Record<ErrorKind, string>>> = {
  providersFailed: "overloaded_error",
  unavailable: "overloaded_error",
};

/** An error sent instead of a response. */
export function writeAnthropicError(error: GatewayError, requestId: string): JsonObject {
  return errorBody(TYPES[error.kind] ?? error.type, error, requestId);
}

/** In a stream that has begun there is no overload to wait out: the answer broke. */
export function writeAnthropicStreamError(error: GatewayError, requestId: string): JsonObject {
  return errorBody(
    error.kind === "providersFailed" ? "api_error" : (TYPES[error.kind] ?? error.type),
    error,
    requestId,
  );
}

function errorBody(type: string, { message, details }: GatewayError, requestId: string): JsonObject {
  const code = details.code === undefined ? {} : { details: { error_code: details.code } };
  const said = details.code === TOO_LONG && !WORDS.test(message) ? `prompt is too long: ${message}` : message;
  return { type: "error", error: { type, message: said, ...code }, request_id: requestId };
}

/** The vendor's own words for it. Agents of this format compact the conversation by them, or ask for less output. */
const WORDS = /prompt is too long|exceed context limit/i;

/** Parts of a request that are no top-level field of it; named in `refusedFields` they are left out like one. */
export const THINKING_HISTORY = "messages.thinking";
export const PREFILL = "messages.prefill";

/** The body of a response whose status says that it failed. */
export function readAnthropicError(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  return body === null ? plainFault(bytes) : readAnthropicFault(body);
}

/** The same error in a body or in an event of a stream. */
export function readAnthropicFault(body: JsonObject): ProviderFault {
  const error = isObject(body.error) ? body.error : body;
  const message = typeof body.error === "string" ? body.error : toText(error.message ?? "");
  // AWS itself answers with a message alone.
  if (error.type === "invalid_request_error" || error.type === undefined) {
    const named = namedPart(message);
    const refused = named ?? refusedPart(message);
    const isUnknown = named !== null || UNKNOWN.test(message);
    if (refused !== null)
      return { ...faultOf(message, "unsupported_parameter", refused), ...(isUnknown && { isUnknown }) };
  }
  const code = isObject(error.details) ? error.details.error_code : null;
  return faultOf(message, toText(code ?? error.type ?? ""));
}

/** Said of a field that the host does not know, whatever else the request has. */
const UNKNOWN = /extra inputs are not permitted|invalid beta flag/i;

// The format names the refused field in the message only.
const REFUSALS: readonly (readonly [RegExp, string | null])[] = [
  [/signature.*thinking|thinking.*signature/i, THINKING_HISTORY],
  [/expected `?thinking`?|thinking.{0,20}blocks.{0,60}cannot be modified/i, THINKING_HISTORY],
  [/does not support assistant message prefill|prefilling assistant messages/i, PREFILL],
  // Bedrock names no value. Read 2026-11-19: github.com/anthropics/claude-code/issues/49370 and 30926.
  [/`?anthropic-beta`? header|invalid beta flag/i, BETA_HEADER],
  [/`temperature` and `top_p` cannot both/i, "top_p"],
  [/^`?"?([a-z_]+)[a-z_.]*"?`?: extra inputs are not permitted/i, null],
  [/^`?"?([a-z_]+)[a-z_.]*"?`? (?:is|are) (?:not supported|deprecated|not allowed|no longer supported)/i, null],
];

function refusedPart(message: string): string | null {
  for (const [pattern, part] of REFUSALS) {
    const match = pattern.exec(message);
    if (match !== null) return part ?? match[1] ?? null;
  }
  return null;
}
