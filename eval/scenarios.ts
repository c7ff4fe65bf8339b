// The fit of the tool scenarios single, parallel and optional, from the measures of routing/tools/fit.ts: a multinomial
// logistic regression by plain gradient descent.

import { FITTED_SCENARIOS, TOOL_MEASURES } from "../src/routing/classifier/layout.ts";
import { readPrompt } from "../src/routing/classifier/signals.ts";
import { measureTools } from "../src/routing/tools/fit.ts";
import { chatOf, type Row } from "./rows.ts";

const MEASURES = TOOL_MEASURES.length;
// Set by hand, no experiment recorded.
const ROUNDS = 600;
const RATE = 2;
const DECAY = 1e-3;

/** One tool request whose scenario is known. */
interface ScenarioTrial {
  readonly measures: Float32Array;
  readonly scenario: number;
  weight: number;
}

/** One row of coefficients per scenario. */
export function fitScenarios(rows: readonly Row[]): Float32Array {
  const trials = rows.flatMap(trialOf);
  balance(trials);
  const total = trials.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const fitted = new Float32Array(FITTED_SCENARIOS.length * MEASURES);
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = new Float64Array(fitted.length);
    for (const trial of trials) addSlopes(slopes, fitted, trial);
    for (let at = 0; at < fitted.length; at++) {
      (fitted[at] as number) -= RATE * ((slopes[at] as number) / total + DECAY * (fitted[at] as number));
    }
  }
  return fitted;
}

function trialOf(row: Row): readonly ScenarioTrial[] {
  const scenario = (FITTED_SCENARIOS as readonly (string | undefined)[]).indexOf(row.label.scenario);
  if (scenario < 0) return [];
  const measures = measureTools(chatOf(row).tools, readPrompt(row.prompt));
  return [{ measures, scenario, weight: 1 }];
}

/** Rare scenarios count more, by the root of their rarity. */
function balance(trials: readonly ScenarioTrial[]): void {
  const counts = FITTED_SCENARIOS.map((_, at) => trials.filter(({ scenario }) => scenario === at).length);
  for (const trial of trials) {
    trial.weight = Math.sqrt(trials.length / FITTED_SCENARIOS.length / (counts[trial.scenario] as number));
  }
}

function addSlopes(slopes: Float64Array, fitted: Float32Array, { measures, scenario, weight }: ScenarioTrial): void {
  const points = FITTED_SCENARIOS.map((_, at) => {
    let sum = 0;
    for (let m = 0; m < MEASURES; m++) sum += (fitted[at * MEASURES + m] as number) * (measures[m] as number);
    return sum;
  });
  const highest = Math.max(...points);
  const powers = points.map((point) => Math.exp(point - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  for (const [at, power] of powers.entries()) {
    const error = (power / total - (at === scenario ? 1 : 0)) * weight;
    for (let m = 0; m < MEASURES; m++) (slopes[at * MEASURES + m] as number) += error * (measures[m] as number);
  }
}
