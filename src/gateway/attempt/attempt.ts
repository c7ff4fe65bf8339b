// The chain of the decision, model by model, until one answers. Models that are not well are passed over and tried last.
// Failures are collected as values; when none is left the caller gets one honest error.

import { pause } from "../../core/cancellation.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { Outcome } from "../../providers/health.ts";
import { newSpanId } from "../../telemetry/trace-context.ts";
import type { Call } from "../call.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import { shuttingDown } from "../shutting-down.ts";
import { chainError } from "./chain-error.ts";
import { troubleOf } from "./health-outcome.ts";
import { mayLeaveOut } from "./refused-field.ts";
import { type Reached, type Tried, type Try, tryModel } from "./try-model.ts";
import { type Failure, judge, loggedReason, type Received, type Verdict } from "./verdict.ts";

/** Each model of a chain has its turn, however long it is; second tries get what that leaves over of these. */
const ATTEMPTS_MAX = 4;
const RETRY_WAIT_MS_MAX = 200;
/** Timers may fire a moment early. */
const WAIT_SLACK_MS = 5;

/** `ticket`: under which the end of a stream is reported to health. */
export interface Answered {
  readonly model: Model;
  readonly ticket: number;
  readonly answer: Reached;
}

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
  const { catalog, health, now } = services;
  const models = reservation.decision.chain.map((id) => catalog.models.get(id) as Model);
  const beginsByMs = now() + services.answerWithinMs;
  const callsMax = Math.max(ATTEMPTS_MAX, models.length);
  const walk: Walk = { call, reservation, beginsByMs, callsMax, failures: [], windowAbove: 0 };
  const skipped: Model[] = [];
  for (const [position, model] of models.entries()) {
    if (isSpent(walk, services)) break;
    if (model.context <= walk.windowAbove) continue;
    const ticket = health.admit(model.id);
    if (ticket === 0) skipped.push(model);
    else {
      const answered = await take(walk, { model, ticket, modelsLeft: models.length - position - 1 }, services);
      if (answered !== null) return answered;
    }
  }
  return tryResting(walk, skipped, services);
}

/** The way along the chain so far. */
interface Walk {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly beginsByMs: number;
  readonly callsMax: number;
  readonly failures: Failure[];
  /** Only models with a larger window than this may be tried; none, when it is infinite. */
  windowAbove: number;
}

function isSpent({ call, callsMax, beginsByMs }: Walk, { now }: Services): boolean {
  return callsMade(call) >= callsMax || now() >= beginsByMs;
}

function callsMade({ trace }: Call): number {
  return trace.attempts.reduce((count, { failure }) => (failure === "unconvertible" ? count : count + 1), 0);
}

/** A 503 says that the whole chain failed, so the models that rest are tried as well, once each. */
async function tryResting(walk: Walk, skipped: readonly Model[], services: Services): Promise<Answered> {
  const { health, now } = services;
  const fits = ({ context }: Model): boolean => context > walk.windowAbove;
  for (const model of skipped) {
    if (isSpent(walk, services)) break;
    const ticket = fits(model) ? health.admitResting(model.id) : 0;
    const answered = ticket === 0 ? null : await take(walk, { model, ticket, modelsLeft: ATTEMPTS_MAX }, services);
    if (answered !== null) return answered;
  }
  const dueAtMs = skipped.filter(fits).map(({ id }) => health.stateOf(id).nextTryAtMs ?? Number.POSITIVE_INFINITY);
  const soonestMs = Math.min(...dueAtMs);
  throw chainError(walk.failures, Number.isFinite(soonestMs) ? Math.max(0, soonestMs - now()) : null);
}

interface Turn {
  readonly model: Model;
  readonly ticket: number;
  /** How many models of the chain come after it; those go before second tries. */
  readonly modelsLeft: number;
}

/** A model's turn. Null when it has failed; what that means for the next ones is noted. */
async function take(walk: Walk, turn: Turn, services: Services): Promise<Answered | null> {
  const { call, failures } = walk;
  const { model } = turn;
  const { tried, verdict, ticket } = await tryTwice(walk, turn, services);
  if (verdict === null) {
    call.trace.answeredBy = model.id;
    return { model, ticket, answer: tried.answer };
  }
  if (services.isCutting()) throw cutOff(call);
  if (call.signal.aborted) throw clientGone(call, acceptedOf(model, tried.failure));
  failures.push(tried.failure);
  if (verdict.next === "none") walk.windowAbove = Number.POSITIVE_INFINITY;
  if (verdict.next === "larger-window") walk.windowAbove = model.context;
  return null;
}

type Judged = { readonly ticket: number } & (
  | { tried: Extract<Tried, { ok: true }>; verdict: null }
  | { tried: Extract<Tried, { ok: false }>; verdict: Verdict }
);

