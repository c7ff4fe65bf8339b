import { describe, expect, test } from "vitest";
import { logScale, timeLabel, timesOf, valueScale } from "../../../ui/charts/scale.ts";
import { isUtc } from "../../../ui/clock.ts";
import { fc } from "../../support/property.ts";

const HOUR_MS = 3_600_000;

describe("the scale of values", () => {
  test("holds every value between its ends, zero included", () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, (given) => {
        const scale = valueScale(given, 100);
        for (const value of [0, ...given]) {
          expect(scale(value)).toBeGreaterThanOrEqual(-0.001);
          expect(scale(value)).toBeLessThanOrEqual(100.001);
        }
        expect(scale.ticks.length).toBeLessThanOrEqual(8);
      }),
    );
  });

  test("stays on the chart for a value too small to see", () => {
    expect(valueScale([-5e-324], 100)(-5e-324)).toBeCloseTo(0);
    expect(valueScale([5e-324], 100)(5e-324)).toBeCloseTo(100);
  });

  test("names whole numbers only where things are counted", () => {
    expect(valueScale([0], 100, true).ticks).toEqual([0, 1]);
    expect(valueScale([3], 100, true).ticks).toEqual([0, 1, 2, 3]);
  });
});

test("every hour or day of a range is there, whether or not something happened in it", () => {
  const fromMs = Date.parse("2026-03-01T10:20:00Z");
  const times = timesOf({ fromMs, toMs: fromMs + 3 * HOUR_MS }, "hour");
  expect(times.map((time) => new Date(time).toISOString().slice(11, 16))).toEqual(["10:00", "11:00", "12:00", "13:00"]);
  expect(timesOf({ fromMs, toMs: fromMs + 24 * HOUR_MS }, "day")).toHaveLength(2);
});

test("midnight is named by its day", () => {
  isUtc.value = true;
  expect(timeLabel(Date.parse("2026-03-01T00:00:00Z"), "hour")).toBe("1 Mar");
  expect(timeLabel(Date.parse("2026-03-01T05:00:00Z"), "hour")).toBe("05:00");
});

test("a logarithmic scale keeps values far apart readable, whatever they are", () => {
  const scale = logScale([80, 9_000], 100);
  expect(scale.ticks).toEqual([10, 100, 1_000, 10_000]);
  expect(scale(10)).toBe(100);
  expect(scale(10_000)).toBeCloseTo(0);
  expect(scale(80)).toBeLessThan(scale(10) - 20);
  expect(scale(0)).toBe(100);
  expect(logScale([], 100).ticks).toEqual([1_000, 10_000]);
});
