import { describe, expect, it } from "vitest";
import type { Weights } from "../../../../src/catalog/weights.ts";
import { createNetwork } from "../../../../src/routing/classifier/network.ts";
import { fc } from "../../../support/property.ts";

const SIZES = { buckets: 8, outputs: 8, measures: 3, hidden: 5 };

function makeWeights(seed: number): Weights {
  const { buckets, outputs, measures, hidden } = SIZES;
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const floats = (length: number) => Float32Array.from({ length }, next);
  return {
    ...SIZES,
    fingerprint: 0,
    step: 0.01,
    marks: new Uint8Array(buckets).fill(1),
    words: Int8Array.from({ length: buckets * outputs }, () => Math.round(next() * 128 - 0.5)),
    inner: floats(hidden * (measures + outputs)),
    innerBias: floats(hidden),
    outer: floats(outputs * hidden),
    outerBias: floats(outputs),
    calibration: new Float32Array(0),
  };
}

/** The same net, written down plainly. */
function plainly(weights: Weights, buckets: Int32Array, shape: Float32Array): number[] {
  const { outputs, measures, hidden } = weights;
  const sums = Array.from({ length: outputs }, (_, out) => {
    const total = buckets.reduce((sum, bucket) => sum + (weights.words[bucket * outputs + out] as number), 0);
    return buckets.length === 0 ? 0 : (total * weights.step) / Math.sqrt(buckets.length);
  });
  const inputs = [...shape, ...sums];
  const units = Array.from({ length: hidden }, (_, unit) => {
    const row = weights.inner.subarray(unit * (measures + outputs), (unit + 1) * (measures + outputs));
    return Math.max(
      0,
      row.reduce((sum, weight, at) => sum + weight * (inputs[at] as number), weights.innerBias[unit] as number),
    );
  });
  return sums.map((sum, out) =>
    units.reduce(
      (value, unit, at) => value + unit * (weights.outer[out * hidden + at] as number),
      sum + (weights.outerBias[out] as number),
    ),
  );
}

describe("the net", () => {
  it("gives what its weights say, for any number of features", () => {
    const buckets = fc.array(fc.integer({ min: 0, max: SIZES.buckets - 1 }), { maxLength: 1100, size: "max" });
    const shape = fc.tuple(fc.constantFrom(0, 1), fc.constantFrom(0, 0.25), fc.constant(0.5));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), buckets, shape, (seed, found, measured) => {
        const weights = makeWeights(seed);
        const input = { buckets: Int32Array.from(found), shape: Float32Array.from(measured) };
        const expected = plainly(weights, input.buckets, input.shape);
        for (const [at, value] of createNetwork(weights)(input).entries())
          expect(value).toBeCloseTo(expected[at] ?? 0, 3);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses a shape of another length than it learned with", () => {
    const run = createNetwork(makeWeights(1));
    const input = { buckets: new Int32Array(0), shape: new Float32Array(SIZES.measures + 1) };
    expect(() => run(input)).toThrow("the net reads 3 measures and was given 4");
  });
});
