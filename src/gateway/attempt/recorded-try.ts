// One try of one model, with its measurements: times, span, attempt report, log line and the model's health.

import type { AttemptReport } from "../../core/call-report.ts";
import { hasKey } from "../../core/model.ts";
import type { Outcome } from "../../providers/health.ts";
import { newSpanId } from "../../telemetry/trace-context.ts";
import type { Call } from "../call.ts";
import type { Services } from "../services.ts";
import { troubleOf } from "./health-outcome.ts";
import { type Sending, type TriedModel, tryModel } from "./try-model.ts";
import { judge, loggedReason, type Verdict } from "./verdict.ts";

export type JudgedTry = { readonly ticket: number; readonly report: AttemptReport } & (
  | { readonly tried: Extract<TriedModel, { ok: true }>; readonly verdict: null }
  | { readonly tried: Extract<TriedModel, { ok: false }>; readonly verdict: Verdict }
);

/** A try that did not answer. */
export type FailedTry = Extract<JudgedTry, { readonly verdict: Verdict }>;

interface TicketedTry {
  readonly call: Call;
  readonly sending: Sending;
  /** Where its report is added. */
  readonly attempts: AttemptReport[];
  /** Under which health expects to hear how the try went. */
  readonly ticket: number;
}

export async function recordedTry(
  { call, sending, attempts, ticket }: TicketedTry,
  services: Services,
): Promise<JudgedTry> {
  const { model, keyId } = sending;
  const startedAtMs = services.now();
  const beganAt = performance.now();
  const spanId = call.traceContext === null ? null : newSpanId();
  let outcome: Outcome = "dropped";
  try {
    const tried = await tryModel(spanId === null ? sending : { ...sending, spanId }, services);
    const endedAt = performance.now();
    const times = { startedAtMs, durationMs: services.now() - startedAtMs, beganAt, endedAt, spanId };
    const report = reportTry(sending, tried, times);
    attempts.push(report);
    if (tried.ok) {
      // A stream has yet to show that it ends well.
      outcome = tried.answer.stream === null ? "answered" : "began";
      return { tried, verdict: null, ticket, report };
    }
    const verdict = judge(tried.failure);
    outcome = troubleOf(tried.failure, verdict, !hasKey(services.registry.connection(model.provider).provider));
    logFailure(call, { tried, verdict, ticket, report }, services);
    return { tried, verdict, ticket, report };
  } finally {
    services.health.report(model.route, ticket, outcome, keyId);
  }
}

type Times = Pick<AttemptReport, "startedAtMs" | "durationMs" | "beganAt" | "endedAt" | "spanId">;

function reportTry({ model, keyId }: Sending, tried: TriedModel, times: Times): AttemptReport {
  const failure = tried.ok ? null : tried.failure;
  const report: AttemptReport = {
    model: model.id,
    provider: model.provider,
    startedAtMs: times.startedAtMs,
    durationMs: times.durationMs,
    beganAt: times.beganAt,
    endedAt: times.endedAt,
    spanId: times.spanId,
    outcome: tried.ok ? "answered" : failure?.kind === "client-gone" ? "client-gone" : "failed",
    status: failure === null ? 200 : failure.status,
    reason: failure === null ? null : failure.message,
    failure: failure === null ? null : failure.kind,
    droppedFields: tried.droppedFields,
    conversions: tried.conversions,
  };
  return keyId === undefined ? report : { ...report, keyId };
}

function logFailure(call: Call, { tried, verdict, report }: FailedTry, { log }: Services): void {
  const { failure } = tried;
  if (failure.kind === "client-gone") return;
  const { status, message, fault } = failure;
  const fields = {
    requestId: call.requestId,
    model: report.model,
    provider: report.provider,
    ...(report.keyId === undefined ? {} : { providerKey: report.keyId }),
    status,
    code: fault?.code ?? null,
    reason: loggedReason({ status, reason: message }, call.captures.text),
  };
  if (verdict.blame === "operator")
    log.error({ event: "provider.rejected_credentials", ...fields }, "provider rejected our credentials or model");
  else log.warn({ event: "attempt.failed", ...fields }, "attempt failed");
}
