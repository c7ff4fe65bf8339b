// Ends of keys on the command line: a duration from now, or a date.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const UNITS_MS: Readonly<Record<string, number>> = {
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
};

/** No `m`: half of those who write it mean minutes and half months. */
const DURATION = /^(\d{1,6})([hdwy])$/;
const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
/** The last moment that ISO 8601 writes with four digits of year. */
const LATEST_MS = Date.UTC(9999, 11, 31);

/** `90d` from now, or a date. Null when the text is neither, or names no moment after `nowMs`. Exported for its tests. */
export function parseExpiry(text: string, nowMs: number): number | null {
  const atMs = parseDuration(text, nowMs) ?? parseDate(text);
  return atMs !== null && atMs > nowMs && atMs <= LATEST_MS ? atMs : null;
}

function parseDuration(text: string, nowMs: number): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  const unitMs = UNITS_MS[unit ?? ""];
  return unitMs === undefined ? null : nowMs + Number(count) * unitMs;
}

function parseDate(text: string): number | null {
  const day = DATE.exec(text)?.[1];
  const atMs = Date.parse(text);
  if (day === undefined || Number.isNaN(atMs)) return null;
  // Date.parse reads 31 February as 3 March: a day that does not come back as it was written does not exist.
  return new Date(day).toISOString().startsWith(day) ? atMs : null;
}
