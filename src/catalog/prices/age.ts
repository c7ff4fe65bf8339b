// The age of prices: how long ago a price was written, or a feed had the same. Pure.

import { TIERS } from "../../core/tiers.ts";
import { type Catalog, isUsable } from "../catalog.ts";
import { keyOf } from "./diff.ts";
import type { PriceReview } from "./review.ts";

interface OldestPrice {
  readonly model: string;
  readonly provider: string;
  /** The day of the price, or the time at which a feed confirmed it. */
  readonly sinceMs: number;
}

/** The oldest of the prices that requests are routed by, without those that an operator wrote. Null where there is none. */
export function oldestPrice(
  catalog: Catalog,
  confirmed: PriceReview["confirmed"],
  isOwn: (source: string) => boolean,
): OldestPrice | null {
  let oldest: OldestPrice | null = null;
  const chained = new Set(TIERS.flatMap((tier) => catalog.chains[tier]));
  for (const { id, hosts } of chained) {
    for (const host of hosts) {
      const dayMs = Date.parse(host.priceAsOf);
      if (Number.isNaN(dayMs) || !isUsable(catalog, host) || isOwn(host.priceSource)) continue;
      const sinceMs = Math.max(dayMs, confirmed.get(keyOf(host.provider, host.upstream)) ?? 0);
      if (oldest === null || sinceMs < oldest.sinceMs) oldest = { model: id, provider: host.provider, sinceMs };
    }
  }
  return oldest;
}
