// The output "a weak model fails": a logistic model over the other outputs of the net, which stay as they are. It learns
// the probabilities of item-response.ts from rows with scores of several models.

import type { Weights } from "../../src/catalog/weights.ts";
import { CATEGORIES } from "../../src/core/decision.ts";
import { CALIBRATION, OUTPUTS } from "../../src/routing/classifier/layout.ts";
import { failingOf } from "../../src/routing/classifier/scale.ts";
import type { Example } from "../examples.ts";
import { weakFailures } from "./item-response.ts";

/** Chosen with sources left out (E23). */
const DECAY = 0.01;
// Set by hand: more rounds change nothing.
const ROUNDS = 2000;
const RATE = 1;

const OUTPUT_PLACES = Array.from({ length: OUTPUTS }, (_, out) => out);

/** An example with the outputs of the net for it. */
interface Answered {
  readonly example: Example;
  readonly outputs: Float32Array;
}

/** The weights with the coefficients of the output and its mean over each category filled in; zeros where no row has scores. */
export function withFailing(
  weights: Weights,
  examples: readonly Example[],
  run: (example: Example) => Float32Array,
): Weights {
  const calibration = Float32Array.from(weights.calibration);
  const answered = examples.map((example) => ({ example, outputs: run(example) }));
  calibration.set(fitFailing(answered), CALIBRATION.failing);
  for (let at = 0; at < CATEGORIES.length; at++) {
    const own = answered.filter(({ example }) => example.category === at);
    calibration[CALIBRATION.failures + at] = mean(own, ({ outputs }) => failingOf(outputs, calibration));
  }
  return { ...weights, calibration };
}

function mean(answered: readonly Answered[], measure: (answered: Answered) => number): number {
  const total = answered.reduce((sum, { example }) => sum + example.weight, 0) || 1;
  return answered.reduce((sum, each) => sum + each.example.weight * measure(each), 0) / total;
}

/** The offset and one coefficient for each output. Each is fitted in units of its spread, so that all decay alike. */
function fitFailing(answered: readonly Answered[]): readonly number[] {
  const scored = answered.filter(({ example }) => example.row.label.models !== undefined);
  const centres = OUTPUT_PLACES.map((out) => mean(scored, ({ outputs }) => outputs[out] as number));
  const spreads = OUTPUT_PLACES.map((out) => {
    const square = mean(scored, ({ outputs }) => ((outputs[out] as number) - (centres[out] as number)) ** 2);
    return Math.sqrt(square) || 1;
  });
  const aims = weakFailures(scored.map(({ example }) => example.row));
  const trials = scored.map(({ example, outputs }, at) => ({
    inputs: OUTPUT_PLACES.map(
      (out) => ((outputs[out] as number) - (centres[out] as number)) / (spreads[out] as number),
    ),
    aim: aims[at] as number,
    weight: example.weight,
  }));
  const [offset = 0, ...slopes] = fitLogistic(trials);
  const coefficients = slopes.map((slope, out) => slope / (spreads[out] as number));
  const shift = coefficients.reduce((sum, coefficient, out) => sum + coefficient * (centres[out] as number), 0);
  return [offset - shift, ...coefficients];
}

interface FailingTrial {
  readonly inputs: readonly number[];
  /** The probability that a weak model fails. */
  readonly aim: number;
  readonly weight: number;
}

/** Plain gradient descent; the offset comes first and does not decay. */
function fitLogistic(trials: readonly FailingTrial[]): readonly number[] {
  const total = trials.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const fitted = new Float64Array(1 + OUTPUTS);
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = new Float64Array(fitted.length);
    for (const { inputs, aim, weight } of trials) {
      const raw = inputs.reduce((sum, input, at) => sum + input * (fitted[1 + at] as number), fitted[0] as number);
      const error = (1 / (1 + Math.exp(-raw)) - aim) * weight;
      (slopes[0] as number) += error;
      for (const [at, input] of inputs.entries()) (slopes[1 + at] as number) += error * input;
    }
    for (let at = 0; at < fitted.length; at++) {
      const decay = at === 0 ? 0 : DECAY * (fitted[at] as number);
      (fitted[at] as number) -= RATE * ((slopes[at] as number) / total + decay);
    }
  }
  return [...fitted];
}
