import { describe, expect, it } from "vitest";
import { readWeights } from "../../../src/catalog/weights.ts";
import { classify } from "../../../src/routing/classifier/classify.ts";
import { readPrompt } from "../../../src/routing/classifier/signals.ts";
import { warmRouter } from "../../../src/routing/warm.ts";

describe("warming the router", () => {
  it("works with and without weights", () => {
    expect(warmRouter({ weights: readWeights() })).toBe(warmRouter({ weights: null }));
  });

  it("changes no decision", () => {
    const text = "Write a function that merges two sorted lists.";
    const read = (weights: ReturnType<typeof readWeights>) => classify(readPrompt(text), weights);
    const cold = read(readWeights());
    const weights = readWeights();
    warmRouter({ weights });
    expect(read(weights)).toEqual(cold);
  });
});
