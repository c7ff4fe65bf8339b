// One response of a realtime session: reserved before the provider may begin it, and charged by what the provider counts.
// The provider keeps the conversation, so the hold is for as much as the model can read and write.

import type { AttemptReport, CallEnding, CallReport } from "../../core/call-report.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { Usage } from "../../core/chat.ts";
import type { Decision } from "../../core/decision.ts";
import type { HostedModel } from "../../core/model.ts";
import type { CallFormat, ClientRequest } from "../../formats/format.ts";
import { heard, realtime, realtimeRequest } from "../../formats/realtime/format.ts";
import type { Call, Caller, CallObserver } from "../call.ts";
import { nameModel } from "../complete.ts";
import { requireRates } from "../rates.ts";
import { NO_FACTS, reportOf } from "../report.ts";
import { type Reservation, reserve } from "../reserve.ts";
import type { Services } from "../services.ts";
import { assess, book, type Settlement } from "../settle.ts";

export interface ResponseTurn {
  readonly requestId: string;
  readonly request: ClientRequest;
  readonly caller: Caller;
  readonly reservation: Reservation;
  /** Charges the response. */
  settle(used: TurnUse): Promise<CallReport>;
  /** Nothing was used. */
  release(): Promise<void>;
  /** The report on a response that costs nothing, whose hold is released. */
  void(ran: Ran, ending: CallEnding): Promise<CallReport>;
}

/** The time at which a response ran, on the clock of the log and on the monotonic one. */
export interface Ran {
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly beganAt: number;
  readonly endedAt: number;
}

interface TurnUse extends Ran {
  readonly usage: Usage | null;
  /** Messages that the response consisted of, for where the provider counts nothing. */
  readonly outputTokens: number;
}

interface AskedTurn {
  readonly requestId: string;
  readonly caller: Caller;
  /** Stays null where the client names none, which is refused. */
  readonly model: string | null;
  /** The host that the session is connected to; null before it is connected. */
  readonly host: string | null;
}

/** The models and hosts that a session may be connected to. */
export function decideSession({ caller, model }: Pick<AskedTurn, "caller" | "model">, services: Services): Decision {
  const request = realtimeRequest({ model, inputTokens: 0 });
  return nameModel({ format: realtime, request, caller }, services);
}

/** Throws what the caller is told where limits, credits or budgets do not allow a response. */
export async function beginTurn(asked: AskedTurn, services: Services): Promise<ResponseTurn> {
  const { requestId, caller, model, host } = asked;
  const named = decideSession(asked, services);
  const decision = host === null ? named : atHost(named, host);
  const inputTokens = services.catalog.models.get(decision.model)?.context ?? 0;
  const call = callOf({ requestId, caller, format: realtime, request: realtimeRequest({ model, inputTokens }) });
  await requireRates(call, decision, services);
  return turnOf(call, await reserve(call, decision, services), services);
}

/** A transcription beside a response: its size is known when it is reserved. */
export async function beginTranscription(
  { requestId, caller, model, usage }: Pick<AskedTurn, "requestId" | "caller" | "model"> & { readonly usage: Usage },
  services: Services,
): Promise<ResponseTurn> {
  const { buckets, parts } = usage;
  const bounds = { inputTokens: buckets.input + buckets.cacheRead, outputTokens: buckets.output };
  const request = realtimeRequest({ model, ...bounds, milliseconds: parts?.minute ?? 0 });
  const call = callOf({ requestId, caller, format: heard, request });
  return turnOf(call, await reserve(call, nameModel(call, services), services), services);
}

/** Throws where the key may not use the model for transcriptions, or nobody knows its price. */
export function requireTranscriber({ caller, model }: Pick<AskedTurn, "caller" | "model">, services: Services): void {
  nameModel({ format: heard, request: realtimeRequest({ model, inputTokens: 0 }), caller }, services);
}

function atHost(decision: Decision, host: string): Decision {
  return { ...decision, hosts: { [decision.model]: [host] } };
}

interface CallParts {
  readonly requestId: string;
  readonly caller: Caller;
  readonly format: CallFormat;
  readonly request: ClientRequest;
}

function callOf(parts: CallParts): Call {
  return {
    ...parts,
    receivedAt: performance.now(),
    sentBytes: parts.request.source.bytes,
    signal: new Cancellation(),
    captures: { text: false, metadata: false },
    traceContext: null,
    observer: NOBODY,
    idempotencyId: null,
    state: null,
  };
}

function turnOf(call: Call, reservation: Reservation, services: Services): ResponseTurn {
  const { requestId, request, caller } = call;
  const { ledger } = services;
  const release = async (): Promise<void> => void (await ledger.release(reservation));
  return {
    requestId,
    request,
    caller,
    reservation,
    async settle({ usage, outputTokens, ...ran }) {
      const { model } = ran;
      const of = { call, reservation, model, askedTier: undefined };
      const delivered = { ...of, usage, outputTokens, isCounted: true, outcome: "complete" as const };
      const settlement = await book(delivered, assess(delivered, services), null, services);
      return report(reservation, ran, { settlement, ending: "complete" });
    },
    release,
    async void(ran, ending) {
      await release();
      return report(reservation, ran, { settlement: null, ending });
    },
  };
}

function report(
  { amount }: Reservation,
  ran: Ran,
  { settlement, ending }: { readonly settlement: Settlement | null; readonly ending: CallEnding },
): CallReport {
  return {
    ...reportOf(NO_FACTS, { event: "error", isCutting: false, settlement }),
    hold: amount,
    attempts: [attemptOf(ran, ending)],
    answeredBy: ending === "complete" ? ran.model.id : null,
    ending,
  };
}

function attemptOf({ model, keyId, ...ran }: Ran, ending: CallEnding): AttemptReport {
  const isAnswer = ending === "complete";
  const report: AttemptReport = {
    model: model.id,
    provider: model.provider,
    ...ran,
    outcome: isAnswer ? "answered" : ending === "client-gone" ? "client-gone" : "failed",
    status: isAnswer ? 200 : null,
    reason: null,
    failure: isAnswer ? null : ending === "client-gone" ? "client-gone" : "broken",
    droppedFields: [],
    conversions: [],
    sentAt: ran.beganAt,
    receivedAt: ran.endedAt,
    spanId: null,
  };
  return keyId === undefined ? report : { ...report, keyId };
}

const nothing = (): void => undefined;
/** The session itself watches its responses. */
const NOBODY: CallObserver = {
  routing: nothing,
  routed: nothing,
  reserved: nothing,
  answered: nothing,
  ready: nothing,
  begun: nothing,
  streamEnded: nothing,
  afterwards: nothing,
  ended: nothing,
};
