// A recorded request on the wire: a line of the log, and the whole of it.

import type { Decision } from "../../../core/decision.ts";
import { formatUsd, type NanoUsd, type Price } from "../../../core/money.ts";
import type { Feedback, RequestSummary, StoredRequest } from "../../../core/requests/log.ts";
import { overheadMsOf } from "../../../core/requests/records.ts";
import { isoTime } from "./one.ts";

export function writeSummary(request: RequestSummary): Record<string, unknown> {
  const { charge, baseline } = request;
  return {
    id: request.id,
    requestId: request.requestId,
    createdAt: isoTime(request.atMs),
    route: request.route,
    status: request.status,
    error: request.isError,
    errorCode: request.errorCode,
    stream: request.isStream,
    key: request.keyId,
    tier: request.tier,
    classifiedTier: request.classifiedTier,
    category: request.category,
    profile: request.profile,
    keyProfile: request.profileId,
    toolScenario: request.toolScenario,
    model: request.model,
    provider: request.provider,
    fallback: request.isFallback,
    adjusted: request.isAdjusted,
    attempts: request.attempts,
    failedProviders: request.failedProviders,
    tokens: request.buckets,
    usageEstimated: request.isEstimated,
    chargeUsd: usd(charge),
    baselineUsd: usd(baseline),
    savedUsd: usd(charge === null || baseline === null ? null : baseline - charge),
    latencyMs: request.latencyMs,
    firstContentMs: request.firstContentMs,
    ending: request.ending,
  };
}

export function writeStored({ summary, detail, content, feedback }: StoredRequest): object {
  const { attempts: attemptCount, ...line } = writeSummary(summary);
  const { decision, attempts, hold, cost, features, toolCalls } = detail;
  return {
    ...line,
    attemptCount,
    attempts,
    decision: decision === null ? null : writeDecision(decision),
    overheadMs: overheadMsOf({ firstContentMs: summary.firstContentMs, attempts }),
    money: {
      holdUsd: usd(hold),
      chargeUsd: line.chargeUsd,
      baselineUsd: line.baselineUsd,
      savedUsd: line.savedUsd,
      baselineModel: cost?.baselineModel ?? null,
      price: cost === null ? null : writePrice(cost.price),
      markup: cost === null ? null : cost.markupPpm / 1e6,
      ledgerId: cost === null ? null : `charge:${cost.holdId}`,
    },
    features,
    toolCalls,
    content,
    feedback: feedback === null ? null : writeFeedback(feedback),
  };
}

export function writeFeedback({ tier, note, atMs }: Feedback): object {
  return { tier, note, createdAt: isoTime(atMs) };
}

function writeDecision({ costEstimate, baselineCost, toolScore, ...rest }: Decision): object {
  return {
    ...rest,
    bfclScore: toolScore,
    costEstimateUsd: usd(costEstimate),
    baselineCostUsd: usd(baselineCost),
  };
}

/** USD per million tokens, as people write it. */
function writePrice(price: Price): object {
  return Object.fromEntries(Object.entries(price).map(([name, micro]) => [name, micro === null ? null : micro / 1e6]));
}

function usd(amount: NanoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount);
}
