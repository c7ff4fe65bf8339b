// When a /v1 request is over, however it ended: one log line, the metrics and, for completions, its record. No prompt, no
// answer, no key.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { LogFields } from "../../core/log.ts";
import { formatUsd } from "../../core/money.ts";
import { loggedReason } from "../../gateway/attempt/verdict.ts";
import type { AttemptNote, Trace } from "../../gateway/call.ts";
import { failureReason, type RequestMetric } from "../../telemetry/request-metrics.ts";
import type { Edge } from "../context.ts";
import { queueWaitMsOf } from "../overload/admission.ts";
import { toRecord } from "./request-record.ts";
import { beginSpans, traceFields } from "./request-spans.ts";

export function recordRequest(request: FastifyRequest, reply: FastifyReply, edge: Edge): void {
  const waitedMs = queueWaitMsOf(request.raw);
  const startedAtMs = edge.now() - waitedMs;
  edge.metrics.begin();
  (request.trace as Trace).keepsContent = edge.settings.logging.logContent;
  const endSpans = edge.traces === null ? null : beginSpans(request, waitedMs, edge.traces);
  // The story hears of the same `close`; it is told first, so that it can note how it ended.
  reply.raw.once("close", () => setImmediate(record));

  function record(): void {
    const trace = request.trace as Trace;
    const durationMs = edge.now() - startedAtMs;
    const status = reply.raw.headersSent ? reply.raw.statusCode : 499;
    edge.log.info(logFields(request, trace, { status, durationMs }), "request");
    edge.metrics.end({
      route: request.routeOptions.url ?? "unknown",
      status,
      tier: trace.decision?.tier ?? "none",
      model: trace.answeredBy ?? "none",
      durationMs,
      firstContentMs: trace.firstContentAtMs === null ? null : trace.firstContentAtMs - startedAtMs,
      overheadMs: overheadMs(trace),
      decisionMs: trace.marks.decidedAt === 0 ? null : trace.marks.decidedAt - trace.marks.decidingAt,
      fallback: fallbackOf(trace),
      failedAttempts: failedAttempts(trace),
      cost: trace.cost,
      isStoreAway: trace.errorCode === STORE_AWAY,
    });
    const finish = () => ({ id: edge.records.recorder.newId(startedAtMs), startedAtMs, status, durationMs });
    const recorded = toRecord(request, trace, finish);
    if (recorded !== null) edge.records.recorder.add(recorded);
    endSpans?.(status);
  }
}

const STORE_AWAY = "database_unavailable";

/** Before the first attempt, and after the one that answered. Pauses between attempts are the providers' doing. */
function overheadMs({ marks }: Trace): number | null {
  const { readAt, sentAt, heardAt, readyAt } = marks;
  return readyAt === 0 || readAt === 0 ? null : sentAt - readAt + (readyAt - heardAt);
}

function fallbackOf(trace: Trace): RequestMetric["fallback"] {
  if (!isFallback(trace)) return null;
  const from = trace.decision?.model ?? "none";
  const failed = trace.attempts.find(({ model, outcome }) => model === from && outcome === "failed");
  // One that came to rest after the decision was not tried at all.
  return { from, to: trace.answeredBy ?? "none", reason: failed === undefined ? "resting" : failureReason(failed) };
}

const NONE: RequestMetric["failedAttempts"] = [];

function failedAttempts({ attempts }: Trace): RequestMetric["failedAttempts"] {
  const failed = attempts.filter(({ outcome }) => outcome === "failed");
  return failed.length === 0 ? NONE : failed.map(asFailure);
}

function asFailure(attempt: AttemptNote): RequestMetric["failedAttempts"][number] {
  return { model: attempt.model, provider: attempt.provider, reason: failureReason(attempt) };
}

function isFallback({ answeredBy, decision }: Trace): boolean {
  return answeredBy !== null && answeredBy !== decision?.model;
}

function logFields(
  request: FastifyRequest,
  trace: Trace,
  outcome: { status: number; durationMs: number },
): LogFields<"request.completed"> {
  const { decision } = trace;
  return {
    event: "request.completed",
    requestId: request.id,
    ...traceFields(request, trace),
    method: request.method,
    path: request.routeOptions.url ?? request.url,
    ...outcome,
    keyId: request.caller?.key.id ?? null,
    ...(decision === null
      ? {}
      : {
          tier: decision.tier,
          category: decision.category,
          profile: decision.profile,
          model: trace.answeredBy,
          isFallback: isFallback(trace),
          usage: trace.usage === null ? null : [trace.usage.prompt_tokens, trace.usage.completion_tokens],
          chargedUsd: trace.charge === null ? null : formatUsd(trace.charge),
          ending: trace.ending,
          attempts: trace.attempts.map(
            ({ model, provider, outcome: result, status, reason, durationMs, droppedFields }) => ({
              model,
              provider,
              outcome: result,
              status,
              reason: loggedReason({ status, reason }, trace.keepsContent),
              durationMs,
              ...(droppedFields.length > 0 ? { droppedFields } : {}),
            }),
          ),
        }),
  };
}
