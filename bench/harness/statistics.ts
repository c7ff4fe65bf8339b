// Statistics for the benchmarks. Samples may have any unit; results have the same.

/** The smallest sample that at least `share` (0 to 1) of all samples do not exceed; NaN when there are none. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = Float64Array.from(samples).sort();
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] as number;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** Samples in four numbers, small enough to send between processes. */
export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function summarize(samples: readonly number[]): Summary {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => percentile(samples, share)) as [number, number, number];
  return { count: samples.length, p50, p99, max };
}
