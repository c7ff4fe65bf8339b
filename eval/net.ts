// The net during training: floating-point weights with what AdaGrad keeps for them, and the space one step needs.

import type { Weights } from "../src/catalog/weights.ts";
import { BUCKETS, SHAPE_NAMES } from "../src/routing/classifier/features.ts";
import { LAYOUT_FINGERPRINT, OUTPUT, OUTPUTS, TIER_CUTS } from "../src/routing/classifier/layout.ts";
import type { Random } from "./random.ts";

/** Inputs of a hidden unit: the measures of the shape, then the sums of the words. */
export const WIDTH = SHAPE_NAMES.length + OUTPUTS;

/** A block of numbers with the sums of squared gradients AdaGrad keeps for them. */
export interface Block {
  readonly values: Float32Array;
  readonly squares: Float32Array;
}

/** All blocks that are learned. */
export interface Net {
  readonly words: Block;
  readonly inner: Block;
  readonly innerBias: Block;
  readonly outer: Block;
  readonly outerBias: Block;
  readonly cuts: Block;
  readonly hidden: number;
}

/** Working space of one step, made once and used for all. */
export interface Pass {
  readonly kept: Int32Array;
  keptCount: number;
  readonly sums: Float32Array;
  readonly units: Float32Array;
  readonly outputs: Float32Array;
  readonly gradient: Float32Array;
  readonly unitGradient: Float32Array;
  readonly sumGradient: Float32Array;
}

/** Words start at zero, so that a word never seen says nothing. */
export function makeNet(hidden: number, random: Random): Net {
  const block = (length: number, spread: number): Block => ({
    values: Float32Array.from({ length }, () => (random() * 2 - 1) * spread),
    squares: new Float32Array(length).fill(1e-3),
  });
  const net = {
    words: block(BUCKETS * OUTPUTS, 0),
    inner: block(hidden * WIDTH, 1 / Math.sqrt(WIDTH)),
    innerBias: block(hidden, 0),
    outer: block(OUTPUTS * hidden, 0.3 / Math.sqrt(hidden)),
    outerBias: block(OUTPUTS, 0),
    cuts: block(TIER_CUTS, 0),
    hidden,
  };
  // The two spare outputs must not start equal, or they would stay so.
  for (let row = 0; row < BUCKETS; row++) {
    for (let out = OUTPUT.spare; out < OUTPUTS; out++) net.words.values[row * OUTPUTS + out] = (random() * 2 - 1) * 0.1;
  }
  for (let cut = 0; cut < TIER_CUTS; cut++) net.cuts.values[cut] = cut * 2 - 3;
  return net;
}

export function makePass(hidden: number): Pass {
  return {
    kept: new Int32Array(4096),
    keptCount: 0,
    sums: new Float32Array(OUTPUTS),
    units: new Float32Array(hidden),
    outputs: new Float32Array(OUTPUTS),
    gradient: new Float32Array(OUTPUTS),
    unitGradient: new Float32Array(hidden),
    sumGradient: new Float32Array(OUTPUTS),
  };
}

/** The mean of the weights over some moments of the training, which replaces them at its end. */
export function makeAverage(net: Net): { add(): void; finish(): void } {
  const blocks = [net.words, net.inner, net.innerBias, net.outer, net.outerBias, net.cuts];
  const totals = blocks.map(({ values }) => new Float64Array(values.length));
  let samples = 0;
  return {
    add() {
      samples++;
      for (const [at, { values }] of blocks.entries()) {
        const total = totals[at] as Float64Array;
        for (let place = 0; place < values.length; place++) (total[place] as number) += values[place] as number;
      }
    },
    finish() {
      if (samples === 0) return;
      for (const [at, { values }] of blocks.entries()) {
        for (let place = 0; place < values.length; place++)
          values[place] = ((totals[at] as Float64Array)[place] as number) / samples;
      }
    },
  };
}

/** One step of AdaGrad: numbers that moved much before move less now. */
export function update({ values, squares }: Block, at: number, slope: number, rate: number): void {
  const square = (squares[at] as number) + slope * slope;
  squares[at] = square;
  values[at] = (values[at] as number) - (rate * slope) / Math.sqrt(square);
}

/** Small integers for the word table; the rest stays as it is. */
export function quantise(net: Net, marks: Uint8Array): Weights {
  const { values } = net.words;
  // The largest thousandth of the weights is clipped: a finer step is worth more than a few outliers.
  const sizes = Float32Array.from(values.filter((value) => value !== 0).map(Math.abs)).sort();
  const limit = sizes[Math.floor(sizes.length * 0.999)] ?? 1;
  const step = limit / 127 || 1;
  return {
    buckets: BUCKETS,
    outputs: OUTPUTS,
    measures: SHAPE_NAMES.length,
    fingerprint: LAYOUT_FINGERPRINT,
    hidden: net.hidden,
    step,
    marks,
    words: Int8Array.from(values, (value) => Math.max(-127, Math.min(127, Math.round(value / step)))),
    inner: net.inner.values,
    innerBias: net.innerBias.values,
    outer: net.outer.values,
    outerBias: net.outerBias.values,
    calibration: net.cuts.values,
  };
}
