// Walks the chain of the decision until one answers: model by model, host by host, key by key. Then come models that asked for a short pause,
// and last those that are cooling down. Failures are values: when no model is left, the result carries one error.

import type { AttemptReport } from "../../core/call-report.ts";
import { pause } from "../../core/cancellation.ts";
import { GatewayError } from "../../core/errors.ts";
import { type HostedModel, hasKey } from "../../core/model.ts";
import type { ServiceTier } from "../../core/money.ts";
import { mayLeaveOut } from "../../formats/bridge.ts";
import { keyIdsOf } from "../../routing/hosts.ts";
import type { Call, LastEvent } from "../call.ts";
import { shuttingDown } from "../open-calls.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import { conversationOf } from "../sessions/sessions.ts";
import * as TEXT from "../text.ts";
import { chainError } from "./chain-error.ts";
import { isOfKey } from "./health-outcome.ts";
import { refusedBefore, rememberRefused } from "./refused.ts";
import { type FailedTry, type JudgedTry, type Reached, recordedTry, type Sending } from "./try-model.ts";
import { type Failure, judge, type Received } from "./verdict.ts";

/** Every model of a chain is tried once, however long the chain is. Retries share what that leaves of this number. */
const ATTEMPTS_MAX = 4;
const RETRY_WAIT_MS_MAX = 200;
/** Timers may fire a moment early. */
const WAIT_SLACK_MS = 5;

export interface Attempted {
  readonly attempts: readonly AttemptReport[];
  readonly result: Answered | Unanswered;
}

export interface Answered {
  readonly ok: true;
  /** The model as the host that answered serves it. */
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  /** The end of a stream is reported to health under this ticket. */
  readonly ticket: number;
  readonly response: Reached;
}

export interface Unanswered {
  readonly ok: false;
  /** The error for the client; any other kind than a GatewayError is a fault of ours. */
  readonly error: unknown;
  readonly event: Extract<LastEvent, "error" | "disconnected" | "our-fault">;
  /** The part that a provider had sent when the client disconnected; null when none had accepted the request. */
  readonly accepted: Accepted | null;
}

type Accepted = { readonly model: HostedModel } & Received;

/** The service tier that the last host was asked for; undefined for the usual one. */
export function askedTierOf({ attempts }: Pick<Attempted, "attempts">): ServiceTier | undefined {
  return attempts.at(-1)?.serviceTier;
}

export async function attempt(call: Call, reservation: Reservation, services: Services): Promise<Attempted> {
  const walk = startWalk(call, reservation, services);
  const { models, attempts } = walk;
  try {
    for (const model of models) {
      for (const keyId of keysFor(walk, model, services)) {
        if (isLate(walk, services) || !fits(model, walk)) break;
        const ticket = services.health.admit(model.hostKey, keyId);
        if (ticket === 0) {
          walk.skipped.push({ model, keyId });
          continue;
        }
        const result = await takeTurn(walk, { model, keyId, ticket, mayRetry: true }, services);
        if (result !== null) return { attempts, result };
        if (!isLastOfKey(walk)) break;
      }
    }
    const result = (await tryPaused(walk, services)) ?? (await trySkipped(walk, services));
    return { attempts, result: result ?? allFailed(walk, services) };
  } catch (error) {
    // A fault of ours in the middle of the walk: the attempts before it still belong in the report.
    return { attempts, result: { ok: false, error, event: "error", accepted: null } };
  }
}

/** The state of the walk: its limits, and the attempts and failures so far. */
interface ChainWalk {
  readonly call: Call;
  readonly reservation: Reservation;
  /** Every model of the chain at each of its hosts. */
  readonly models: readonly HostedModel[];
  readonly tried: HostedModel[];
  readonly beginsByMs: number;
  readonly attempts: AttemptReport[];
  readonly failures: Failure[];
  readonly paused: PausedModel[];
  readonly skipped: Way[];
  /** Models that would refuse the same request again. */
  readonly refusing: Set<HostedModel>;
  /** Only models with a larger window than this may be tried; none, when it is infinite. */
  windowAbove: number;
}

/** A model at a host, with one of the provider's keys where there are several. */
interface Way {
  readonly model: HostedModel;
  readonly keyId: string | undefined;
}

/** Model whose provider asked for a short pause, so it is tried again when no healthy model is left. */
interface PausedModel extends Way {
  readonly dueAtMs: number;
}

function startWalk(call: Call, reservation: Reservation, { now, routing }: Services): ChainWalk {
  return {
    call,
    reservation,
    models: reservation.models,
    tried: [],
    beginsByMs: now() + routing.answerWithinMs,
    attempts: [],
    failures: [],
    paused: [],
    skipped: [],
    refusing: new Set(),
    windowAbove: 0,
  };
}

