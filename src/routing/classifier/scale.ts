// Puts the outputs of the net on the scale of the tiers: where its kind of task usually stands, moved by what the net
// heard, by the load of the request and by cues of hard work. Training fits the constants it reads; the weights carry them.

import { CATEGORIES, type Category } from "../../core/decision.ts";
import { FITTED_SCENARIOS, TOOL_MEASURES } from "../tools/fit.ts";
import { CODING } from "./evidence.ts";
import { OUTPUT, TIER_CUTS } from "./outputs.ts";
import { type Prior, priorOf } from "./prior.ts";
import type { Signals } from "./signals.ts";

/** The tier, 0 to 4, that most requests of a kind belong to. */
export const USUAL_TIER: Readonly<Record<Category, number>> = {
  chitchat: 0,
  simple_qa: 1,
  translation: 2,
  extraction: 2,
  summarization: 2,
  writing: 2,
  creative_writing: 2,
  general: 2,
  math: 2.7,
  coding_general_debugging_refactoring_testing: 2.95,
  reasoning: 2.9,
};

const KINDS = CATEGORIES.length;
const MATH = CATEGORIES.indexOf("math");
const USUAL_TIERS = Float64Array.from(CATEGORIES, (category) => USUAL_TIER[category]);

/** How the numbers lie in the weights' calibration. */
export const CALIBRATION = {
  cuts: 0,
  /** The mean load of each kind of task. */
  loads: TIER_CUTS,
  /** The mean of the difficulty output over each kind of task. */
  difficulties: TIER_CUTS + KINDS,
  /** Offset, slope by distance to the nearest bound, slope by the share of the likeliest kind. */
  confidence: TIER_CUTS + 2 * KINDS,
  /** Coefficients of the tool scenarios. */
  scenarios: TIER_CUTS + 2 * KINDS + 3,
  /** How far marks of wrong tiers have moved each kind of task; zero without any. */
  shifts: TIER_CUTS + 2 * KINDS + 3 + FITTED_SCENARIOS.length * TOOL_MEASURES,
  size: TIER_CUTS + 3 * KINDS + 3 + FITTED_SCENARIOS.length * TOOL_MEASURES,
} as const;

const SHARPNESS = 1 / 0.6;
/** What the net says of a source it has never seen is right only in part; what is counted transfers better. */
const DIFFICULTY_SHARE = 0.7;

interface Steepness {
  /** How far the net's own sense of the tier counts against the usual tier. */
  readonly trust: number;
  readonly slope: number;
  /** Loads far from the mean of their kind count less and less. */
  readonly softness: number;
  /** How far below its usual tier a request falls for being short and plainly worded before the fall is slowed. */
  readonly fall: number;
}

/** Mathematics spreads over three tiers, code over hardly more than one; small talk and plain questions stay small. */
const STEEP_MATH: Steepness = { trust: 0.3, slope: 0.95, softness: 0.35, fall: 1.5 };
const STEEP_CODE: Steepness = { trust: 0.05, slope: 0.32, softness: 0.4, fall: 0.5 };
const STEEP_SMALL: Steepness = { trust: 0.25, slope: 0.3, softness: 0.25, fall: 0.35 };
const STEEP_OTHER: Steepness = { trust: 0.3, slope: 0.55, softness: 0.25, fall: 0.35 };
/** A question with choices is as hard as its subject, from school to specialists, whatever the kind. */
const STEEP_TEST: Steepness = { trust: 0.2, slope: 0.7, softness: 0.25, fall: 1 };
const TEST_SHIFT = -0.3;
const TEST_OPTIONS = { least: 3, most: 12 } as const;
const SLOWED_FALL = 0.08;
/** Sums about shopping and school days are long to read and easy to do: they start lower and are moved less. */
const STORY = { ease: 0.7, calm: 0.4, shortest: 8, full: 16 } as const;

const STEEP = CATEGORIES.map((category): Steepness => {
  if (category === "math") return STEEP_MATH;
  if (category === CODING) return STEEP_CODE;
  return category === "chitchat" || category === "simple_qa" ? STEEP_SMALL : STEEP_OTHER;
});

export interface Moves {
  readonly heard: number;
  readonly difficulty: number;
  readonly load: number;
  readonly hard: number;
}

export interface Scaled {
  /** The place on the tiers' scale, about 0 to 4. */
  readonly place: number;
  /** 0 to 1; the tiers are a fifth each. */
  readonly score: number;
  readonly category: Category;
  /** The share of the likeliest kind. */
  readonly share: number;
  /** What moved the place away from the usual tier of its kind. */
  readonly moves: Moves;
}

export function scale(outputs: Float32Array, calibration: Float32Array, signals: Signals): Scaled {
  const shares = sharesOf(outputs, priorOf(signals));
  const isTest = isTestQuestion(signals);
  let best = 0;
  let usual = isTest ? TEST_SHIFT : 0;
  let load = signals.load;
  let difficulty = outputs[OUTPUT.difficulty] as number;
  for (let kind = 0; kind < KINDS; kind++) {
    const share = shares[kind] as number;
    if (share > (shares[best] as number)) best = kind;
    usual += share * ((USUAL_TIERS[kind] as number) + (calibration[CALIBRATION.shifts + kind] as number));
    load -= share * (calibration[CALIBRATION.loads + kind] as number);
    difficulty -= share * (calibration[CALIBRATION.difficulties + kind] as number);
  }
  const { trust, slope, softness, fall } = isTest ? STEEP_TEST : steepnessOf(shares);
  difficulty *= DIFFICULTY_SHARE;
  const story = isTest ? 0 : (shares[MATH] as number) * storyOf(signals);
  const steepness = slope / (1 + softness * Math.abs(load + difficulty));
  const moves = {
    heard: trust * (heardTier(outputs[OUTPUT.ladder] as number, calibration) - usual),
    load: steepness * load,
    difficulty: steepness * difficulty,
    hard: usual < 1.7 ? 0 : hardness(signals, shares[MATH] as number),
  };
  const place = usual - STORY.ease * story + (1 - STORY.calm * story) * (slowed(moves, fall) + moves.hard);
  return { place, score: scoreOf(place), category: CATEGORIES[best] as Category, share: shares[best] as number, moves };
}

