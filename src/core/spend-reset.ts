// Periods of spend limits. A key's spend never starts at zero again, or does so each day, week (Monday) or month, in
// UTC.

export const SPEND_RESETS = ["never", "daily", "weekly", "monthly"] as const;
export type SpendReset = (typeof SPEND_RESETS)[number];

const DAY_MS = 86_400_000;
/** The first Monday before time was counted: 1970 began on a Thursday. */
const MONDAY_MS = -3 * DAY_MS;

/** Returns the start of the period that this moment lies in; 0 for a limit that is never reset. */
export function periodStartMs(reset: SpendReset, atMs: number): number {
  if (reset === "never") return 0;
  if (reset === "daily") return Math.floor(atMs / DAY_MS) * DAY_MS;
  if (reset === "weekly") return Math.floor((atMs - MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + MONDAY_MS;
  return monthStartMs(atMs, 0);
}

/** Returns the start of the next period; null when none will come. */
export function nextPeriodMs(reset: SpendReset, atMs: number): number | null {
  if (reset === "never") return null;
  if (reset === "monthly") return monthStartMs(atMs, 1);
  return periodStartMs(reset, atMs) + (reset === "daily" ? 1 : 7) * DAY_MS;
}

function monthStartMs(atMs: number, monthsOn: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsOn, 1);
}
