// One request from decision to response, on one screen. `admit` has verified the key before the body was read.

import { type AskedFormat, type Decision, NO_CONSTRAINTS, type RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Endpoint, FormatName, HostedModel } from "../core/model.ts";
import type { ClientRequest } from "../formats/format.ts";
import { decide } from "../routing/decide.ts";
import { controlsUnder } from "../routing/direct.ts";
import { decideNamed } from "../routing/named.ts";
import { openingOf } from "../routing/sessions/session.ts";
import { type Answer, answer, routingHeaders } from "./answer.ts";
import { type Attempted, attempt, clientDisconnected } from "./attempt/attempt.ts";
import type { Call } from "./call.ts";
import { type CallEnd, type CallFacts, NO_FACTS, reportOf } from "./report.ts";
import { reserve } from "./reserve.ts";
import type { Services } from "./services.ts";
import { conversationOf } from "./sessions/sessions.ts";
import { chargeDisconnected } from "./settle.ts";

export async function complete(call: Call, services: Services): Promise<Answer> {
  const { observer } = call;
  if (isAbandoned(call, services)) throw abandon(call);
  let facts: CallFacts = NO_FACTS;
  try {
    observer.routing();
    const isRouted = call.format.endpoint === undefined;
    const decision = isRouted ? route(call, services) : nameModel(call, services);
    observer.routed();
    facts = { decision, reservation: null, attempted: null };
    const reservation = await reserve(call, decision, services);
    observer.reserved();
    facts = { decision, reservation, attempted: null };
    const attempted = await attempt(call, reservation, services);
    facts = { decision, reservation, attempted };
    if (!attempted.result.ok) throw withRouting(attempted.result.error, { decision, attempted }, services);
    observer.answered();
    const response = await answer({ call, reservation, attempted, answered: attempted.result }, services);
    observer.ready();
    return response;
  } catch (error) {
    observer.ended(reportOf(facts, await settleFailed(call, facts, services)));
    throw error;
  }
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
async function settleFailed(call: Call, { reservation, attempted }: CallFacts, services: Services): Promise<CallEnd> {
  const isCutting = services.isCutting();
  const unanswered = attempted === null || attempted.result.ok ? null : attempted.result;
  const event = unanswered?.event ?? "error";
  if (reservation === null) return { event, isCutting };
  const accepted = unanswered?.accepted ?? null;
  if (accepted !== null && !isCutting) {
    return { event, isCutting, settlement: await chargeDisconnected({ call, reservation, ...accepted }, services) };
  }
  await services.ledger.release(reservation);
  return { event, isCutting };
}

/** The decision is worth most to a client where its models failed. */
function withRouting(
  error: unknown,
  { decision, attempted }: { readonly decision: Decision; readonly attempted: Attempted },
  services: Services,
): unknown {
  if (!(error instanceof GatewayError)) return error;
  const isFallback = attempted.attempts.some(({ model }) => model !== decision.model);
  const outcome = { isFallback, savings: decision.savings, isUsageEstimated: false };
  const headers = routingHeaders(decision, outcome, services);
  if (headers === null) return error;
  const { kind, message, details } = error;
  return new GatewayError(kind, message, { ...details, headers: { ...details.headers, ...headers } });
}

/** Only chat is routed. */
function nameModel({ format, request, caller }: Call, { catalog, health }: Services): Decision {
  const { chat, controls, batch } = request;
  const constraints = caller.profile?.constraints ?? NO_CONSTRAINTS;
  const { model, hostOrder } = controls;
  const named = { endpoint: format.endpoint as Endpoint, model, hostOrder, restingModels: health.resting() };
  return decideNamed({ ...named, chat, tokenIds: batch?.tokenIds ?? 0, constraints }, catalog);
}

/** The decision a request gets, live and in the debug endpoint alike. */
export function route(call: RoutableCall, services: Services): Decision {
  const { catalog, health, sessions } = services;
  const { request, caller } = call;
  const { chat, controls, nativeNeeds, nativeWishes } = request;
  const view = sessions.view(call);
  const question: RoutingQuestion = {
    chat,
    controls,
    constraints: caller.profile?.constraints ?? NO_CONSTRAINTS,
    restingModels: health.resting(),
    hostSpeeds: services.speeds.current(),
    session: () => view?.id ?? conversationOf(call),
    sessionView: view,
    toolCallsSeen: services.toolCallsSeen(caller.key.accountId),
    takesPart: (model, type) => takesPart(request.format, { model, type }, services),
    nativeFormat: ownFormat(request, nativeNeeds),
    preferredFormat: ownFormat(request, nativeWishes),
    loopModel: view === null ? sessions.loopModel(call) : (view.loop?.model ?? null),
  };
  const loopModel = question.loopModel ?? decideOpening(question, catalog);
  return decide(loopModel === question.loopModel ? question : { ...question, loopModel }, catalog);
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
