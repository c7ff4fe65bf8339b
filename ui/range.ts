// The time range that all numbers on a page are of: `?range=`, or `?from=&to=` after zooming into a chart.

import { signal } from "@preact/signals";
import { place } from "./router.ts";

export const RANGES = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
} as const;
export type RangeName = keyof typeof RANGES;

const LENGTH_MS: Readonly<Record<RangeName, number>> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};
const MINUTE_MS = 60_000;
const DAILY_FROM_MS = 4 * 86_400_000;

export interface Range {
  readonly name: RangeName | "custom";
  readonly label: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: "hour" | "day";
}

/** Moves on every minute while a page is open, so that addresses stay the same in between and answers can be kept. */
const minute = signal(thisMinute());

export function currentRange(): Range {
  const { query } = place.value;
  const fromMs = Date.parse(query.get("from") ?? "");
  const toMs = Date.parse(query.get("to") ?? "");
  if (fromMs < toMs) return wholeAtEnd(build("custom", "Chosen range", fromMs, toMs));
  const name = asName(query.get("range"));
  const end = minute.value + MINUTE_MS;
  return build(name, RANGES[name], end - LENGTH_MS[name], end);
}

/** The same length of time, just before. */
export function rangeBefore({ fromMs, toMs }: Range): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

export function advanceRange(): void {
  minute.value = thisMinute();
}

export function rangeQuery({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string {
  return `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
}

/** Begins with a whole hour or day, as the totals do: tiles, charts and lists then count the same requests. */
function build(name: Range["name"], label: string, fromMs: number, toMs: number): Range {
  const step = toMs - fromMs > DAILY_FROM_MS ? "day" : "hour";
  const unitMs = step === "day" ? LENGTH_MS["24h"] : LENGTH_MS["1h"];
  return { name, label, fromMs: Math.floor(fromMs / unitMs) * unitMs, toMs, step };
}

/** A range that lies behind us ends with a whole hour or day, too. */
function wholeAtEnd(range: Range): Range {
  const unitMs = range.step === "day" ? LENGTH_MS["24h"] : LENGTH_MS["1h"];
  return { ...range, toMs: Math.ceil(range.toMs / unitMs) * unitMs };
}

function asName(text: string | null): RangeName {
  return text !== null && text in RANGES ? (text as RangeName) : "24h";
}

function thisMinute(): number {
  return Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
}
