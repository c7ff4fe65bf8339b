import { describe, expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { OUTPUT, OUTPUTS } from "../../../../src/routing/classifier/layout.ts";
import { distanceOf, scale } from "../../../../src/routing/classifier/scale.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const { calibration } = readWeights();
const signals = readPrompt("How many ways are there to do it?").signals;

function scaled(difficulty: number, load = signals.load, options = 0) {
  const outputs = new Float32Array(OUTPUTS);
  outputs[2] = 12;
  outputs[OUTPUT.difficulty] = difficulty;
  return scale(outputs, calibration, { ...signals, load, options });
}

describe("the score", () => {
  it("tells the hardest and the easiest apart as well, and stays between 0 and 1", () => {
    const scores = [0, 3, 6, 9, 12, 15].map((load) => scaled(0, load).score);
    expect([...scores].sort((a, b) => a - b)).toEqual(scores);
    expect(new Set(scores).size).toBe(scores.length);
    expect(Math.min(...scores)).toBeGreaterThan(0);
    expect(Math.max(...scores)).toBeLessThan(1);
  });

  it("grows with the difficulty of the words", () => {
    expect(scaled(1).score).toBeGreaterThan(scaled(-1).score);
  });

  it("starts lower where there are choices", () => {
    expect(scaled(0, 5, 4).place).toBeLessThan(scaled(0, 5, 0).place);
  });
});

describe("a sum told as a story", () => {
  const place = (text: string) => {
    const outputs = new Float32Array(OUTPUTS);
    outputs[2] = 12;
    return scale(outputs, calibration, { ...readPrompt(text).signals, load: 5 }).place;
  };
  const story =
    "Maya sold 12 boxes of cookies in the first week and twice as many in the second week. How much money did she earn?";

  it("starts lower than one about the objects of mathematics", () => {
    const abstract =
      "Find the number of positive integers with distinct digits such that the sum of the digits is prime and none of them is a divisor.";
    expect(place(story)).toBeLessThan(place(abstract) - 0.5);
  });

  it("is none where formulas are given or a few words only", () => {
    const formulas =
      "Maya has 12 boxes and gives $\\frac{1}{3}$ of $\\sqrt{x}$ away, then $\\sum_k k$ of the rest. What is left?";
    expect(place(formulas)).toBeGreaterThan(place(story) + 0.3);
    expect(place("How much money is left?")).toBeGreaterThan(place(story));
  });
});

describe("the distance to the nearest bound", () => {
  it.each([
    [-3, 0.5],
    [0, 0.5],
    [0.5, 0],
    [2.4, 0.1],
    [3, 0.5],
    [4.4, 0.5],
    [7, 0.5],
  ])("of %d is %d: the outer tiers have one bound each", (place, distance) => {
    expect(distanceOf(place)).toBeCloseTo(distance, 9);
  });
});
