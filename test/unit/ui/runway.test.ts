import { expect, test } from "vitest";
import { runwayOf, runwayText } from "../../../ui/runway.ts";

test.each([
  [70, 7, 1, 70],
  [0, 7, 1, 0],
  [5, 0, 0, null],
])("%d USD at %d a week", (available, week, perDayUsd, days) => {
  expect(runwayOf(available, { spentUsd: week, requests: 1_000 })).toEqual({ perDayUsd, days });
});

test.each([
  ["two days of use are divided by two", 10, 2, 2, { perDayUsd: 1, days: 10 }],
  ["ten minutes of use say nothing about years", 5, 0.00001, 0.007, { perDayUsd: 0.00001, days: null }],
  ["a fast start is said at once", 5, 2, 0.2, { perDayUsd: 2, days: 2.5 }],
])("%s", (_, available, week, daysOfUse, runway) => {
  expect(runwayOf(available, { spentUsd: week, requests: 1_000, daysOfUse })).toEqual(runway);
});

test("a rest that doesn't pay for a typical request lasts no time", () => {
  const week = { spentUsd: 0.07, requests: 100 };
  expect(runwayOf(0.00069, week).days).toBe(0);
  expect(runwayOf(0.00077, week).days).toBeCloseTo(0.077);
});

test.each([
  [-1, "none", "none"],
  [0.5, "12 hours", "12 hours"],
  [0.04, "1 hour", "1 hour"],
  [19.9, "19 days", "19 days"],
  [2_000, "2,000 days", "2,000 days"],
  [1e9, "over 10 years", "10+ years"],
])("%d days", (days, long, short) => {
  expect([runwayText(days), runwayText(days, true)]).toEqual([long, short]);
});
