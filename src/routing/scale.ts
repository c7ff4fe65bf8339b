// Puts the outputs of the net on the scale of the tiers: where its kind of task usually stands, moved by what the net
// heard, by the load of the request and by cues of hard work. Training fits the constants it reads; the weights carry them.

import { CATEGORIES, type Category } from "../core/decision.ts";
import { CODING } from "./evidence.ts";
import { OUTPUT, TIER_CUTS } from "./outputs.ts";
import { type Prior, priorOf } from "./prior.ts";
import type { Signals } from "./signals.ts";
import { FITTED_SCENARIOS, TOOL_MEASURES } from "./tool-fit.ts";

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
  math: 2.8,
  coding_general_debugging_refactoring_testing: 3,
  reasoning: 2.9,
};

const KINDS = CATEGORIES.length;
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
const MATH = CATEGORIES.indexOf("math");
const CODE = CATEGORIES.indexOf(CODING);
/** What the net says of a source it has never seen is right only in part; what is counted transfers better. */
const DIFFICULTY_SLOPE = 0.08;

interface Steepness {
  /** How far the net's own sense of the tier counts against the usual tier. */
  readonly trust: number;
  readonly loadSlope: number;
  /** Loads far from the mean of their kind count less and less. */
  readonly loadSoftness: number;
  /** How far below its usual tier a request falls for being short and plainly worded before the fall is slowed. */
  readonly fall: number;
}

/** Mathematics spreads over three tiers, code over hardly more than one. */
const STEEPNESS_MATH: Steepness = { trust: 0.35, loadSlope: 1.1, loadSoftness: 0.35, fall: 1.5 };
const STEEPNESS_CODE: Steepness = { trust: 0.05, loadSlope: 0.3, loadSoftness: 0.4, fall: 0.45 };
const STEEPNESS: Steepness = { trust: 0.2, loadSlope: 0.5, loadSoftness: 0.25, fall: 0.4 };
const SLOWED_FALL = 0.08;

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
  let best = 0;
  let usual = 0;
  let meanLoad = 0;
  let meanDifficulty = 0;
  for (let kind = 0; kind < KINDS; kind++) {
    const share = shares[kind] as number;
    if (share > (shares[best] as number)) best = kind;
    usual += share * ((USUAL_TIERS[kind] as number) + (calibration[CALIBRATION.shifts + kind] as number));
    meanLoad += share * (calibration[CALIBRATION.loads + kind] as number);
    meanDifficulty += share * (calibration[CALIBRATION.difficulties + kind] as number);
  }
  const load = signals.load - meanLoad;
  const { trust, loadSlope, loadSoftness, fall } = steepnessOf(shares[MATH] as number, shares[CODE] as number);
  const moves = {
    heard: trust * (heardTier(outputs[OUTPUT.ladder] as number, calibration) - usual),
    load: (loadSlope * load) / (1 + loadSoftness * Math.abs(load)),
    difficulty: DIFFICULTY_SLOPE * ((outputs[OUTPUT.difficulty] as number) - meanDifficulty),
    hard: usual < 1.7 ? 0 : hardness(signals),
  };
  const place = usual + slowed(moves, fall) + moves.hard;
  const score = Math.round(Math.max(0.01, Math.min(0.99, (place + 0.5) / 5)) * 1000) / 1000;
  return {
    place,
    score,
    category: CATEGORIES[best] as Category,
    share: shares[best] as number,
    moves,
  };
}

/** A proof is not easier for being asked in a few words: the harder the cues, the less a request falls. */
function slowed({ heard, difficulty, load, hard }: Moves, fall: number): number {
  const move = heard + difficulty + load;
  if (move >= 0) return move;
  const fallen = move * Math.max(0, 1 - 2 * hard);
  return fallen < -fall ? SLOWED_FALL * (fallen + fall) - fall : fallen;
}

function steepnessOf(math: number, code: number): Steepness {
  const other = 1 - math - code;
  const mix = (ofMath: number, ofCode: number, ofOther: number) => math * ofMath + code * ofCode + other * ofOther;
  const [m, c, o] = [STEEPNESS_MATH, STEEPNESS_CODE, STEEPNESS];
  return {
    trust: mix(m.trust, c.trust, o.trust),
    loadSlope: mix(m.loadSlope, c.loadSlope, o.loadSlope),
    loadSoftness: mix(m.loadSoftness, c.loadSoftness, o.loadSoftness),
    fall: mix(m.fall, c.fall, o.fall),
  };
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

/** Proofs, designs under constraints and specialist judgement are hard at any length. */
function hardness({ cues }: Signals): number {
  const points = 0.42 * cues.proof + 0.2 * cues.design + 0.08 * cues.expert + 0.03 * cues.constraint;
  return Math.min(1, Math.max(0, points - 0.1));
}

/** How likely the tier is right: surer far from the bounds, and where one kind of task stands out. */
export function confidenceOf({ place, share }: Scaled, calibration: Float32Array): number {
  const [offset, distanceSlope, shareSlope] = calibration.subarray(CALIBRATION.confidence);
  const inner = Math.max(-0.5, Math.min(4.5, place));
  const distance = 0.5 - Math.abs(inner - Math.round(inner));
  const raw = (offset ?? 0) + (distanceSlope ?? 0) * distance + (shareSlope ?? 0) * share;
  return Math.round((1 / (1 + Math.exp(-raw))) * 100) / 100;
}
