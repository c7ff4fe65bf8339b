import { describe, expect, test } from "vitest";
import type { ToolScenario } from "../../../src/core/model.ts";
import { seenText, standingText } from "../../../ui/pages/models/words.ts";

const SEEN = {
  scenario: "single" as ToolScenario,
  ...{ calls: 40, parsed: 38, known: 39, valid: 31 },
  ...{ staticScore: 80, blendedScore: 72, basis: "account" as const },
};

describe("what was seen of a model's tool calls", () => {
  test.each([
    [{}, "40 calls, 31 usable (2 did not parse, 1 named no tool that was offered): 80.0 lowered to 72.0, −10 %"],
    [{ calls: 50, parsed: 50, known: 50, valid: 50, blendedScore: 80 }, "50 calls, all usable: nothing lowered"],
    [
      { calls: 1, parsed: 1, known: 1, valid: 0, blendedScore: 80, basis: "everyone" as const },
      "1 call, 0 usable: fewer than 30 lower nothing",
    ],
    [
      { calls: 0, parsed: 0, known: 0, valid: 0, blendedScore: 60, basis: "everyone" as const },
      "no calls of this account: 80.0 lowered to 60.0 by what several accounts saw, −25 %",
    ],
    [
      { parsed: 40, known: 40, staticScore: null, blendedScore: null },
      "40 calls, 31 usable: there is no score to lower",
    ],
  ])("%j", (change, text) => expect(seenText({ ...SEEN, ...change })).toBe(text));
});

test.each([
  [[], "none: by name only"],
  [[{ tier: "LIGHT", place: 2, of: 5 }], "2nd of 5 in LIGHT"],
])("the places %j", (chains, text) => expect(standingText(chains)).toBe(text));
