// Training: the weights of the classifier from labelled examples, by plain stochastic gradient descent with AdaGrad.
// The same examples, settings and seed give the same weights.

import type { Weights } from "../src/catalog/weights.ts";
import { CATEGORIES } from "../src/core/decision.ts";
import { createRowFinder, createWordHasher, SHAPE_NAMES } from "../src/routing/classifier/features.ts";
import { OUTPUT, OUTPUTS, TIER_CUTS } from "../src/routing/classifier/layout.ts";
import type { Example, Taught } from "./examples.ts";
import { makeAverage, makeNet, makePass, type Net, type Pass, quantise, update, WIDTH } from "./net.ts";
import { makeRandom, type Random, shuffle } from "./random.ts";
import { makeMarks } from "./vocabulary.ts";

const SHAPE_SIZE = SHAPE_NAMES.length;

export interface LearnSettings {
  readonly seed: number;
  readonly epochs: number;
  readonly hidden: number;
  readonly wordRate: number;
  readonly netRate: number;
  /** The share of word features left out at each step, so that no single word is relied on. */
  readonly wordDropout: number;
  /** Share of prompts without any words, so that the shape alone is learned too. */
  readonly blindShare: number;
  readonly decay: number;
  /** The pass from which the weights are averaged: chance moves single steps, not their mean. */
  readonly averageFrom: number;
  readonly ladderWeight: number;
  readonly difficultyWeight: number;
  readonly codingWeight: number;
  /** Pull of a translation's outputs towards the mean of its task. */
  readonly agreementWeight: number;
}

/** Set by hand on the left-out figures; a search over them is not recorded. */
export const DEFAULT_SETTINGS: LearnSettings = {
  seed: 3,
  epochs: 8,
  hidden: 24,
  wordRate: 0.12,
  netRate: 0.02,
  wordDropout: 0.5,
  blindShare: 0.1,
  decay: 1e-4,
  averageFrom: 4,
  ladderWeight: 1,
  difficultyWeight: 1,
  codingWeight: 1,
  agreementWeight: 0.1,
};

/** Steps from one sample of the average to the next. */
const STEPS_PER_SAMPLE = 1000;

export function learn(examples: readonly Example[], settings: LearnSettings = DEFAULT_SETTINGS): Weights {
  const random = makeRandom(settings.seed);
  const net = makeNet(settings.hidden, random);
  const pass = makePass(settings.hidden);
  const order = examples.map((_, at) => at);
  // What only a teacher has labelled gets no rows: there is room for so many, and English would crowd out the others (E20).
  const labelled = examples.filter(({ taught }) => taught === undefined);
  const marks = makeMarks(labelled.map(({ asked }) => asked));
  const hashWords = createWordHasher(createRowFinder(marks));
  const buckets = examples.map(({ asked }) => hashWords(asked).buckets.slice());
  const average = makeAverage(net);
  const means: TaskMeans = new Map();
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    shuffle(order, random);
    const slowing = 1 - (0.8 * epoch) / settings.epochs;
    for (const [done, at] of order.entries()) {
      const example = examples[at] as Example;
      step({ net, pass, example, buckets: buckets[at] as Int32Array, settings, random, slowing, means });
      if (epoch >= settings.averageFrom && done % STEPS_PER_SAMPLE === 0) average.add();
    }
  }
  average.finish();
  return quantise(net, marks);
}

/** One example during training. */
interface Step {
  readonly net: Net;
  readonly pass: Pass;
  readonly example: Example;
  readonly buckets: Int32Array;
  readonly settings: LearnSettings;
  readonly random: Random;
  /** Falls from 1 to a fifth over the passes: late steps are small. */
  readonly slowing: number;
  readonly means: TaskMeans;
}

/** Mean outputs of the latest translations of each task. */
type TaskMeans = Map<string, Float32Array>;

function step(now: Step): void {
  chooseWords(now);
  forward(now);
  now.pass.gradient.fill(0);
  if (now.example.taught === undefined) lossGradient(now);
  else taughtGradient(now, now.example.taught);
  addAgreementGradient(now);
  backward(now);
}