/** The key of the conversation first. */
function keysFor({ call, reservation }: ChainWalk, model: HostedModel, { registry }: Services) {
  const { apiKeys } = registry.connection(model.provider).provider;
  return keyIdsOf(apiKeys, reservation.decision, () => conversationOf(call));
}

/** Tells whether the last failure was that of the key itself, refused or limited: only then does another key help. */
function isLastOfKey({ failures }: ChainWalk): boolean {
  const failure = failures.at(-1) as Failure;
  return isOfKey(failure, judge(failure));
}

/** Waits for models that asked for a short pause, the shortest first. */
async function tryPaused(walk: ChainWalk, services: Services): Promise<Answered | Unanswered | null> {
  const { call, paused, beginsByMs } = walk;
  const { health, now } = services;
  for (const { model, keyId, dueAtMs } of paused.sort((one, other) => one.dueAtMs - other.dueAtMs)) {
    const waitMs = Math.max(0, dueAtMs - now()) + WAIT_SLACK_MS;
    const hasRoom = fits(model, walk) && retriesLeft(walk) > 0 && now() + waitMs < beginsByMs;
    if (!hasRoom || !health.mayRetry(model.hostKey)) continue;
    await pause(waitMs, call.signal);
    const ticket = call.signal.aborted ? 0 : health.admit(model.hostKey, keyId);
    const result =
      ticket === 0
        ? interruption(walk, null, services)
        : await takeTurn(walk, { model, keyId, ticket, mayRetry: false }, services);
    if (result !== null) return result;
  }
  return null;
}

/** A 503 says that the whole chain failed, so models that are cooling down are tried as well, once each. */
async function trySkipped(walk: ChainWalk, services: Services): Promise<Answered | Unanswered | null> {
  for (const { model, keyId } of walk.skipped) {
    if (isLate(walk, services)) break;
    const ticket = fits(model, walk) ? services.health.admitResting(model.hostKey, keyId) : 0;
    const result = ticket === 0 ? null : await takeTurn(walk, { model, keyId, ticket, mayRetry: false }, services);
    if (result !== null) return result;
  }
  return null;
}

function allFailed(walk: ChainWalk, { health, registry }: Services): Unanswered {
  const { attempts, failures, models, refusing } = walk;
  const hopeful = models.filter((model) => fits(model, walk) && !refusing.has(model));
  const waitMs = Math.min(...hopeful.map(({ hostKey }) => health.waitMs(hostKey)));
  const { tier, chain, isNamed, profile } = walk.reservation.decision;
  const last = walk.tried.at(-1);
  const isKeyless = last !== undefined && !hasKey(registry.connection(last.provider).provider);
  const isFixed = isNamed || profile === "direct";
  const error = chainError({ tier: isFixed ? null : tier, chain, attempts, failures, isKeyless, waitMs });
  return { ok: false, error, event: "error", accepted: null };
}

function isLate({ beginsByMs }: ChainWalk, { now }: Services): boolean {
  return now() >= beginsByMs;
}

/** Counts the attempts left for retries when every untried model gets its turn. Skipped models are untried too. */
function retriesLeft(walk: ChainWalk): number {
  const { models, tried, attempts } = walk;
  const untried = models.filter((model) => fits(model, walk) && !tried.includes(model));
  // A request that could not be converted for a model was never sent.
  const calls = attempts.filter(({ failure }) => failure !== "unconvertible").length;
  return ATTEMPTS_MAX - calls - untried.length;
}

function fits({ context }: HostedModel, { windowAbove }: ChainWalk): boolean {
  return context > windowAbove;
}

interface ModelTurn extends Way {
  readonly ticket: number;
  readonly mayRetry: boolean;
}

/**
 * Tries one model, and retries where that may help. Returns null when the walk goes on, and notes what the failure
 * means for the next models.
 */
async function takeTurn(walk: ChainWalk, turn: ModelTurn, services: Services): Promise<Answered | Unanswered | null> {
  const { model, keyId } = turn;
  walk.tried.push(model);
  const { call, attempts } = walk;
  const sending = sendingOf(walk, turn, services);
  const first = await recordedTry({ call, sending, attempts, ticket: turn.ticket }, services);
  const isOver = first.verdict === null || call.signal.aborted;
  const { tried, verdict, ticket } = isOver ? first : await tryAgain(walk, { first, sending, turn }, services);
  if (verdict === null) return { ok: true, model, keyId, ticket, response: tried.answer };
  const interrupted = interruption(walk, acceptedOf(model, tried.failure), services);
  if (interrupted !== null) return interrupted;
  walk.failures.push(tried.failure);
  if (verdict.blame === "provider") walk.refusing.delete(model);
  else walk.refusing.add(model);
  if (verdict.again === "later" && turn.mayRetry) {
    walk.paused.push({ model, keyId, dueAtMs: services.now() + (tried.failure.retryAfterMs ?? 0) });
  }
  if (verdict.next === "none") walk.windowAbove = Number.POSITIVE_INFINITY;
  if (verdict.next === "larger-window") walk.windowAbove = model.context;
  return null;
}

