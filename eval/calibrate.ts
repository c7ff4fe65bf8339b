// The calibration between the net's outputs and a decision: the mean load of each category, and how score and shares
// become a confidence that comes true.

import type { Weights } from "../src/catalog/weights.ts";
import { CATEGORIES } from "../src/core/decision.ts";
import { createRowFinder, createWordHasher } from "../src/routing/classifier/features.ts";
import { CALIBRATION, CALIBRATION_SIZE, OUTPUT, TIER_CUTS } from "../src/routing/classifier/layout.ts";
import { createNetwork } from "../src/routing/classifier/network.ts";
import { distanceOf, type Scaled, scale } from "../src/routing/classifier/scale.ts";
import type { Example } from "./examples.ts";

/** The weights with the mean load and difficulty of each category filled in, and no confidence yet. */
export function withMeans(weights: Weights, examples: readonly Example[]): Weights {
  const run = createRun(weights);
  const calibration = new Float32Array(CALIBRATION_SIZE);
  calibration.set(weights.calibration.subarray(0, TIER_CUTS), CALIBRATION.cuts);
  for (let at = 0; at < CATEGORIES.length; at++) {
    const own = examples.filter(({ category }) => category === at);
    const difficulty = (example: Example) => run(example)[OUTPUT.difficulty] as number;
    calibration[CALIBRATION.loads + at] = mean(own, ({ signals }) => signals.load);
    calibration[CALIBRATION.difficulties + at] = mean(own, difficulty);
  }
  return { ...weights, calibration };
}

function mean(examples: readonly Example[], measure: (example: Example) => number): number {
  const total = examples.reduce((sum, { weight }) => sum + weight, 0) || 1;
  return examples.reduce((sum, example) => sum + example.weight * measure(example), 0) / total;
}

/** An example with what some weights say of it. */
export interface Judged {
  readonly example: Example;
  readonly scaled: Scaled;
}

/** Judges by network and rules, without history and floors. */
export function judge(weights: Weights, examples: readonly Example[]): readonly Judged[] {
  const run = createRun(weights);
  return examples.map((example) => ({
    example,
    scaled: scale(run(example), weights.calibration, example.signals),
  }));
}

/** The outputs of the net for an example. */
export function createRun(weights: Weights): (example: Example) => Float32Array {
  const run = createNetwork(weights);
  const hashWords = createWordHasher(createRowFinder(weights.marks));
  return ({ asked, shape }) => run({ buckets: hashWords(asked).buckets, shape }).slice();
}

/** The weights with the coefficients of the tool scenarios filled in. */
export function withScenarios(weights: Weights, coefficients: Float32Array): Weights {
  const calibration = Float32Array.from(weights.calibration);
  calibration.set(coefficients, CALIBRATION.scenarios);
  return { ...weights, calibration };
}

/** A logistic fit on rows whose tier is known and which the net has not learned from. */
export function withConfidence(weights: Weights, judged: readonly Judged[]): Weights {
  const calibration = Float32Array.from(weights.calibration);
  const fitted = fitLogistic(trialsOf(judged));
  calibration.set(fitted.slice(0, PLAIN_INPUTS), CALIBRATION.confidence);
  calibration.set(fitted.slice(PLAIN_INPUTS), CALIBRATION.sureness);
  return { ...weights, calibration };
}

/** How true the confidence is for sources that it was not fitted on. */
export interface UnseenConfidence {
  readonly sources: number;
  /** Mean over the sources of the confidence less the share of right tiers, with its sign and without. */
  readonly gap: number;
  readonly distance: number;
}

/** Fits the confidence without each source in turn and compares it with the right tiers of that source. */
export function judgeConfidence(judged: readonly Judged[]): UnseenConfidence {
  const trials = trialsOf(judged);
  const sources = [...new Set(trials.map(({ source }) => source))];
  const gaps = sources.map((source) => {
    const fitted = fitLogistic(trials.filter((trial) => trial.source !== source));
    const own = trials.filter((trial) => trial.source === source);
    const gap = ({ inputs, isRight }: TierTrial) => probability(inputs, fitted) - (isRight ? 1 : 0);
    return own.reduce((sum, trial) => sum + gap(trial), 0) / own.length;
  });
  const over = (measure: (gap: number) => number) =>
    gaps.reduce((sum, each) => sum + measure(each), 0) / Math.max(1, gaps.length);
  return { sources: gaps.length, gap: over((each) => each), distance: over(Math.abs) };
}

/** One row whose tier is known: what the confidence is fitted on. */
interface TierTrial {
  readonly source: string;
  readonly inputs: readonly number[];
  readonly isRight: boolean;
  readonly weight: number;
}

/** A constant, the distance to the nearest bound and the share of the category. */
const PLAIN_INPUTS = 3;

/** All sources count alike: a new source is as far from any of them. */
function trialsOf(judged: readonly Judged[]): readonly TierTrial[] {
  const known = judged.filter(({ example }) => example.row.label.ladder !== undefined);
  const counts = new Map<string, number>();
  for (const { example } of known) counts.set(example.row.source, (counts.get(example.row.source) ?? 0) + 1);
  return known.map(({ example, scaled }) => {
    const { source, label } = example.row;
    const tier = Math.min(TIER_CUTS, Math.floor(scaled.score * (TIER_CUTS + 1)));
    const categories = CATEGORIES.map((category) => (category === scaled.category ? 1 : 0));
    const inputs = [1, distanceOf(scaled.place), scaled.share, ...categories];
    return { source, inputs, isRight: tier === label.ladder, weight: 1 / (counts.get(source) as number) };
  });
}

/** Set by hand, no experiment recorded. */
const ROUNDS = 400;
const RATE = 1;
/** Holds the categories back, which some sources alone speak for. Chosen among four with each source left out (E24). */
const CATEGORY_DECAY = 0.005;

/** Plain gradient descent: few coefficients and a convex loss need nothing better. */
function fitLogistic(trials: readonly TierTrial[]): readonly number[] {
  const fitted = new Array<number>(PLAIN_INPUTS + CATEGORIES.length).fill(0);
  const total = trials.reduce((sum, { weight }) => sum + weight, 0) || 1;
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = new Array<number>(fitted.length).fill(0);
    for (const { inputs, isRight, weight } of trials) {
      const error = (probability(inputs, fitted) - (isRight ? 1 : 0)) * weight;
      for (let at = 0; at < inputs.length; at++) (slopes[at] as number) += error * (inputs[at] as number);
    }
    for (let at = 0; at < fitted.length; at++) {
      const decay = at < PLAIN_INPUTS ? 0 : CATEGORY_DECAY * (fitted[at] as number);
      (fitted[at] as number) -= RATE * ((slopes[at] as number) / total + decay);
    }
  }
  return fitted;
}

function probability(inputs: readonly number[], fitted: readonly number[]): number {
  let raw = 0;
  for (let at = 0; at < inputs.length; at++) raw += (inputs[at] as number) * (fitted[at] as number);
  return 1 / (1 + Math.exp(-raw));
}