async function tryTwice(walk: Walk, { model, ticket, modelsLeft }: Turn, services: Services): Promise<Judged> {
  const { call, beginsByMs } = walk;
  const outputCap = walk.reservation.outputCaps.get(model.id) ?? null;
  const attempted: Try = { call, model, outputCap, refusedFields: [], beginsByMs };
  const first = await noteAttempt(attempted, ticket, services);
  if (first.verdict === null || call.signal.aborted) return first;
  const { failure } = first.tried;
  const { again } = first.verdict;
  if (again === "without-refused-field") {
    const refused = failure.fault?.param ?? "";
    if (!mayLeaveOut(refused, call.request) || callsMade(call) >= walk.callsMax) return first;
    return secondTry(first, { ...attempted, refusedFields: [refused] }, services);
  }
  const waitMs = (failure.retryAfterMs ?? Math.random() * RETRY_WAIT_MS_MAX) + WAIT_SLACK_MS;
  const hasRoom = callsMade(call) + 1 + modelsLeft <= ATTEMPTS_MAX && services.now() + waitMs < beginsByMs;
  if (again !== "once" || !hasRoom || !services.health.mayRetry(model.id)) return first;
  await pause(waitMs, call.signal);
  return call.signal.aborted ? first : secondTry(first, attempted, services);
}

/** By now its breaker may have opened, or another request may be probing it. */
async function secondTry(first: Judged, attempted: Try, services: Services): Promise<Judged> {
  const ticket = services.health.admit(attempted.model.id);
  return ticket === 0 ? first : noteAttempt(attempted, ticket, services);
}

async function noteAttempt(attempted: Try, ticket: number, services: Services): Promise<Judged> {
  const { call, model } = attempted;
  const { health } = services;
  const startedAtMs = services.now();
  const { marks, context } = call.trace;
  const beganAt = performance.now();
  if (marks.sentAt === 0) marks.sentAt = beganAt;
  const spanId = context === null ? null : newSpanId();
  let outcome: Outcome = "dropped";
  try {
    const tried = await tryModel(spanId === null ? attempted : { ...attempted, spanId }, services);
    const endedAt = performance.now();
    marks.heardAt = endedAt;
    const durationMs = services.now() - startedAtMs;
    noteInTrace(call, { model, tried, startedAtMs, durationMs, beganAt, endedAt, spanId });
    if (tried.ok) {
      // A stream has yet to show that it ends well.
      outcome = tried.answer.stream === null ? "answered" : "began";
      return { tried, verdict: null, ticket };
    }
    const verdict = judge(tried.failure);
    outcome = troubleOf(tried.failure, verdict);
    logFailure({ call, model, failure: tried.failure, verdict }, services);
    return { tried, verdict, ticket };
  } finally {
    health.report(model.id, ticket, outcome);
  }
}

interface TimedTry {
  readonly model: Model;
  readonly tried: Tried;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly spanId: string | null;
}

function noteInTrace(call: Call, { model, tried, ...timed }: TimedTry): void {
  const failure = tried.ok ? null : tried.failure;
  call.trace.attempts.push({
    model: model.id,
    provider: model.provider,
    ...timed,
    outcome: tried.ok ? "answered" : failure?.kind === "client-gone" ? "client-gone" : "failed",
    status: failure === null ? 200 : failure.status,
    reason: failure === null ? null : failure.message,
    failure: failure === null ? null : failure.kind,
    droppedFields: tried.droppedFields,
    conversions: tried.conversions,
  });
}

interface FailedTry {
  readonly call: Call;
  readonly model: Model;
  readonly failure: Failure;
  readonly verdict: Verdict;
}

function logFailure({ call, model, failure, verdict }: FailedTry, { log }: Services): void {
  if (failure.kind === "client-gone") return;
  const { status, message, fault } = failure;
  const fields = {
    requestId: call.requestId,
    model: model.id,
    provider: model.provider,
    status,
    code: fault?.code ?? null,
    reason: loggedReason({ status, reason: message }, call.trace.keepsContent),
  };
  if (verdict.blame === "operator")
    log.error({ event: "provider.rejected_credentials", ...fields }, "provider rejected our credentials or model");
  else log.warn({ event: "attempt.failed", ...fields }, "attempt failed");
}

export function clientGone(call: Call, accepted: Accepted | null = null): ClientGone {
  call.trace.ending = "client-gone";
  return new ClientGone(accepted);
}

function acceptedOf(model: Model, { kind, received }: Failure): Accepted | null {
  return kind === "client-gone" && received !== undefined ? { model, ...received } : null;
}

function cutOff(call: Call): GatewayError {
  call.trace.ending = "gateway-broke";
  return shuttingDown();
}
