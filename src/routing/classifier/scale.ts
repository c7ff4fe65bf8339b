// From the outputs of the net to a place on the scale of the tiers: the usual tier of the category, moved by what the net
// learned from the wording, by the load of the request and by cues of hard work. The weights carry the fitted numbers.

import { CATEGORIES, type Category } from "../../core/decision.ts";
import { TIERS } from "../../core/tiers.ts";
import { HARDNESS, LADDER_TAIL, PLACE, SCORE, STEEPNESS, STORY, type Steepness, USUAL_TIER } from "./constants.ts";
import { CALIBRATION, OUTPUT, TIER_CUTS } from "./layout.ts";
import { CODING, findCategory, type Prior, priorOf } from "./rules.ts";
import type { Signals } from "./signals.ts";

const CATEGORY_COUNT = CATEGORIES.length;
const MATH = CATEGORIES.indexOf("math");
const HIGHEST_TIER = TIERS.length - 1;
const USUAL_TIERS = Float64Array.from(CATEGORIES, (category) => USUAL_TIER[category]);

const STEEPNESS_BY_CATEGORY = CATEGORIES.map((category): Steepness => {
  if (category === "math") return STEEPNESS.math;
  if (category === CODING) return STEEPNESS.coding;
  return category === "chitchat" || category === "simple_qa" ? STEEPNESS.small : STEEPNESS.other;
});

/** Distances that moved the place away from the usual tier, in tiers. */
interface Moves {
  /** The net's own sense of the tier. */
  readonly wording: number;
  readonly difficulty: number;
  /** The probability that a weak model fails, against that of the category. */
  readonly failing: number;
  readonly load: number;
  readonly hard: number;
}

export interface Scaled {
  /** The place on the tiers' scale, about 0 to 4. */
  readonly place: number;
  /** 0 to 1; the tiers are a fifth each. */
  readonly score: number;
  readonly category: Category;
  /** The share of the likeliest category. */
  readonly share: number;
  /** The category by the rules alone. */
  readonly ruledCategory: Category;
  /** The probability that a weak model fails. */
  readonly weakModelFails: number;
  readonly moves: Moves;
}

export function scale(outputs: Float32Array, calibration: Float32Array, signals: Signals): Scaled {
  const found = findCategory(signals);
  const shares = sharesOf(outputs, priorOf(found));
  const isTest = isTestQuestion(signals);
  let best = 0;
  let usual: number = isTest ? PLACE.testShift : 0;
  let load = signals.load;
  let difficulty = outputs[OUTPUT.difficulty] as number;
  const weakModelFails = failingOf(outputs, calibration);
  let failing = weakModelFails;
  for (let at = 0; at < CATEGORY_COUNT; at++) {
    const share = shares[at] as number;
    if (share > (shares[best] as number)) best = at;
    usual += share * ((USUAL_TIERS[at] as number) + (calibration[CALIBRATION.shifts + at] as number));
    load -= share * (calibration[CALIBRATION.loads + at] as number);
    difficulty -= share * (calibration[CALIBRATION.difficulties + at] as number);
    failing -= share * (calibration[CALIBRATION.failures + at] as number);
  }
  const { trust, slope, softness, fall } = isTest ? STEEPNESS.test : steepnessOf(shares);
  difficulty *= PLACE.difficultyShare;
  failing *= PLACE.failingShare;
  const mathShare = shares[MATH] as number;
  const story = isTest ? 0 : mathShare * storyOf(signals);
  const steepness = slope / (1 + softness * Math.abs(load + difficulty + failing));
  const moves = {
    wording: trust * (learnedTier(outputs[OUTPUT.ladder] as number, calibration) - usual),
    load: steepness * load,
    difficulty: steepness * difficulty,
    failing: steepness * failing,
    hard: usual < PLACE.hardFromTier ? 0 : hardness(signals, mathShare),
  };
  const place = usual - STORY.ease * story + (1 - STORY.calm * story) * (slowed(moves, fall) + moves.hard);
  return {
    place,
    score: scoreOf(place),
    category: CATEGORIES[best] as Category,
    share: shares[best] as number,
    ruledCategory: found.category,
    weakModelFails,
    moves,
  };
}

/** The probability that a weak model fails, 0 to 1: what the outputs of the net say of it together. */
export function failingOf(outputs: Float32Array, calibration: Float32Array): number {
  let logit = calibration[CALIBRATION.failing] as number;
  for (let out = 0; out < outputs.length; out++) {
    logit += (calibration[CALIBRATION.failing + 1 + out] as number) * (outputs[out] as number);
  }
  return 1 / (1 + Math.exp(-logit));
}

/** Solved examples bring choices of their own; without them, more than a dozen is a list and no test. */
function isTestQuestion({ options, questionAt }: Signals): boolean {
  return options >= PLACE.testOptionsMin && (options <= PLACE.testOptionsMax || questionAt > 0);
}

