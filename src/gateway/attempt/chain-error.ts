// The error for the client when every model of the chain has failed.

import type { AttemptReport } from "../../core/call-report.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Tier } from "../../core/tiers.ts";
import * as TEXT from "../text.ts";
import { type Failure, isUnpaid, judge } from "./verdict.ts";

const RETRY_SECONDS_MIN = 1;
/** Models that are cooling down are tried when nothing else is left, so a retry may help before their breaker closes. */
const RETRY_SECONDS_MAX = 10;

/** The chain as it was walked, for the message. */
export interface WalkedChain {
  /** The tier of the chain; null where the request named its model. */
  readonly tier: Tier | null;
  readonly chain: readonly string[];
  readonly attempts: readonly Pick<AttemptReport, "model" | "provider">[];
  readonly failures: readonly Failure[];
  /** True when the last provider was called without a key. */
  readonly isKeyless: boolean;
  /** Until the first model of the chain may be called again. */
  readonly waitMs: number;
}

/** A provider's word on the client's own request is passed on; everything else is a 503 without inner details. */
export function chainError(walked: WalkedChain): GatewayError {
  const { failures } = walked;
  const clientFault = failures.findLast((failure) => judge(failure).blame === "client");
  const areAllClientFaults = failures.every((failure) => judge(failure).blame === "client");
  const isFinal = clientFault !== undefined && judge(clientFault).next === "none";
  if (clientFault !== undefined && (areAllClientFaults || isFinal)) return asClientError(clientFault);
  const isFutile = isForOperator(walked);
  const retryAfterSeconds = retrySeconds(walked);
  const advice = isFutile ? TEXT.operatorMustAct : TEXT.retryIn(retryAfterSeconds);
  const operator = lastError(walked);
  return new GatewayError("providersFailed", `${whatFailed(walked)} ${lastWords(walked)} ${advice}`, {
    code: "all_providers_failed",
    retryAfterSeconds,
    ...(operator === null ? {} : { operator }),
    ...(isFutile ? { headers: { "x-should-retry": "false" } } : {}),
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
  if (tier === null) return TEXT.namedModelFailed;
  const tried = countTried(walked);
  return tried < chain.length ? TEXT.someFailed(tried, chain.length, tier) : TEXT.allFailed(tried, tier);
}

/** Says how the last one failed, without its name. */
function lastWords({ failures }: WalkedChain): string {
  const failure = failures.at(-1);
  return failure === undefined ? TEXT.noneCalled : TEXT.theLast(verbOf(failure));
}

/** For the operator: the provider and its status. Nothing of its own words, which may quote a prompt or a key. */
function lastError({ attempts, failures, isKeyless }: WalkedChain): string | null {
  const provider = attempts.at(-1)?.provider;
  const failure = failures.at(-1);
  if (provider === undefined || failure === undefined) return null;
  const refusal = refusalOf(failure, isKeyless);
  if (refusal !== undefined) return TEXT.lastRefusal(provider, failure.status, refusal);
  return TEXT.lastError(provider, verbOf(failure));
}

function verbOf({ kind, status }: Failure): string {
  return kind === "status" ? TEXT.returned(status) : TEXT.failures[kind];
}

function refusalOf(failure: Failure, isKeyless: boolean): string | undefined {
  const { kind, status, fault } = failure;
  if (isUnpaid(failure) && judge(failure).blame === "operator") return TEXT.outOfCredit;
  if (isKeyless && (status === 401 || status === 403)) return TEXT.asksForKey;
  if (fault?.isGatewayRefused === true) return TEXT.refusedKeyOrRegion;
  return kind === "status" ? TEXT.refusals[status ?? 0] : undefined;
}

function asClientError(failure: Failure): GatewayError {
  const said = failure.fault?.message ?? "";
  const code = failure.fault?.code ?? "";
  return new GatewayError("badRequest", said === "" ? TEXT.providerRefused : said, {
    code: code === "" ? "provider_refused" : code,
    ...(failure.fault?.param ? { param: failure.fault.param } : {}),
  });
}

function retrySeconds({ waitMs }: WalkedChain): number {
  return Math.max(RETRY_SECONDS_MIN, Math.min(RETRY_SECONDS_MAX, Math.ceil(waitMs / 1000)));
}
