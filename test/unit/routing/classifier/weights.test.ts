import { describe, expect, it } from "vitest";
import { decodeWeights, encodeWeights, readWeights, type Weights } from "../../../../src/catalog/weights.ts";
import { classify, createClassifier } from "../../../../src/routing/classifier/classify.ts";
import { createRowFinder, createWordHasher, SHAPE_NAMES } from "../../../../src/routing/classifier/features.ts";
import { checkLayout, LAYOUT_FINGERPRINT, TOOL_MEASURES } from "../../../../src/routing/classifier/layout.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";
import { promisedMs } from "../../../support/random.ts";

const weights = readWeights();

describe("the weights that ship", () => {
  it("have the layout of this code and stay below four megabytes", () => {
    expect(weights.fingerprint).toBe(LAYOUT_FINGERPRINT);
    expect(() => checkLayout(weights)).not.toThrow();
    expect(encodeWeights(weights).length).toBeLessThan(4_000_000);
  });

  it("come back from their file form as they were", () => {
    const again = decodeWeights(encodeWeights(weights));
    // A million numbers one by one take the matcher many seconds.
    expect(Buffer.compare(Buffer.from(again.words.buffer), Buffer.from(weights.words.buffer))).toBe(0);
    expect(Buffer.compare(Buffer.from(again.marks.buffer), Buffer.from(weights.marks.buffer))).toBe(0);
    expect({ ...again, words: null, marks: null }).toEqual({ ...weights, words: null, marks: null });
  });

  it("are refused when the file is something else or cut short", () => {
    expect(() => decodeWeights(new Uint8Array(64))).toThrow("not a file of router weights");
    expect(() => decodeWeights(encodeWeights(weights).subarray(0, 5000))).toThrow();
  });
});

describe("weights made for other code", () => {
  const others: readonly [string, Partial<Weights>, string][] = [
    ["another number of measures", { measures: SHAPE_NAMES.length + 1 }, "measures: 60 in the file, 59 in the code"],
    ["another number of outputs", { outputs: 20 }, "outputs: 20 in the file, 16 in the code"],
    ["a smaller word table", { buckets: 1024 }, "buckets: 1024 in the file, 65536 in the code"],
    ["a shorter calibration", { calibration: weights.calibration.subarray(1) }, "calibration: 201 in the file, 202"],
    ["other names or another order", { fingerprint: LAYOUT_FINGERPRINT ^ 1 }, "other names or another order"],
  ];
  it.each(others)("are refused: %s", (_what, change, reason) => {
    const wrong = { ...weights, ...change };
    expect(() => createClassifier(wrong)).toThrow(reason);
    expect(() => classify(readPrompt("What is the capital of France?"), wrong)).toThrow("do not fit this version");
  });

  it("are refused as a file whose header lies about the sizes", () => {
    const bytes = encodeWeights(weights);
    new DataView(bytes.buffer).setUint32(12, SHAPE_NAMES.length + 1, true);
    expect(() => decodeWeights(bytes)).toThrow("cut short or has other sizes");
  });

  it("are taken without a fingerprint where the sizes fit, as files from before it have none", () => {
    expect(() => createClassifier({ ...weights, fingerprint: 0 })).not.toThrow();
  });

  it("cannot pass for ours by chance: every measure has a name of its own", () => {
    expect(new Set(SHAPE_NAMES).size).toBe(SHAPE_NAMES.length);
    expect(new Set(TOOL_MEASURES).size).toBe(TOOL_MEASURES.length);
  });
});

describe("long inputs", () => {
  it("give a bounded number of features, from both ends", () => {
    const hashWords = createWordHasher(createRowFinder(weights.marks));
    const long = `start here ${"middle ".repeat(200_000)} the end`;
    expect(hashWords(long).buckets.length).toBeLessThan(1000);
    const found = hashWords(long).buckets.slice();
    expect(found).not.toEqual(hashWords(`${long} now`).buckets);
  });

  it.each([
    "(".repeat(300_000),
    "a".repeat(300_000),
    "[(\"'".repeat(80_000),
    "漢".repeat(300_000),
    "\n".repeat(300_000),
  ])("adversarial text %# takes linear time", (text) => {
    const startedAtMs = performance.now();
    classify(readPrompt(text), weights);
    // What grows with the square of the length would take hours.
    expect(performance.now() - startedAtMs).toBeLessThan(promisedMs(1_500));
  });
});
