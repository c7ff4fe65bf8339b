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
  calibration.set(fitLogistic(judged.flatMap(trialOf)), CALIBRATION.confidence);
  return { ...weights, calibration };
}

/** One row whose tier is known: what the confidence is fitted on. */
interface TierTrial {
  readonly inputs: readonly [number, number, number];
  readonly isRight: boolean;
  readonly weight: number;
}

function trialOf({ example, scaled }: Judged): readonly TierTrial[] {
  const { ladder } = example.row.label;
  if (ladder === undefined) return [];
  const distance = distanceOf(scaled.place);
  const tier = Math.min(4, Math.floor(scaled.score * 5));
  return [{ inputs: [1, distance, scaled.share], isRight: tier === ladder, weight: example.weight }];
}

/** Set by hand, no experiment recorded. */
const ROUNDS = 400;
const RATE = 1;

/** Plain gradient descent: three coefficients and a convex loss need nothing better. */
function fitLogistic(trials: readonly TierTrial[]): readonly number[] {
  const fitted = [0, 0, 0];
  const total = trials.reduce((sum, { weight }) => sum + weight, 0) || 1;
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = [0, 0, 0];
    for (const { inputs, isRight, weight } of trials) {
      const raw = inputs.reduce((sum, input, at) => sum + input * (fitted[at] as number), 0);
      const error = (1 / (1 + Math.exp(-raw)) - (isRight ? 1 : 0)) * weight;
      for (const [at, input] of inputs.entries()) (slopes[at] as number) += error * input;
    }
    for (let at = 0; at < fitted.length; at++) (fitted[at] as number) -= (RATE * (slopes[at] as number)) / total;
  }
  return fitted;
}
