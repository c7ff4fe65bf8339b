// The time range that all numbers on a page belong to. It comes from `?range=`, or from `?from=&to=` after zooming into
// a chart.

import { now } from "./clock.ts";
import { place } from "./router.ts";
import { signal } from "./signal.ts";
import * as TEXT from "./text.ts";

/** The ranges to choose from, with the names shown for them. */
export const RANGES = {
  "1h": TEXT.lastHour,
  "24h": TEXT.last24Hours,
  "7d": TEXT.last7Days,
  "30d": TEXT.last30Days,
} as const;
type RangeName = keyof typeof RANGES;

const LENGTH_MS: Readonly<Record<RangeName, number>> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};
const MINUTE_MS = 60_000;
/** Length from which a chart by hours would have too many bars. */
const DAILY_FROM_MS = 4 * 86_400_000;

/** Span from a time up to another. */
interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A range as charts and queries use it. `step` is the width of a bar. */
export interface Range extends TimeSpan {
  readonly name: RangeName | "custom";
  readonly label: string;
  readonly step: "hour" | "day";
}

/** Moves on every minute while a page is open, so that charts do not end in the past. */
const minute = signal(thisMinute());

/** The range of the address. It must be called while rendering, so that the component follows the address. */
export function currentRange(): Range {
  const { query } = place.value;
  const fromMs = Date.parse(query.get("from") ?? "");
  const toMs = Date.parse(query.get("to") ?? "");
  if (fromMs < toMs) return wholeAtEnd(build("custom", TEXT.customRange, fromMs, toMs));
  const name = asName(query.get("range"));
  return named(name, minute.value);
}

/** Called by a timer that runs as long as the dashboard is open. */
export function advanceRange(): void {
  minute.value = thisMinute();
}

/**
 * The range as part of an address that is read. One that moves with time, such as the last hour, is written by its name:
 * a minute later it is still the same question, and its old answer is no wrong one.
 */
export function rangeQuery({ name = "custom", fromMs, toMs }: TimeSpan & { readonly name?: Range["name"] }): string {
  if (name !== "custom") return `from=-${name}`;
  return `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
}

/** The address with the times that a named range has now. */
export function withTimes(path: string): string {
  return path.replace(/from=-(\w+)/, (_, name) => {
    const { fromMs, toMs } = named(asName(name), thisMinute());
    return rangeQuery({ fromMs, toMs });
  });
}

/** Builds a named range, which ends with the given minute. */
function named(name: RangeName, minuteMs: number): Range {
  const endMs = minuteMs + MINUTE_MS;
  return build(name, RANGES[name], endMs - LENGTH_MS[name], endMs);
}

/** Begins with a whole hour or day, as the stored totals do. Tiles, charts and lists then count the same requests. */
function build(name: Range["name"], label: string, fromMs: number, toMs: number): Range {
  const step = toMs - fromMs > DAILY_FROM_MS ? "day" : "hour";
  const unitMs = step === "day" ? LENGTH_MS["24h"] : LENGTH_MS["1h"];
  return { name, label, fromMs: Math.floor(fromMs / unitMs) * unitMs, toMs, step };
}

/** A chosen range ends with a whole hour or day, too. The others end now. */
function wholeAtEnd(range: Range): Range {
  const unitMs = range.step === "day" ? LENGTH_MS["24h"] : LENGTH_MS["1h"];
  return { ...range, toMs: Math.ceil(range.toMs / unitMs) * unitMs };
}

/** Anything unknown in the address is the default. */
function asName(text: string | null): RangeName {
  return text !== null && text in RANGES ? (text as RangeName) : "24h";
}

function thisMinute(): number {
  return Math.floor(now() / MINUTE_MS) * MINUTE_MS;
}
