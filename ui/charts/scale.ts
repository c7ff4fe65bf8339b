// Scales of charts: they place values, and choose the round numbers that axes name.

import { isUtc, zoneName } from "../clock.ts";

/** Maps a value to its pixel, counted from the top as SVG does. */
export interface Scale {
  (value: number): number;
  readonly ticks: readonly number[];
}

/** Smallest span that is drawn to scale. Dividing by a smaller one would exceed what a double can hold. */
const SMALLEST_SPAN = 1e-12;

/** Spans the lowest to the highest value, widened to round numbers. Zero is always on the scale. */
export function valueScale(values: readonly number[], heightPx: number, isWhole = false): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const span = high - low;
  const wanted = roundStep((span > SMALLEST_SPAN ? span : 1) / 4);
  const step = isWhole ? Math.max(1, Math.ceil(wanted)) : wanted;
  const bottom = Math.floor(low / step) * step;
  const top = Math.max(Math.ceil(high / step) * step, bottom + step);
  const place = (value: number): number => heightPx - ((value - bottom) / (top - bottom)) * heightPx;
  const ticks = Array.from({ length: Math.round((top - bottom) / step) + 1 }, (_, index) => bottom + index * step);
  return Object.assign(place, { ticks });
}

/** Powers of ten, so that values far apart are both readable. Everything below the lowest power lies on the axis. */
export function logScale(values: readonly number[], heightPx: number): Scale {
  const known = values.filter((value) => value > 0).map(Math.log10);
  const bottom = Math.floor(Math.min(...known, 3));
  const top = Math.max(Math.ceil(Math.max(...known, bottom)), bottom + 1);
  const place = (value: number): number =>
    heightPx * (1 - (Math.max(bottom, Math.log10(Math.max(value, Number.MIN_VALUE))) - bottom) / (top - bottom));
  const ticks = Array.from({ length: top - bottom + 1 }, (_, index) => 10 ** (bottom + index));
  return Object.assign(place, { ticks });
}

/** The next 1, 2, 2.5, 5 or 10 times a power of ten: steps that people count in. */
function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= wanted) ?? 10;
  return factor * power;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The length of a step. */
export function stepMs(step: "hour" | "day"): number {
  return step === "hour" ? HOUR_MS : DAY_MS;
}

/** The beginning of every hour or day of the range, whether or not something happened in it. */
export function timesOf({ fromMs, toMs }: { fromMs: number; toMs: number }, step: "hour" | "day"): readonly number[] {
  const size = stepMs(step);
  const first = Math.floor(fromMs / size) * size;
  const number = Math.max(1, Math.ceil((toMs - first) / size));
  return Array.from({ length: number }, (_, index) => first + index * size);
}

/** Writes a short time for axes: midnight is named by its day. */
export function timeLabel(ms: number, step: "hour" | "day"): string {
  const { day, hour } = parts(ms, step);
  return step === "day" || hour.startsWith("00") ? day : hour;
}

/** Day and hour, for tooltips and tables. */
export function fullTimeLabel(ms: number, step: "hour" | "day"): string {
  const { day, hour } = parts(ms, step);
  return step === "day" ? day : `${day} ${hour}`;
}

/** The time with its zone. A day begins at midnight UTC. */
export function zonedTimeLabel(ms: number, step: "hour" | "day"): string {
  const { day, hour } = parts(ms, step);
  return `${day} ${hour} ${zoneName(step)}`;
}

/** Hours are of the reader's zone, unless the reader chose UTC. In some zones, an hour of UTC begins at half past. */
function parts(ms: number, step: "hour" | "day"): { readonly day: string; readonly hour: string } {
  const shiftMs = isUtc.value || step === "day" ? 0 : new Date(ms).getTimezoneOffset() * 60_000;
  const at = new Date(ms - shiftMs);
  return { day: `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`, hour: at.toISOString().slice(11, 16) };
}
