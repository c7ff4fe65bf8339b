// The verdict on a failed attempt: whether to retry the same model, which models may be tried next, and whose fault it
// is. One row per kind of failure. The codecs have already mapped the provider's error.

import type { Usage } from "../../core/chat.ts";
import type { ProviderFault } from "../../formats/format.ts";

export interface Failure {
  readonly kind: "connect" | "timeout" | "broken" | "status" | "unreadable" | "unconvertible" | "client-gone";
  readonly status: number | null;
  readonly message: string;
  readonly fault: ProviderFault | null;
  readonly retryAfterMs: number | null;
  /** The part of an answer that had come when its client left. */
  readonly received?: Received;
}

export interface Received {
  readonly usage: Usage | null;
  /** An estimate, for where usage is missing. */
  readonly outputTokens: number;
  /** The usage counts the whole answer. */
  readonly isCounted: boolean;
}

export interface Verdict {
  /** The same model once more: `once` after a short wait, `later` when no other model is left to try. */
  readonly again: "no" | "once" | "later" | "without-refused-field";
  readonly next: "any" | "larger-window" | "none";
  readonly blame: "provider" | "operator" | "client";
}

/** Leaves out the words of a provider that refuses a request where content is not kept: they may quote the request. */
export function loggedReason(
  { status, reason }: { readonly status: number | null; readonly reason: string | null },
  keepsContent: boolean,
): string | null {
  const mayQuote = status === 400 || status === 413 || status === 422;
  return mayQuote && !keepsContent ? null : reason;
}

const PROVIDER_FAULT: Verdict = { again: "no", next: "any", blame: "provider" };
const PASSING_FAULT: Verdict = { again: "once", next: "any", blame: "provider" };
const WANTS_PAUSE: Verdict = { again: "later", next: "any", blame: "provider" };
const OPERATOR_FAULT: Verdict = { again: "no", next: "any", blame: "operator" };
const CLIENT_FAULT: Verdict = { again: "no", next: "none", blame: "client" };
const TOO_LONG: Verdict = { again: "no", next: "larger-window", blame: "client" };
const NOT_EXPRESSIBLE: Verdict = { again: "no", next: "any", blame: "client" };
const REFUSED_FIELD: Verdict = { again: "without-refused-field", next: "any", blame: "client" };

/** A provider that wants a longer pause than this is not waited for. */
const SHORT_WAIT_MS = 2_000;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 500, 502, 503, 504]);
const OPERATOR_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404]);

export function judge(failure: Failure): Verdict {
  if (failure.kind === "client-gone") return CLIENT_FAULT;
  if (failure.kind === "connect" || failure.kind === "broken") return PASSING_FAULT;
  if (failure.kind === "unconvertible") return NOT_EXPRESSIBLE;
  if (failure.kind === "timeout" || failure.kind === "unreadable") return PROVIDER_FAULT;
  return judgeStatus(failure);
}

function judgeStatus(failure: Failure): Verdict {
  const status = failure.status ?? 0;
  const isPassing = PASSING_STATUSES.has(status) || (status >= 520 && status <= 529);
  if (status === 429 && failure.fault?.isUnpaid === true) return OPERATOR_FAULT;
  if (isPassing && failure.retryAfterMs === null) return PASSING_FAULT;
  if (isPassing || status === 429) {
    return (failure.retryAfterMs ?? Infinity) <= SHORT_WAIT_MS ? WANTS_PAUSE : PROVIDER_FAULT;
  }
  if (OPERATOR_STATUSES.has(status)) return OPERATOR_FAULT;
  if (status === 413 || failure.fault?.isTooLong === true) return TOO_LONG;
  if (status === 400 || status === 422) return judgeRejection(failure.fault);
  return PROVIDER_FAULT;
}

/** Tells, of a failure that is the operator's, whether the provider wants money first. */
export function isUnpaid({ status, fault }: Failure): boolean {
  return status === 402 || fault?.isUnpaid === true;
}

function judgeRejection(fault: ProviderFault | null): Verdict {
  if (fault?.isUnpaid === true || fault?.isGatewayRefused === true) return OPERATOR_FAULT;
  return fault?.isFieldRefused === true ? REFUSED_FIELD : CLIENT_FAULT;
}