/** 0 to 1: how far a sum is told in words of everyday life, without formulas or the objects of mathematics. */
function storyOf({ cues, mathMarks, words }: Signals): number {
  const everyday = (1 + cues.everyday - cues.abstract - STORY.perMathMark * mathMarks) / 2;
  const long = (words - STORY.wordsMin) / (STORY.wordsFull - STORY.wordsMin);
  return Math.max(0, Math.min(1, everyday)) * Math.max(0, Math.min(1, long));
}

/** A fifth per tier; beyond the middle of the outer tiers ever slower, so that the hardest are still told apart. */
function scoreOf(place: number): number {
  const { tail, tailSteepness, min, max, steps } = SCORE;
  let score = (place + 0.5) / TIERS.length;
  if (place < 0) score = tail * Math.exp(tailSteepness * place);
  if (place > HIGHEST_TIER) score = 1 - tail * Math.exp(tailSteepness * (HIGHEST_TIER - place));
  return Math.round(Math.max(min, Math.min(max, score)) * steps) / steps;
}

/** A proof is not easier for being asked in a few words: the harder the cues, the less a request falls. */
function slowed({ wording, difficulty, failing, load, hard }: Moves, fall: number): number {
  const move = wording + difficulty + failing + load;
  if (move >= 0) return move;
  const fallen = move * Math.max(0, 1 - PLACE.hardAgainstFall * hard);
  return fallen < -fall ? PLACE.slowedFall * (fallen + fall) - fall : fallen;
}

/** The steepness of every category, mixed by its share. */
function steepnessOf(shares: Float64Array): Steepness {
  let trust = 0;
  let slope = 0;
  let softness = 0;
  let fall = 0;
  for (let at = 0; at < CATEGORY_COUNT; at++) {
    const share = shares[at] as number;
    const steep = STEEPNESS_BY_CATEGORY[at] as Steepness;
    trust += share * steep.trust;
    slope += share * steep.slope;
    softness += share * steep.softness;
    fall += share * steep.fall;
  }
  return { trust, slope, softness, fall };
}

const SHARPNESS = 1 / PLACE.shareTemperature;

/** Used for one request after the other. */
const SHARED_SHARES = new Float64Array(CATEGORY_COUNT);

/** The shares of the categories: a softmax over the net's points and those of the rules. Valid until the next call. */
function sharesOf(outputs: Float32Array, prior: Prior): Float64Array {
  const shares = SHARED_SHARES;
  let highest = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < CATEGORY_COUNT; at++) {
    const points = (outputs[at] as number) + (at === prior.category ? prior.points : 0);
    shares[at] = points;
    highest = Math.max(highest, points);
  }
  let total = 0;
  for (let at = 0; at < CATEGORY_COUNT; at++) {
    const power = Math.exp(((shares[at] as number) - highest) * SHARPNESS);
    shares[at] = power;
    total += power;
  }
  for (let at = 0; at < CATEGORY_COUNT; at++) (shares[at] as number) /= total;
  return shares;
}

/** The ladder output between the cuts it was learned with: 0.5 at the first cut, 3.5 at the last. */
function learnedTier(ladder: number, calibration: Float32Array): number {
  const { min, max, unitsBelow, unitsAbove } = LADDER_TAIL;
  const cut = (at: number) => calibration[CALIBRATION.cuts + at] as number;
  if (ladder < cut(0)) return Math.max(min, 0.5 + (ladder - cut(0)) / unitsBelow);
  for (let at = 1; at < TIER_CUTS; at++) {
    if (ladder < cut(at)) return at - 0.5 + (ladder - cut(at - 1)) / (cut(at) - cut(at - 1));
  }
  return Math.min(max, TIER_CUTS - 0.5 + (ladder - cut(TIER_CUTS - 1)) / unitsAbove);
}

/** Proofs, designs under constraints, specialist judgement and calculus are hard at any length. */
function hardness({ cues }: Signals, mathShare: number): number {
  const { perProof, perDesign, perExpert, perConstraint, perCalculus, calculusMax, threshold, max } = HARDNESS;
  const calculus = perCalculus * mathShare * Math.min(calculusMax, cues.calculus);
  const points =
    perProof * cues.proof +
    perDesign * cues.design +
    perExpert * cues.expert +
    perConstraint * cues.constraint +
    calculus;
  return Math.min(max, Math.max(0, points - threshold));
}

/** Returns the probability that the tier is right: higher far from the bounds, and where one category stands out. */
export function confidenceOf({ place, share, category }: Scaled, calibration: Float32Array): number {
  const at = CALIBRATION.confidence;
  const distance = distanceOf(place);
  const offset = (calibration[at] ?? 0) + (calibration[CALIBRATION.sureness + CATEGORIES.indexOf(category)] ?? 0);
  const raw = offset + (calibration[at + 1] ?? 0) * distance + (calibration[at + 2] ?? 0) * share;
  return Math.round((1 / (1 + Math.exp(-raw))) * 100) / 100;
}

/**
 * Returns the distance of a place from the nearest bound of its tier, at most half a tier; the outer tiers have one
 * bound each.
 */
export function distanceOf(place: number): number {
  const inner = Math.max(0, Math.min(TIER_CUTS, place));
  return 0.5 - Math.abs(inner - Math.round(inner));
}
