// The runway: how long a balance lasts when spending goes on as in the last seven days. Pure, and apart from the hook
// that reads the numbers.

/** A week evens out the days on which nobody works. */
export const WEEK_DAYS = 7;
/** Below this the dashboard warns wherever the balance is shown. */
export const LOW_DAYS = 3;
/** Beyond ten years the number says nothing. */
const FOREVER_DAYS = 3_650;

export interface Runway {
  /** The average of the last week. */
  readonly perDayUsd: number;
  /** Null when nothing was spent. */
  readonly days: number | null;
}

/** From the balance and what was spent in a week. */
export function runwayOf(availableUsd: number, weekUsd: number): Runway {
  const perDayUsd = weekUsd / WEEK_DAYS;
  return { perDayUsd, days: perDayUsd === 0 ? null : availableUsd / perDayUsd };
}

/** `19 days`, or `19 d` where there is little room. */
export function runwayText(days: number, isShort = false): string {
  if (days <= 0) return "none";
  if (days > FOREVER_DAYS) return isShort ? "10+ y" : "over 10 years";
  if (days < 2) return `${Math.round(days * 24)} ${isShort ? "h" : "hours"}`;
  return `${Math.floor(days).toLocaleString("en-US")} ${isShort ? "d" : "days"}`;
}