function sendingOf({ call, reservation, beginsByMs }: ChainWalk, { model, keyId }: Way, services: Services): Sending {
  const outputCap = reservation.outputCaps.get(model.hostKey) ?? null;
  const { decision } = reservation;
  const cacheHelp = services.sessions.cacheHelp(call, decision, model, services.routing);
  const effort = decision.efforts?.[model.id] ?? null;
  const before = decision.session?.before;
  const isMoved = before !== undefined && (before.hostKey !== model.hostKey || before.keyId !== (keyId ?? null));
  const dropsThinking = isMoved && model.dialect.bindsThinking === true;
  const refusedFields = refusedBefore(hostAsked(call, model, services), services.now());
  return { call, model, keyId, outputCap, refusedFields, cacheHelp, effort, dropsThinking, beginsByMs };
}

function hostAsked(call: Call, model: HostedModel, { registry }: Services) {
  const connection = registry.connection(model.provider);
  return { connection, provider: connection.formatFor(model, call.format.name), model, call };
}

interface FailedTurn {
  readonly first: FailedTry;
  readonly sending: Sending;
  readonly turn: ModelTurn;
}

/** Once more where that may help; otherwise the first failure stands. */
async function tryAgain(walk: ChainWalk, { first, sending, turn }: FailedTurn, services: Services): Promise<JudgedTry> {
  const { call, beginsByMs } = walk;
  const { model } = turn;
  const { again } = first.verdict;
  if (again === "without-refused-field") return tryWithout(walk, { first, sending }, services);
  const waitMs = Math.random() * RETRY_WAIT_MS_MAX;
  // A model that asked for a pause is more likely to answer, so its retry is kept free.
  const hasRoom = turn.mayRetry && retriesLeft(walk) > walk.paused.length && services.now() + waitMs < beginsByMs;
  if (again !== "once" || !hasRoom || !services.health.mayRetry(model.hostKey)) return first;
  await pause(waitMs, call.signal);
  return call.signal.aborted ? first : retry(walk, first, sending, services);
}

/** A part that the host does not know is left out of later requests, too. */
async function tryWithout(
  walk: ChainWalk,
  { first, sending }: Omit<FailedTurn, "turn">,
  services: Services,
): Promise<JudgedTry> {
  const { call } = walk;
  const { model, refusedFields } = sending;
  const { param: refused = "", isUnknown = false } = first.tried.failure.fault ?? {};
  const host = hostAsked(call, model, services);
  if (refusedFields.includes(refused) || !mayLeaveOut(refused, call, host)) return first;
  if (isUnknown) rememberRefused(refused, host, services.now());
  return retry(walk, first, { ...sending, refusedFields: [...refusedFields, refused] }, services);
}

/** By now the model's breaker may have opened, or another request may be probing it. */
async function retry(walk: ChainWalk, first: FailedTry, sending: Sending, services: Services): Promise<JudgedTry> {
  const ticket = services.health.admit(sending.model.hostKey, sending.keyId);
  const { call, attempts } = walk;
  return ticket === 0 ? first : recordedTry({ call, sending, attempts, ticket }, services);
}

/** Ends the walk when the client disconnected or the process is stopping; null otherwise. */
export function interruption(
  { call }: { readonly call: Pick<Call, "signal"> },
  accepted: Accepted | null,
  { isCutting }: Pick<Services, "isCutting">,
): Unanswered | null {
  if (isCutting()) return { ok: false, error: shuttingDown(), event: "our-fault", accepted: null };
  return call.signal.aborted ? { ok: false, error: clientDisconnected(), event: "disconnected", accepted } : null;
}

/** Nobody receives this error; it stands in the log. */
export function clientDisconnected(): GatewayError {
  return new GatewayError("badRequest", TEXT.clientDisconnected, { code: "client_closed_request" });
}

function acceptedOf(model: HostedModel, { kind, received }: Failure): Accepted | null {
  return kind === "client-gone" && received !== undefined ? { model, ...received } : null;
}
