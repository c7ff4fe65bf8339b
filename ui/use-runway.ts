// The runway of the account that is shown.

import { useLoad } from "./api.ts";
import { type Runway, runwayOf, WEEK_DAYS } from "./runway.ts";
import type { Credits, List, Usage } from "./types.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = WEEK_DAYS * 24 * HOUR_MS;
const EVERY_MS = 5 * 60_000;

/** Null until both are known. */
export function useRunway(credits: Credits | null): Runway | null {
  // By whole hours: the address stays the same for a while, and everybody on the page shares one answer.
  const from = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - WEEK_MS).toISOString();
  const usage = useLoad<List<Usage>>(`/api/usage?by=total&from=${from}`, { everyMs: EVERY_MS }).data;
  if (credits === null || usage === null) return null;
  return runwayOf(Number(credits.availableUsd), Number(usage.data[0]?.chargeUsd ?? 0));
}
