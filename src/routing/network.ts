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
  for (let unit = 0; unit < hidden; unit++) {
    let value = innerBias[unit] as number;
    const row = unit * width;
    for (let at = 0; at < measures; at++) value += (inner[row + at] as number) * (shape[at] as number);
    for (let at = 0; at < outputs; at++) value += (inner[row + measures + at] as number) * (sums[at] as number);
    if (value <= 0) continue;
    for (let out = 0; out < outputs; out++) (result[out] as number) += (outer[out * hidden + unit] as number) * value;
  }
  return result;
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
