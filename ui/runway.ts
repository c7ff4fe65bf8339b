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
  /** Days that the balance lasts, 0 when it is less than a request; null when nothing was spent or it is too early. */
  readonly days: number | null;
}

/** The last seven days. */
interface Week {
  readonly spentUsd: number;
  readonly requests: number;
  /** Days since the first request, where that is less than a week ago. */
  readonly daysOfUse?: number;
}

/** Computes the runway from the balance and the last week. */
export function runwayOf(availableUsd: number, { spentUsd, requests, daysOfUse = WEEK_DAYS }: Week): Runway {
  // Part of a day counts as a whole one: a burst in the first minutes says nothing about a day.
  const perDayUsd = spentUsd / Math.min(WEEK_DAYS, Math.max(1, daysOfUse));
  // The rest of a balance lasts no time if it doesn't pay for a typical request.
  if (requests > 0 && availableUsd < spentUsd / requests) return { perDayUsd, days: 0 };
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
