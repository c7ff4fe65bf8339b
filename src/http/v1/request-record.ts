// A finished request as the request log stores it. It copies only small values, so that the body can be freed.

import type { AttemptReport, CallReport, CapturedResponse } from "../../core/call-report.ts";
import { type GatewayError, TOO_LONG } from "../../core/errors.ts";
import type { CascadeStep } from "../../core/requests/cascade.ts";
import type { AttemptRecord, NewContent, RequestRecord } from "../../core/requests/records.ts";
import type { ClientHeaders, ClientRequest } from "../../formats/format.ts";
import { loggedReason } from "../../gateway/attempt/verdict.ts";
import type { Caller } from "../../gateway/call.ts";
import { responseText, TEXT_MAX } from "../../gateway/capture.ts";
import { labelsOf } from "../../gateway/labels.ts";
import { featuresOf } from "../../telemetry/features.ts";
import { promptTextOf } from "../../telemetry/prompt-text.ts";
import { checkToolCalls } from "../../telemetry/tool-calls.ts";
import * as TEXT from "../text.ts";

/** Recorded like a completion, though it is none of /v1. */
const PLAYGROUND_RUN = "/api/playground/run";

export interface FinishedRequest {
  readonly route: string;
  /** Only these are recorded: what is free of charge looks nothing like one. */
  readonly isCompletion: boolean;
  readonly requestId: string;
  readonly caller: Caller | null;
  /** Request of the client; null when the body could not be read. */
  readonly clientRequest: ClientRequest | null;
  readonly headers: ClientHeaders;
  readonly endUserHeaders: readonly string[];
  readonly report: CallReport;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Advice that only the operator can act on; undefined for none. */
  readonly operatorMessage: string | undefined;
  /** The error without the words of client and provider; null where there is no such text. */
  readonly ownWords: string | null;
  readonly keepsContent: boolean;
  readonly startedAtMs: number;
  readonly firstContentMs: number | null;
  readonly status: number;
  readonly durationMs: number;
  readonly newId: () => string;
}

/** Returns null for requests that are not recorded: other paths, and callers without a valid key. */
export function toRecord(finished: FinishedRequest): RequestRecord | null {
  const { route, caller, clientRequest, report, startedAtMs, keepsContent } = finished;
  const isRecorded = finished.isCompletion || route === PLAYGROUND_RUN;
  if (caller === null || !isRecorded) return null;
  const { key, profile } = caller;
  const chat = clientRequest?.chat ?? null;
  const labels = labelsOf(finished.headers, clientRequest?.body ?? {}, finished.endUserHeaders);
  const { operatorMessage } = finished;
  const record: { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] } = {
    id: finished.newId(),
    requestId: finished.requestId,
    accountId: key.accountId,
    keyId: key.id,
    profileId: profile?.id ?? null,
    teamId: key.teamId,
    memberId: key.memberId,
    atMs: startedAtMs,
    route,
    status: finished.status,
    errorCode: finished.errorCode,
    errorMessage: keptMessage(finished),
    isStream: chat?.isStream ?? false,
    decision: report.decision,
    attempts: report.attempts.map((attempt) => toAttempt(attempt, startedAtMs, keepsContent)),
    answeredBy: answererOf(report),
    isFallback: report.isFallback,
    overheadMs: report.overheadMs === null ? null : Math.round(report.overheadMs),
    hold: report.hold,
    cost: report.cost,
    cascade: report.cascade?.map((step) => keptStep(step, keepsContent)),
    latencyMs: finished.durationMs,
    firstContentMs: finished.firstContentMs,
    ending: report.ending,
    session: report.decision?.session?.id ?? null,
    sessionState: report.decision?.session?.state ?? null,
    user: labels.user,
    tags: labels.tags,
    // Only chat is classified, so there is nothing to learn from the rest.
    features: chat === null || clientRequest?.batch !== undefined ? null : featuresOf(chat, report.decision),
    toolCalls: toolCallsOf(report, clientRequest),
    content: keepsContent && clientRequest !== null ? contentOf(clientRequest, report.capture) : null,
  };
  if (operatorMessage !== undefined) record.operatorMessage = operatorMessage;
  return record;
}

function toAttempt(attempt: AttemptReport, startedAtMs: number, keepsWords: boolean): AttemptRecord {
  const { keyId } = attempt;
  const record: AttemptRecord = {
    model: attempt.model,
    provider: attempt.provider,
    startMs: attempt.startedAtMs - startedAtMs,
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status,
    failure: attempt.failure,
    reason: loggedReason(attempt, keepsWords),
    droppedFields: attempt.droppedFields,
    conversions: attempt.conversions.map(({ message }) => message),
  };
  return keyId === undefined ? record : { ...record, keyId };
}

/** Long enough for every message of ours. */
const MESSAGE_CHARS_MAX = 1_000;

/** The message repeats the provider's words, so the same rule holds for both. That of a 404 repeats the client's. */
function keptMessage(finished: FinishedRequest): string | null {
  const { errorMessage, errorCode, status, report, keepsContent } = finished;
  // The router's own names capabilities and numbers only. A provider may use the same codes.
  const isOwn = (errorCode === "no_capable_model" || errorCode === TOO_LONG) && report.attempts.length === 0;
  if (isOwn) return errorMessage;
  if (errorMessage === null || (status === 404 && !keepsContent)) return finished.ownWords;
  const mayTell = [status, ...report.attempts.map((attempt) => attempt.status)].every(
    (each) => loggedReason({ status: each, reason: "" }, keepsContent) !== null,
  );
  return mayTell ? errorMessage.slice(0, MESSAGE_CHARS_MAX) : finished.ownWords;
}

/** The first step of a place in a body, with its index. Further steps may be names that the client chose. */
const FIRST_STEP = /^[a-z][a-z_]{0,60}(?:\[\d+\])?(?=$|\.|\[)/i;

/** Names at least the field that is wrong. */
export function ownWordsOf({ logged, param = "" }: GatewayError["details"]): string | null {
  if (logged !== undefined) return logged;
  const [field] = FIRST_STEP.exec(param) ?? [];
  return field === undefined ? null : TEXT.fieldRefused(field);
}

function answererOf({ answeredBy, attempts, cascade }: CallReport): RequestRecord["answeredBy"] {
  if (answeredBy === null) return null;
  // In a cascade, attempts that failed may follow the answer.
  const answered =
    cascade === undefined
      ? attempts.at(-1)
      : attempts.findLast(({ model, outcome }) => model === answeredBy && outcome === "answered");
  return { model: answeredBy, provider: answered?.provider ?? "" };
}

/** The reason names fields of the client's schema, and of the answer. */
function keptStep(step: CascadeStep, keepsWords: boolean): CascadeStep {
  return keepsWords ? step : { ...step, reason: null };
}

/** A call that broke in the middle says nothing about the model's skill with tools. */
function toolCallsOf({ capture, ending }: CallReport, request: ClientRequest | null): RequestRecord["toolCalls"] {
  if (capture === null || request === null || request.chat.tools.length === 0 || ending !== "complete") return null;
  return checkToolCalls(capture.toolCalls(), request.chat.tools);
}

function contentOf({ source: { bytes }, chat }: ClientRequest, capture: CapturedResponse | null): NewContent {
  return {
    ...promptTextOf(chat),
    request: bytes.toString("utf8", 0, TEXT_MAX),
    isRequestCut: bytes.length > TEXT_MAX,
    answer: capture === null ? "" : responseText(capture),
    isAnswerCut: capture?.isCut ?? false,
  };
}
