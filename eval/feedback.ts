// Feedback on wrong tiers: how far, for each category, the place on the ladder has to move. It carries numbers and labels
// only, no text, so the net itself stays as it is.

import type { Weights } from "../src/catalog/weights.ts";
import { CATEGORIES, type Category } from "../src/core/decision.ts";
import { TIERS, type Tier, tierRank } from "../src/core/tiers.ts";
import { CALIBRATION } from "../src/routing/classifier/layout.ts";

/** One request whose tier somebody called wrong. */
export interface Feedback {
  readonly category: Category;
  /** Tier in which the request belonged, as somebody says. */
  readonly tier: Tier;
  /** Score of the classifier, 0 to 1. */
  readonly score: number;
}

/** One JSON object per line: `{"tier", "category", "features": {"score"}}`; whatever else it holds is not read. */
export function parseFeedback(text: string): readonly Feedback[] {
  return text.split("\n").flatMap((line, at) => (line.trim() === "" ? [] : [readLine(line, at + 1)]));
}

function readLine(line: string, number: number): Feedback {
  const { tier, category, features } = JSON.parse(line) as Record<string, unknown>;
  const score = (features as { score?: unknown } | null | undefined)?.score;
  const isValid = isOneOf(TIERS, tier) && isOneOf(CATEGORIES, category) && typeof score === "number";
  if (!isValid) throw new Error(`line ${number} of the feedback needs a tier, a category and features.score`);
  return { tier, category, score };
}

function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return (words as readonly unknown[]).includes(value);
}

/** So many of a category have to agree before half of what they ask for is done: most requests get no feedback. By hand. */
const HALF_TRUST = 20;
/** Feedback moves a category by at most so many tiers. By hand: a few voices must not make all code NANO. */
const SHIFT_MAX = 0.6;

export function withFeedback(weights: Weights, feedback: readonly Feedback[]): Weights {
  const calibration = Float32Array.from(weights.calibration);
  for (const [at, category] of CATEGORIES.entries()) {
    const wanted = feedback.filter((each) => each.category === category).map(missOf);
    const shift = wanted.reduce((sum, miss) => sum + miss, 0) / (wanted.length + HALF_TRUST);
    calibration[CALIBRATION.shifts + at] = Math.max(-SHIFT_MAX, Math.min(SHIFT_MAX, shift));
  }
  return { ...weights, calibration };
}

/** Distance of a score from the nearest edge of the right tier. */
function missOf({ tier, score }: Feedback): number {
  const lowest = tierRank(tier);
  const place = score * TIERS.length;
  if (place < lowest) return lowest - place;
  return Math.min(0, lowest + 1 - place);
}
