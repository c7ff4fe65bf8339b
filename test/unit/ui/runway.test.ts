import { expect, test } from "vitest";
import { runwayOf, runwayText } from "../../../ui/runway.ts";

test.each([
  [70, 7, 1, 70],
  [0, 7, 1, 0],
  [5, 0, 0, null],
])("%d USD at %d a week", (available, week, perDayUsd, days) => {
  expect(runwayOf(available, week)).toEqual({ perDayUsd, days });
});

test.each([
  [-1, "none", "none"],
  [0.5, "12 hours", "12 h"],
  [19.9, "19 days", "19 d"],
  [2_000, "2,000 days", "2,000 d"],
  [1e9, "over 10 years", "10+ y"],
])("%d days", (days, long, short) => {
  expect([runwayText(days), runwayText(days, true)]).toEqual([long, short]);
});
