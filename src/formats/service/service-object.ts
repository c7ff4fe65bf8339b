// The `service` object and the `X-Service-*` headers: the routing decision as a client sees it. Behaviour 6.1, 6.3.

import { type Decision, effortOf } from "../../core/decision.ts";
import { formatUsd, type NanoUsd, type ServiceTier } from "../../core/money.ts";
import type { CascadeStep } from "../../core/requests/cascade.ts";
import { NO_NOTES, type Note } from "../../core/requests/notes.ts";
import type { ServiceObject } from "../format.ts";

/** The outcome of a decision. */
export interface ServiceOutcome {
  readonly isFallback: boolean;
  /** Fraction saved against the baseline, from the estimate or from real usage. */
  readonly savings: number;
  /** The provider reported no usage that can be true. */
  readonly isUsageEstimated: boolean;
  /** The host that answered, where the decision had a choice. */
  readonly host?: string | null;
  /** The provider's service tier that is charged; absent for the usual one, and before it is known. */
  readonly serviceTier?: ServiceTier;
  /** The cost of the answer for its caller; absent before it is known. */
  readonly charge?: NanoUsd;
  /** The answers of a cascade, in order. Absent without one. */
  readonly cascade?: readonly CascadeStep[];
}

/** In every response, as `service`. */
export function writeService(
  decision: Decision,
  outcome: ServiceOutcome,
  notes: readonly Note[] = NO_NOTES,
): ServiceObject {
  const service: Record<string, unknown> = {
    model: decision.model,
    tier: decision.tier,
    profile: decision.profile,
    confidence: decision.confidence,
    savingsPct: percent(outcome.savings),
    method: decision.method,
    fallback: outcome.isFallback,
  };
  const effort = effortOf(decision, decision.model);
  if (effort !== null) service.effort = effort;
  if (outcome.serviceTier !== undefined) service.serviceTier = outcome.serviceTier;
  if (decision.session !== undefined) service.session = decision.session.state;
  if (outcome.host) service.host = outcome.host;
  if (outcome.charge !== undefined) service.costUsd = formatUsd(outcome.charge);
  if (outcome.isUsageEstimated) service.usageEstimated = true;
  if (outcome.cascade !== undefined) service.cascade = outcome.cascade.map(writeStep);
  if (notes.length > 0) service.notes = notes;
  return service;
}

function writeStep({ tier, model, charge, isPassed, failedCheck, reason }: CascadeStep): ServiceObject {
  const step = { tier, model, costUsd: formatUsd(charge), passed: isPassed };
  return isPassed ? step : { ...step, failedCheck, reason };
}

/** The same for clients that read no unknown fields. */
export function serviceHeaders(decision: Decision, outcome: ServiceOutcome): Readonly<Record<string, string>> {
  return {
    "x-service-model": decision.model,
    "x-service-tier": decision.tier,
    "x-service-confidence": String(decision.confidence),
    "x-service-profile": decision.profile,
    "x-service-savings": `${percent(outcome.savings)}%`,
    "x-service-fallback": String(outcome.isFallback),
  };
}

function percent(fraction: number): number {
  return Math.round(fraction * 10_000) / 100;
}
