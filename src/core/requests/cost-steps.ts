// The steps by which requests are counted by cost: powers of ten of a USD. A range that begins and ends on steps is counted
// without looking at requests.

import type { NanoUsd } from "../money.ts";

/** In nano-USD, lowest first: from a millionth of a USD to ten. */
export const COST_BOUNDS: readonly NanoUsd[] = Array.from({ length: 8 }, (_, power) => 10n ** BigInt(power + 3));

/** The step of requests that were not charged at all. */
export const NOT_CHARGED = -1;

/** How many of the bounds the charge has reached. */
export function costStep(charge: NanoUsd | null): number {
  return charge === null ? NOT_CHARGED : COST_BOUNDS.filter((bound) => charge >= bound).length;
}

export interface CostRange {
  readonly from?: NanoUsd;
  /** Not included itself. */
  readonly to?: NanoUsd;
}

export interface StepRange {
  /** The steps that lie in the range as a whole, first and last; null when there is none. */
  readonly whole: readonly [number, number] | null;
  /** What is left of the range on its edges. */
  readonly edges: readonly CostRange[];
}

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
