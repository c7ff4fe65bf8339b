// What the router's classifier has learned, as numbers: one row of small integers per hashed word feature and a tiny
// net over them. Training writes this form and the catalogue reads it once at start.

import { readFileSync } from "node:fs";

/** The sizes of the net; a file written for other sizes is refused. */
export interface WeightsShape {
  /** Rows of the word table. */
  readonly buckets: number;
  /** Numbers per row, which is also the number of outputs. */
  readonly outputs: number;
  /** Measures of the request's shape that the net reads beside the words. */
  readonly measures: number;
  readonly hidden: number;
}

export interface Weights extends WeightsShape {
  /** buckets × outputs, in units of `step`. */
  readonly words: Int8Array;
  readonly step: number;
  /** hidden × (measures + outputs). */
  readonly inner: Float32Array;
  readonly innerBias: Float32Array;
  /** outputs × hidden. */
  readonly outer: Float32Array;
  readonly outerBias: Float32Array;
  /** Where the tiers are cut and how scores become confidences; see routing/classify.ts. */
  readonly calibration: Float32Array;
}

/** The weights that ship. */
export function readWeights(): Weights {
  return decodeWeights(readFileSync(new URL("weights.bin", import.meta.url)));
}

const MAGIC = 0x53_57_59_31;
const HEADER_BYTES = 32;

export function encodeWeights(weights: Weights): Uint8Array {
  const { buckets, outputs, measures, hidden, step, calibration } = weights;
  const parts = [weights.inner, weights.innerBias, weights.outer, weights.outerBias, calibration];
  const floats = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(HEADER_BYTES + floats * 4 + weights.words.length);
  const view = new DataView(bytes.buffer);
  [MAGIC, buckets, outputs, measures, hidden, calibration.length].forEach((value, at) => {
    view.setUint32(at * 4, value, true);
  });
  view.setFloat32(24, step, true);
  let offset = HEADER_BYTES;
  for (const part of parts) {
    for (const value of part) {
      view.setFloat32(offset, value, true);
      offset += 4;
    }
  }
  bytes.set(new Uint8Array(weights.words.buffer, weights.words.byteOffset, weights.words.length), offset);
  return bytes;
}

export function decodeWeights(bytes: Uint8Array): Weights {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) throw new Error("not a file of router weights");
  const size = (at: number) => view.getUint32(at * 4, true);
  const [buckets, outputs, measures, hidden] = [size(1), size(2), size(3), size(4)];
  let offset = HEADER_BYTES;
  const floats = (length: number) => {
    const values = Float32Array.from({ length }, (_, at) => view.getFloat32(offset + at * 4, true));
    offset += length * 4;
    return values;
  };
  const [inner, innerBias] = [floats(hidden * (measures + outputs)), floats(hidden)];
  const [outer, outerBias] = [floats(outputs * hidden), floats(outputs)];
  const calibration = floats(size(5));
  if (bytes.length !== offset + buckets * outputs) throw new Error("the file of router weights is cut short");
  const words = new Int8Array(buckets * outputs);
  words.set(bytes.subarray(offset));
  const step = view.getFloat32(24, true);
  return { buckets, outputs, measures, hidden, step, words, inner, innerBias, outer, outerBias, calibration };
}
