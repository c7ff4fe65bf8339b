// One request from decision to response, on one screen. `admit` has verified the key before the body was read.

import type { AskedFormat, CascadeBounds, Decision, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Endpoint, FormatName, HostedModel } from "../core/model.ts";
import type { ClientRequest } from "../formats/format.ts";
import { decide } from "../routing/decide.ts";
import { controlsUnder } from "../routing/direct.ts";
import { decideNamed } from "../routing/named.ts";
import { residencyOf } from "../routing/needs.ts";
import { openingOf } from "../routing/sessions/session.ts";
import { type Answer, answer, answerHeaders } from "./answer.ts";
import { type Attempted, askedTierOf, clientDisconnected } from "./attempt/attempt.ts";
import type { Call } from "./call.ts";
import { bookBoth, bookEarlier, stepsOf } from "./cascade/charge.ts";
import { askedCascade, type PlannedCascade, planCascade, unusedNote } from "./cascade/plan.ts";
import { type CascadeCourse, reserveCascade, runCascade } from "./cascade/run.ts";
import { constraintsOf, withServiceTier } from "./constraints.ts";
import { requireRates } from "./rates.ts";
import { type CallEnd, type CallFacts, NO_FACTS, reportOf } from "./report.ts";
import { type Reservation, reserve } from "./reserve.ts";
import { takeSearchOver, withSearchAdvice } from "./search/ask.ts";
import { attemptSearching as attempt } from "./search/attempt.ts";
import type { Services } from "./services.ts";
import { conversationOf } from "./sessions/sessions.ts";
import { chargeDisconnected } from "./settle.ts";
import * as TEXT from "./text.ts";

export async function complete(received: Call, services: Services): Promise<Answer> {
  const call = received.format.endpoint === undefined ? prepared(received, services) : received;
  const { observer } = call;
  if (isAbandoned(call, services)) throw abandon(call);
  let facts: CallFacts = NO_FACTS;
  try {
    observer.routing();
    const isRouted = call.format.endpoint === undefined;
    const decision = isRouted ? answeredAt(call.native, route(call, services)) : nameModel(call, services);
    const planned = isRouted && call.native === undefined ? planCascadeOf(call, decision, services) : null;
    observer.routed();
    facts = { decision, reservation: null, attempted: null, course: null };
    await requireRates(call, decision, services);
    const held = planned?.state === "planned" ? await reserveCascade(call, planned.plan, services) : null;
    const reserved = held?.second ?? (await reserve(call, decision, services));
    observer.reserved();
    facts = { decision, reservation: reserved, attempted: null, course: null };
    const run = held === null ? null : await runCascade(call, held, services);
    const reservation = run?.reservation ?? (planned === null ? reserved : withoutCascade(reserved, planned));
    const attempted = run?.attempted ?? (await attempt(call, reservation, services));
    const course = run?.course ?? null;
    facts = { decision, reservation, attempted, course };
    if (!attempted.result.ok) throw withRouting(attempted.result.error, { reservation, attempted }, services);
    observer.answered();
    const response = await answer({ call, reservation, attempted, answered: attempted.result, course }, services);
    observer.ready();
    return response;
  } catch (error) {
    observer.ended(reportOf(facts, await settleFailed(call, facts, services)));
    throw error;
  }
}

/** The decision with the host that has answered already. */
function answeredAt(native: Call["native"], decision: Decision): Decision {
  if (native === undefined) return decision;
  const { model, host } = native;
  return { ...decision, model, chain: [model], hosts: { [model]: [host] } };
}

/** Endpoints other than chat have no service tiers and no searches. */
export function prepared<T extends Pick<Call, "request" | "caller">>(call: T, services: Services): T {
  const { catalog } = services;
  const constraints = constraintsOf(call.caller, catalog);
  const tiered = withServiceTier(call.request, constraints, catalog);
  const request = takeSearchOver(tiered, constraints, services);
  return request === call.request ? call : { ...call, request };
}

/** The reservation with a note that says why no cascade was begun. A planned one is not covered by the balance. */
function withoutCascade(reservation: Reservation, planned: PlannedCascade): Reservation {
  const because = planned.state === "unused" ? planned.because : TEXT.cascadeNotCovered;
  return { ...reservation, notes: [...reservation.notes, unusedNote(because)] };
}

/** Under load a request may be read long after its client disconnected: no money is moved for it. */
function isAbandoned({ signal }: Call, { isCutting }: Services): boolean {
  return signal.aborted && !isCutting();
}

function abandon({ observer }: Call): GatewayError {
  observer.ended(reportOf(NO_FACTS, { event: "disconnected", isCutting: false }));
  return clientDisconnected();
}

/** Releases the hold of a call without a response, or charges it for what a provider sent before the client left. */
async function settleFailed(call: Call, facts: CallFacts, services: Services): Promise<CallEnd> {
  const { reservation, attempted, course } = facts;
  const isCutting = services.isCutting();
  const unanswered = attempted === null || attempted.result.ok ? null : attempted.result;
  const event = unanswered?.event ?? "error";
  if (reservation === null) return { event, isCutting };
  const accepted = unanswered?.accepted ?? null;
  const earlier = course?.earlier ?? null;
  const isOwed = event === "disconnected" && !isCutting;
  if (accepted !== null && !isCutting) {
    const askedTier = attempted === null ? undefined : askedTierOf(attempted);
    const settling = chargeDisconnected({ call, reservation, askedTier, ...accepted }, services);
    return { event, isCutting, settlement: await bookBoth(settling, earlier, services), ...leftSteps(course) };
  }
  await services.ledger.release(reservation);
  if (earlier === null) return { event, isCutting };
  if (isOwed) return { event, isCutting, settlement: await bookEarlier(earlier, services), ...leftSteps(course) };
  await services.ledger.release(earlier.delivered.reservation);
  return { event, isCutting };
}

