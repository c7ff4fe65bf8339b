import { describe, expect, test } from "vitest";
import { floors, laterPart, type Point, slopeOf } from "../../../../bench/soak/slope.ts";
import { createRandom } from "../../../support/random.ts";

const MINUTE_MS = 60_000;
const series = (value: (minute: number) => number, count = 60): readonly Point[] =>
  Array.from({ length: count }, (_, minute) => ({ atMs: minute * MINUTE_MS, value: value(minute) }));

describe("slopeOf", () => {
  test("a straight line is found exactly", () => {
    const { perHour, rise, significance } = slopeOf(series((minute) => 100 + minute * 2));
    expect(perHour).toBeCloseTo(120, 6);
    expect(rise).toBeCloseTo(118, 6);
    expect(significance).toBeGreaterThan(1000);
  });

  test("noise is not significant, a leak under noise is", () => {
    const random = createRandom(5);
    const noise = series(() => 100 + random.below(20));
    expect(Math.abs(slopeOf(noise).significance)).toBeLessThan(3);
    expect(
      slopeOf(noise.map(({ atMs, value }, minute) => ({ atMs, value: value + minute }))).significance,
    ).toBeGreaterThan(10);
  });

  test("nothing moves, or there is too little to say", () => {
    expect(slopeOf(series(() => 7))).toMatchObject({ mean: 7, perHour: 0, rise: 0 });
    expect(slopeOf([{ atMs: 0, value: 3 }])).toEqual({ mean: 3, perHour: 0, rise: 0, significance: 0 });
  });
});

test("floors see through what comes and goes", () => {
  const saw = series((minute) => 50 + (minute % 5) * 100);
  expect(new Set(floors(saw, 5 * MINUTE_MS).map(({ value }) => value))).toEqual(new Set([50]));
});

test("the later part leaves the beginning out", () => {
  const later = laterPart(series((minute) => minute, 101));
  expect(later[0]?.value).toBe(40);
  expect(later.at(-1)?.value).toBe(100);
});
