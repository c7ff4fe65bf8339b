// Periods of a spend limit: each moment lies in one, they follow each other without a gap, and they begin at 00:00 UTC.

import { describe, expect, test } from "vitest";
import { nextPeriodMs, periodStartMs, SPEND_RESETS } from "../../../src/core/keys.ts";
import { fc } from "../../support/property.ts";

const at = (text: string): number => Date.parse(text);

test.each([
  ["daily", "2026-11-15T12:30:00Z", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"],
  ["daily", "2026-11-15T00:00:00Z", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"],
  ["daily", "2026-12-31T23:59:59.999Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"],
  // A Sunday belongs to the week before the Monday that follows.
  ["weekly", "2026-11-15T23:59:59.999Z", "2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"],
  ["weekly", "2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["weekly", "2027-01-01T10:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
  ["monthly", "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["monthly", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
] as const)("%s at %s", (reset, moment, start, next) => {
  expect(periodStartMs(reset, at(moment))).toBe(at(start));
  expect(nextPeriodMs(reset, at(moment))).toBe(at(next));
});

test("never is one period for good", () => {
  expect(periodStartMs("never", at("2026-11-15T12:30:00Z"))).toBe(0);
  expect(nextPeriodMs("never", at("2026-11-15T12:30:00Z"))).toBeNull();
});

describe.each(SPEND_RESETS.filter((reset) => reset !== "never"))("%s", (reset) => {
  test("a moment lies in its period, and the next begins where this one ends", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: at("2200-01-01T00:00:00Z") }), (moment) => {
        const [start, next] = [periodStartMs(reset, moment), nextPeriodMs(reset, moment) as number];
        expect(start <= moment && moment < next).toBe(true);
        expect(periodStartMs(reset, next)).toBe(next);
        expect(periodStartMs(reset, next - 1)).toBe(start);
        expect(new Date(next).toISOString()).toMatch(/T00:00:00\.000Z$/);
      }),
    );
  });
});
