// The runway of the account that is shown, read from its usage of the last week.

import { useLoad } from "./api.ts";
import { type Runway, runwayOf, WEEK_DAYS } from "./runway.ts";
import type { Credits, List, Usage } from "./types.ts";
import { spent, sum } from "./usage.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = WEEK_DAYS * DAY_MS;
/** The average of a week moves slowly. */
const EVERY_MS = 5 * 60_000;

/** Null until the balance and the usage are known. */
export function useRunway(credits: Credits | null): Runway | null {
  // Whole hours keep the address the same for a while, and everything on the page shares one response.
  const from = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - WEEK_MS).toISOString();
  // By day, because the first day tells how long the gateway has been in use.
  const usage = useLoad<List<Usage>>(`/api/usage?by=day&latency=false&from=${from}`, { everyMs: EVERY_MS }).data;
  if (credits === null || usage === null) return null;
  const firstMs = Math.min(...usage.data.map(({ start }) => Date.parse(start)));
  return runwayOf(Number(credits.availableUsd), sum(usage.data, spent), (Date.now() - firstMs) / DAY_MS);
}
