// The totals behind the charts, brought onto the steps of the range: an hour without requests is an hour of zero.

import { timesOf } from "./charts/scale.ts";
import type { Range } from "./range.ts";
import type { List, Usage } from "./types.ts";

export const OTHER = "Other";

/** One value per step of the range; steps that nobody recorded get `empty`. */
export function perStep<T>(range: Range, rows: readonly Usage[], read: (row: Usage) => T, empty: T): readonly T[] {
  const byStart = new Map(rows.map((row) => [Date.parse(row.start), row]));
  return timesOf(range, range.step).map((time) => {
    const row = byStart.get(time);
    return row === undefined ? empty : read(row);
  });
}

/** The rows of each group, in the order given by `names`, else as they come. */
export function byGroup(list: List<Usage> | null): ReadonlyMap<string, readonly Usage[]> {
  const groups = new Map<string, Usage[]>();
  for (const row of list?.data ?? []) {
    const name = row.group ?? "none";
    const rows = groups.get(name) ?? [];
    rows.push(row);
    groups.set(name, rows);
  }
  return groups;
}

export function sum(rows: readonly Usage[], read: (row: Usage) => number): number {
  return rows.reduce((total, row) => total + read(row), 0);
}

export const spent = (row: Usage): number => Number(row.chargeUsd);
export const baseline = (row: Usage): number => Number(row.baselineUsd);

export function cumulative(values: readonly number[]): readonly number[] {
  let total = 0;
  return values.map((value) => {
    total += value;
    return total;
  });
}
