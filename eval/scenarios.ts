// The fit of the tool scenarios single, parallel and optional, from the measures of routing/tools/fit.ts: a multinomial
// logistic regression by plain gradient descent.

import { FITTED_SCENARIOS, TOOL_MEASURES } from "../src/routing/classifier/layout.ts";
import { readPrompt } from "../src/routing/classifier/signals.ts";
import { measureTools } from "../src/routing/tools/fit.ts";
import { chatOf, type Row } from "./rows.ts";
import { sourceOf } from "./sources.ts";

const MEASURES = TOOL_MEASURES.length;
/** Chosen with sources left out (E15): less decay lost nothing, more cost 0.01 of macro-F1. */
const DECAY = 1e-4;
// Set by hand, no experiment recorded.
const ROUNDS = 1500;
const RATE = 2;

/** One tool request whose scenario is known. */
interface ScenarioTrial {
  readonly measures: Float32Array;
  readonly scenario: number;
  readonly source: string;
  weight: number;
}

/** Sources that share requests, tools or manner are left out together. */
export function scenarioFamilyOf(source: string): string {
  if (source.startsWith("own-")) return "own";
  if (/exec|chatable/.test(source)) return "executed";
  if (!source.startsWith("bfcl-")) return sourceOf(source).family;
  return /java|rest|sql/.test(source) ? "other languages" : "leaderboard";
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
  return [{ measures, scenario, source: row.source, weight: 1 }];
}

/** Rows of one scenario in one source that count in full; of more of them each counts less, of fewer up to twice. By hand. */
const FULL_ROWS = 150;

/** Rare scenarios count more, by the root of their rarity, and no source outweighs the others. */
function balance(trials: readonly ScenarioTrial[]): void {
  const counts = FITTED_SCENARIOS.map((_, at) => trials.filter(({ scenario }) => scenario === at).length);
  const bySource = new Map<string, number>();
  for (const { source, scenario } of trials) {
    const group = `${source} ${scenario}`;
    bySource.set(group, (bySource.get(group) ?? 0) + 1);
  }
  for (const trial of trials) {
    const alike = bySource.get(`${trial.source} ${trial.scenario}`) ?? 1;
    trial.weight =
      Math.sqrt(trials.length / FITTED_SCENARIOS.length / (counts[trial.scenario] as number)) *
      Math.min(2, Math.sqrt(FULL_ROWS / alike));
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
