// The response for the client, whole or as a stream. Either way it is settled before its end is sent. Behaviour 6.

import { retirementHeaders } from "../catalog/retirement.ts";
import type { AttemptReport } from "../core/call-report.ts";
import type { Usage } from "../core/chat.ts";
import type { StoredAnswer } from "../core/ledger.ts";
import type { Note } from "../core/requests/notes.ts";
import { createClientStream, writeClientResponse } from "../formats/bridge.ts";
import { type ServiceOutcome, serviceHeaders, writeService } from "../formats/service/service-object.ts";
import { type Answered, type Attempted, askedTierOf } from "./attempt/attempt.ts";
import { BROKEN_STREAM } from "./attempt/health-outcome.ts";
import type { OpenStream, Reached } from "./attempt/try-model.ts";
import type { Call, LastEvent } from "./call.ts";
import { createCapture, type ResponseCapture } from "./capture.ts";
import { assessedTogether, bookBoth } from "./cascade/charge.ts";
import type { CascadeCourse } from "./cascade/run.ts";
import { chargeNotes, notesOf } from "./notes.ts";
import { type RelayTask, relay, type TextSink } from "./relay.ts";
import { type CallEnd, reportOf } from "./report.ts";
import type { Reservation } from "./reserve.ts";
import type { Services } from "./services.ts";
import {
  type Assessment,
  assess,
  book,
  chargeDisconnected,
  type Delivered,
  deliveredWhole,
  hostShown,
  isFallback,
  type Settlement,
} from "./settle.ts";
import * as TEXT from "./text.ts";

/**
 * The answer that the edge sends. A stream holds credits until it is relayed, so the edge must take it, if only to
 * fail.
 */
export type Answer =
  | { readonly kind: "whole"; readonly headers: HeaderMap | null; readonly contentType: string; readonly bytes: Buffer }
  | {
      readonly kind: "stream";
      readonly headers: HeaderMap | null;
      readonly contentType: string;
      readonly relay: (sink: TextSink) => Promise<void>;
      readonly ping: string;
    };

/** The end of the model that was asked for, and the routing headers where DEBUG_ROUTING is on. */
type HeaderMap = Readonly<Record<string, string>>;

const JSON_TYPE = "application/json; charset=utf-8";
const STREAM_TYPE = "text/event-stream; charset=utf-8";

/** Everything the steps before have established. */
export interface Ready {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly attempted: Attempted;
  readonly answered: Answered;
  /** The course of a cascade; null without one, as for every stream. */
  readonly course: CascadeCourse | null;
}

export async function answer(ready: Ready, services: Services): Promise<Answer> {
  const { response } = ready.answered;
  return response.stream === null
    ? wholeAnswer(ready, response, services)
    : streamAnswer(ready, response.stream, services);
}

async function wholeAnswer(
  ready: Ready,
  { whole, headAt }: Extract<Reached, { stream: null }>,
  services: Services,
): Promise<Answer> {
  const { call, reservation, answered, course } = ready;
  const { usage } = whole;
  const askedTier = askedTierOf(ready.attempted);
  const delivered = deliveredWhole({ call, reservation, model: answered.model, askedTier, whole });
  const capture = captureFor(call);
  capture.response(whole);
  const assessment = assess(delivered, services);
  const outcome = course === null ? assessment : assessedTogether(assessment, { course, delivered }, services);
  const additions = {
    service: writeService(reservation.decision, outcome, allNotes(notesOf(ready), assessment)),
    usage: assessment.isUsageEstimated ? assessment.usage : null,
  };
  const written = writeClientResponse(call.format, whole, { context: responseContext(ready, services), additions });
  const kept = call.state === null ? null : awaitedLater(call.state.keepWhole(written));
  const bytesNow = async () => ((await kept) ?? written).toString("utf8");
  const stored = await keepAnswer(call, JSON_TYPE, bytesNow, services);
  const settling = book(delivered, assessment, stored, services);
  const settlement = await bookBoth(settling, course?.earlier ?? null, services);
  call.observer.afterwards(() => {
    const { beganAt, endedAt } = ready.attempted.attempts.at(-1) as AttemptReport;
    const outputTokens = assessment.usage.buckets.output;
    const observed = { firstMs: null, headMs: headAt - beganAt, outputTokens, outputMs: endedAt - beganAt };
    if (usage?.ownSearches === undefined && call.native === undefined)
      services.speeds.note(answered.model.hostKey, observed);
    noteTurn(ready, usage, whole.toolCallIds(), services);
  });
  const bytes = (await kept) ?? written;
  reporter(ready, capture)({ event: "finished", isCutting: false, settlement, cascade: outcome.cascade });
  const headers = answerHeaders(reservation, outcome, services);
  return { kind: "whole", headers, contentType: wholeType(call), bytes };
}

