// The chain of the decision, model by model, until one answers. Failures are collected as values; when none is left the
// caller gets one honest error.

import { setTimeout as wait } from "node:timers/promises";
import { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Call } from "./call.ts";
import { chainError } from "./chain-error.ts";
import { type Failure, judge, type Received, type Verdict } from "./failure.ts";
import { mayLeaveOut } from "./refused-field.ts";
import type { Reservation } from "./reserve.ts";
import type { Services } from "./services.ts";
import { shuttingDown } from "./shutting-down.ts";
import { type Reached, type Tried, type Try, tryModel } from "./try-model.ts";

/** With fewer models in the chain than this, what is left over may go into second tries. */
const ATTEMPTS_FOR_RETRIES = 4;
const RETRY_WAIT_MS = 100;

export type Answered = { readonly model: Model } & Reached;

/** What a provider had sent when the client left. */
export type Accepted = { readonly model: Model } & Received;

export class ClientGone extends GatewayError {
  /** Null when no provider had accepted the request yet. */
  readonly accepted: Accepted | null;

  constructor(accepted: Accepted | null) {
    super("badRequest", "The client closed the request.", { code: "client_closed_request" });
    this.accepted = accepted;
  }
}

export async function attempt(call: Call, reservation: Reservation, services: Services): Promise<Answered> {
  const failures: Failure[] = [];
  let windowAbove = 0;
  const models = reservation.decision.chain.map((id) => services.catalog.models.get(id) as Model);
  for (const [position, model] of models.entries()) {
    if (model.context <= windowAbove) continue;
    const modelsLeft = models.length - position - 1;
    const { tried, verdict } = await tryTwice(
      { call, model, modelsLeft, outputCap: reservation.outputCaps.get(model.id) ?? null },
      services,
    );
    if (verdict === null) {
      call.trace.answeredBy = model.id;
      return { model, ...tried.answer };
    }
    if (services.isCutting()) throw cutOff(call);
    if (call.signal.aborted) throw clientGone(call, model, tried.failure);
    failures.push(tried.failure);
    if (verdict.next === "none") break;
    if (verdict.next === "larger-window") windowAbove = model.context;
  }
  throw chainError(failures);
}

interface ModelTry {
  readonly call: Call;
  readonly model: Model;
  readonly modelsLeft: number;
  readonly outputCap: number | null;
}

type Judged =
  | { tried: Extract<Tried, { ok: true }>; verdict: null }
  | { tried: Extract<Tried, { ok: false }>; verdict: Verdict };

async function tryTwice({ call, model, modelsLeft, outputCap }: ModelTry, services: Services): Promise<Judged> {
  const first = await noteAttempt({ call, model, outputCap, refusedFields: [] }, services);
  if (first.verdict === null || call.signal.aborted) return first;
  const { failure } = first.tried;
  if (first.verdict.again === "without-refused-field") {
    const refused = failure.fault?.param ?? "";
    if (!mayLeaveOut(refused, call.request)) return first;
    return noteAttempt({ call, model, outputCap, refusedFields: [refused] }, services);
  }
  const mayRetry = call.trace.attempts.length + 1 + modelsLeft <= ATTEMPTS_FOR_RETRIES;
  if (first.verdict.again !== "once" || !mayRetry) return first;
  await wait(failure.retryAfterMs ?? RETRY_WAIT_MS, undefined, { signal: call.signal }).catch(() => undefined);
  return call.signal.aborted ? first : noteAttempt({ call, model, outputCap, refusedFields: [] }, services);
}

async function noteAttempt(attempted: Try, services: Services): Promise<Judged> {
  const { call, model } = attempted;
  const startedAtMs = services.now();
  const tried = await tryModel(attempted, services);
  const failure = tried.ok ? null : tried.failure;
  call.trace.attempts.push({
    model: model.id,
    provider: model.provider,
    startedAtMs,
    durationMs: services.now() - startedAtMs,
    outcome: tried.ok ? "answered" : failure?.kind === "client-gone" ? "client-gone" : "failed",
    status: failure === null ? 200 : failure.status,
    reason: failure === null ? null : failure.message,
    failure: failure === null ? null : failure.kind,
    droppedFields: tried.droppedFields,
    conversions: tried.conversions,
  });
  if (tried.ok) {
    // A stream has yet to show that it ends well.
    if (tried.answer.stream === null) services.health.succeeded(model.id);
    return { tried, verdict: null };
  }
  const verdict = judge(tried.failure);
  reportFailure({ call, model, failure: tried.failure, verdict }, services);
  return { tried, verdict };
}

interface FailedTry {
  readonly call: Call;
  readonly model: Model;
  readonly failure: Failure;
  readonly verdict: Verdict;
}

function reportFailure({ call, model, failure, verdict }: FailedTry, { health, log }: Services): void {
  if (failure.kind === "client-gone") return;
  if (verdict.blame !== "client") health.failed(model.id, failure.status === 429 ? failure.retryAfterMs : null);
  const fields = { requestId: call.requestId, model: model.id, provider: model.provider, reason: failure.message };
  if (verdict.blame === "operator") log.error(fields, "provider refused our credentials or model");
  else log.warn(fields, "attempt failed");
}

function cutOff(call: Call): GatewayError {
  call.trace.ending = "gateway-broke";
  return shuttingDown();
}

function clientGone(call: Call, model: Model, { kind, received }: Failure): ClientGone {
  call.trace.ending = "client-gone";
  return new ClientGone(kind === "client-gone" && received !== undefined ? { model, ...received } : null);
}