/** The answers of a cascade that were complete when the client left. */
function leftSteps(course: CascadeCourse | null): Pick<CallEnd, "cascade"> {
  return course === null || course.earlier === null ? {} : { cascade: stepsOf(course, null) };
}

/** The decision is worth most to a client where its models failed. */
function withRouting(
  error: unknown,
  { reservation, attempted }: { readonly reservation: Reservation; readonly attempted: Attempted },
  services: Services,
): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { decision } = reservation;
  const isFallback = attempted.attempts.some(({ model }) => model !== decision.model);
  const outcome = { isFallback, savings: decision.savings, isUsageEstimated: false };
  const headers = answerHeaders(reservation, outcome, services);
  if (headers === null) return error;
  const { kind, message, details } = error;
  return new GatewayError(kind, message, { ...details, headers: { ...details.headers, ...headers } });
}

/** Only chat is routed. */
export function nameModel(
  { format, request, caller }: Pick<Call, "format" | "request" | "caller">,
  { catalog, health }: Services,
): Decision {
  const { chat, controls, batch } = request;
  const constraints = constraintsOf(caller, catalog);
  const { model, hostOrder, providersFirst, isOneHost } = controls;
  const hostWishes = { ...(providersFirst && { providersFirst }), ...(isOneHost && { isOneHost }) };
  const used = request.media;
  const residency = residencyOf(controls);
  const named = {
    residency,
    endpoint: format.endpoint as Endpoint,
    model,
    hostOrder,
    hostWishes,
    used,
    restingModels: health.resting(),
  };
  return decideNamed({ ...named, chat, tokenIds: batch?.tokenIds ?? 0, constraints }, catalog);
}

/** The plan of the cascade that a request asks for, live and in the debug endpoint alike. Null where it asks for none. */
export function planCascadeOf(
  call: RoutableCall & Pick<Call, "format">,
  decision: Decision,
  services: Services,
): PlannedCascade | null {
  const { format, request, caller } = call;
  const constraints = constraintsOf(caller, services.catalog);
  if (askedCascade(request.controls, constraints) === null) return null;
  const routeWithin = (bounds: CascadeBounds): Decision => route(call, services, bounds);
  const profile = caller.profile?.id ?? null;
  const { catalog, cascadeWebhooks } = services;
  return planCascade({ format, request, profile, constraints }, decision, { catalog, cascadeWebhooks, routeWithin });
}

/** The decision a request gets, live and in the debug endpoint alike. `cascade` bounds one attempt of a cascade. */
export function route(call: RoutableCall, services: Services, cascade?: CascadeBounds): Decision {
  const { catalog, health, sessions } = services;
  const constraints = constraintsOf(call.caller, catalog);
  const request = takeSearchOver(call.request, constraints, services);
  const { chat, controls, nativeNeeds, nativeWishes } = request;
  const view = sessions.view(call);
  const question: RoutingQuestion = {
    chat,
    controls,
    constraints,
    restingModels: health.resting(),
    hostSpeeds: services.speeds.current(),
    session: () => view?.id ?? conversationOf(call),
    sessionView: view,
    toolCallsSeen: services.toolCallsSeen(call.caller.key.accountId),
    takesPart: (model, type) => takesPart(request.format, { model, type }, services),
    nativeFormat: ownFormat(request, nativeNeeds),
    preferredFormat: ownFormat(request, nativeWishes),
    loopModel: view === null ? sessions.loopModel(call) : (view.loop?.model ?? null),
    cascade,
  };
  const loopModel = question.loopModel ?? decideOpening(question, catalog);
  try {
    return decide(loopModel === question.loopModel ? question : { ...question, loopModel }, catalog);
  } catch (error) {
    throw withSearchAdvice(error, request, constraints, services);
  }
}

/** A provider that gets the client's own bytes takes what is in them. */
function takesPart(
  client: FormatName,
  { model, type }: { readonly model: HostedModel; readonly type: string },
  { registry }: Services,
): boolean {
  const format = registry.find(model.provider)?.formatFor(model, client);
  return format?.takesPart === undefined || format.name === client || format.takesPart(type);
}

/** The client's own format, where there are reasons for it. */
function ownFormat({ format }: ClientRequest, reasons: readonly string[] = []): AskedFormat | null {
  return reasons.length === 0 ? null : { format, because: reasons.join("; ") };
}

/** Another process may have opened the tool loop. Unless it needed a fallback, it chose what would be chosen here. */
function decideOpening(question: RoutingQuestion, catalog: Services["catalog"]): string | null {
  const { profile } = controlsUnder(question.constraints, question.controls);
  const messages = profile === "direct" ? null : openingOf(question.chat.messages);
  return messages === null ? null : decide({ ...question, chat: { ...question.chat, messages } }, catalog).model;
}

type RoutableCall = Pick<Call, "request" | "caller" | "headers">;