/** The share of the newest translation in the mean of its task. */
const NEWEST_SHARE = 0.05;

/** A penalty on disagreement between translations: half the square of the distance from the mean of their task. */
function addAgreementGradient({ example, pass, settings, means }: Step): void {
  const { task } = example.row.label;
  if (task === undefined) return;
  const { outputs, gradient } = pass;
  const mean = means.get(task);
  if (mean === undefined) {
    means.set(task, outputs.slice());
    return;
  }
  for (let out = 0; out < OUTPUT.spare; out++) {
    const distance = (outputs[out] as number) - (mean[out] as number);
    (gradient[out] as number) += settings.agreementWeight * example.weight * distance;
    (mean[out] as number) += NEWEST_SHARE * distance;
  }
}

/** Keeps a random part of the words, or none at all. */
function chooseWords({ pass, buckets, settings, random }: Step): void {
  pass.keptCount = 0;
  if (random() < settings.blindShare) return;
  for (const bucket of buckets) {
    if (random() >= settings.wordDropout && pass.keptCount < pass.kept.length) pass.kept[pass.keptCount++] = bucket;
  }
}

/** The same computation as routing/classifier/network.ts, on floating-point words and over the kept ones only. */
function forward({ net, pass, example }: Step): void {
  const { sums, units, outputs } = pass;
  sums.fill(0);
  for (let at = 0; at < pass.keptCount; at++) {
    const row = (pass.kept[at] as number) * OUTPUTS;
    for (let out = 0; out < OUTPUTS; out++) (sums[out] as number) += net.words.values[row + out] as number;
  }
  const scale = pass.keptCount === 0 ? 0 : 1 / Math.sqrt(pass.keptCount);
  for (let out = 0; out < OUTPUTS; out++) {
    (sums[out] as number) *= scale;
    outputs[out] = (sums[out] as number) + (net.outerBias.values[out] as number);
  }
  for (let unit = 0; unit < net.hidden; unit++) {
    let value = net.innerBias.values[unit] as number;
    const row = unit * WIDTH;
    for (let at = 0; at < SHAPE_SIZE; at++)
      value += (net.inner.values[row + at] as number) * (example.shape[at] as number);
    for (let at = 0; at < OUTPUTS; at++)
      value += (net.inner.values[row + SHAPE_SIZE + at] as number) * (sums[at] as number);
    units[unit] = Math.max(0, value);
    if (value <= 0) continue;
    for (let out = 0; out < OUTPUTS; out++)
      (outputs[out] as number) += (net.outer.values[out * net.hidden + unit] as number) * value;
  }
}

/** Each label that an example has adds its part; what is unknown teaches nothing. */
function lossGradient(now: Step): void {
  const { pass, example, settings } = now;
  const { outputs, gradient } = pass;
  const { weight } = example;
  if (example.category >= 0) addCategoryGradient(pass, example, (kind) => (kind === example.category ? 1 : 0));
  if (example.coding !== null) {
    const error = sigmoid(outputs[OUTPUT.coding] as number) - (example.coding ? 1 : 0);
    gradient[OUTPUT.coding] = error * weight * settings.codingWeight;
  }
  if (example.difficulty !== null) {
    const error = (outputs[OUTPUT.difficulty] as number) - example.difficulty;
    gradient[OUTPUT.difficulty] = error * weight * settings.difficultyWeight;
  }
  const { ladder } = example;
  if (ladder === null) return;
  addLadderGradient(now, weight * settings.ladderWeight * example.ladderWeight, (cut) => (ladder > cut ? 1 : 0));
}

