// Tiers and the scores that belong to them.

import { expect, test } from "vitest";
import { scoreRangeOf, TIERS, tierOfScore } from "../../../src/core/tiers.ts";

test.each([
  [0, "NANO"],
  [0.27, "SIMPLE"],
  [0.4, "LIGHT"],
  [0.7999, "STANDARD"],
  [1, "COMPLEX"],
])("a score of %d is %s", (score, tier) => {
  expect(tierOfScore(score)).toBe(tier);
});

test.each(TIERS)("every score in the range of %s is its own, and the ranges leave no gap", (tier) => {
  const [from, to] = scoreRangeOf(tier);
  for (const score of [from, (from + to) / 2, to - 1e-9]) expect(tierOfScore(score)).toBe(tier);
  expect(scoreRangeOf("NANO")[0]).toBe(0);
  expect(scoreRangeOf("COMPLEX")[1]).toBe(1);
});
