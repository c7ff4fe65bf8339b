// The learned part of the classifier: it sums the rows of a request's word features, then a tiny net corrects the sums by
// the request's shape. Deterministic, a few thousand additions and multiplications.

import type { Weights } from "../../catalog/weights.ts";

interface NetworkInput {
  readonly buckets: Int32Array;
  readonly shape: Float32Array;
}

/** Returns the raw outputs, valid until the next call; layout.ts names them. */
export type Network = (input: NetworkInput) => Float32Array;

/** Lays the weights out as they are quickest to read. The working space is made once and used for every request. */
export function createNetwork(weights: Weights): Network {
  const { outputs, outer, outerBias, hidden, measures } = weights;
  const workspace = makeWorkspace(weights);
  const { sums, units } = workspace;
  const result = new Float32Array(outputs);
  return ({ buckets, shape }) => {
    if (shape.length !== measures) throw new Error(`the net reads ${measures} measures and was given ${shape.length}`);
    sumRows(workspace, weights, buckets);
    for (let out = 0; out < outputs; out++) result[out] = (sums[out] as number) + (outerBias[out] as number);
    feedUnits(workspace, weights, shape);
    for (let unit = 0; unit < hidden; unit++) {
      const value = units[unit] as number;
      if (value <= 0) continue;
      for (let out = 0; out < outputs; out++) (result[out] as number) += (outer[out * hidden + unit] as number) * value;
    }
    return result;
  };
}

interface Workspace {
  /** Four numbers of a row in each element, every one raised by 128 to be positive. */
  readonly packedRows: Int32Array;
  /** `inner` with one row per input instead of one per unit. */
  readonly innerByInput: Float64Array;
  readonly totals: Int32Array;
  readonly sums: Float32Array;
  readonly units: Float64Array;
}

function makeWorkspace({ words, outputs, measures, hidden, inner }: Weights): Workspace {
  if (outputs % 4 !== 0) throw new Error("the number of outputs must be a multiple of four");
  const width = measures + outputs;
  return {
    packedRows: packRows(words),
    innerByInput: Float64Array.from(inner, (_, at) => inner[(at % hidden) * width + Math.floor(at / hidden)] as number),
    totals: new Int32Array(outputs),
    sums: new Float32Array(outputs),
    units: new Float64Array(hidden),
  };
}

const RAISED_BY = 128;

/** A plain loop: making the array by a function takes four times as long, and the first request waits for it. */
function packRows(words: Int8Array): Int32Array {
  const rows = new Int32Array(words.length / 4);
  for (let at = 0; at < rows.length; at++) rows[at] = packFour(words, at * 4);
  return rows;
}

function packFour(words: Int8Array, at: number): number {
  let packed = 0;
  for (let place = 3; place >= 0; place--) packed = (packed << 8) | ((words[at + place] as number) + RAISED_BY);
  return packed;
}

const LANES = 0x00ff00ff;
/** So many bytes can be added up in sixteen bits. */
const LANE_ROWS = 256;

/**
 * Adds the rows up, two numbers at a time in the halves of one integer, and divides the sums by the root of their number,
 * so that long requests do not outweigh short ones.
 */
function sumRows({ packedRows, totals, sums }: Workspace, { outputs, step }: Weights, buckets: Int32Array): void {
  const count = buckets.length;
  totals.fill(-RAISED_BY * count);
  const rowLength = outputs / 4;
  for (let from = 0; from < count; from += LANE_ROWS) {
    const end = Math.min(count, from + LANE_ROWS);
    for (let column = 0; column < rowLength; column++) {
      let even = 0;
      let odd = 0;
      for (let at = from; at < end; at++) {
        const packed = packedRows[(buckets[at] as number) * rowLength + column] as number;
        even = (even + (packed & LANES)) | 0;
        odd = (odd + ((packed >>> 8) & LANES)) | 0;
      }
      const out = column * 4;
      (totals[out] as number) += even & 0xffff;
      (totals[out + 1] as number) += odd & 0xffff;
      (totals[out + 2] as number) += even >>> 16;
      (totals[out + 3] as number) += odd >>> 16;
    }
  }
  const scale = count === 0 ? 0 : step / Math.sqrt(count);
  for (let out = 0; out < outputs; out++) sums[out] = (totals[out] as number) * scale;
}

/** Most measures of a request are zero: input by input, those can be left out. */
function feedUnits(
  { innerByInput, units, sums }: Workspace,
  { hidden, innerBias }: Weights,
  shape: Float32Array,
): void {
  units.set(innerBias);
  const measures = shape.length;
  for (let input = 0; input < measures + sums.length; input++) {
    const value = (input < measures ? shape[input] : sums[input - measures]) as number;
    if (value === 0 && input < measures) continue;
    const row = input * hidden;
    for (let unit = 0; unit < hidden; unit++) {
      (units[unit] as number) += (innerByInput[row + unit] as number) * value;
    }
  }
}
