import { describe, expect, it } from "vitest";
import { parseFeedback, withFeedback } from "../../../../eval/feedback.ts";
import { readWeights } from "../../../../src/catalog/weights.ts";
import { CATEGORIES } from "../../../../src/core/decision.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { CALIBRATION } from "../../../../src/routing/classifier/layout.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();
const line = (tier: string, score: number) =>
  JSON.stringify({ id: "r1", decidedTier: "LIGHT", tier, category: "writing", features: { score, words: 9 } });
const many = (text: string) => parseFeedback(`${Array.from({ length: 60 }, () => text).join("\n")}\n`);
const scoreOf = (text: string, given = weights) => classify(readPrompt(text), given).score;

describe("feedback on wrong tiers", () => {
  const letter = "Write an email to my landlord about the broken heating";

  it("moves its category towards the tier it names, within bounds", () => {
    const raised = withFeedback(weights, many(line("COMPLEX", 0.45)));
    const lowered = withFeedback(weights, many(line("NANO", 0.45)));
    expect(scoreOf(letter, raised)).toBeGreaterThan(scoreOf(letter));
    expect(scoreOf(letter, raised)).toBeLessThan(scoreOf(letter) + 0.15);
    expect(scoreOf(letter, lowered)).toBeLessThan(scoreOf(letter));
  });

  it("leaves other categories alone, and does little when there is one piece of it", () => {
    const moved = withFeedback(weights, parseFeedback(line("COMPLEX", 0.45)));
    const shifts = CATEGORIES.map((_, at) => moved.calibration[CALIBRATION.shifts + at]);
    expect(shifts.filter((shift) => shift !== 0)).toHaveLength(1);
    expect(Math.max(...(shifts as number[]))).toBeLessThan(0.1);
  });

  it("that agrees with the score changes nothing", () => {
    expect(withFeedback(weights, many(line("LIGHT", 0.45))).calibration).toEqual(weights.calibration);
  });

  it.each([
    ["a tier nobody knows", '{"tier":"HUGE","category":"writing","features":{"score":0.4}}'],
    ["no score", '{"tier":"NANO","category":"writing","features":{}}'],
    ["no category", '{"tier":"NANO","features":{"score":0.4}}'],
  ])("is refused with the line's number: %s", (_name, text) => {
    expect(() => parseFeedback(`\n${text}`)).toThrow("line 2 of the feedback");
  });
});
