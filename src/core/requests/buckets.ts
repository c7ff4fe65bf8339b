// Buckets by which requests are counted: times, from which percentiles come, and costs in powers of ten of a USD. Counts per
// bucket can be added up over hours. A range of costs that begins and ends on steps is counted without reading requests.

import type { NanoUsd } from "../money.ts";

/** From a cached reply to a long stream; what takes longer falls behind the last bound. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  10, 20, 35, 50, 75, 100, 150, 250, 400, 600, 1_000, 1_500, 2_500, 4_000, 6_000, 10_000, 20_000, 60_000,
];

/** Finer, because what the gateway itself takes is a few milliseconds. */
export const OVERHEAD_BOUNDS_MS: readonly number[] = [1, 2, 3, 5, 10, 25, 50, 100];

/** Returns the index of the first bound that a time does not exceed, or the number of bounds. */
export function bucketOf(ms: number, bounds: readonly number[] = LATENCY_BOUNDS_MS): number {
  const found = bounds.findIndex((bound) => ms <= bound);
  return found < 0 ? bounds.length : found;
}

/** With fewer times, the bounds of a bucket would say more than the times themselves. */
export const ESTIMATED_MIN = 20;

/** The value below which that share of the counted lies, within its bucket by proportion; null when too few were counted. */
export function estimatedPercentileMs(
  counts: readonly number[],
  share: number,
  bounds: readonly number[] = LATENCY_BOUNDS_MS,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total < ESTIMATED_MIN) return null;
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

/** One of the times themselves: the smallest that is not below that share of them. Null of none. */
export function percentileMs(timesMs: readonly number[], share: number): number | null {
  const sorted = [...timesMs].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** In nano-USD, lowest first: from a millionth of a USD to ten. */
export const COST_BOUNDS: readonly NanoUsd[] = Array.from({ length: 8 }, (_, power) => 10n ** BigInt(power + 3));

/** The step of requests that were not charged at all. */
export const NOT_CHARGED = -1;

/** Returns how many of the bounds the charge has reached. */
export function costStep(charge: NanoUsd | null): number {
  return charge === null ? NOT_CHARGED : COST_BOUNDS.filter((bound) => charge >= bound).length;
}

/** An open end is no bound. */
export interface CostRange {
  readonly from?: NanoUsd;
  /** Not included itself. */
  readonly to?: NanoUsd;
}

export interface StepRange {
  /** The steps that lie in the range as a whole, first and last; null when there is none. */
  readonly whole: readonly [number, number] | null;
  /** Remaining parts of the range, at its edges. */
  readonly edges: readonly CostRange[];
}

/** Splits a range into whole steps, which counters know, and its edges, which only requests know. */
export function stepsOf({ from = 0n, to }: CostRange): StepRange {
  const isOnStep = (amount: NanoUsd): boolean => amount === 0n || COST_BOUNDS.includes(amount);
  const first = costStep(from) + (isOnStep(from) ? 0 : 1);
  const last = to === undefined ? COST_BOUNDS.length : costStep(to) - 1;
  if (first > last) return { whole: null, edges: isEmpty(from, to) ? [] : [bounded(from, to)] };
  const lower = isOnStep(from) ? [] : [{ from, to: COST_BOUNDS[first - 1] as NanoUsd }];
  const upper = to === undefined || isOnStep(to) ? [] : [{ from: COST_BOUNDS[last] as NanoUsd, to }];
  return { whole: [first, last], edges: [...lower, ...upper] };
}

/** The first and the last step that have some of the range. */
export function touchedSteps({ from = 0n, to }: CostRange): readonly [number, number] {
  return [costStep(from), to === undefined ? COST_BOUNDS.length : costStep(to - 1n)];
}

function isEmpty(from: NanoUsd, to: NanoUsd | undefined): boolean {
  return to !== undefined && to <= from;
}

function bounded(from: NanoUsd, to: NanoUsd | undefined): CostRange {
  return to === undefined ? { from } : { from, to };
}
