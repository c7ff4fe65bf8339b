// The runway of the account that is shown, read from its usage of the last week.

import { useLoad } from "./api.ts";
import { now } from "./clock.ts";
import { type Runway, runwayOf } from "./runway.ts";
import { may } from "./session.ts";
import type { Credits, List, Usage } from "./types.ts";
import { spent, sum } from "./usage.ts";

const DAY_MS = 86_400_000;
const USAGE = "/api/usage?by=day&latency=false&from=-7d";
/** The average of a week moves slowly. */
const EVERY_MS = 5 * 60_000;

/** Returns null until the balance and the usage are known. */
export function useRunway(credits: Credits | null): Runway | null {
  // By day, because the first day tells how long the gateway has been in use.
  const usage = useLoad<List<Usage>>(may("readTotals") ? USAGE : null, { everyMs: EVERY_MS }).data;
  if (credits === null || usage === null) return null;
  const firstMs = Math.min(...usage.data.map(({ start }) => Date.parse(start)));
  return runwayOf(Number(credits.availableUsd), {
    spentUsd: sum(usage.data, spent),
    // Refused requests cost nothing, and say nothing about the price of one.
    requests: sum(usage.data, ({ requests, errors }) => requests - errors),
    daysOfUse: (now() - firstMs) / DAY_MS,
  });
}
