import { describe, expect, test } from "vitest";
import type { ToolScenario } from "../../../src/core/model.ts";
import { seenText, standingText, timesText } from "../../../ui/pages/models/words.ts";

const SEEN = {
  scenario: "single" as ToolScenario,
  ...{ calls: 40, parsed: 38, known: 39, valid: 31 },
  ...{ staticScore: 80, blendedScore: 72, basis: "account" as const },
};

describe("what was seen of a model's tool calls", () => {
  test.each([
    [{}, "40 calls, 31 valid (2 unparseable, 1 unknown tool): score 80.0 → 72.0 (−10%)"],
    [{ calls: 50, parsed: 50, known: 50, valid: 50, blendedScore: 80 }, "50 calls, all valid: score unchanged"],
    [
      { calls: 1, parsed: 1, known: 1, valid: 0, blendedScore: 80, basis: "everyone" as const },
      "1 call, 0 valid: no change below 30 calls",
    ],
    [
      { calls: 0, parsed: 0, known: 0, valid: 0, blendedScore: 60, basis: "everyone" as const },
      "No calls from this account: score 80.0 → 60.0 (−25%, from several accounts)",
    ],
    [{ parsed: 40, known: 40, staticScore: null, blendedScore: null }, "40 calls, 31 valid: no score to adjust"],
  ])("%j", (change, text) => expect(seenText({ ...SEEN, ...change })).toBe(text));
});

test.each([
  [[], "None (direct calls only)"],
  [[{ tier: "LIGHT", place: 2, of: 5, effort: null }], "#2 of 5 in LIGHT"],
  [[{ tier: "LIGHT", place: 2, of: 5, effort: "low" as const }], "#2 of 5 in LIGHT, effort low"],
])("the places %j", (chains, text) => expect(standingText(chains)).toBe(text));

test.each([
  [null, "–"],
  [{ requests: 40, errors: 0, firstContent: { p50Ms: 428, p95Ms: 1_200 } }, "p50 428 ms, p95 1.20 s"],
  [{ requests: 5, errors: 2, firstContent: { p50Ms: 428, p95Ms: 7_860 } }, "p50 428 ms, slowest of 3 7.86 s"],
  [{ requests: 5, errors: 0, firstContent: { p50Ms: null, p95Ms: null } }, "–"],
])("the times of %j", (usage, text) => expect(timesText(usage)).toBe(text));
