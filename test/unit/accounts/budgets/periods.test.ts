// Periods of budgets: calendar days, weeks and months anywhere on earth, over changes of the clocks, and rolling ones.

import { describe, expect, test } from "vitest";
import { isTimeZone, periodAt, renewsAtMs } from "../../../../src/accounts/budgets/periods.ts";
import type { BudgetPeriod } from "../../../../src/core/budgets/budget.ts";
import { fc } from "../../../support/property.ts";

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

describe("a calendar period", () => {
  test.each<readonly [string, BudgetPeriod, string, string, string, string]>([
    ["a day in UTC", "day", "UTC", "2026-11-19T10:00Z", "2026-11-19T00:00", "2026-11-20T00:00"],
    ["a week begins on Monday", "week", "UTC", "2026-11-22T23:59Z", "2026-11-16T00:00", "2026-11-23T00:00"],
    ["a month", "month", "UTC", "2026-12-31T23:59Z", "2026-12-01T00:00", "2027-01-01T00:00"],
    ["a day east of UTC", "day", "Asia/Kolkata", "2026-11-19T18:29Z", "2026-11-18T18:30", "2026-11-19T18:30"],
    [
      "a month over the end of summer time",
      "month",
      "Europe/Berlin",
      "2026-10-31T12:00Z",
      "2026-09-30T22:00",
      "2026-10-31T23:00",
    ],
    ["a day of 23 hours", "day", "Europe/Berlin", "2026-03-29T12:00Z", "2026-03-28T23:00", "2026-03-29T22:00"],
    ["a day of 25 hours", "day", "Europe/Berlin", "2026-10-25T12:00Z", "2026-10-24T22:00", "2026-10-25T23:00"],
    ["a day without midnight", "day", "America/Santiago", "2026-09-06T12:00Z", "2026-09-06T04:00", "2026-09-07T03:00"],
    ["a day with two midnights", "day", "America/Havana", "2026-11-01T12:00Z", "2026-11-01T04:00", "2026-11-02T05:00"],
  ])("%s", (_, period, timeZone, now, from, until) => {
    const found = periodAt({ period, isRolling: false, timeZone }, at(now));
    expect([iso(found.fromMs), iso(found.untilMs)]).toEqual([from, until]);
  });

  test("contains its moment, and the next one begins where it ends", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/Santiago",
      "Pacific/Kiritimati",
      "Australia/Lord_Howe",
    );
    const moments = fc.integer({ min: at("2024-01-01T00:00Z"), max: at("2030-01-01T00:00Z") });
    fc.assert(
      fc.property(zones, moments, fc.constantFrom<BudgetPeriod>("day", "week", "month"), (timeZone, now, period) => {
        const terms = { period, isRolling: false, timeZone };
        const { fromMs, untilMs } = periodAt(terms, now);
        expect(fromMs).toBeLessThanOrEqual(now);
        expect(untilMs).toBeGreaterThan(now);
        expect(periodAt(terms, untilMs).fromMs).toBe(untilMs);
        expect(periodAt(terms, untilMs - 1).fromMs).toBe(fromMs);
      }),
    );
  });
});

test("a rolling day counts at least the last 24 hours, and an hour renews when all of it is over", () => {
  const terms = { period: "day", isRolling: true, timeZone: "UTC" } as const;
  const { fromMs, partMs, untilMs } = periodAt(terms, at("2026-11-19T10:30Z"));
  expect([iso(fromMs), iso(partMs), iso(untilMs)]).toEqual([
    "2026-11-18T10:00",
    "2026-11-19T10:00",
    "2026-11-19T11:00",
  ]);
  const spentAt = periodAt(terms, at("2026-11-18T10:59Z")).partMs;
  const renewed = renewsAtMs(terms, at("2026-11-19T10:30Z"), spentAt);
  expect(iso(renewed)).toBe("2026-11-19T11:00");
  expect(periodAt(terms, renewed).fromMs).toBe(spentAt + HOUR_MS);
});

test.each([
  ["Europe/Berlin", true],
  ["UTC", true],
  ["Mars/Base", false],
  ["+02:00", false],
  ["", false],
])("%s as a time zone: %s", (name, isKnown) => {
  expect(isTimeZone(name)).toBe(isKnown);
});
