// The runway: how long a balance lasts when spending goes on as in the last seven days. Pure, and apart from the hook
// that reads the numbers.

import { plural } from "./format.ts";

/** A week evens out the days on which nobody works. */
const WEEK_DAYS = 7;
/** Number of days below which the dashboard warns wherever the balance is shown. */
export const LOW_DAYS = 3;
/** Days in ten years, beyond which the number says nothing. */
const FOREVER_DAYS = 3_650;

/** Longest runway that the first day of use can tell; a longer one is a guess. */
const EARLY_DAYS_MAX = 30;

export interface Runway {
  /** The average of the last week, or of the days since the first request. */
  readonly perDayUsd: number;
  /** Days that the balance lasts; null when nothing was spent, and when it is too early to say. */
  readonly days: number | null;
}

/** Computes the runway from the balance, the spend of the last week, and the days of that week since first use. */
export function runwayOf(availableUsd: number, weekUsd: number, daysOfUse = WEEK_DAYS): Runway {
  // Part of a day counts as a whole one: a burst in the first minutes says nothing about a day.
  const perDayUsd = weekUsd / Math.min(WEEK_DAYS, Math.max(1, daysOfUse));
  const days = perDayUsd === 0 ? null : availableUsd / perDayUsd;
  return { perDayUsd, days: daysOfUse < 1 && days !== null && days > EARLY_DAYS_MAX ? null : days };
}

/** `19 days`; the shorter form of a long time is for the top bar. */
export function runwayText(days: number, isShort = false): string {
  if (days <= 0) return "none";
  if (days > FOREVER_DAYS) return isShort ? "10+ years" : "over 10 years";
  if (days < 2) return plural(Math.round(days * 24), "hour");
  return plural(Math.floor(days), "day");
}
