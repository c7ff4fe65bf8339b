// The learned part of the classifier: sums the rows of a request's word features, then lets a tiny net correct the
// sums by the request's shape. Deterministic, a few thousand multiplications.

import type { Weights } from "../catalog/weights.ts";

export interface NetworkInput {
  readonly buckets: Int32Array;
  readonly shape: Float32Array;
}

/** The raw outputs; what each of them means is said in classify.ts. */
export function runNetwork(weights: Weights, { buckets, shape }: NetworkInput): Float32Array {
  const { outputs, measures, hidden, inner, innerBias, outer, outerBias } = weights;
  const sums = sumRows(weights, buckets);
  const result = new Float32Array(outputs);
  for (let out = 0; out < outputs; out++) result[out] = (sums[out] as number) + (outerBias[out] as number);
  const width = measures + outputs;
  const { places, values, count } = collect(shape, sums);
  for (let unit = 0; unit < hidden; unit++) {
    let value = innerBias[unit] as number;
    const row = unit * width;
    for (let at = 0; at < count; at++)
      value += (inner[row + (places[at] as number)] as number) * (values[at] as number);
    if (value <= 0) continue;
    for (let out = 0; out < outputs; out++) (result[out] as number) += (outer[out * hidden + unit] as number) * value;
  }
  return result;
}

/** Most measures of a request are zero: what is not is gathered once instead of being multiplied for every unit. */
function collect(shape: Float32Array, sums: Float32Array) {
  const places = new Int32Array(shape.length + sums.length);
  const values = new Float64Array(shape.length + sums.length);
  let count = 0;
  for (let at = 0; at < shape.length; at++) {
    if (shape[at] === 0) continue;
    places[count] = at;
    values[count++] = shape[at] as number;
  }
  for (let at = 0; at < sums.length; at++) {
    places[count] = shape.length + at;
    values[count++] = sums[at] as number;
  }
  return { places, values, count };
}

/** Divided by the root of their number, so that long requests do not shout. */
function sumRows({ words, outputs, step }: Weights, buckets: Int32Array): Float32Array {
  const sums = new Float32Array(outputs);
  const totals = new Int32Array(outputs);
  for (let at = 0; at < buckets.length; at++) {
    const row = (buckets[at] as number) * outputs;
    for (let out = 0; out < outputs; out++) (totals[out] as number) += words[row + out] as number;
  }
  const scale = buckets.length === 0 ? 0 : step / Math.sqrt(buckets.length);
  for (let out = 0; out < outputs; out++) sums[out] = (totals[out] as number) * scale;
  return sums;
}
