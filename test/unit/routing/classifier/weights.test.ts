import { describe, expect, it } from "vitest";
import { decodeWeights, encodeWeights, readWeights } from "../../../../src/catalog/weights.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { BUCKETS, hashText } from "../../../../src/routing/classifier/ngrams.ts";
import { OUTPUTS } from "../../../../src/routing/classifier/outputs.ts";
import { CALIBRATION } from "../../../../src/routing/classifier/scale.ts";
import { SHAPE_SIZE } from "../../../../src/routing/classifier/shape.ts";
import { readSignals } from "../../../../src/routing/classifier/signals.ts";
import { promisedMs } from "../../../support/random.ts";

const weights = readWeights();

describe("the weights that ship", () => {
  it("have the sizes the router reads and stay below four megabytes", () => {
    const { buckets, outputs, measures } = weights;
    expect({ buckets, outputs, measures }).toEqual({ buckets: BUCKETS, outputs: OUTPUTS, measures: SHAPE_SIZE });
    expect(weights.calibration).toHaveLength(CALIBRATION.size);
    expect(encodeWeights(weights).length).toBeLessThan(4_000_000);
  });

  it("come back from their file form as they were", () => {
    const again = decodeWeights(encodeWeights(weights));
    // A million numbers one by one take the matcher many seconds.
    expect(Buffer.compare(Buffer.from(again.words.buffer), Buffer.from(weights.words.buffer))).toBe(0);
    expect({ ...again, words: null }).toEqual({ ...weights, words: null });
  });

  it("are refused when the file is something else or cut short", () => {
    expect(() => decodeWeights(new Uint8Array(64))).toThrow("not a file of router weights");
    expect(() => decodeWeights(encodeWeights(weights).subarray(0, 5000))).toThrow();
  });
});

describe("long inputs", () => {
  it("give a bounded number of features, from both ends", () => {
    const long = `start here ${"middle ".repeat(200_000)} the end`;
    expect(hashText(long).length).toBeLessThan(1000);
    expect(hashText(long)).not.toEqual(hashText(`${long} now`));
  });

  it.each([
    "(".repeat(300_000),
    "a".repeat(300_000),
    "[(\"'".repeat(80_000),
    "漢".repeat(300_000),
    "\n".repeat(300_000),
  ])("adversarial text %# takes linear time", (text) => {
    const startedAtMs = performance.now();
    classify({ text, signals: readSignals(text), weights });
    // What grows with the square of the length would take hours.
    expect(performance.now() - startedAtMs).toBeLessThan(promisedMs(1_500));
  });
});
