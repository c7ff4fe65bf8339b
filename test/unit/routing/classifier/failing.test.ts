// The output "a weak model fails": how it is learned from scores of models, and that decisions follow it.

import { describe, expect, it } from "vitest";
import type { Example } from "../../../../eval/examples.ts";
import { makeExamples } from "../../../../eval/examples.ts";
import { withFailing } from "../../../../eval/failing/failing.ts";
import { weakFailures } from "../../../../eval/failing/item-response.ts";
import type { Row } from "../../../../eval/rows.ts";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { CALIBRATION, OUTPUT, OUTPUTS } from "../../../../src/routing/classifier/layout.ts";
import { failingOf, scale } from "../../../../src/routing/classifier/scale.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();

function rowOf(models: Readonly<Record<string, number>> | undefined, source = "mmlu-pro"): Row {
  const label = { category: "math", ...(models === undefined ? {} : { models }) };
  return { id: "1", source, prompt: "What is the sum of the first ten primes?", label };
}

/** Six models, the ablest last; the first so many of them fail. */
function failedBy(count: number): Row {
  return rowOf(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`model-${at}`, at < count ? 0 : 1])));
}

describe("item response", () => {
  it("gives a prompt a higher probability the more models fail at it", () => {
    const failures = weakFailures([0, 1, 2, 3, 4, 5, 6].map(failedBy));
    expect([...failures].sort((a, b) => a - b)).toEqual(failures);
    expect(new Set(failures).size).toBe(7);
    expect(failures[0]).toBeLessThan(0.5);
    expect(failures[6]).toBeGreaterThan(0.85);
    expect(Math.max(...failures)).toBeLessThan(1);
  });

  it("speaks of the weak third: prompts that only weak models fail at count as hard", () => {
    const rows = [2, 2, 2, 2].map(failedBy);
    for (const failure of weakFailures(rows)) expect(failure).toBeGreaterThan(0.7);
  });

  it("keeps a prompt near the middle of which few models speak", () => {
    const others = [1, 2, 3, 4, 5].map(failedBy);
    const [few = 0, many = 0] = weakFailures([rowOf({ "model-3": 0 }), failedBy(6), ...others]);
    expect(few).toBeLessThan(many);
  });

  it("brings sources to one scale by the models that they share, however these are written", () => {
    const easy = { strong: 1, "Meta-Llama": 1 };
    const hard = { weak: 0, llama: 0 };
    const rows = [easy, easy, { strong: 1, "Meta-Llama": 0 }, hard, hard, { weak: 0, llama: 1 }];
    const failures = weakFailures(rows.map((models) => rowOf(models)));
    expect(failures[0]).toBeLessThan(failures[3] as number);
    expect(failures[2]).toBeLessThan(failures[3] as number);
  });
});

describe("learning it", () => {
  const rows = Array.from({ length: 40 }, (_, at) => failedBy(at % 2 === 0 ? 1 : 5));
  const examples = makeExamples(rows);
  /** Only the output for coding tells the hard prompts. */
  const run = (example: Example) => {
    const outputs = new Float32Array(OUTPUTS);
    outputs[OUTPUT.coding] = examples.indexOf(example) % 2 === 0 ? -2 : 2;
    return outputs;
  };
  const outputsOf = (coding: number) => {
    const outputs = new Float32Array(OUTPUTS);
    outputs[OUTPUT.coding] = coding;
    return outputs;
  };

  it("finds the outputs that tell where weak models fail, and the mean of each category", () => {
    const { calibration } = withFailing(weights, examples, run);
    const [low, high] = [failingOf(outputsOf(-2), calibration), failingOf(outputsOf(2), calibration)];
    expect(high).toBeGreaterThan(low + 0.2);
    expect(calibration[CALIBRATION.failing + 1 + OUTPUT.ladder]).toBe(0);
    const math = examples[0]?.category as number;
    expect(calibration[CALIBRATION.failures + math]).toBeCloseTo((low + high) / 2, 2);
  });

  it("leaves every other number as it was", () => {
    const { calibration } = withFailing(weights, examples, run);
    expect(calibration.subarray(0, CALIBRATION.failing)).toEqual(weights.calibration.subarray(0, CALIBRATION.failing));
  });

  it("without scores of models moves nothing", () => {
    const plain = makeExamples([rowOf(undefined), rowOf(undefined)]);
    const { calibration } = withFailing(weights, plain, () => new Float32Array(OUTPUTS));
    expect(failingOf(outputsOf(3), calibration)).toBe(0.5);
    const { category } = plain[0] as Example;
    expect(calibration[CALIBRATION.failures + category]).toBe(0.5);
  });
});

describe("a decision", () => {
  const { signals } = readPrompt("How many ways are there to do it?");
  const calibration = Float32Array.from(weights.calibration);
  // The place depends on this output through nothing else.
  calibration[CALIBRATION.failing + 1 + OUTPUT.coding] = 1;
  const placed = (coding: number) => {
    const outputs = new Float32Array(OUTPUTS);
    outputs[2] = 12;
    outputs[OUTPUT.coding] = coding;
    return scale(outputs, calibration, signals);
  };

  it("places a request higher the likelier a weak model fails", () => {
    expect(placed(3).weakModelFails).toBeGreaterThan(placed(-3).weakModelFails);
    expect(placed(3).place).toBeGreaterThan(placed(-3).place);
  });

  it("follows it with the weights that ship, and says how likely it is", () => {
    const without = { ...weights, calibration: weights.calibration.slice().fill(0, CALIBRATION.failing) };
    const prompts = [
      "Find all positive integers n such that n divides 2^n - 1.",
      "What is 7 + 5?",
      "Let f be holomorphic on the unit disc with f(0) = 0. Show that |f(z)| <= |z|.",
      "Write a function that reverses a string",
    ];
    const moved = prompts.filter((text) => {
      const prompt = readPrompt(text);
      return classify(prompt, weights).score !== classify(prompt, without).score;
    });
    expect(moved).toEqual(prompts);
    const failing = (text: string) => classify(readPrompt(text), weights).weakModelFails as number;
    expect(failing(prompts[0] as string)).toBeGreaterThan(failing("hi, how are you today?") + 0.2);
    expect(classify(readPrompt("k3x9q1"), weights).weakModelFails).toBeUndefined();
  });
});
