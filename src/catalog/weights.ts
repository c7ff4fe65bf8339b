// The weights of the router's classifier, as a file: one row of small integers per hashed word feature and a tiny net over
// them. Training writes this form and the catalogue reads it once at start.

import { readFileSync } from "node:fs";

/** The sizes of the net. Routing refuses weights whose sizes or order differ from its own (routing/classifier/layout.ts). */
interface WeightsShape {
  /** Rows of the word table. */
  readonly buckets: number;
  /** Numbers per row, which is also the number of outputs. */
  readonly outputs: number;
  /** Measures of the request's shape that the net reads beside the words. */
  readonly measures: number;
  readonly hidden: number;
}

export interface Weights extends WeightsShape {
  /**
   * Hash of the names of all measures, outputs and calibration numbers in their order; 0 in files that are older than
   * it.
   */
  readonly fingerprint: number;
  /** For each row of the word table a byte of the feature that it was learned for; 0 where there is none. */
  readonly marks: Uint8Array;
  /** buckets × outputs, in units of `step`. */
  readonly words: Int8Array;
  readonly step: number;
  /** hidden × (measures + outputs). */
  readonly inner: Float32Array;
  readonly innerBias: Float32Array;
  /** outputs × hidden. */
  readonly outer: Float32Array;
  readonly outerBias: Float32Array;
  /** Bounds of the tiers, and numbers that turn scores into confidences; routing/classifier/layout.ts names each number. */
  readonly calibration: Float32Array;
}

let shipped: Weights | undefined;

/** The weights that ship. Read once: every catalogue shares them, and what the classifier made of them. */
export function readWeights(): Weights {
  shipped ??= decodeWeights(readFileSync(new URL("weights.bin", import.meta.url)));
  return shipped;
}

// The file: a header of eight 32-bit numbers (see FIELD), the floats of the net, the bytes of the word table, its marks.
const MAGIC = 0x53_57_59_31;
const HEADER_BYTES = 32;
/** Places in the header. The last one was always 0 before there were fingerprints, so old and new files read alike. */
const FIELD = { magic: 0, buckets: 1, outputs: 2, measures: 3, hidden: 4, calibration: 5, step: 6, fingerprint: 7 };

export function encodeWeights(weights: Weights): Uint8Array {
  const { buckets, outputs, measures, hidden, fingerprint, step, calibration } = weights;
  const parts = [weights.inner, weights.innerBias, weights.outer, weights.outerBias, calibration];
  const floats = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(HEADER_BYTES + floats * 4 + weights.words.length + weights.marks.length);
  const view = new DataView(bytes.buffer);
  const sizes = { magic: MAGIC, buckets, outputs, measures, hidden, calibration: calibration.length, fingerprint };
  for (const [name, value] of Object.entries(sizes)) view.setUint32(FIELD[name as keyof typeof sizes] * 4, value, true);
  view.setFloat32(FIELD.step * 4, step, true);
  let offset = HEADER_BYTES;
  for (const part of parts) {
    for (const value of part) {
      view.setFloat32(offset, value, true);
      offset += 4;
    }
  }
  bytes.set(new Uint8Array(weights.words.buffer, weights.words.byteOffset, weights.words.length), offset);
  bytes.set(weights.marks, offset + weights.words.length);
  return bytes;
}

/** Throws where the bytes are something else, or fewer or more than their header says. */
export function decodeWeights(bytes: Uint8Array): Weights {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) throw new Error("not a file of router weights");
  const field = (name: keyof typeof FIELD) => view.getUint32(FIELD[name] * 4, true);
  const sizes = {
    buckets: field("buckets"),
    outputs: field("outputs"),
    measures: field("measures"),
    hidden: field("hidden"),
  };
  const calibrationSize = field("calibration");
  if (bytes.length !== fileBytes(sizes, calibrationSize)) {
    throw new Error("the file of router weights is cut short or has other sizes than its header says");
  }
  const { buckets, outputs, measures, hidden } = sizes;
  let offset = HEADER_BYTES;
  const floats = (length: number) => {
    const values = Float32Array.from({ length }, (_, at) => view.getFloat32(offset + at * 4, true));
    offset += length * 4;
    return values;
  };
  const [inner, innerBias] = [floats(hidden * (measures + outputs)), floats(hidden)];
  const [outer, outerBias] = [floats(outputs * hidden), floats(outputs)];
  const calibration = floats(calibrationSize);
  const words = new Int8Array(buckets * outputs);
  words.set(bytes.subarray(offset, offset + words.length));
  const marks = Uint8Array.from(bytes.subarray(offset + words.length));
  const step = view.getFloat32(FIELD.step * 4, true);
  const net = { inner, innerBias, outer, outerBias, calibration };
  return { ...sizes, fingerprint: field("fingerprint"), step, words, marks, ...net };
}

/** Checked before anything is read: sizes from a broken header could ask for gigabytes. */
function fileBytes({ buckets, outputs, measures, hidden }: WeightsShape, calibrationSize: number): number {
  const floats = hidden * (measures + outputs) + hidden + outputs * hidden + outputs + calibrationSize;
  return HEADER_BYTES + floats * 4 + buckets * outputs + buckets;
}
