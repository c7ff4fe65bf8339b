// The record of one /v1 request. It observes the call. When the request is over, it writes one log line, the metrics,
// the spans and, for completions, a row of the request log. No key is in them, and no prompt or response unless content
// is stored.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { AttemptReport, CallReport } from "../../core/call-report.ts";
import { promptTokens } from "../../core/chat.ts";
import type { GatewayError } from "../../core/errors.ts";
import type { LogFields } from "../../core/log.ts";
import { formatUsd } from "../../core/money.ts";
import type { RequestRecord } from "../../core/requests/records.ts";
import type { ClientHeaders, ClientRequest } from "../../formats/format.ts";
import { loggedReason } from "../../gateway/attempt/verdict.ts";
import type { Call, CallObserver } from "../../gateway/call.ts";
import { NO_FACTS, reportOf } from "../../gateway/report.ts";
import type { AnsweredRequest } from "../../gateway/shadow/sampler.ts";
import type { RequestMetric } from "../../telemetry/request-metrics.ts";
import { readTraceparent, type TraceContext } from "../../telemetry/trace-context.ts";
import type { CallContext, Records } from "../context.ts";
import { freeBody } from "../exchange/body.ts";
import { whenOver } from "../exchange/disconnect.ts";
import { noteCharge } from "../exchange/inner-socket.ts";
import { routeOf } from "../exchange/request-format.ts";
import { queueWaitMsOf } from "../overload/admission.ts";
import { failedAttempts, fallbackOf, passOf, type RequestTimes } from "./request-metric.ts";
import { ownWordsOf, toRecord } from "./request-record.ts";

/** Ending of the exchange with the client, as seen when its connection was done. */
interface Closing {
  readonly status: number;
  readonly durationMs: number;
}

const NO_REPORT: CallReport = reportOf(NO_FACTS, { event: "error", isCutting: false });
/** The status of a request whose client disconnected before anything was sent. */
const CLIENT_CLOSED_REQUEST = 499;
const DATABASE_UNAVAILABLE = "database_unavailable";

declare module "fastify" {
  interface FastifyRequest {
    /** The recording of the request; null outside of /v1 and the playground. */
    recording: RequestRecording | null;
  }
}

/** The parts of the edge that a recording needs. */
type RecordContext = Pick<
  CallContext,
  "now" | "metrics" | "traces" | "log" | "records" | "services" | "formats" | "sampler"
>;

/** The recording of a request to /v1 or from the playground. */
export function recordingOf({ recording }: FastifyRequest): RequestRecording {
  if (recording === null) throw new Error("the request is not recorded");
  return recording;
}

/**
 * Observes one request from its first byte. It is written once: when the connection is done with it, or when the call is
 * settled, whichever comes later.
 */
export class RequestRecording implements CallObserver {
  readonly captures: Call["captures"];
  readonly traceContext: TraceContext | null;
  /** True if the request's spans hold prompt and answer. */
  readonly tracesContent: boolean;
  readonly #request: FastifyRequest;
  /** Undefined for an unknown path. */
  readonly #route: string | undefined;
  readonly #edge: RecordContext;
  readonly #startedAtMs: number;
  readonly #times: { -readonly [Name in keyof RequestTimes]: RequestTimes[Name] };
  #clientRequest: ClientRequest | null = null;
  #leaveQueue: (() => void) | null = null;
  #firstContentAtMs: number | null = null;
  #errorCode: string | null = null;
  #errorMessage: string | null = null;
  #ownWords: string | null = null;
  #operatorMessage: string | undefined;
  #report: CallReport = NO_REPORT;
  #isCallOpen = false;
  #mayFreeBody = false;
  #closing: Closing | null = null;
  #isWritten = false;
  #afterwards: (() => void) | null = null;
  /** Set when a second model is asked as well, once the client has its answer. */
  #compared: Pick<AnsweredRequest, "rule" | "format"> | null = null;

  constructor(request: FastifyRequest, reply: FastifyReply, edge: RecordContext) {
    const waitedMs = queueWaitMsOf(request.raw);
    this.#request = request;
    this.#route = routeOf(request);
    this.#edge = edge;
    // Whole milliseconds, as everywhere in the log: PostgreSQL rejects the record otherwise.
    this.#startedAtMs = edge.now() - Math.round(waitedMs);
    const beganAt = performance.now() - waitedMs;
    this.#times = {
      beganAt,
      bodyReadAt: 0,
      routingAt: 0,
      routedAt: 0,
      readyAt: 0,
      begunAt: 0,
      streamEndedAt: 0,
      sentAt: 0,
    };
    this.traceContext = edge.traces?.begin(readTraceparent(request.headers.traceparent)) ?? null;
    const isSampled = this.traceContext?.isSampled ?? false;
    this.tracesContent = isSampled && edge.traces?.hasContent === true;
    this.captures = { text: edge.services().logging.logContent, metadata: isSampled };
    edge.metrics.begin();
    // The call hears of the same `close` first, so that a disconnected client is seen as one.
    whenOver(reply.raw, () => {
      // An error for a client that has left would still set a status.
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
      setImmediate(() => this.#close(status));
    });
  }

