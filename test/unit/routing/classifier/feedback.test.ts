import { describe, expect, it } from "vitest";
import { parseMarks, withMarks } from "../../../../eval/feedback.ts";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { CATEGORIES } from "../../../../src/core/decision.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { CALIBRATION } from "../../../../src/routing/classifier/scale.ts";
import { readSignals } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();
const line = (tier: string, score: number) =>
  JSON.stringify({ id: "r1", decidedTier: "LIGHT", tier, category: "writing", features: { score, words: 9 } });
const many = (text: string) => parseMarks(`${Array.from({ length: 60 }, () => text).join("\n")}\n`);
const scoreOf = (text: string, given = weights) => classify({ text, signals: readSignals(text), weights: given }).score;

describe("marks of wrong tiers", () => {
  const letter = "Write an email to my landlord about the broken heating";

  it("move the kind they speak of towards the tier they name, within bounds", () => {
    const raised = withMarks(weights, many(line("COMPLEX", 0.45)));
    const lowered = withMarks(weights, many(line("NANO", 0.45)));
    expect(scoreOf(letter, raised)).toBeGreaterThan(scoreOf(letter));
    expect(scoreOf(letter, raised)).toBeLessThan(scoreOf(letter) + 0.15);
    expect(scoreOf(letter, lowered)).toBeLessThan(scoreOf(letter));
  });

  it("leave other kinds alone, and do little when there is one of them", () => {
    const moved = withMarks(weights, parseMarks(line("COMPLEX", 0.45)));
    const shifts = CATEGORIES.map((_, kind) => moved.calibration[CALIBRATION.shifts + kind]);
    expect(shifts.filter((shift) => shift !== 0)).toHaveLength(1);
    expect(Math.max(...(shifts as number[]))).toBeLessThan(0.1);
  });

  it("that agree with the score change nothing", () => {
    expect(withMarks(weights, many(line("LIGHT", 0.45))).calibration).toEqual(weights.calibration);
  });

  it.each([
    ["a tier nobody knows", '{"tier":"HUGE","category":"writing","features":{"score":0.4}}'],
    ["no score", '{"tier":"NANO","category":"writing","features":{}}'],
    ["no category", '{"tier":"NANO","features":{"score":0.4}}'],
  ])("are refused with the line's number: %s", (_name, text) => {
    expect(() => parseMarks(`\n${text}`)).toThrow("line 2 of the feedback");
  });
});
