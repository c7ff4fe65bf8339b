// Latencies as counts per bucket: they can be added up over hours, and percentiles come from them.

export const LATENCY_BOUNDS_MS: readonly number[] = [
  10, 20, 35, 50, 75, 100, 150, 250, 400, 600, 1_000, 1_500, 2_500, 4_000, 6_000, 10_000, 20_000, 60_000,
];

/** Finer, because what the gateway itself takes is a few milliseconds. */
export const OVERHEAD_BOUNDS_MS: readonly number[] = [1, 2, 3, 5, 10, 25, 50, 100];

/** Which of the bounds a time falls under; beyond the last, their number. */
export function bucketOf(ms: number, bounds: readonly number[] = LATENCY_BOUNDS_MS): number {
  const found = bounds.findIndex((bound) => ms <= bound);
  return found < 0 ? bounds.length : found;
}

/** The value below which that share of the counted lies, within its bucket by proportion; null when nothing was counted. */
export function percentileMs(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = LATENCY_BOUNDS_MS,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = total * share;
  let passed = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && passed + count >= wanted) {
      const low = bounds[index - 1] ?? 0;
      const high = bounds[index] ?? low * 2;
      return Math.round(low + ((wanted - passed) / count) * (high - low));
    }
    passed += count;
  }
  return bounds.at(-1) ?? null;
}
