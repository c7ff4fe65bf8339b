// One attempt on one model: send the request, read the beginning of the reply, and return a response or a failure.
// A stream counts as answered only from its first content on; until then the call can still fall back. An attempt of a live
// call is recorded: times, span, attempt report, log line and the model's health.

import type { AttemptReport } from "../../core/call-report.ts";
import { GatewayError } from "../../core/errors.ts";
import { type HostedModel, hasKey, type Provider } from "../../core/model.ts";
import type { Effort } from "../../core/requests/effort.ts";
import { gatewaysIn, LOOP_HEADER } from "../../core/requests/loops.ts";
import { NO_NOTES } from "../../core/requests/notes.ts";
import {
  type FormattedRequest,
  readProviderResponse,
  streamReaderFor,
  writeProviderRequest,
} from "../../formats/bridge.ts";
import type {
  CacheHelp,
  ChatChunk,
  ProviderFault,
  ProviderFormat,
  ProviderRequest,
  StreamReader,
  WholeResponse,
} from "../../formats/format.ts";
import { faultOf } from "../../formats/provider/faults.ts";
import { readRetryAfterMs } from "../../formats/provider/retry-after.ts";
import type { SseReader } from "../../formats/sse/reader.ts";
import type { Outcome } from "../../providers/health.ts";
import { type Redact, withoutControls } from "../../providers/redact.ts";
import type { Reply, ReplyBody, ReplyHeaders } from "../../providers/transport.ts";
import { newSpanId, writeTraceparent } from "../../telemetry/trace-context.ts";
import type { Call } from "../call.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import { troubleOf } from "./health-outcome.ts";
import { replyOf } from "./reply-of-text.ts";
import { type Failure, judge, loggedReason, type Received, type Verdict } from "./verdict.ts";

export type JudgedTry = { readonly ticket: number; readonly report: AttemptReport } & (
  | { readonly tried: Extract<TriedModel, { ok: true }>; readonly verdict: null }
  | { readonly tried: Extract<TriedModel, { ok: false }>; readonly verdict: Verdict }
);

/** A try that did not answer. */
export type FailedTry = Extract<JudgedTry, { readonly verdict: Verdict }>;

