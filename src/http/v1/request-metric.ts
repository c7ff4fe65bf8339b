// A finished request as the metrics count it: its fallback, its failed attempts, and its time in the gateway.

import type { AttemptReport, CallReport } from "../../core/call-report.ts";
import { failureReason, type RequestMetric } from "../../telemetry/request-metrics.ts";

/** Times on the monotonic clock (`performance.now()`); 0 where the request never got that far. */
export interface RequestTimes {
  readonly beganAt: number;
  readonly bodyReadAt: number;
  readonly routingAt: number;
  readonly routedAt: number;
  readonly readyAt: number;
  readonly begunAt: number;
  readonly streamEndedAt: number;
  readonly sentAt: number;
}

export function fallbackOf(report: CallReport): RequestMetric["fallback"] {
  if (!report.isFallback) return null;
  const from = report.decision?.model ?? "none";
  const failed = report.attempts.find(({ model, outcome }) => model === from && outcome === "failed");
  // A model that started to cool down after the decision was not tried at all.
  return { from, to: report.answeredBy ?? "none", reason: failed === undefined ? "resting" : failureReason(failed) };
}

/** The time of a request in the gateway. Only the first attempt is as late as our own work makes it. */
export function passOf({ attempts, ending }: CallReport, times: RequestTimes): RequestMetric["pass"] {
  const { bodyReadAt, begunAt, streamEndedAt, sentAt } = times;
  const between = (from = 0, to = 0): number | null => (from === 0 || to === 0 ? null : to - from);
  const inMs = between(bodyReadAt, attempts[0]?.sentAt ?? 0);
  const received = attempts.at(-1)?.receivedAt ?? 0;
  if (streamEndedAt === 0) return { inMs, wholeMs: between(received, sentAt), firstMs: null, lastMs: null };
  const lastMs = ending === "complete" ? between(streamEndedAt, sentAt) : null;
  return { inMs, wholeMs: null, firstMs: between(received, begunAt), lastMs };
}

const NONE: RequestMetric["failedAttempts"] = [];

export function failedAttempts({ attempts }: CallReport): RequestMetric["failedAttempts"] {
  const failed = attempts.filter(({ outcome }) => outcome === "failed");
  return failed.length === 0 ? NONE : failed.map(asFailure);
}

function asFailure(attempt: AttemptReport): RequestMetric["failedAttempts"][number] {
  return { model: attempt.model, provider: attempt.provider, reason: failureReason(attempt) };
}
