// An answered attempt as the client will receive it: whole, or as a stream. Either way it is booked before its end is sent.

import type { Model } from "../core/model.ts";
import type { StreamWriter, WholeAnswer } from "../formats/format.ts";
import { serviceHeaders, writeService } from "../formats/service/service-object.ts";
import type { Answered } from "./attempt/attempt.ts";
import { BROKEN_STREAM } from "./attempt/health-outcome.ts";
import type { OpenStream } from "./attempt/try-model.ts";
import type { Call, Trace } from "./call.ts";
import { relay } from "./relay.ts";
import type { Reservation } from "./reserve.ts";
import { hearStream, hearWhole } from "./response-metadata.ts";
import type { Services } from "./services.ts";
import { assess, book, type Delivered } from "./settle.ts";

export type Answer =
  | { readonly kind: "whole"; readonly headers: HeaderMap; readonly contentType: string; readonly bytes: Buffer }
  | {
      readonly kind: "stream";
      readonly headers: HeaderMap;
      readonly text: AsyncGenerator<string>;
      readonly ping: string;
    };

/** The routing headers; the edge sends them when DEBUG_ROUTING is on. */
export type HeaderMap = Readonly<Record<string, string>>;

export const JSON_TYPE = "application/json; charset=utf-8";
export const STREAM_TYPE = "text/event-stream; charset=utf-8";

export interface Ready {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly answered: Answered;
}

export function answer(ready: Ready, services: Services): Answer | Promise<Answer> {
  const { whole, stream } = ready.answered.answer;
  return stream === null ? wholeAnswer(ready, whole, services) : streamAnswer(ready, stream, services);
}

async function wholeAnswer(ready: Ready, whole: WholeAnswer, services: Services): Promise<Answer> {
  const { call, reservation, answered } = ready;
  const { usage, outputText } = whole;
  const delivered: Delivered = {
    call,
    reservation,
    model: answered.model,
    usage,
    outputLength: outputText.length,
    outcome: "complete",
  };
  call.trace.heard?.whole(whole);
  if (call.trace.told !== null) hearWhole(call.trace.told, whole);
  const assessment = assess(delivered, services);
  const additions = {
    service: writeService(reservation.decision, assessment),
    usage: assessment.isUsageEstimated ? assessment.usage : null,
  };
  const bytes = call.format.writeAnswer(whole, answerContext(ready, services), additions);
  await book(
    delivered,
    assessment,
    storedAnswer(call, JSON_TYPE, () => bytes.toString("utf8")),
    services,
  );
  noteToolCalls(call, toolCallIdsOf(whole), answered.model, services);
  call.trace.ending = "complete";
  return { kind: "whole", headers: serviceHeaders(reservation.decision, assessment), contentType: JSON_TYPE, bytes };
}

function streamAnswer(ready: Ready, stream: OpenStream, services: Services): Answer {
  const { call, reservation, answered } = ready;
  const { model } = answered;
  const { decision } = reservation;
  const expected = { isFallback: model.id !== decision.model, savings: decision.savings, isUsageEstimated: false };
  const writer = call.format.streamWriter(answerContext(ready, services), {
    service: writeService(decision, expected),
    wantsUsage: call.request.chat.wantsUsage,
  });
  const text = relay({
    stream,
    writer: overheard(writer, call.trace),
    trace: call.trace,
    isCutting: services.isCutting,
    keepsText: call.idempotencyId !== null,
    ...watchers(ready, services),
    async finish({ usage, outputLength, textSoFar }) {
      services.health.report(model.id, answered.ticket, "answered");
      noteToolCalls(call, stream.reader.toolCallIds(), model, services);
      const delivered: Delivered = { call, reservation, model, usage, outputLength, outcome: "complete" };
      const assessment = assess(delivered, services);
      const closing = writer.end(writeService(decision, assessment), assessment.usage);
      await book(
        delivered,
        assessment,
        storedAnswer(call, STREAM_TYPE, () => textSoFar + closing),
        services,
      );
      return closing;
    },
  });
  return { kind: "stream", headers: serviceHeaders(decision, expected), text, ping: writer.ping };
}

function overheard(writer: StreamWriter, { heard, told }: Trace): StreamWriter {
  const listened = heard?.listening(writer) ?? writer;
  return told === null ? listened : hearStream(told, listened);
}

/** For a client that left after a provider had accepted. When it was we who cut it off at the end, it costs nothing. */
export async function chargeLeaver(left: Omit<Delivered, "outcome">, services: Services): Promise<void> {
  const delivered: Delivered = { ...left, outcome: "client-gone" };
  if (!services.isCutting()) return book(delivered, assess(delivered, services), null, services);
  left.call.trace.ending = "gateway-broke";
  await services.ledger.release(left.reservation);
}

/** Who broke it pays: a client that leaves pays for what came so far, a provider or we ourselves cost it nothing. */
function watchers(
  ready: Ready,
  services: Services,
): Pick<Parameters<typeof relay>[0], "onGone" | "onBreak" | "onFault"> {
  const { call, reservation, answered } = ready;
  const { model } = answered;
  const { health, log, ledger, registry } = services;
  const subject = { requestId: call.requestId, model: model.id, provider: model.provider };
  return {
    async onGone({ usage, outputLength }) {
      await chargeLeaver({ call, reservation, model, usage, outputLength }, services);
      await forget(call, services);
    },
    /** A model whose streams keep breaking comes to rest like one that does not answer. */
    async onBreak(reason) {
      if (services.isCutting()) call.trace.ending = "gateway-broke";
      else health.report(model.id, answered.ticket, BROKEN_STREAM);
      log.warn(
        { event: "stream.broken", ...subject, reason: registry.line(model.provider).redact(reason) },
        "provider broke off the stream",
      );
      await ledger.release(reservation);
      await forget(call, services);
    },
    async onFault(error) {
      log.error({ event: "stream.failed", ...subject, err: error }, "gateway broke off the stream");
      await ledger.release(reservation);
      await forget(call, services);
    },
  };
}

function toolCallIdsOf({ completion }: WholeAnswer): readonly string[] {
  const choices = (completion.choices ?? []) as readonly {
    message?: { tool_calls?: readonly { id?: unknown }[] | null };
  }[];
  return choices.flatMap(({ message }) =>
    (message?.tool_calls ?? []).map(({ id }) => (typeof id === "string" ? id : "")),
  );
}

function noteToolCalls(
  { caller, requestId }: Call,
  ids: readonly string[],
  model: Model,
  { toolLoops }: Services,
): void {
  toolLoops.note({ accountId: caller.key.accountId, requestId }, ids, model.id);
}

async function forget({ idempotencyId }: Call, { idempotency }: Services): Promise<void> {
  if (idempotencyId !== null) await idempotency.forget(idempotencyId);
}

function storedAnswer(call: Call, contentType: string, text: () => string) {
  return call.idempotencyId === null ? null : { idempotencyId: call.idempotencyId, contentType, text: text() };
}

function answerContext({ call, answered, reservation }: Ready, services: Services) {
  return {
    requestId: call.requestId,
    modelId: answered.model.id,
    createdAtSeconds: Math.floor(services.now() / 1000),
    inputTokens: reservation.decision.estimatedTokens.input,
    request: call.request,
  };
}
