// The error for the client when every model of the chain has failed.

import { GatewayError } from "../../core/errors.ts";
import { type Failure, judge } from "./verdict.ts";

const RETRY_SECONDS_MIN = 1;
const RETRY_SECONDS_MAX = 60;

/**
 * A provider's word on the client's own request is passed on; everything else is a 503 without inner details.
 * `waitMs`: until a model that was not even tried may be called again.
 */
export function chainError(failures: readonly Failure[], waitMs: number | null = null): GatewayError {
  const clientFault = failures.findLast((failure) => judge(failure).blame === "client");
  const areAllClientFaults = failures.every((failure) => judge(failure).blame === "client");
  const isFinal = clientFault !== undefined && judge(clientFault).next === "none";
  if (clientFault !== undefined && (areAllClientFaults || isFinal)) return asClientError(clientFault);
  return new GatewayError("providersFailed", "Every model of the chain failed to answer. Try again shortly.", {
    code: "all_providers_failed",
    retryAfterSeconds: retryAfterSeconds(failures, waitMs),
    cause: failures.map((failure) => failure.message).join("; "),
  });
}

function asClientError(failure: Failure): GatewayError {
  const said = failure.fault?.message ?? "";
  const code = failure.fault?.code ?? "";
  return new GatewayError("badRequest", said === "" ? "The provider refused the request." : said, {
    code: code === "" ? "provider_refused" : code,
    ...(failure.fault?.param ? { param: failure.fault.param } : {}),
  });
}

function retryAfterSeconds(failures: readonly Failure[], waitMs: number | null): number {
  const waits = [...failures.map((failure) => failure.retryAfterMs), waitMs].filter((ms) => ms !== null);
  const seconds = waits.length === 0 ? RETRY_SECONDS_MIN : Math.ceil(Math.min(...waits) / 1000);
  return Math.max(RETRY_SECONDS_MIN, Math.min(RETRY_SECONDS_MAX, seconds));
}
