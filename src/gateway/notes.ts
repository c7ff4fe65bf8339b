// The notes of an answer: what the gateway did to the request that its caller did not ask for. Behaviour 6.13.

import type { AttemptReport } from "../core/call-report.ts";
import type { Note } from "../core/requests/notes.ts";
import { controlNotes } from "../formats/service/controls.ts";
import type { Answered } from "./attempt/attempt.ts";
import type { Call } from "./call.ts";
import type { CascadeCourse } from "./cascade/run.ts";
import type { Reservation } from "./reserve.ts";
import type { Assessment } from "./settle.ts";
import * as TEXT from "./text.ts";

interface NotedCall {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly attempted: { readonly attempts: readonly AttemptReport[] };
  readonly answered: Answered;
  readonly course: CascadeCourse | null;
}

/** Attempts that failed say nothing about the answer, so only the last one counts. */
export function notesOf({ call, reservation, attempted, answered, course }: NotedCall): readonly Note[] {
  const { conversions = [] } = attempted.attempts.at(-1) ?? {};
  const cap = reservation.outputCaps.get(answered.model.hostKey);
  const notes = [...controlNotes(call.request), ...reservation.notes];
  const { retirement } = reservation;
  if (retirement !== null) notes.push({ code: "model_retires", message: TEXT.modelRetires(retirement) });
  notes.push(...listNotes(call, reservation));
  const alias = aliasNote(call, reservation);
  if (alias !== null) notes.push(alias);
  if (cap !== undefined) notes.push({ code: "output_capped_by_balance", message: TEXT.outputCapped(cap) });
  if (answered.model.isProvisional)
    notes.push({ code: "model_provisional", message: TEXT.provisional(answered.model.id) });
  for (const { code, message } of conversions.slice(0, CONVERSIONS_MAX)) {
    notes.push({ code, message: TEXT.sentence(message) });
  }
  if (course !== null) notes.push(...course.notes);
  return notes;
}

/** About the list of models of a request. */
function listNotes({ request: { controls } }: Call, { decision }: Reservation): readonly Note[] {
  if (controls.fallbacks === undefined) return [];
  if (decision.profile !== "direct") return [{ code: "models_ignored", message: TEXT.modelsIgnored }];
  return decision.candidates.flatMap(({ model, removedBecause }) =>
    removedBecause === null ? [] : [{ code: "model_left_out", message: TEXT.modelLeftOut(model, removedBecause) }],
  );
}

const NAME_SHOWN = 200;

/** Only of a model that was asked for: otherwise the router has chosen another one. */
function aliasNote({ request }: Call, { decision }: Reservation): Note | null {
  const { model: asked } = request.controls;
  if (decision.profile !== "direct" || asked === null || asked === decision.model) return null;
  // The one that was asked for may have been left out.
  if (request.controls.fallbacks !== undefined && decision.candidates.some(({ removedBecause }) => removedBecause))
    return null;
  return { code: "model_alias", message: TEXT.modelAlias(asked.slice(0, NAME_SHOWN), decision.model) };
}

/** A client can cause one for each of its tools. */
const CONVERSIONS_MAX = 30;

/** Notes on the charge, which is known once the answer is complete. */
export function chargeNotes({
  isUsageEstimated,
  serviceTier,
  tierInsteadOf,
  isTierUntold,
}: Assessment): readonly Note[] {
  const notes: Note[] = [];
  if (isUsageEstimated) notes.push({ code: "usage_estimated", message: TEXT.usageEstimated });
  if (tierInsteadOf !== undefined) {
    notes.push({ code: "service_tier_changed", message: TEXT.otherTier(serviceTier, tierInsteadOf) });
  }
  if (isTierUntold) notes.push({ code: "service_tier_untold", message: TEXT.untoldTier(serviceTier) });
  return notes;
}
