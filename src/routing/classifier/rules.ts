// The classifier without anything learned: a base score for the kind of task, moved by cues and length. It stands in
// where no weights are given.

import type { Category } from "../../core/decision.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import type { Classification } from "./classification.ts";
import { CODING, findCategory } from "./evidence.ts";
import type { Cue } from "./lexicon.ts";
import type { Signals } from "./signals.ts";

/** A score below the n-th bound belongs to the n-th tier; the last tier has no bound. */
const TIER_BOUNDS = [0.12, 0.3, 0.5, 0.74] as const;

/** Where each kind of task starts on the scale before its own difficulty is looked at. */
const BASE_SCORE: Readonly<Record<Category, number>> = {
  chitchat: 0.05,
  simple_qa: 0.21,
  translation: 0.36,
  extraction: 0.38,
  summarization: 0.38,
  writing: 0.4,
  creative_writing: 0.41,
  general: 0.42,
  math: 0.5,
  coding_general_debugging_refactoring_testing: 0.56,
  reasoning: 0.54,
};

export function classifyByRules(signals: Signals): Classification {
  const { category, strength } = findCategory(signals);
  const effects = weighDifficulty(signals, category);
  const raw = effects.reduce((sum, effect) => sum + effect.points, BASE_SCORE[category]);
  const score = Math.round(Math.max(0.02, Math.min(0.98, raw)) * 1000) / 1000;
  const rank = TIER_BOUNDS.filter((bound) => score >= bound).length;
  return {
    tier: TIERS[rank] as Tier,
    score,
    confidence: confidenceOf(score, strength),
    isSure: strength > 0,
    category,
    isCoding: category === CODING,
    signals: describe(category, effects),
    method: "rules",
  };
}

interface Effect {
  readonly points: number;
  readonly because: string;
}

/** Cues that make a task harder (or easier): points for each hit, and the most they may add up to. */
const CUE_EFFECTS: readonly (readonly [Cue, number, number, string])[] = [
  ["proof", 0.15, 0.32, "asks for a proof or derivation"],
  ["design", 0.08, 0.28, "system design"],
  ["expert", 0.05, 0.2, "specialist field"],
  ["reasoning", 0.03, 0.1, "asks for analysis"],
  ["constraint", 0.025, 0.15, "several constraints"],
  ["steps", 0.02, 0.08, "several steps"],
  ["brief", -0.04, 0.08, "asks for a short answer"],
];

function weighDifficulty(signals: Signals, category: Category): readonly Effect[] {
  if (category === "chitchat") return [{ points: Math.min(0.06, signals.words * 0.004), because: "small talk" }];
  const effects: Effect[] = [];
  const add = (points: number, because: string) => {
    if (Math.abs(points) >= 0.005) effects.push({ points, because });
  };
  for (const [cue, each, most, because] of CUE_EFFECTS) {
    const hits = signals.cues[cue];
    if (hits > 0) add(Math.max(-most, Math.min(most, hits * each)), because);
  }
  add(lengthPoints(signals.words), signals.words > 60 ? "long request" : "short request");
  add(Math.min(0.08, Math.max(0, signals.questions - 1) * 0.03), "several questions");
  add(Math.min(0.08, signals.listItems * 0.012), "a list of points");
  if (category === "math") add(mathPoints(signals), mathPoints(signals) > 0 ? "formulas" : "plain arithmetic");
  if (category === CODING) add(codePoints(signals), "code in the request");
  return effects.sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
}

/** From -0.05 for a few words to +0.14 for a page. */
function lengthPoints(words: number): number {
  return Math.max(-0.05, Math.min(0.14, Math.log2((words + 1) / 40) * 0.028));
}

function mathPoints({ mathMarks, words, cues }: Signals): number {
  if (words <= 10 && mathMarks <= 2 && cues.proof === 0 && cues.math < 2) return -0.24;
  return Math.min(0.12, mathMarks * 0.012);
}

function codePoints({ hasStackTrace, hasFence, codeMarks }: Signals): number {
  return (hasStackTrace ? 0.05 : 0) + (hasFence ? 0.02 : 0) + Math.min(0.06, codeMarks * 0.003);
}

/** Sure where the evidence is strong and the score is far from the tier's bounds. */
function confidenceOf(score: number, strength: number): number {
  const distance = Math.min(...TIER_BOUNDS.map((bound) => Math.abs(score - bound)));
  const sure = 0.4 + 0.3 * Math.min(1, distance / 0.1) + 0.28 * Math.min(1, strength / 4);
  return Math.round(sure * 100) / 100;
}

export const KIND: Readonly<Record<Category, string>> = {
  chitchat: "small talk",
  simple_qa: "a short question",
  math: "mathematics",
  coding_general_debugging_refactoring_testing: "a coding task",
  reasoning: "reasoning or analysis",
  creative_writing: "creative writing",
  writing: "everyday writing",
  summarization: "a summary",
  translation: "a translation",
  extraction: "extraction from a text",
  general: "no clear kind of task",
};

function describe(category: Category, effects: readonly Effect[]): readonly string[] {
  const reasons = effects.slice(0, 3).map((effect) => effect.because);
  return [KIND[category], ...reasons.filter((reason) => reason !== KIND[category])];
}