function wholeType({ format, request }: Call): string {
  return (format.endpoint === undefined ? null : format.wholeType?.(request)) ?? JSON_TYPE;
}

function streamAnswer(ready: Ready, stream: OpenStream, services: Services): Answer {
  const { call, reservation, attempted, answered } = ready;
  const { model } = answered;
  const { decision } = reservation;
  const host = hostShown(model, reservation);
  const { savings } = decision;
  const expected = { isFallback: isFallback(model.id, decision), savings, isUsageEstimated: false, host };
  const contentType = streamType(call, stream);
  const capture = captureFor(call);
  const notes = notesOf(ready);
  const writer = createClientStream(call.format, responseContext(ready, services), {
    service: writeService(decision, expected, notes),
    wantsUsage: call.request.chat.wantsUsage,
    contentType,
  });
  const end = reporter(ready, capture);
  const task: RelayTask = {
    stream,
    writer: call.state?.watching(capture.watching(writer)) ?? capture.watching(writer),
    isCutting: services.isCutting,
    keepsText: call.idempotencyId !== null,
    ...endsWithoutFinish(ready, end, services),
    async onFinish({ usage, outputTokens, textSoFar }) {
      call.observer.streamEnded();
      services.health.report(model.hostKey, answered.ticket, "answered", answered.keyId);
      const { beganAt, endedAt: firstAt } = attempted.attempts.at(-1) as AttemptReport;
      const output = { outputTokens: usage?.buckets.output ?? outputTokens, outputMs: performance.now() - firstAt };
      const of = { call, reservation, model, askedTier: askedTierOf(attempted) };
      const delivered: Delivered = { ...of, usage, outputTokens, isCounted: true, outcome: "complete" };
      const assessment = assess(delivered, services);
      const written = writer.end(writeService(decision, assessment, allNotes(notes, assessment)), assessment.usage);
      const kept = call.state === null ? null : awaitedLater(call.state.keepClosing(written, assessment.usage));
      const wholeText = async () => textSoFar + ((await kept) ?? written);
      const stored = await keepAnswer(call, contentType, wholeText, services);
      const settlement = await book(delivered, assessment, stored, services);
      call.observer.afterwards(() => {
        if (usage?.ownSearches === undefined)
          services.speeds.note(model.hostKey, { firstMs: firstAt - beganAt, ...output });
        noteTurn(ready, usage, stream.reader.toolCallIds(), services);
      });
      end({ event: "finished", isCutting: false, settlement });
      return (await kept) ?? written;
    },
  };
  const headers = answerHeaders(reservation, expected, services);
  return { kind: "stream", headers, contentType, relay: (sink) => begin(task, sink, call), ping: writer.ping };
}

/** Sound and the like have the type that their provider gave them. */
function streamType({ format, request }: Call, { contentType = "" }: OpenStream): string {
  if (format.endpoint !== undefined && contentType !== "") return contentType;
  return request.target?.framing === "json-array" ? JSON_TYPE : STREAM_TYPE;
}

/** The first text goes out before the relay waits for anything. */
function begin(task: RelayTask, sink: TextSink, { observer }: Call): Promise<void> {
  const relayed = relay(task, sink);
  observer.begun();
  return relayed;
}

/** With what is known only once the answer is complete. */
function allNotes(notes: readonly Note[], assessment: Assessment): readonly Note[] {
  const late = chargeNotes(assessment);
  return late.length === 0 ? notes : [...notes, ...late];
}

/** Keeps the answer of a request with an Idempotency-Key. The charge notes where. */
async function keepAnswer(
  { idempotencyId }: Call,
  contentType: string,
  textOf: () => Promise<string>,
  { idempotency }: Services,
): Promise<StoredAnswer | null> {
  return idempotencyId === null ? null : idempotency.keep({ idempotencyId, contentType, text: await textOf() });
}

/** A fault while the charge is being booked is seen when the promise is awaited. It must not end the process. */
function awaitedLater<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}

/** Captures the parts of the response that the report tells, while the response passes. */
function captureFor({ request, captures: { text, metadata }, needsAnswer = false }: Call): ResponseCapture {
  return createCapture({ toolCalls: request.chat.tools.length > 0, text: text || needsAnswer, metadata });
}

