// Carries a cascade out: reserves credits for both answers before the first byte goes to a provider, asks the first tier,
// checks its answer, and asks the second tier only where that fails. Nothing is charged here: the last step books both
// answers, so that a client pays nothing where the process dies in between.

import type { AttemptReport } from "../../core/call-report.ts";
import type { Decision } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { NanoUsd } from "../../core/money.ts";
import { NO_NOTES, type Note } from "../../core/requests/notes.ts";
import { answersIn, type CheckFailure, checkAnswer } from "../../formats/checks/answer.ts";
import type { WholeResponse } from "../../formats/format.ts";
import { type Answered, type Attempted, askedTierOf, interruption } from "../attempt/attempt.ts";
import type { Call } from "../call.ts";
import { type Reservation, reserve } from "../reserve.ts";
import { attemptSearching } from "../search/attempt.ts";
import type { Services } from "../services.ts";
import { type Assessment, assess, type Delivered, deliveredWhole } from "../settle.ts";
import * as TEXT from "../text.ts";
import { type CascadePlan, exceeds } from "./plan.ts";

/** Credits for both answers of a plan. */
export interface HeldCascade {
  readonly plan: CascadePlan;
  readonly first: Reservation;
  readonly second: Reservation;
}

/** An answer that failed its check. It is charged beside the one that the client gets. */
export interface EarlierAnswer {
  readonly delivered: Delivered;
  readonly assessment: Assessment;
  readonly failure: CheckFailure;
}

/** The course of a cascade, beside the attempts of the tier whose answer counts. */
export interface CascadeCourse {
  /** Attempts of both tiers, in order. */
  readonly attempts: readonly AttemptReport[];
  /** The amount that was reserved for both answers. */
  readonly hold: NanoUsd;
  /** The first answer, where the client gets the second one; null otherwise. */
  readonly earlier: EarlierAnswer | null;
  /** The check that the client's own answer failed; null where it passed. */
  readonly failure: CheckFailure | null;
  readonly notes: readonly Note[];
}

/** The tier whose answer the client gets, or whose failure ends the call. */
export interface CascadeRun {
  readonly reservation: Reservation;
  readonly attempted: Attempted;
  readonly course: CascadeCourse;
}

/** Returns null where the balance does not cover both answers in full; nothing stays on hold then. */
export async function reserveCascade(call: Call, plan: CascadePlan, services: Services): Promise<HeldCascade | null> {
  const [cheap, dear] = plan.decisions;
  const second = await reserveWhole(call, dear, services);
  if (second === null) return null;
  let first: Reservation | null = null;
  try {
    first = await reserveWhole(call, cheap, services);
  } finally {
    if (first === null) await services.ledger.release(second);
  }
  return first === null ? null : { plan, first, second };
}

async function reserveWhole(call: Call, decision: Decision, services: Services): Promise<Reservation | null> {
  try {
    const reservation = await reserve(call, decision, services);
    if (reservation.decision === decision && reservation.outputCaps.size === 0) return reservation;
    await services.ledger.release(reservation);
    return null;
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "noCredit") return null;
    throw error;
  }
}

/** Releases every hold but the ones of the run that it returns. After a fault of ours, the second hold is left. */
export async function runCascade(call: Call, held: HeldCascade, services: Services): Promise<CascadeRun> {
  try {
    return await runFirst(call, held, services);
  } catch (error) {
    await services.ledger.release(held.first);
    throw error;
  }
}

async function runFirst(call: Call, held: HeldCascade, services: Services): Promise<CascadeRun> {
  const { first, second, plan } = held;
  const attempted = await attemptSearching(call, first, services);
  const { result, attempts } = attempted;
  if (!result.ok && result.event === "error") {
    await services.ledger.release(first);
    return runSecond(call, { held, before: attempts, earlier: null }, services);
  }
  const course = { ...NOTHING_FAILED, attempts, hold: first.amount + second.amount };
  const run: CascadeRun = { reservation: first, attempted, course };
  const { ledger } = services;
  if (!result.ok) return ledger.release(second).then(() => run);
  const failure = await check(call, { plan, reservation: first, answered: result }, services);
  const delivered = deliveredBy(call, first, attempted);
  if (failure === null || delivered === null) return ledger.release(second).then(() => run);
  const stopped = interruption({ call }, { ...delivered }, services);
  if (stopped !== null) {
    return ledger.release(second).then(() => ({ ...run, attempted: { attempts, result: stopped } }));
  }
  const because = whyNotOn(delivered, held, services);
  if (because === null) return goOn(call, { held, run, delivered, failure }, services);
  return ledger.release(second).then(() => unmet(run, failure, because));
}

