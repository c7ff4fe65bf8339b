// Usage totals brought onto the steps of a range. An hour without requests is an hour of zero.

import { timesOf } from "./charts/scale.ts";
import type { Range } from "./range.ts";
import * as TEXT from "./text.ts";
import type { Usage } from "./types.ts";

/** Name for the smallest groups together. */
export const OTHER = TEXT.otherGroup;

/** One value per step of the range. Steps without a row get `empty`. */
export function perStep<T, Row extends Pick<Usage, "start">>(
  range: Range,
  rows: readonly Row[],
  read: (row: Row) => T,
  empty: T,
): readonly T[] {
  const byStart = new Map(rows.map((row) => [Date.parse(row.start), row]));
  return timesOf(range, range.step).map((time) => {
    const row = byStart.get(time);
    return row === undefined ? empty : read(row);
  });
}

/** The rows of each group, groups in the order of their first row. */
export function byGroup<Row extends Pick<Usage, "group">>(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = row.group ?? "none";
    const rows = groups.get(name) ?? [];
    rows.push(row);
    groups.set(name, rows);
  }
  return groups;
}

/** Adds up what `read` takes from each row. */
export function sum<Row>(rows: readonly Row[], read: (row: Row) => number): number {
  return rows.reduce((total, row) => total + read(row), 0);
}

/** Amount that was charged. The API writes amounts as decimal text; a number is exact enough to draw. */
export const spent = (row: Pick<Usage, "chargeUsd">): number => Number(row.chargeUsd);
/** Cost of the same tokens on the baseline model. */
export const baseline = (row: Usage): number => Number(row.baselineUsd);

/** Each value with everything before it. */
export function cumulative(values: readonly number[]): readonly number[] {
  let total = 0;
  return values.map((value) => {
    total += value;
    return total;
  });
}