/** `isCutting` is what the settlement was decided by, not what holds once it is booked. */
type EndCall = (
  end: Pick<CallEnd, "event" | "isCutting" | "cascade"> & { readonly settlement: Settlement | null },
) => void;

/** Made when the response, or the beginning of a stream, is ready. Hands the finished report to the edge. */
function reporter({ call, reservation, attempted, course }: Ready, { content, metadata }: ResponseCapture): EndCall {
  const facts = { decision: reservation.decision, reservation, attempted, course };
  const work = { receivedAt: call.receivedAt, readyAt: performance.now() };
  return ({ event, isCutting, settlement, cascade }) =>
    call.observer.ended(reportOf(facts, { event, isCutting, work, settlement, capture: content, metadata, cascade }));
}

/**
 * Ends a stream that has no finish. A client that leaves pays for the part that came; a failure of a provider or ours
 * costs it nothing.
 */
function endsWithoutFinish(
  ready: Ready,
  end: EndCall,
  services: Services,
): Pick<RelayTask, "onDisconnect" | "onBreak" | "onFault"> {
  const { call, reservation, attempted, answered } = ready;
  const { model } = answered;
  const { health, log, ledger, registry } = services;
  const subject = { requestId: call.requestId, model: model.id, provider: model.provider };
  const releaseAll = async (event: LastEvent, isCutting: boolean): Promise<void> => {
    await ledger.release(reservation);
    end({ event, isCutting, settlement: null });
    await forget(call, services);
  };
  return {
    async onDisconnect({ usage, outputTokens, isCounted }) {
      call.observer.streamEnded();
      // A connection that we cut at the end costs the client nothing.
      if (services.isCutting()) return releaseAll("disconnected", true);
      const of = { call, reservation, model, askedTier: askedTierOf(attempted) };
      const received = { ...of, usage, outputTokens, isCounted };
      const settlement = await chargeDisconnected(received, services);
      end({ event: "disconnected", isCutting: false, settlement });
      await forget(call, services);
    },
    /** A model whose streams keep breaking cools down like one that does not answer. */
    async onBreak(reason) {
      call.observer.streamEnded();
      const isCutting = services.isCutting();
      // The attempt of a later round has told of its own failure.
      const isTold = reason === TEXT.noAnswerAfterSearch;
      if (!isCutting && !isTold) health.report(model.hostKey, answered.ticket, BROKEN_STREAM, answered.keyId);
      log.warn(
        { event: "stream.broken", ...subject, reason: registry.connection(model.provider).redact(reason) },
        "provider interrupted the stream",
      );
      await releaseAll("stream-broken", isCutting);
    },
    async onFault(error) {
      call.observer.streamEnded();
      log.error({ event: "stream.failed", ...subject, err: error }, "gateway interrupted the stream");
      await releaseAll("our-fault", false);
    },
  };
}

export function answerHeaders(
  { decision, retirement }: Pick<Reservation, "decision" | "retirement">,
  outcome: ServiceOutcome,
  { routing }: Services,
): HeaderMap | null {
  const ending = retirement === null ? null : retirementHeaders(retirement);
  return routing.isRoutingDebugged && !decision.isNamed ? { ...serviceHeaders(decision, outcome), ...ending } : ending;
}

/** Only chat has sessions. One that cannot be remembered costs money at most, and never the answer. */
function noteTurn(
  { call, reservation, answered }: Ready,
  usage: Usage | null,
  toolCallIds: readonly string[],
  { sessions, log }: Services,
): void {
  const { decision } = reservation;
  if (decision.isNamed) return;
  const { model, keyId } = answered;
  try {
    sessions.note({ call, decision, model, keyId, usage, toolCallIds });
  } catch (error) {
    log.error({ event: "sessions.failed", requestId: call.requestId, err: error }, "could not remember the turn");
  }
}

async function forget({ idempotencyId }: Call, { idempotency }: Services): Promise<void> {
  if (idempotencyId !== null) await idempotency.forget(idempotencyId);
}

function responseContext({ call, answered, reservation }: Ready, services: Services) {
  return {
    requestId: call.requestId,
    modelId: answered.model.id,
    createdAtSeconds: Math.floor(services.now() / 1000),
    nowSeconds: () => Math.floor(services.now() / 1000),
    // Any name will do that no other answer has.
    answerId: call.state?.answerId ?? reservation.holdId,
    ...(call.state === null ? {} : { kept: call.state.isHeld === true ? ("held" as const) : ("stored" as const) }),
    inputTokens: reservation.decision.estimatedTokens.input,
    request: call.request,
  };
}
