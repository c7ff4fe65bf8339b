import { expect, test } from "vitest";
import { nearerEnd, rangeText, rankOf } from "../../../ui/kit/tier-ends.ts";

test.each([
  [0, 4, "Any tier"],
  [0, 2, "LIGHT and below"],
  [1, 4, "SIMPLE and above"],
  [1, 3, "SIMPLE to STANDARD"],
  [2, 2, "LIGHT only"],
  [0, 0, "NANO only"],
  [4, 4, "COMPLEX only"],
  [3, 1, "STANDARD is above SIMPLE: the highest tier wins."],
])("from %d to %d reads %j", (low, high, text) => expect(rangeText(low, high)).toBe(text));

test.each([
  [0, 1, 3, "low"],
  [1, 1, 3, "low"],
  [2, 1, 3, "high"],
  [3, 0, 4, "high"],
  [1, 0, 4, "low"],
  [0, 2, 2, "low"],
  [4, 2, 2, "high"],
] as const)("a click on stop %d moves of %d and %d the %s one", (rank, low, high, end) =>
  expect(nearerEnd(rank, low, high)).toBe(end),
);

test.each([
  ["LIGHT", 2],
  [null, 9],
  [undefined, 9],
  ["HUGE", 9],
])("%s stands at %d", (tier, rank) => expect(rankOf(tier, 9)).toBe(rank));
