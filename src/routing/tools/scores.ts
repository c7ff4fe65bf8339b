// Function-calling scores: the score the catalogue gives a model, lowered by what was seen of its calls, and the order
// that follows from it.

import { type SeenToolCalls, TELLING_CALLS, type ToolCallsSeen } from "../../core/decision.ts";
import type { HostedModel, Model, ToolScenario } from "../../core/model.ts";
import * as TEXT from "../text.ts";

/** The model's static score for the scenario, else its overall one; null when it was never measured. */
export function toolScoreOf({ scores }: HostedModel, scenario: ToolScenario): number | null {
  return scores === null ? null : (scores[scenario] ?? scores.overall);
}

/** Number of calls that the static score stands for. By hand: a few bad calls must not outweigh a benchmark. */
const STATIC_WEIGHT = 50;
/** The least share of the static score that is left, however bad the calls are. By hand. */
const SHARE_MIN = 0.75;

/**
 * The static score, lowered by the share of calls that could not be used. Valid calls never raise it: a call that fits its
 * schema is not yet the right call, and a model would rise above better ones merely by being used.
 */
export function blendScore(staticScore: number, { calls, valid }: SeenToolCalls): number {
  if (calls < TELLING_CALLS || valid >= calls) return staticScore;
  const share = (STATIC_WEIGHT + valid) / (STATIC_WEIGHT + calls);
  return Math.round(staticScore * Math.max(SHARE_MIN, share) * 100) / 100;
}

/** Models in a new order, and why. */
export interface Ranked {
  readonly models: readonly Model[];
  readonly notes: readonly string[];
}

/** Score points that a model may lose by its calls before it goes behind the rest of a chain that is in order. By hand. */
const POINTS_LOST_MAX = 5;

/** For a chain that is in order of score and price: only models whose calls often fail move, to its end. */
export function demoteFailing(models: readonly Model[], scenario: ToolScenario, seen: ToolCallsSeen): Ranked {
  const lostBy = (model: Model) => (toolScoreOf(model, scenario) ?? -1) - scoreNow(model, scenario, seen);
  const failing = models.filter((model) => lostBy(model) > POINTS_LOST_MAX);
  const others = models.filter((model) => !failing.includes(model));
  const moved = failing.filter((model) => isBeforeAny(model, others, models));
  if (moved.length === 0) return { models, notes: [] };
  return { models: [...others, ...failing], notes: moved.map((model) => describe(model, scenario, seen)) };
}

function isBeforeAny(model: Model, others: readonly Model[], models: readonly Model[]): boolean {
  return others.some((other) => models.indexOf(other) > models.indexOf(model));
}

/** Best first; models of the same score, and those without one, stay as they were. */
export function rankByToolScore(models: readonly Model[], scenario: ToolScenario, seen: ToolCallsSeen): Ranked {
  const staticOf = (model: Model) => toolScoreOf(model, scenario) ?? -1;
  const byStatic = models.toSorted((a, b) => staticOf(b) - staticOf(a));
  const notes = isSame(byStatic, models) ? [] : [TEXT.orderedByScore(scenario)];
  const lowered = models.filter((model) => scoreNow(model, scenario, seen) < staticOf(model));
  if (lowered.length === 0) return { models: byStatic, notes };
  const ranked = models.toSorted((a, b) => scoreNow(b, scenario, seen) - scoreNow(a, scenario, seen));
  const moved = lowered.filter((model) => ranked.indexOf(model) > byStatic.indexOf(model));
  return { models: ranked, notes: [...notes, ...moved.map((model) => describe(model, scenario, seen))] };
}

function scoreNow(model: Model, scenario: ToolScenario, seen: ToolCallsSeen): number {
  const score = toolScoreOf(model, scenario);
  const calls = seen.get(model.id)?.[scenario];
  if (score === null) return -1;
  return calls === undefined ? score : blendScore(score, calls);
}

function describe(model: Model, scenario: ToolScenario, seen: ToolCallsSeen): string {
  const { calls = 0, valid = 0 } = seen.get(model.id)?.[scenario] ?? {};
  const scores = { now: scoreNow(model, scenario, seen), before: toolScoreOf(model, scenario) };
  return TEXT.scoreLowered(model.id, scores, TEXT.unusableCalls(calls - valid, calls));
}

function isSame(a: readonly Model[], b: readonly Model[]): boolean {
  return a.every((model, place) => model === b[place]);
}
