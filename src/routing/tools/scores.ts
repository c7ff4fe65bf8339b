// Function-calling scores: the score the catalogue gives a model, lowered by what was seen of its calls, and the order
// that follows from it.

import { type Catalog, isOrderedForTools } from "../../catalog/catalog.ts";
import { type SeenToolCalls, TELLING_CALLS, type ToolCallsSeen } from "../../core/decision.ts";
import type { HostedModel, Model, ToolScenario } from "../../core/model.ts";
import type { Tier } from "../../core/tiers.ts";
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

/**
 * Points by which a score may be wrong. Measured in the scenario: by hand. Overall: the most by which the two tables of the
 * built-in catalogue differ for one model (40 models, November 2026). Unknown: twice the spread within a built-in chain.
 */
const UNCERTAINTY = { measured: 2, overall: 6, unknown: 9 } as const;

/** The score to rank a model by that was never measured: the middle of its chain. 0 where none was. */
function middleScore(models: readonly Model[], scenario: ToolScenario): number {
  const known = models.map((model) => toolScoreOf(model, scenario)).filter((score) => score !== null);
  return known.length === 0 ? 0 : known.reduce((sum, score) => sum + score, 0) / known.length;
}

/** Score points that a model may lose by its calls before it goes behind the rest of a chain that is in order. By hand. */
const POINTS_LOST_MAX = 5;

function isFailing(model: Model, scenario: ToolScenario, seen: ToolCallsSeen): boolean {
  return (toolScoreOf(model, scenario) ?? 0) - (scoreNow(model, scenario, seen) ?? 0) > POINTS_LOST_MAX;
}

interface Equals {
  /** The detected one; null without tools. */
  readonly scenario: ToolScenario | null;
  readonly seen: ToolCallsSeen;
  /** With the tiers whose chains the operator has written, and the models above the floor of each. */
  readonly catalog: Pick<Catalog, "ownChains" | "ownToolChains" | "withTools" | "proven">;
  readonly tier: Tier;
}

/**
 * Tells which models of a chain count as equally good, so that the cost of a conversation may choose among them. With tools,
 * these are the models that no other one surpasses beyond the uncertainty of both scores, without those whose calls often
 * fail; without tools, those above the floor of the tier. Returns null where only the operator's order is left to decide: a
 * chain written for tools has been ordered for them. Behaviour 5.5.
 */
export function equallyGood(models: readonly Model[], given: Equals): ((model: Model) => boolean) | null {
  const { scenario, seen, catalog, tier } = given;
  if (scenario !== null && isOrderedForTools(catalog, tier)) return null;
  const byScore = scenario === null ? null : notSurpassed(models, scenario, seen);
  if (byScore !== null || catalog.ownChains.has(tier)) return byScore;
  const proven = catalog.proven?.[tier] ?? null;
  // Models of a single vendor may all be below the floor.
  return (model) => proven === null || proven.has(model.id) || !models.some(({ id }) => proven.has(id));
}

/** Returns null where no score is known. */
function notSurpassed(
  models: readonly Model[],
  scenario: ToolScenario,
  seen: ToolCallsSeen,
): ((model: Model) => boolean) | null {
  let best = Number.NEGATIVE_INFINITY;
  for (const model of models) {
    const score = scoreNow(model, scenario, seen);
    if (score !== null) best = Math.max(best, score - uncertaintyOf(model, scenario));
  }
  if (best === Number.NEGATIVE_INFINITY) return null;
  const middle = middleScore(models, scenario);
  return (model) => {
    const score = toolScoreOf(model, scenario) ?? middle;
    return score + uncertaintyOf(model, scenario) >= best && !isFailing(model, scenario, seen);
  };
}

function uncertaintyOf({ scores }: Model, scenario: ToolScenario): number {
  if (scores === null) return UNCERTAINTY.unknown;
  return scores[scenario] === undefined ? UNCERTAINTY.overall : UNCERTAINTY.measured;
}

/** For a chain that is in order of score and price: only models whose calls often fail move, to its end. */
export function demoteFailing(models: readonly Model[], scenario: ToolScenario, seen: ToolCallsSeen): Ranked {
  const failing = models.filter((model) => isFailing(model, scenario, seen));
  const others = models.filter((model) => !failing.includes(model));
  const moved = failing.filter((model) => isBeforeAny(model, others, models));
  if (moved.length === 0) return { models, notes: [] };
  return { models: [...others, ...failing], notes: moved.map((model) => describe(model, scenario, seen)) };
}

function isBeforeAny(model: Model, others: readonly Model[], models: readonly Model[]): boolean {
  return others.some((other) => models.indexOf(other) > models.indexOf(model));
}

/** Best first; models of the same score stay as they were. */
export function rankByToolScore(models: readonly Model[], scenario: ToolScenario, seen: ToolCallsSeen): Ranked {
  const assumed = middleScore(models, scenario);
  const staticOf = (model: Model) => toolScoreOf(model, scenario) ?? assumed;
  const nowOf = (model: Model) => scoreNow(model, scenario, seen) ?? assumed;
  const byStatic = models.toSorted((a, b) => staticOf(b) - staticOf(a));
  const notes = isSame(byStatic, models) ? [] : [TEXT.orderedByScore(scenario)];
  const lowered = models.filter((model) => nowOf(model) < staticOf(model));
  if (lowered.length === 0) return { models: byStatic, notes };
  const ranked = models.toSorted((a, b) => nowOf(b) - nowOf(a));
  const moved = lowered.filter((model) => ranked.indexOf(model) > byStatic.indexOf(model));
  return { models: ranked, notes: [...notes, ...moved.map((model) => describe(model, scenario, seen))] };
}

/** With tools, the order of scores is expected, so a model that passes one with another score has a reason. */
export function equalNote(
  [first]: readonly Model[],
  [usual]: readonly Model[],
  { scenario, isEqual }: Pick<Equals, "scenario"> & { readonly isEqual: ReturnType<typeof equallyGood> },
): readonly string[] {
  if (scenario === null || first === undefined || usual === undefined || first === usual) return [];
  const isScored = toolScoreOf(first, scenario) !== toolScoreOf(usual, scenario);
  return isScored && isEqual?.(first) === true ? [TEXT.countsAsEqual(first.id, usual.id)] : [];
}

function scoreNow(model: Model, scenario: ToolScenario, seen: ToolCallsSeen): number | null {
  const score = toolScoreOf(model, scenario);
  const calls = seen.get(model.id)?.[scenario];
  if (score === null) return null;
  return calls === undefined ? score : blendScore(score, calls);
}

function describe(model: Model, scenario: ToolScenario, seen: ToolCallsSeen): string {
  const { calls = 0, valid = 0 } = seen.get(model.id)?.[scenario] ?? {};
  const scores = { now: scoreNow(model, scenario, seen) ?? 0, before: toolScoreOf(model, scenario) };
  return TEXT.scoreLowered(model.id, scores, TEXT.unusableCalls(calls - valid, calls));
}

function isSame(a: readonly Model[], b: readonly Model[]): boolean {
  return a.every((model, place) => model === b[place]);
}
