// Spending of the current month by team or by member, from the request log.

import { useLoad } from "../../api.ts";
import { now } from "../../clock.ts";
import { may } from "../../session.ts";
import type { Explore } from "../../types.ts";

/** Sums up what these teams or members spent, in USD. Null while it is not known. */
export type MonthSpend = (ids: readonly string[]) => number | null;

/** Values that the API counts on their own. */
const TOP = 50;

export function useMonthSpend(by: "team" | "member"): MonthSpend {
  const today = new Date(now());
  const from = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1)).toISOString();
  const path = `/api/explore?metric=cost&by=${by}&top=${TOP}&from=${from}`;
  const { data } = useLoad<Explore>(may("explore") ? path : null);
  if (data === null) return () => null;
  const spent = new Map(data.data.map(({ by: [value], value: cost }) => [value?.value ?? "", Number(cost ?? 0)]));
  const isWhole = (data.values[0] ?? 0) <= TOP;
  return (ids) =>
    isWhole || ids.every((id) => spent.has(id)) ? ids.reduce((sum, id) => sum + (spent.get(id) ?? 0), 0) : null;
}
