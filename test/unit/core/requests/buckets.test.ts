// Percentiles from counted buckets, and ids that carry their time.

import { describe, expect, it } from "vitest";
import {
  bucketOf,
  ESTIMATED_MIN,
  estimatedPercentileMs,
  LATENCY_BOUNDS_MS,
  percentileMs,
} from "../../../../src/core/requests/buckets.ts";
import { recordIdAt } from "../../../../src/core/requests/records.ts";
import { fc } from "../../../support/property.ts";

const counted = (values: readonly number[]): number[] => {
  const counts = [...LATENCY_BOUNDS_MS, 0].map(() => 0);
  for (const value of values) (counts[bucketOf(value)] as number) += 1;
  return counts;
};

describe("a percentile of times", () => {
  it.each([
    [[], 0.5, null],
    [[69], 0.5, 69],
    [[69], 0.95, 69],
    [[9, 1, 5], 0.5, 5],
    [[4, 1, 2, 3], 0.5, 2],
    [[4, 1, 2, 3], 0.95, 4],
  ])("%j at %d is %s", (times, share, expected) => {
    expect(percentileMs(times, share)).toBe(expected);
  });
});

describe("a percentile of counts", () => {
  it("is null of too few", () => {
    const few = Array.from({ length: ESTIMATED_MIN - 1 }, () => 69);
    expect(estimatedPercentileMs(counted([]), 0.5)).toBeNull();
    expect(estimatedPercentileMs(counted(few), 0.5)).toBeNull();
    expect(estimatedPercentileMs(counted([...few, 69]), 0.5)).not.toBeNull();
  });

  it("lies in the bucket that the true one lies in", () => {
    const values = fc.array(fc.nat(120_000), { minLength: ESTIMATED_MIN, maxLength: 200 });
    fc.assert(
      fc.property(values, fc.constantFrom(0.5, 0.95), (latencies, share) => {
        const sorted = [...latencies].sort((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] as number;
        const bucket = bucketOf(exact);
        const found = estimatedPercentileMs(counted(latencies), share) as number;
        expect(found).toBeGreaterThanOrEqual(LATENCY_BOUNDS_MS[bucket - 1] ?? 0);
        expect(found).toBeLessThanOrEqual(LATENCY_BOUNDS_MS[bucket] ?? Number.POSITIVE_INFINITY);
      }),
    );
  });
});

it("ids sort as their times do", () => {
  const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
  fc.assert(
    fc.property(time, time, (a, b) => {
      expect(Math.sign(a - b)).toBe(recordIdAt(a) < recordIdAt(b) ? -1 : recordIdAt(a) > recordIdAt(b) ? 1 : 0);
    }),
  );
});
