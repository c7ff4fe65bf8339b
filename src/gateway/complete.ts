// The story of one request, on one screen. (Who is calling was settled by `admit`, before the body was read.)

import type { ChatRequest } from "../core/chat.ts";
import { type Controls, type Decision, NO_CONSTRAINTS } from "../core/decision.ts";
import { decide } from "../routing/decide.ts";
import { type Answer, answer } from "./answer.ts";
import { attempt } from "./attempt.ts";
import type { Call, Caller } from "./call.ts";
import { reserve } from "./reserve.ts";
import type { Services } from "./services.ts";

export async function complete(call: Call, services: Services): Promise<Answer> {
  const routed = route(call.request, call.caller, services);
  call.trace.decision = routed;
  const reservation = await reserve(call, routed, services);
  call.trace.decision = reservation.decision;
  try {
    const answered = await attempt(call, reservation, services);
    call.trace.firstContentAtMs = services.now();
    return await answer({ call, reservation, answered }, services);
  } catch (error) {
    await services.ledger.release(reservation);
    throw error;
  }
}

/** The decision a request gets, live and in the debug endpoint alike. */
export function route(request: Question, caller: Caller, { catalog, health }: Services): Decision {
  const constraints = caller.profile?.constraints ?? NO_CONSTRAINTS;
  const { chat, controls } = request;
  return decide({ chat, controls, constraints, restingModels: health.resting() }, catalog);
}

interface Question {
  readonly chat: ChatRequest;
  readonly controls: Controls;
}
