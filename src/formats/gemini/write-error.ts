// Our errors in Google's shape: `google.rpc.Status` with the details that its clients read. Behaviour 4.

import type { ErrorKind, GatewayError } from "../../core/errors.ts";
import type { JsonObject } from "../json/fields.ts";

const STATUSES: Readonly<Record<ErrorKind, string>> = {
  badRequest: "INVALID_ARGUMENT",
  unauthenticated: "UNAUTHENTICATED",
  noCredit: "FAILED_PRECONDITION",
  forbidden: "PERMISSION_DENIED",
  notFound: "NOT_FOUND",
  wrongMethod: "UNIMPLEMENTED",
  tooSlow: "DEADLINE_EXCEEDED",
  conflict: "ABORTED",
  tooLarge: "INVALID_ARGUMENT",
  wrongMediaType: "INVALID_ARGUMENT",
  misdirected: "INVALID_ARGUMENT",
  unprocessable: "INVALID_ARGUMENT",
  rateLimited: "RESOURCE_EXHAUSTED",
  headersTooLarge: "INVALID_ARGUMENT",
  internal: "INTERNAL",
  providersFailed: "UNAVAILABLE",
  unavailable: "UNAVAILABLE",
  loop: "FAILED_PRECONDITION",
};
const DETAIL_TYPE = "type.googleapis.com/google.rpc.";

/** An error sent instead of a response, or as the last piece of a stream. */
export function writeGeminiError(error: GatewayError, requestId: string): JsonObject {
  const { code, param, retryAfterSeconds } = error.details;
  const details = [
    detail("RequestInfo", { requestId }),
    ...(code === undefined ? [] : [detail("ErrorInfo", { reason: code.toUpperCase(), domain: "switchyard" })]),
    ...(param === undefined || error.kind !== "badRequest"
      ? []
      : [detail("BadRequest", { fieldViolations: [{ field: param, description: error.message }] })]),
    ...(retryAfterSeconds === undefined ? [] : [detail("RetryInfo", { retryDelay: `${retryAfterSeconds}s` })]),
  ];
  return { error: { code: error.status, message: error.message, status: STATUSES[error.kind], details } };
}

function detail(name: string, fields: JsonObject): JsonObject {
  return { "@type": `${DETAIL_TYPE}${name}`, ...fields };
}
