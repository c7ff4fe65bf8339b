// Result tables as text: a title, columns of equal width, words to the left and numbers to the right.

import { median } from "./statistics.ts";

/** The first column holds words, all others numbers. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}

export function formatTable({ title, columns, rows, notes = [] }: Table): string {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, "", line(columns), rule, ...rows.map(line), ...notes.map((note) => `  ${note}`), ""].join("\n");
}

/** A number as people read it: no digits that mean nothing, a dash for what was not measured. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** The median of some rounds, with the lowest and the highest of them. */
export function showRange(samples: readonly number[]): string {
  const middle = show(median(samples));
  return samples.length < 2 ? middle : `${middle} (${show(Math.min(...samples))}-${show(Math.max(...samples))})`;
}

/** Ratio to the reference; a dash where there is none. */
export function showRatio(value: number, reference: number): string {
  const ratio = value / reference;
  return Number.isFinite(ratio) ? `${ratio.toFixed(2)}x` : "-";
}

/** Ratio to the reference of the same round: the median, with the lowest and the highest. */
export function showRatios(values: readonly number[], references: readonly number[]): string {
  return showRange(values.map((value, round) => value / (references[round] as number)));
}