const NOTHING_FAILED = { earlier: null, failure: null, notes: NO_NOTES } as const;

interface ToCheck {
  readonly plan: CascadePlan;
  readonly reservation: Reservation;
  readonly answered: Answered;
}

/** Returns null where the answer passes. The webhook is asked last, because it takes longest. */
async function check(
  call: Call,
  { plan, reservation, answered }: ToCheck,
  { cascadeWebhooks }: Services,
): Promise<CheckFailure | null> {
  const { response, model } = answered;
  if (response.whole === null) return null;
  const { completion } = response.whole;
  const failure = checkAnswer(completion, plan.checks);
  const { webhookProfile: profile } = plan;
  if (failure !== null || profile === null) return failure;
  const question = { requestId: call.requestId, profile, tier: reservation.decision.tier, model: model.id };
  const { isPassed, reason } = await cascadeWebhooks.ask(
    profile,
    { ...question, answers: answersIn(completion) },
    call.signal,
  );
  return isPassed ? null : { check: "webhook", reason };
}

function deliveredBy(call: Call, reservation: Reservation, attempted: Attempted): Delivered | null {
  const { result } = attempted;
  const whole: WholeResponse | null = result.ok ? result.response.whole : null;
  if (!result.ok || whole === null) return null;
  return deliveredWhole({ call, reservation, model: result.model, askedTier: askedTierOf(attempted), whole });
}

/** The first answer has a price by now, so the cap is held against that and the estimate of the second one. */
function whyNotOn(delivered: Delivered, { plan, second }: HeldCascade, services: Services): string | null {
  const { maxCostUsd } = plan;
  if (maxCostUsd === null) return null;
  const { charge } = assess(delivered, { ...services, usageProblem: () => undefined });
  const isOver = exceeds(charge + second.decision.costEstimate, maxCostUsd);
  return isOver ? TEXT.cascadeCapReached(maxCostUsd) : null;
}

interface FailedFirst {
  readonly held: HeldCascade;
  readonly run: CascadeRun;
  readonly delivered: Delivered;
  readonly failure: CheckFailure;
}

/** Asks the second tier. Where that cannot answer, the first answer is better than none. */
async function goOn(
  call: Call,
  { held, run, delivered, failure }: FailedFirst,
  services: Services,
): Promise<CascadeRun> {
  const earlier: EarlierAnswer = { delivered, assessment: assess(delivered, services), failure };
  const next = await runSecond(call, { held, before: run.attempted.attempts, earlier }, services);
  const { result } = next.attempted;
  if (result.ok || result.event !== "error") return next;
  await services.ledger.release(held.second);
  return unmet({ ...run, course: { ...run.course, attempts: next.course.attempts } }, failure, TEXT.cascadeNextFailed);
}

interface Second {
  readonly held: HeldCascade;
  readonly before: readonly AttemptReport[];
  readonly earlier: EarlierAnswer | null;
}

async function runSecond(call: Call, { held, before, earlier }: Second, services: Services): Promise<CascadeRun> {
  const { second, first, plan } = held;
  const attempted = await attemptSearching(call, second, services);
  const { result } = attempted;
  const run: CascadeRun = {
    reservation: second,
    attempted,
    course: {
      attempts: [...before, ...attempted.attempts],
      hold: first.amount + second.amount,
      earlier,
      failure: null,
      notes: earlier === null ? NO_NOTES : [usedNote(earlier, first.decision, second.decision)],
    },
  };
  const failure = result.ok ? await check(call, { plan, reservation: second, answered: result }, services) : null;
  return failure === null ? run : unmet(run, failure, TEXT.cascadeAtEnd);
}

function usedNote({ failure }: EarlierAnswer, { tier }: Decision, next: Decision): Note {
  return { code: "cascade_used", message: TEXT.cascadeUsed(tier, failure.check, failure.reason, next.tier) };
}

/** The client's answer fails its check, and nothing more is done about it. */
function unmet(run: CascadeRun, failure: CheckFailure, because: string): CascadeRun {
  const note: Note = { code: "cascade_unmet", message: TEXT.cascadeUnmet(failure.check, failure.reason, because) };
  return { ...run, course: { ...run.course, failure, notes: [...run.course.notes, note] } };
}
