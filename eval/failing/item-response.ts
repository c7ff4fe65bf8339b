// Item response: one ability for each model and one difficulty for each prompt, from who was right where. A difficulty
// that few models speak of stays near the middle, and sources that share models come to one scale.

import type { Row } from "../rows.ts";

/** Priors: difficulties of width 2, abilities of width 10, which only keeps a model finite that is always right. */
const DIFFICULTY_PRIOR = 1 / 2 ** 2;
const ABILITY_PRIOR = 1 / 10 ** 2;
const ROUNDS_MAX = 200;
const STILL = 1e-6;

/** The score of one model at one prompt, both by their places. */
interface Trial {
  readonly model: number;
  readonly prompt: number;
  readonly score: number;
}

interface Fit {
  readonly abilities: Float64Array;
  readonly difficulties: Float64Array;
}

/** For each row, the probability that a model of the weakest third fails at it. The rows must have scores of models. */
export function weakFailures(rows: readonly Row[]): readonly number[] {
  const scores = rows.map(({ label }) => Object.entries(label.models ?? {}));
  const names = [...new Set(scores.flatMap((each) => each.map(([name]) => modelName(name))))].sort();
  const places = new Map(names.map((name, at) => [name, at]));
  const trials = scores.flatMap((each, prompt) =>
    each.map(([name, score]) => ({ model: places.get(modelName(name)) as number, prompt, score })),
  );
  const { abilities, difficulties } = fitAbilities(trials, names.length, rows.length);
  const weak = [...abilities].sort((a, b) => a - b).slice(0, Math.max(1, Math.round(names.length / 3)));
  return Array.from(difficulties, (difficulty) => {
    const right = weak.reduce((sum, ability) => sum + chance(ability - difficulty), 0);
    return 1 - right / weak.length;
  });
}

/** Sources write the same model in different ways. */
function modelName(name: string): string {
  return name.toLowerCase().replace(/^meta-/, "");
}

/** Newton's steps in turns: the difficulties under the abilities, then the abilities under the difficulties. */
function fitAbilities(trials: readonly Trial[], models: number, prompts: number): Fit {
  const fitted = { abilities: new Float64Array(models), difficulties: new Float64Array(prompts) };
  const { abilities, difficulties } = fitted;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const harder = move(difficulties, slopesOf(fitted, trials, -1), DIFFICULTY_PRIOR);
    const abler = move(abilities, slopesOf(fitted, trials, 1), ABILITY_PRIOR);
    if (Math.max(harder, abler) < STILL) break;
  }
  return fitted;
}

interface Slopes {
  readonly slopes: Float64Array;
  readonly curves: Float64Array;
}

/** Returns the farthest that any of the values moved. */
function move(values: Float64Array, { slopes, curves }: Slopes, prior: number): number {
  let farthest = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    const step = ((slopes[at] as number) - prior * value) / ((curves[at] as number) + prior);
    values[at] = value + step;
    farthest = Math.max(farthest, Math.abs(step));
  }
  return farthest;
}

/** Right answers beyond what the fit expects, and how fast that changes: by model with sign 1, by prompt with -1. */
function slopesOf({ abilities, difficulties }: Fit, trials: readonly Trial[], sign: 1 | -1): Slopes {
  const count = sign === 1 ? abilities.length : difficulties.length;
  const slopes = new Float64Array(count);
  const curves = new Float64Array(count);
  for (const { model, prompt, score } of trials) {
    const expected = chance((abilities[model] as number) - (difficulties[prompt] as number));
    const at = sign === 1 ? model : prompt;
    (slopes[at] as number) += sign * (score - expected);
    (curves[at] as number) += expected * (1 - expected);
  }
  return { slopes, curves };
}

function chance(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
