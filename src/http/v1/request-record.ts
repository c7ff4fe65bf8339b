// A request that is over, as it is recorded. Only what is small is taken along: the body itself is let go.

import type { FastifyRequest } from "fastify";
import type { AttemptRecord, ContentRecord, RequestRecord } from "../../core/requests/records.ts";
import type { Caller, Trace } from "../../gateway/call.ts";
import { TEXT_MAX } from "../../gateway/capture.ts";
import { featuresOf } from "../../telemetry/features.ts";
import { checkToolCalls } from "../../telemetry/tool-calls.ts";

/** Completions; not what is free of charge and looks nothing like one. */
const RECORDED: ReadonlySet<string> = new Set(["/v1/chat/completions", "/v1/messages", "/api/playground/run"]);

export interface Finish {
  readonly id: string;
  readonly startedAtMs: number;
  readonly status: number;
  readonly durationMs: number;
}

/** Null for requests that are not recorded: other paths, and callers nobody knows. */
export function toRecord(request: FastifyRequest, trace: Trace, finish: () => Finish): RequestRecord | null {
  const route = request.routeOptions.url ?? "";
  if (request.caller === null || !RECORDED.has(route)) return null;
  const { key, profile } = request.caller as Caller;
  const { id, startedAtMs, status, durationMs } = finish();
  const chat = trace.request?.chat ?? null;
  return {
    id,
    requestId: request.id,
    accountId: key.accountId,
    keyId: key.id,
    profileId: profile?.id ?? null,
    atMs: startedAtMs,
    route,
    status,
    errorCode: trace.errorCode,
    isStream: chat?.isStream ?? false,
    decision: trace.decision,
    attempts: trace.attempts.map((attempt) => toAttempt(attempt, startedAtMs, trace.keepsContent)),
    answeredBy: answererOf(trace),
    hold: trace.hold,
    cost: trace.cost,
    latencyMs: durationMs,
    firstContentMs: trace.firstContentAtMs === null ? null : trace.firstContentAtMs - startedAtMs,
    ending: trace.ending,
    features: chat === null ? null : featuresOf(chat, trace.decision),
    toolCalls: toolCallsOf(trace),
    content: contentOf(trace),
  };
}

function toAttempt(attempt: Trace["attempts"][number], startedAtMs: number, keepsWords: boolean): AttemptRecord {
  return {
    model: attempt.model,
    provider: attempt.provider,
    startMs: attempt.startedAtMs - startedAtMs,
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    failure: attempt.failure,
    reason: keepsWords ? attempt.reason : null,
    droppedFields: attempt.droppedFields,
    conversions: attempt.conversions,
  };
}

function answererOf({ answeredBy, attempts }: Trace): RequestRecord["answeredBy"] {
  if (answeredBy === null) return null;
  return { model: answeredBy, provider: attempts.at(-1)?.provider ?? "" };
}

/** A call that broke off in the middle says nothing about the model's skill. */
function toolCallsOf({ heard, request, ending }: Trace): RequestRecord["toolCalls"] {
  if (heard === null || request === null || request.chat.tools.length === 0 || ending !== "complete") return null;
  return checkToolCalls(heard.toolCalls(), request.chat.tools);
}

function contentOf({ keepsContent, request, heard }: Trace): ContentRecord | null {
  if (!keepsContent || request === null) return null;
  const { bytes } = request.source;
  return {
    request: bytes.toString("utf8", 0, TEXT_MAX),
    isRequestCut: bytes.length > TEXT_MAX,
    answer: answerText(heard),
    isAnswerCut: heard?.isCut ?? false,
  };
}

function answerText(heard: Trace["heard"]): string {
  if (heard === null) return "";
  const calls = heard.toolCalls();
  return calls.length === 0 ? heard.text : `${heard.text}${heard.text === "" ? "" : "\n\n"}${JSON.stringify(calls)}`;
}