interface TicketedTry {
  readonly call: Call;
  readonly sending: Sending;
  /** The list that gets the report of the try. */
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
    services.health.report(model.hostKey, ticket, outcome, keyId);
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
    sentAt: tried.sentAt,
    receivedAt: tried.ok ? tried.answer.receivedAt : null,
    spanId: times.spanId,
    outcome: tried.ok ? "answered" : failure?.kind === "client-gone" ? "client-gone" : "failed",
    status: failure === null ? 200 : failure.status,
    reason: failure === null ? null : failure.message,
    failure: failure === null ? null : failure.kind,
    droppedFields: tried.droppedFields,
    conversions: tried.conversions,
    ...(tried.serviceTier && { serviceTier: tried.serviceTier }),
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

/** Larger than any response a model writes. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** Two thousand vectors of three thousand numbers, written out. */
const VECTORS_BYTES_MAX = 128 * 1024 * 1024;
/** Errors are read for their message; a page of HTML is cut here. */
const ERROR_BYTES_MAX = 64 * 1024;

/** A stream that has begun: what was read of it so far, and the rest. */
export interface OpenStream {
  readonly reader: StreamReader;
  readonly head: readonly ChatChunk[];
  readonly body: ReplyBody;
  readonly isAtEnd: boolean;
  /** The type of what the client gets. */
  readonly contentType?: string;
}

/** A response, whole or as a stream that has begun. */
export type Reached =
  /** Both times are on the clock of `performance.now()`. `headAt` is when the head of the answer came. */
  | { readonly whole: WholeResponse; readonly headAt: number; readonly receivedAt: number; readonly stream: null }
  | { readonly whole: null; readonly receivedAt: number; readonly stream: OpenStream };

type ReplyResult = { readonly ok: true; readonly answer: Reached } | { readonly ok: false; readonly failure: Failure };

export type TriedModel = ReplyResult & Pick<AttemptReport, "sentAt" | "droppedFields" | "conversions" | "serviceTier">;

/** The terms of sending one attempt, for a live call and for an operator's probe alike. */
export interface Sending {
  readonly call: Pick<Call, "format" | "request" | "signal"> &
    Partial<Pick<Call, "traceContext" | "headers" | "native">>;
  readonly model: HostedModel;
  /** The id of the provider's key; absent where there are not several. */
  readonly keyId?: string | undefined;
  /** A cap that the client did not ask for but its balance makes necessary. */
  readonly outputCap: number | null;
  readonly refusedFields: readonly string[];
  readonly cacheHelp?: CacheHelp | null;
  /** The effort that the chain asks for; null or absent for none. */
  readonly effort?: Effort | null;
  /** Set where the reasoning of earlier turns is bound to another model or account. */
  readonly dropsThinking?: boolean;
  /** The time by which a response must have begun, over all attempts. */
  readonly beginsByMs: number;
  /** The span of this attempt; null or absent where there are no traces. */
  readonly spanId?: string | null;
}

export async function tryModel(attempted: Sending, services: Pick<Services, "registry" | "now">): Promise<TriedModel> {
  const { call, model } = attempted;
  const { provider, transport, formatFor, newEvents, redact } = services.registry.connection(model.provider);
  const format = formatFor(model, call.format.name);
  const written = writeRequest(attempted, format);
  if (written instanceof GatewayError) return tried(failed(asUnconvertible(written)), NEVER_SENT, redact);
  const { path, body, headers } = written;
  const isStream = call.request.chat.isStream;
  const beginsWithinMs = attempted.beginsByMs - services.now();
  const placed = placedHeaders(headers, attempted, provider);
  const sent = { path, model: model.upstream, body, headers: placed, isStream, beginsWithinMs, signal: call.signal };
  if (call.native !== undefined) {
    const terms = { newEvents: null, nowMs: services.now(), headAt: performance.now(), client: call };
    const batched = { written: { ...written, serviceTier: "batch" as const }, sentAt: performance.now() };
    return tried(await readReply(replyOf(call.native.body), format, terms), batched, redact);
  }
  const replying = transport.send(attempted.keyId === undefined ? sent : { ...sent, keyId: attempted.keyId });
  const sentAt = performance.now();
  const reply = await replying;
  const headAt = performance.now();
  const terms = { newEvents: isStream ? newEvents : null, nowMs: services.now(), headAt, client: call };
  return tried(await readReply(reply, format, terms), { written, sentAt }, redact);
}

interface SentTry {
  readonly written: Pick<ProviderRequest, "droppedFields" | "conversions" | "serviceTier">;
  readonly sentAt: number | null;
}

const NEVER_SENT: SentTry = { written: { droppedFields: [] }, sentAt: null };

function tried(result: ReplyResult, { written, sentAt }: SentTry, redact: Redact): TriedModel {
  const { droppedFields, conversions = NO_NOTES, serviceTier } = written;
  const sent = { sentAt, droppedFields, conversions, ...(serviceTier && { serviceTier }) };
  return result.ok
    ? { ok: true, answer: result.answer, ...sent }
    : { ok: false, failure: withoutSecrets(result.failure, redact), ...sent };
}

/** With the caller's trace, and the gateways that the request came through. Most requests have neither. */
function placedHeaders(
  headers: ProviderRequest["headers"],
  attempted: Sending,
  { takesTraceparent, allowsPrivate }: Provider,
): ProviderRequest["headers"] {
  const traced = takesTraceparent === true ? { ...headers, ...placeOf(attempted) } : headers;
  const gateways = gatewaysIn(attempted.call.headers?.[LOOP_HEADER]);
  if (gateways.length === 0 || allowsPrivate === false) return traced;
  return { ...traced, [LOOP_HEADER]: gateways.join(", ") };
}

/** Names our own span as the parent, never what the client sent. */
function placeOf({ call, spanId }: Sending): Readonly<Record<string, string>> {
  const context = call.traceContext ?? null;
  return context === null || !spanId ? {} : { traceparent: writeTraceparent(context, spanId) };
}

/** A provider's words about a failure reach clients, the log and the store, so our key must not be in them. */
function withoutSecrets(failure: Failure, redact: Redact): Failure {
  const fault = failure.fault === null ? null : cleaned(failure.fault, redact);
  return { ...failure, message: redact(failure.message), fault };
}

function cleaned(fault: ProviderFault, redact: Redact): ProviderFault {
  const { message, code, param } = fault;
  return { ...fault, message: redact(message), code: withoutControls(code), param: withoutControls(param) };
}

function writeRequest(
  { call, model, outputCap, refusedFields, cacheHelp = null, effort = null, dropsThinking = false }: Sending,
  format: ProviderFormat,
): ProviderRequest | GatewayError {
  try {
    return writeProviderRequest(call, format, { model, outputCap, refusedFields, cacheHelp, effort, dropsThinking });
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** The provider's format cannot say what the client asked for. Another model may be able to. */
function asUnconvertible({ message, details }: GatewayError): Failure {
  const fault = faultOf(message, details.code ?? "", details.param);
  return { kind: "unconvertible", status: null, message, fault, retryAfterMs: null };
}

interface ReplyTerms {
  /** Cuts a stream into events; null where a whole response was asked for. */
  readonly newEvents: (() => SseReader) | null;
  readonly nowMs: number;
  readonly headAt: number;
  readonly client: FormattedRequest;
}

async function readReply(
  reply: Reply,
  format: ProviderFormat,
  { newEvents, nowMs, headAt, client }: ReplyTerms,
): Promise<ReplyResult> {
  if (!reply.ok) return failed({ kind: reply.failure.kind, message: reply.failure.message });
  if (reply.status < 200 || reply.status > 299) return readRefusal(reply, format, nowMs);
  const { body, headers } = reply;
  if (newEvents === null) return readWhole({ body, headers, headAt, client, format });
  const contentType = String(headers["content-type"] ?? "");
  const reader = streamReaderFor(client, format, { contentType, events: newEvents(), body });
  return reader === null ? readWhole({ body, headers, headAt, client, format }) : openStream(body, reader, contentType);
}

async function readRefusal(
  { status, headers, body }: Extract<Reply, { ok: true }>,
  format: ProviderFormat,
  nowMs: number,
): Promise<ReplyResult> {
  const bytes = await readAll(body, ERROR_BYTES_MAX);
  const fault = format.readError(bytes ?? Buffer.alloc(0));
  const message = `${TEXT.status(status)}${fault.message === "" ? "" : `: ${fault.message.slice(0, 300)}`}`;
  const retryAfterMs = readRetryAfterMs(headers, nowMs, format.rateLimitHeaders) ?? fault.retryAfterMs ?? null;
  return failed({ kind: "status", status, message, fault, retryAfterMs });
}

interface WholeTerms {
  readonly body: ReplyBody;
  readonly headers: ReplyHeaders;
  readonly headAt: number;
  readonly client: FormattedRequest;
  readonly format: ProviderFormat;
}

async function readWhole({ body, headers, headAt, client, format }: WholeTerms): Promise<ReplyResult> {
  const bytes = await readAll(body, client.format.endpoint === undefined ? ANSWER_BYTES_MAX : VECTORS_BYTES_MAX);
  const receivedAt = performance.now();
  if (bytes === null) return failed({ kind: "unreadable", message: TEXT.answerTooLarge });
  if (body.failure !== null) return failed({ ...asUnreadable(body.failure), received: NOTHING_YET });
  const reading = readProviderResponse(client, format, { bytes, headers });
  if (!reading.ok) return failed({ kind: "unreadable", message: reading.fault.message, fault: reading.fault });
  return { ok: true, answer: { whole: reading.response, headAt, receivedAt, stream: null } };
}

/** A whole answer has no part that could be read. */
const NOTHING_YET: Received = { usage: null, outputTokens: 0, isCounted: false };

// After the headers a break is no transient connection fault: the next model is tried instead of a retry.
function asUnreadable({ kind, message }: NonNullable<ReplyBody["failure"]>): Pick<Failure, "kind" | "message"> {
  return { kind: kind === "broken" ? "unreadable" : kind, message };
}

/** Reads a whole body. Returns null and gives the rest up when the body is longer than allowed. */
export async function readAll(body: ReplyBody, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const known = body.tryRead();
    const chunk = known === undefined ? await body.read() : known;
    if (chunk === null) break;
    length += chunk.length;
    if (length > maxBytes) {
      body.cancel();
      return null;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

/** Reads up to the first content or tool-call delta; nothing reaches the client before that. */
async function openStream(body: ReplyBody, reader: StreamReader, contentType: string): Promise<ReplyResult> {
  const head: ChatChunk[] = [];
  let isAtEnd = false;
  let receivedAt = 0;
  while (!isAtEnd && !reader.progress.hasContent) {
    const known = body.tryRead();
    const bytes = known === undefined ? await body.read() : known;
    receivedAt = performance.now();
    isAtEnd = bytes === null;
    const chunks = bytes === null ? reader.end() : reader.push(bytes);
    if (chunks.length > 0) body.eventSeen();
    head.push(...chunks);
    // A stream that was cut cannot be read to its end. That is no fault of the provider when the client disconnected.
    if (bytes === null && body.failure !== null) break;
    if (reader.progress.fault !== null && !reader.progress.hasContent) {
      body.cancel();
      return failed({ kind: "unreadable", message: reader.progress.fault.message, fault: reader.progress.fault });
    }
    isAtEnd ||= reader.progress.isDone;
  }
  const emptiness = reader.progress.hasContent ? null : emptyStreamFailure(body, reader);
  if (emptiness === null)
    return {
      ok: true,
      answer: {
        whole: null,
        receivedAt,
        stream: { reader, head, body, isAtEnd, contentType: reader.contentType ?? contentType },
      },
    };
  body.cancel();
  return failed({ ...emptiness, received: reader.progress });
}

// Output tokens without content are a real response: the reasoning used up the output cap.
function emptyStreamFailure(body: ReplyBody, { progress }: StreamReader): Pick<Failure, "kind" | "message"> | null {
  if (body.failure !== null) return asUnreadable(body.failure);
  if (!progress.isFinished) return { kind: "unreadable", message: TEXT.streamNeverBegan };
  const hasOutput = (progress.usage?.buckets.output ?? 0) > 0;
  return hasOutput ? null : { kind: "unreadable", message: TEXT.answerEmpty };
}

function failed(failure: Pick<Failure, "kind" | "message"> & Partial<Failure>): ReplyResult {
  return { ok: false, failure: { status: null, fault: null, retryAfterMs: null, ...failure } };
}