/** Ordinal regression: one logistic question "above this cut?" for each cut, and the cuts are learned too. */
function addLadderGradient({ net, pass, settings, slowing }: Step, strength: number, aim: (cut: number) => number) {
  const { outputs, gradient } = pass;
  for (let cut = 0; cut < TIER_CUTS; cut++) {
    const above = sigmoid((outputs[OUTPUT.ladder] as number) - (net.cuts.values[cut] as number));
    const error = (above - aim(cut)) * strength;
    (gradient[OUTPUT.ladder] as number) += error;
    update(net.cuts, cut, -error, settings.netRate * slowing);
  }
}

/** Towards the shares that the teacher gives, not towards its first choice: how sure it is teaches too. */
function taughtGradient(now: Step, taught: Taught): void {
  const { outputs, gradient } = now.pass;
  const { weight } = now.example;
  addCategoryGradient(now.pass, now.example, (kind) => taught.categories[kind] as number);
  gradient[OUTPUT.coding] = (sigmoid(outputs[OUTPUT.coding] as number) - taught.coding) * weight;
  gradient[OUTPUT.difficulty] = ((outputs[OUTPUT.difficulty] as number) - taught.difficulty) * weight;
  addLadderGradient(now, weight, (cut) => taught.cuts[cut] as number);
}

/** Without the points of the rules, which are added when routing: as two opinions they transfer better than as one. */
function addCategoryGradient({ outputs, gradient }: Pass, example: Example, aim: (kind: number) => number): void {
  const { weight, categoryWeight } = example;
  const point = (kind: number) => outputs[kind] as number;
  const highest = CATEGORIES.reduce((most, _, kind) => Math.max(most, point(kind)), Number.NEGATIVE_INFINITY);
  const total = CATEGORIES.reduce((sum, _, kind) => sum + Math.exp(point(kind) - highest), 0);
  for (let kind = 0; kind < CATEGORIES.length; kind++) {
    const share = Math.exp(point(kind) - highest) / total;
    gradient[kind] = (share - aim(kind)) * weight * categoryWeight;
  }
}

/** Back through the hidden units to the sums of the words. */
function backward({ net, pass, example, settings, slowing }: Step): void {
  const { gradient, unitGradient, sumGradient, units, sums } = pass;
  const rate = settings.netRate * slowing;
  sumGradient.set(gradient);
  for (let unit = 0; unit < net.hidden; unit++) {
    if ((units[unit] as number) <= 0) continue;
    let slope = 0;
    for (let out = 0; out < OUTPUTS; out++) {
      const at = out * net.hidden + unit;
      slope += (net.outer.values[at] as number) * (gradient[out] as number);
      update(net.outer, at, (gradient[out] as number) * (units[unit] as number), rate);
    }
    unitGradient[unit] = slope;
    const row = unit * WIDTH;
    for (let at = 0; at < OUTPUTS; at++) {
      (sumGradient[at] as number) += (net.inner.values[row + SHAPE_SIZE + at] as number) * slope;
      update(net.inner, row + SHAPE_SIZE + at, slope * (sums[at] as number), rate);
    }
    for (let at = 0; at < SHAPE_SIZE; at++) update(net.inner, row + at, slope * (example.shape[at] as number), rate);
    update(net.innerBias, unit, slope, rate);
  }
  for (let out = 0; out < OUTPUTS; out++) update(net.outerBias, out, gradient[out] as number, rate);
  updateWords(net, pass, settings, slowing);
}

/** Words have a rate of their own and decay: a word seen once must not decide. */
function updateWords(net: Net, { kept, keptCount, sumGradient }: Pass, settings: LearnSettings, slowing: number): void {
  if (keptCount === 0) return;
  const { values, squares } = net.words;
  const scale = 1 / Math.sqrt(keptCount);
  const rate = settings.wordRate * slowing;
  for (let at = 0; at < keptCount; at++) {
    const row = (kept[at] as number) * OUTPUTS;
    for (let out = 0; out < OUTPUTS; out++) {
      const value = values[row + out] as number;
      const slope = (sumGradient[out] as number) * scale + settings.decay * value;
      const square = (squares[row + out] as number) + slope * slope;
      squares[row + out] = square;
      values[row + out] = value - (rate * slope) / Math.sqrt(square);
    }
  }
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