/** Solved examples bring choices of their own; without them, more than a dozen is a list and no test. */
function isTestQuestion({ options, questionAt }: Signals): boolean {
  return options >= TEST_OPTIONS.least && (options <= TEST_OPTIONS.most || questionAt > 0);
}

/** 0 to 1: how far a sum is told in words of everyday life, without formulas or the objects of mathematics. */
function storyOf({ cues, mathMarks, words }: Signals): number {
  const told = (1 + cues.everyday - cues.abstract - 2 * mathMarks) / 2;
  const long = (words - STORY.shortest) / (STORY.full - STORY.shortest);
  return Math.max(0, Math.min(1, told)) * Math.max(0, Math.min(1, long));
}

/** A fifth per tier; beyond the middle of the outer tiers ever slower, so that the hardest are still told apart. */
function scoreOf(place: number): number {
  let score = (place + 0.5) / 5;
  if (place < 0) score = 0.1 * Math.exp(2 * place);
  if (place > 4) score = 1 - 0.1 * Math.exp(2 * (4 - place));
  return Math.round(Math.max(0.001, Math.min(0.999, score)) * 10_000) / 10_000;
}

/** A proof is not easier for being asked in a few words: the harder the cues, the less a request falls. */
function slowed({ heard, difficulty, load, hard }: Moves, fall: number): number {
  const move = heard + difficulty + load;
  if (move >= 0) return move;
  const fallen = move * Math.max(0, 1 - 2 * hard);
  return fallen < -fall ? SLOWED_FALL * (fallen + fall) - fall : fallen;
}

function steepnessOf(shares: Float64Array): Steepness {
  let trust = 0;
  let slope = 0;
  let softness = 0;
  let fall = 0;
  for (let kind = 0; kind < KINDS; kind++) {
    const share = shares[kind] as number;
    const steep = STEEP[kind] as Steepness;
    trust += share * steep.trust;
    slope += share * steep.slope;
    softness += share * steep.softness;
    fall += share * steep.fall;
  }
  return { trust, slope, softness, fall };
}

function sharesOf(outputs: Float32Array, prior: Prior): Float64Array {
  const shares = new Float64Array(KINDS);
  let highest = Number.NEGATIVE_INFINITY;
  for (let kind = 0; kind < KINDS; kind++) {
    const points = (outputs[kind] as number) + (kind === prior.kind ? prior.points : 0);
    shares[kind] = points;
    highest = Math.max(highest, points);
  }
  let total = 0;
  for (let kind = 0; kind < KINDS; kind++) {
    const power = Math.exp(((shares[kind] as number) - highest) * SHARPNESS);
    shares[kind] = power;
    total += power;
  }
  for (let kind = 0; kind < KINDS; kind++) (shares[kind] as number) /= total;
  return shares;
}

/** The ladder output between the cuts it was learned with: 0.5 at the first cut, 3.5 at the last. */
function heardTier(ladder: number, calibration: Float32Array): number {
  const cut = (at: number) => calibration[CALIBRATION.cuts + at] as number;
  if (ladder < cut(0)) return Math.max(-0.5, 0.5 + (ladder - cut(0)) / 2);
  for (let at = 1; at < TIER_CUTS; at++) {
    if (ladder < cut(at)) return at - 0.5 + (ladder - cut(at - 1)) / (cut(at) - cut(at - 1));
  }
  return Math.min(4.5, TIER_CUTS - 0.5 + (ladder - cut(TIER_CUTS - 1)) / 3);
}

/** Proofs, designs under constraints, specialist judgement and calculus are hard at any length. */
function hardness({ cues }: Signals, mathShare: number): number {
  const calculus = 0.2 * mathShare * Math.min(2, cues.calculus);
  const points = 0.5 * cues.proof + 0.2 * cues.design + 0.08 * cues.expert + 0.03 * cues.constraint + calculus;
  return Math.min(1, Math.max(0, points - 0.1));
}

/** How likely the tier is right: surer far from the bounds, and where one kind of task stands out. */
export function confidenceOf({ place, share }: Scaled, calibration: Float32Array): number {
  const [offset, distanceSlope, shareSlope] = calibration.subarray(CALIBRATION.confidence);
  const distance = distanceOf(place);
  const raw = (offset ?? 0) + (distanceSlope ?? 0) * distance + (shareSlope ?? 0) * share;
  return Math.round((1 / (1 + Math.exp(-raw))) * 100) / 100;
}

/** How far a place is from the nearest bound of its tier, at most half a tier; the outer tiers have one bound each. */
export function distanceOf(place: number): number {
  const inner = Math.max(0, Math.min(TIER_CUTS, place));
  return 0.5 - Math.abs(inner - Math.round(inner));
}
