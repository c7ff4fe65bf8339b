// Failures in words: of one attempt, or of the request as a whole. Used by the request log and the checklist.

import type { AttemptRecord } from "../../src/core/requests/records.ts";
import type { RequestDetail } from "../types.ts";

/** Failures without a status. */
const FAILURES: Readonly<Record<string, string>> = {
  connect: "Couldn't connect to the provider",
  timeout: "Provider timed out",
  broken: "Response interrupted",
  unreadable: "Unreadable response from provider",
  unconvertible: "Unsupported request for this model",
  "client-gone": "Client disconnected",
};

/** Describes an attempt whose reason was not kept. */
export function failureText({ failure, status }: Pick<AttemptRecord, "failure" | "status">): string {
  if (failure !== "status") return FAILURES[failure ?? ""] ?? String(failure);
  if (status === 429) return "Rate limited by provider";
  if (status === 404) return "Model unknown to provider (404)";
  return (status ?? 0) >= 500 ? `Provider error (${status})` : `Provider refused the request (${status})`;
}

/** Describes a failed request by its last failed attempt, else by its own error code and status. */
export function requestFailure({ attempts, errorCode, status }: RequestDetail): string {
  if (errorCode === "insufficient_credits") return "Out of credits (402)";
  const last = attempts.findLast(({ failure }) => failure !== null);
  if (last !== undefined) return `${last.provider}: ${last.reason ?? failureText(last)}`;
  return errorCode === null ? `Status ${status}` : `${errorCode} (${status})`;
}

/** The amounts in a refusal for lack of credits; null in any other. */
export function amountsIn(message: string | null): { readonly needed: string; readonly available: string } | null {
  const [, needed, available] = /([\d.]+) USD needed, ([\d.]+) USD available/.exec(message ?? "") ?? [];
  return needed === undefined || available === undefined ? null : { needed, available };
}
