// Percentiles by the nearest rank: always one of the samples, in order, whatever order the samples came in.

import { describe, expect, test } from "vitest";
import { median, percentile } from "../../../../bench/harness/statistics.ts";
import { fc } from "../../../support/property.ts";

describe("percentile", () => {
  test.each([
    [[7], 0.5, 7],
    [[3, 1, 2], 0.5, 2],
    [[4, 3, 2, 1], 0.5, 2],
    [[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.99, 10],
    [[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.9, 9],
    [[5, 6, 7], 0, 5],
    [[5, 6, 7], 1, 7],
  ])("of %j at %d is %d", (samples, share, expected) => {
    expect(percentile(samples, share)).toBe(expected);
  });

  test("of nothing is not a number", () => {
    expect(percentile([], 0.5)).toBeNaN();
  });

  const samples = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  test("is a sample that at least that share does not exceed", () => {
    fc.assert(
      fc.property(samples, share, (values, wanted) => {
        const found = percentile(values, wanted);
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length / values.length).toBeGreaterThanOrEqual(wanted);
      }),
    );
  });

  test("does not fall as the share grows, and leaves the samples as they were", () => {
    fc.assert(
      fc.property(samples, share, share, (values, one, other) => {
        const before = [...values];
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        expect(percentile(values, low)).toBeLessThanOrEqual(percentile(values, high));
        expect(values).toEqual(before);
      }),
    );
  });
});

test("the median is the percentile at one half", () => {
  expect(median([9, 1, 5])).toBe(5);
});
