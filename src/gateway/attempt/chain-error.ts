// The error for the client when every model of the chain has failed.

import { command } from "../../config/package.ts";
import type { AttemptReport } from "../../core/call-report.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Tier } from "../../core/tiers.ts";
import { type Failure, isUnpaid, judge } from "./verdict.ts";

const RETRY_SECONDS_MIN = 1;
const RETRY_SECONDS_MAX = 60;

/** The chain as it was walked, for the message. */
export interface WalkedChain {
  /** The tier of the chain; null where the request named its model. */
  readonly tier: Tier | null;
  readonly chain: readonly string[];
  readonly attempts: readonly Pick<AttemptReport, "model" | "provider">[];
  readonly failures: readonly Failure[];
  /** True when the last provider was called without a key. */
  readonly isKeyless: boolean;
  /** Until a model that was not even tried may be called again. */
  readonly waitMs: number | null;
}

/** A provider's word on the client's own request is passed on; everything else is a 503 without inner details. */
export function chainError(walked: WalkedChain): GatewayError {
  const { failures, waitMs } = walked;
  const clientFault = failures.findLast((failure) => judge(failure).blame === "client");
  const areAllClientFaults = failures.every((failure) => judge(failure).blame === "client");
  const isFinal = clientFault !== undefined && judge(clientFault).next === "none";
  if (clientFault !== undefined && (areAllClientFaults || isFinal)) return asClientError(clientFault);
  return new GatewayError("providersFailed", `${whatFailed(walked)} ${lastError(walked)}`, {
    code: "all_providers_failed",
    retryAfterSeconds: retryAfterSeconds(failures, waitMs),
    ...(isForOperator(walked) ? { headers: { "x-should-retry": "false" } } : {}),
    cause: failures.map((failure) => failure.message).join("; "),
  });
}

/** Would a retry get the same refusals, until the operator has done something? */
function isForOperator(walked: WalkedChain): boolean {
  const isRefusal = (failure: Failure): boolean => refusalOf(failure, false) !== undefined;
  return countTried(walked) === walked.chain.length && walked.failures.every(isRefusal);
}

function countTried({ attempts }: WalkedChain): number {
  return new Set(attempts.map(({ model }) => model)).size;
}

function whatFailed(walked: WalkedChain): string {
  const { tier, chain } = walked;
  if (tier === null) return "The model that the request names failed.";
  const tried = countTried(walked);
  if (tried < chain.length) return `${tried} of the ${chain.length} models in the ${tier} chain were tried and failed.`;
  return tried === 1
    ? `The only model in the ${tier} chain failed.`
    : `All ${tried} models in the ${tier} chain failed.`;
}

/** Names the provider and the status. Nothing of its own words, which may quote a prompt or a key. */
function lastError({ attempts, failures, isKeyless }: WalkedChain): string {
  const provider = attempts.at(-1)?.provider;
  const failure = failures.at(-1);
  if (provider === undefined || failure === undefined) return "None could be called in time.";
  const refusal = refusalOf(failure, isKeyless);
  if (refusal !== undefined) {
    return `Last error: ${provider} returned ${failure.status} (${refusal}). Check the provider with '${command("doctor")}'.`;
  }
  return `Last error: ${provider} ${failure.kind === "status" ? `returned ${failure.status}` : WHAT_HAPPENED[failure.kind]}.`;
}

function refusalOf(failure: Failure, isKeyless: boolean): string | undefined {
  const { kind, status, fault } = failure;
  if (isUnpaid(failure) && judge(failure).blame === "operator") return "the gateway's account there is out of credit";
  if (isKeyless && (status === 401 || status === 403)) return "it asks for an API key";
  if (fault?.isGatewayRefused === true) return "it refused the gateway's API key or region";
  return kind === "status" ? REFUSALS[status ?? 0] : undefined;
}

/** A provider's statuses that only the operator can do something about. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: "it refused the gateway's API key",
  403: "the gateway's API key may not do this",
  404: "it does not know the model or the address",
};

const WHAT_HAPPENED: Readonly<Record<Exclude<Failure["kind"], "status">, string>> = {
  connect: "could not be reached",
  timeout: "did not respond in time",
  broken: "closed the connection",
  unreadable: "sent an unusable response",
  unconvertible: "cannot express this request",
  "client-gone": "was cancelled by the client",
};

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