  get bodyReadAt(): number {
    return this.#times.bodyReadAt;
  }

  /** The whole body is here. The request holds its place in the queue, if it has one, until its credits are reserved. */
  bodyRead(leaveQueue: (() => void) | null = null): void {
    this.#times.bodyReadAt = performance.now();
    this.#leaveQueue = leaveQueue;
  }

  /** From here on a report will come, unless the call fails before it is routed. */
  callStarted(clientRequest: ClientRequest): void {
    this.#clientRequest = clientRequest;
    this.#isCallOpen = true;
  }

  /** The response, or the end of a stream, was handed to the client's connection. */
  sent(): void {
    this.#times.sentAt = performance.now();
  }

  /** The call is settled, and its response sent or given up. `mayFreeBody`: nothing that goes on reads the body. */
  callOver(mayFreeBody = false): void {
    this.#isCallOpen = false;
    this.#mayFreeBody = mayFreeBody;
    // The response goes out in this turn of the event loop, and the client's next request is read in a later one.
    if (this.#afterwards !== null) setImmediate(() => this.#doRest());
    if (this.#closing !== null) this.#write(this.#closing);
  }

  /** Offers the request for a comparison once its record is written. */
  compare(compared: Pick<AnsweredRequest, "rule" | "format">): void {
    this.#compared = compared;
  }

  /** The error that was sent instead of a response. */
  failed({ details, type, message }: Pick<GatewayError, "details" | "type" | "message">): void {
    this.#errorCode = details.code ?? type;
    this.#errorMessage = message;
    this.#ownWords = ownWordsOf(details);
    this.#operatorMessage = details.operator;
  }

  routing(): void {
    this.#times.routingAt = performance.now();
  }

  routed(): void {
    this.#times.routedAt = performance.now();
  }

  reserved(): void {
    this.#leaveQueue?.();
  }

  answered(): void {
    this.#firstContentAtMs = this.#edge.now();
  }

  ready(): void {
    this.#times.readyAt = performance.now();
  }

  begun(): void {
    this.#times.begunAt = performance.now();
  }

  streamEnded(): void {
    this.#times.streamEndedAt = performance.now();
  }

  afterwards(work: () => void): void {
    this.#afterwards = work;
  }

  /** A client that disconnected has closed before its call is settled: the record waits for the report. */
  ended(report: CallReport): void {
    this.#report = report;
    if (report.cost !== null) noteCharge(this.#request.raw, report.cost.charge);
    if (this.#closing !== null) this.#write(this.#closing);
  }

  #close(status: number): void {
    this.#closing = { status, durationMs: this.#edge.now() - this.#startedAtMs };
    if (!this.#isCallOpen || this.#report !== NO_REPORT) this.#write(this.#closing);
  }

  #doRest(): void {
    const work = this.#afterwards;
    this.#afterwards = null;
    work?.();
  }

  #write(closing: Closing): void {
    if (this.#isWritten) return;
    this.#isWritten = true;
    // It may read the body, which is freed below.
    this.#doRest();
    const { log, metrics, records, formats } = this.#edge;
    log.info(this.#logFields(closing), "request");
    metrics.end(this.#metric(closing));
    const { caller, id: requestId } = this.#request;
    const route = this.#route ?? "";
    const recorded = toRecord({
      route,
      isCompletion: formats.isCompletion(route),
      requestId,
      caller,
      clientRequest: this.#clientRequest,
      headers: this.#request.headers as ClientHeaders,
      endUserHeaders: this.#edge.services().endUserHeaders,
      report: this.#report,
      errorCode: this.#errorCode,
      errorMessage: this.#errorMessage,
      ownWords: this.#ownWords,
      operatorMessage: this.#operatorMessage,
      keepsContent: this.captures.text,
      startedAtMs: this.#startedAtMs,
      firstContentMs: this.#firstContentMs(),
      status: closing.status,
      durationMs: closing.durationMs,
      newId: () => records.recorder.newId(this.#startedAtMs),
    });
    if (recorded !== null) records.recorder.add(recorded);
    this.#writeSpans(closing, recorded?.user ?? null);
    if (recorded !== null && this.#compared !== null) this.#offer(recorded, this.#compared);
    if (this.#mayFreeBody && this.#compared === null) freeBody(this.#request);
  }

  #offer(record: RequestRecord, compared: Pick<AnsweredRequest, "rule" | "format">): void {
    const { caller } = this.#request;
    const { capture: said } = this.#report;
    const request = this.#clientRequest;
    if (caller === null || request === null || said === null) return;
    this.#edge.sampler.offer({ ...compared, caller, request, record, said });
  }

  #firstContentMs(): number | null {
    return this.#firstContentAtMs === null ? null : this.#firstContentAtMs - this.#startedAtMs;
  }

  #metric({ status, durationMs }: Closing): RequestMetric {
    const { decision, answeredBy, overheadMs, cost } = this.#report;
    const { routingAt, routedAt } = this.#times;
    return {
      route: this.#route ?? "unknown",
      status,
      tier: decision?.tier ?? "none",
      model: answeredBy ?? "none",
      durationMs,
      firstContentMs: this.#firstContentMs(),
      overheadMs,
      decisionMs: routedAt === 0 ? null : routedAt - routingAt,
      pass: passOf(this.#report, this.#times),
      fallback: fallbackOf(this.#report),
      failedAttempts: failedAttempts(this.#report),
      cost,
      isStoreAway: this.#errorCode === DATABASE_UNAVAILABLE,
    };
  }

  /** Collects the fields of the log line, which leaves out undefined ones. */
  #logFields({ status, durationMs }: Closing): LogFields<"request.completed"> {
    const { id, method, url, headers, caller } = this.#request;
    const call = isCalled(this.#report) ? this.#report : null;
    // Without traces of our own, the caller's trace still names the request.
    const trace = this.traceContext ?? readTraceparent(headers.traceparent);
    return {
      event: "request.completed",
      requestId: id,
      // Under the names log collectors look for.
      trace_id: trace?.traceId,
      span_id: this.traceContext?.spanId,
      method,
      path: this.#route ?? url,
      status,
      durationMs,
      keyId: caller?.key.id ?? null,
      tier: call?.decision?.tier,
      category: call?.decision?.category,
      profile: call?.decision?.profile,
      model: call?.answeredBy,
      isFallback: call?.isFallback,
      usage: call === null ? undefined : tokensOf(call),
      chargedUsd: call === null ? undefined : chargedUsd(call),
      serviceTier: call?.cost?.serviceTier,
      ending: call?.ending,
      errorCode: this.#errorCode ?? undefined,
      operatorMessage: this.#operatorMessage,
      attempts: call?.attempts.map((attempt) => loggedAttempt(attempt, this.captures.text)),
    };
  }

  #writeSpans({ status }: Closing, user: string | null): void {
    if (this.traceContext === null) return;
    const { id, method, caller } = this.#request;
    const chat = this.#clientRequest?.chat ?? null;
    this.#edge.traces?.end({
      context: this.traceContext,
      requestId: id,
      method,
      route: this.#route ?? "unknown",
      status,
      keyId: caller?.key.id ?? null,
      operation: this.#request.clientFormat?.endpoint ?? "chat",
      isStream: chat?.isStream ?? false,
      outputCap: chat?.maxOutputTokens || null,
      errorCode: this.#errorCode,
      report: this.#report,
      content: chat !== null && this.tracesContent ? { chat, user } : null,
      times: { ...this.#times, endedAt: performance.now() },
    });
  }
}

/** Tells whether the request got as far as a decision, or to a model that it named itself. */
function isCalled({ decision, attempts }: CallReport): boolean {
  return decision !== null || attempts.length > 0;
}

/** Input and output. */
function tokensOf({ usage }: CallReport): readonly [number, number] | null {
  return usage === null ? null : [promptTokens(usage.buckets), usage.buckets.output];
}

function chargedUsd({ cost }: CallReport): string | null {
  return cost === null ? null : formatUsd(cost.charge);
}

/** A provider's words stay out where content is not kept. */
function loggedAttempt(attempt: AttemptReport, keepsContent: boolean): object {
  const { model, provider, outcome, status, durationMs, droppedFields } = attempt;
  const reason = loggedReason(attempt, keepsContent);
  const dropped = droppedFields.length > 0 ? droppedFields : undefined;
  return { model, provider, outcome, status, reason, durationMs, droppedFields: dropped };
}

const CATCH_UP_MS = 2_000;

/** Waits until the latest requests can be read, but not long: the store may be stuck. */
export async function caughtUp({ recorder }: Records): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CATCH_UP_MS);
  });
  await Promise.race([recorder.flush(), timeout]);
  clearTimeout(timer);
}
