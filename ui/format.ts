// Numbers and times as people read them. The exact value belongs into the `title` of the element.

import { now } from "./clock.ts";

/** Titles have the time in UTC, as the API and the logs have it. */
const UTC = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", dateStyle: "medium", timeStyle: "medium" });

/** `$12.40`, `$0.0182`, `$0.000124`: two decimals from a dollar on, three significant digits below. */
export function usd(amount: number | string | null | undefined): string {
  if (amount === null || amount === undefined) return "–";
  const value = Number(amount);
  if (value === 0) return "$0";
  return trimZeros(fixedUsd(value, decimalsOf(Math.abs(value))));
}

/** Number of decimals that shows three digits of an amount, from two to nine. */
function decimalsOf(size: number): number {
  return size === 0 ? 2 : Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(size))));
}

function fixedUsd(value: number, decimals: number): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return `${value < 0 ? "−" : ""}$${Math.abs(value).toLocaleString("en-US", digits)}`;
}

/** The smallest amount that a tile shows with digits. */
const TILE_MIN_USD = 0.0001;

/** Writes at most four decimals below a dollar, so that a large figure fits its card. The title has the exact amount. */
export function shortUsd(amount: number): string {
  const size = Math.abs(amount);
  if (size === 0 || size >= 1) return usd(amount);
  return size < TILE_MIN_USD ? lessThan(amount, TILE_MIN_USD, 4) : trimZeros(fixedUsd(amount, 4));
}

function lessThan(value: number, least: number, decimals: number): string {
  return `${value < 0 ? "−" : ""}<${fixedUsd(least, decimals)}`;
}

/** One format for a column: the decimals that its largest amount needs for three digits. Less than that is `<$0.01`. */
export function usdColumn(amounts: readonly (number | string | null)[]): (amount: number | string | null) => string {
  const decimals = decimalsOf(Math.max(0, ...amounts.map((amount) => Math.abs(Number(amount)))));
  return (amount) => {
    if (amount === null) return "–";
    const value = Number(amount);
    if (value === 0) return "$0";
    const least = 10 ** -decimals;
    return Math.abs(value) < least / 2 ? lessThan(value, least, decimals) : fixedUsd(value, decimals);
  };
}

/** Six decimals in every row of the ledger and of the request log, so that a small charge is seen to move the balance. */
export function balance(amount: string | number): string {
  return fixedUsd(Number(amount), 6);
}

/** Keeps two decimals: `$0.50` reads as money, `$0.5` does not. */
function trimZeros(text: string): string {
  return text.replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** `999`, `12.4k`, `3.1M`. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) < 10_000) return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
  if (Math.abs(value) < 1_000_000) return `${trimOne(value / 1_000)}k`;
  return `${Number((value / 1_000_000).toPrecision(3))}M`;
}

/** One decimal below a hundred, none from there on: `12.4k`, `124k`. */
function trimOne(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

/** A share from 0 to 1 as `94%`, with one decimal below ten. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  const size = Math.abs(value);
  // 99.6% must not be shown as 100%: an error rate that rounds to nothing hides errors.
  const isNearlyAll = size >= 99.5 && size < 100;
  const text = isNearlyAll ? nearlyAll(value) : size >= 10 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
  return `${text.replace("-", "−")}%`;
}

/** Limits a share to 99.9, even if rounding would give 100. */
function nearlyAll(value: number): string {
  return (Math.sign(value) * Math.min(99.9, Number(Math.abs(value).toFixed(1)))).toFixed(1);
}

/** A function-calling score, one decimal for all so that a column of them can be compared. */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : value.toFixed(1);
}

/** `0.42 ms`, `870 ms`, `1.24 s`, `100.0 s`, `2 min 5 s`: as many digits as can be compared. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms === 0) return "0";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** Units of time, largest first, each with its plural. */
const STEPS: readonly (readonly [number, string, string])[] = [
  [86_400_000, "day", "days"],
  [3_600_000, "h", "h"],
  [60_000, "min", "min"],
  [1_000, "s", "s"],
];

/** `5 min ago`, `just now`, or `in 3 days` for a time ahead. */
export function ago(iso: string | null | undefined, nowMs = now()): string {
  if (iso === null || iso === undefined) return "never";
  const ms = nowMs - Date.parse(iso);
  if (ms < 0) return `in ${span(-ms)}`;
  return ms < 5_000 ? "just now" : `${span(ms)} ago`;
}

/** A length of time in its largest unit, rounded. */
export function span(ms: number): string {
  const [unitMs, one, many] = STEPS.find(([size]) => ms >= size) ?? [1_000, "s", "s"];
  return plural(Math.max(1, Math.round(ms / unitMs)), one, many);
}

/** The full time, for tooltips. */
export function utc(at: string | number | null | undefined): string {
  return at === null || at === undefined ? "" : `${UTC.format(new Date(at))} UTC`;
}

const MONTH = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", year: "numeric", month: "long" });

/** `2026-11` as `November 2026`; whatever else is there stays as it is. */
export function monthName(month: string): string {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? MONTH.format(new Date(`${month}-01T00:00:00Z`)) : month;
}

/** Time of day in UTC, without the date. */
export function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** `1 request`, `2,400 requests`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

/** The amount as the API sent it, unrounded: for tooltips. */
export function exact(amount: string | number | null | undefined): string {
  return amount === null || amount === undefined ? "" : `${amount} USD`;
}

/** `coding_general_debugging_refactoring_testing` is one category whose name lists what is in it. */
export function categoryName(category: string): string {
  return category.replace(/_general.*$/, "").replaceAll("_", " ");
}
