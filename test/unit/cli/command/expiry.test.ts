// Expiries as people write them.

import { expect, test } from "vitest";
import { parseExpiry } from "../../../../src/cli/command/expiry.ts";
import { fc } from "../../../support/property.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR_MS = 3_600_000;

test.each([
  ["1h", NOW + HOUR_MS],
  ["90d", NOW + 90 * 24 * HOUR_MS],
  ["2w", NOW + 14 * 24 * HOUR_MS],
  ["1y", NOW + 365 * 24 * HOUR_MS],
  ["2026-03-02", Date.parse("2026-03-02T00:00:00Z")],
  ["2028-02-29", Date.parse("2028-02-29T00:00:00Z")],
  ["2026-03-01T14:30+02:00", Date.parse("2026-03-01T12:30:00Z")],
  ["2027-01-31T10:00:00.5Z", Date.parse("2027-01-31T10:00:00.500Z")],
])("%s", (text, atMs) => {
  expect(parseExpiry(text, NOW)).toBe(atMs);
});

test.each([
  ["no time at all", "0d"],
  ["a unit that means two things", "6m"],
  ["no unit", "90"],
  ["a fraction", "1.5d"],
  ["a negative", "-1d"],
  ["words", "tomorrow"],
  ["the past", "2026-02-28"],
  ["this moment", "2026-03-01T12:00:00Z"],
  ["a day that is not there", "2026-02-31"],
  ["a month that is not there", "2026-13-01"],
  ["a time without a zone", "2027-01-31T10:00:00"],
  ["beyond four digits of year", "9999y"],
  ["nothing", ""],
])("refuses %s", (_, text) => {
  expect(parseExpiry(text, NOW)).toBeNull();
});

test("every answer lies in the future and can be written as a date", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(), fc.constantFrom("h", "d", "w", "y", "m")).map(([count, unit]) => `${count}${unit}`),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const atMs = parseExpiry(text, NOW);
      if (atMs === null) return;
      expect(atMs).toBeGreaterThan(NOW);
      expect(new Date(atMs).toISOString()).toMatch(/^\d{4}-/);
    }),
  );
});
