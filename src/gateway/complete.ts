// The story of one request, on one screen. (Who is calling was settled by `admit`, before the body was read.)

import { type Decision, NO_CONSTRAINTS, type RoutingQuestion } from "../core/decision.ts";
import type { ClientRequest } from "../formats/format.ts";
import { decide } from "../routing/decide.ts";
import { type Answer, answer, chargeLeaver } from "./answer.ts";
import { attempt, ClientGone, clientGone } from "./attempt/attempt.ts";
import type { Call, Caller } from "./call.ts";
import { listenFor } from "./capture.ts";
import { reserve } from "./reserve.ts";
import type { Services } from "./services.ts";
import { openingOf } from "./tool-loops.ts";

export async function complete(call: Call, services: Services): Promise<Answer> {
  // Under load a request may be read when its client has long left: no money is moved for it.
  if (call.signal.aborted && !services.isCutting()) throw clientGone(call);
  const { marks } = call.trace;
  marks.decidingAt = performance.now();
  const routed = route(call.request, call.caller, services);
  marks.decidedAt = performance.now();
  call.trace.decision = routed;
  call.trace.heard = listenFor({ toolCalls: call.request.chat.tools.length > 0, text: call.trace.keepsContent });
  const reservation = await reserve(call, routed, services);
  call.trace.decision = reservation.decision;
  call.trace.hold = reservation.amount;
  call.trace.onReserved?.();
  try {
    const answered = await attempt(call, reservation, services);
    call.trace.firstContentAtMs = services.now();
    const ready = await answer({ call, reservation, answered }, services);
    marks.readyAt = performance.now();
    return ready;
  } catch (error) {
    const accepted = error instanceof ClientGone ? error.accepted : null;
    if (accepted === null) await services.ledger.release(reservation);
    else await chargeLeaver({ call, reservation, ...accepted }, services);
    throw error;
  }
}

/** The decision a request gets, live and in the debug endpoint alike. */
export function route(request: Question, caller: Caller, services: Services): Decision {
  const { catalog, health, toolLoops } = services;
  const { chat, controls, format = "openai", nativeNeeds = [] } = request;
  const question: RoutingQuestion = {
    chat,
    controls,
    constraints: caller.profile?.constraints ?? NO_CONSTRAINTS,
    restingModels: health.resting(),
    toolCallsSeen: services.toolCallsSeen(caller.key.accountId),
    nativeKind: nativeNeeds.length === 0 ? null : { kind: format, because: nativeNeeds.join("; ") },
    loopModel: toolLoops.modelOf(caller.key.accountId, chat.messages),
  };
  const loopModel = question.loopModel ?? decideOpening(question, catalog);
  return decide(loopModel === question.loopModel ? question : { ...question, loopModel }, catalog);
}

/** Another process may have opened the tool loop. Unless it needed a fallback, it chose what would be chosen here. */
function decideOpening(question: RoutingQuestion, catalog: Services["catalog"]): string | null {
  const messages = question.controls.profile === "direct" ? null : openingOf(question.chat.messages);
  return messages === null ? null : decide({ ...question, chat: { ...question.chat, messages } }, catalog).model;
}

type Question = Pick<ClientRequest, "chat" | "controls"> & Partial<Pick<ClientRequest, "format" | "nativeNeeds">>;
