// The checks of prices: what the feeds said last, what waits for an operator, and how old prices in use are. Reads what the
// last price check left, and calls nobody.

import { catalogAt } from "../../catalog/moment.ts";
import { oldestPrice } from "../../catalog/prices/age.ts";
import { type FeedState, isStale } from "../../catalog/prices/check.ts";
import { FEEDS } from "../../catalog/prices/feeds.ts";
import { reviewPrices } from "../../catalog/prices/review.ts";
import type { Check } from "../../config/doctor.ts";
import type { Settings } from "../../config/settings.ts";
import type { Db } from "../../core/db.ts";
import { feedAddresses, waitingIn } from "../../gateway/operate/feed-places.ts";
import { createPriceCheckStore } from "../../store/versions/price-checks.ts";
import { isOperatorPrice } from "../../versions/adoption.ts";
import * as TEXT from "../command/text.ts";

const NAMED_MAX = 5;

export async function priceFeedChecks(db: Db, settings: Settings, nowMs: number): Promise<readonly Check[]> {
  const { prices, configuration } = settings;
  const isOff = prices.priceCheck === "off" || prices.priceCheckHours === 0;
  const check = await createPriceCheckStore(db).read();
  if (check.atMs === 0) return [{ state: "ok", what: isOff ? TEXT.pricesUnchecked : TEXT.pricesNotYet, fix: null }];
  const { catalog } = catalogAt(settings.catalog, nowMs);
  const { proposals, confirmed } = reviewPrices(catalog, check, prices.priceMaxChangePercent);
  const oldest = oldestPrice(catalog, confirmed, (source) => isOperatorPrice(source, feedAddresses(prices)));
  const checked = TEXT.pricesChecked(dayAndTime(check.atMs), confirmed.size);
  const age = oldest === null ? "" : TEXT.pricesOldest(oldest.model, dayAndTime(oldest.sinceMs).slice(0, 10));
  const waiting = [...new Set(waitingIn(proposals, configuration, prices).map(({ model }) => model))];
  return [
    { state: "ok", what: `${checked}${age}`, fix: isOff ? TEXT.turnOnPrices : null },
    ...check.feeds.flatMap((state): Check[] => feedChecks(state, check.atMs)),
    ...(waiting.length === 0
      ? []
      : [{ state: "warn" as const, what: TEXT.pricesWait(waiting.length, named(waiting)), fix: TEXT.reviewPrices }]),
  ];
}

function feedChecks(state: FeedState, atMs: number): Check[] {
  const { feed, problem, lost, changedAtMs } = state;
  const { label } = FEEDS[feed];
  const told = [
    ...(problem === null ? [] : [`${label}: ${problem}`]),
    ...(isStale(state, atMs) ? [TEXT.feedStale(label, dayAndTime(changedAtMs).slice(0, 10))] : []),
    ...(lost.length === 0 ? [] : [TEXT.feedLost(label, named(lost))]),
  ];
  return told.map((what) => ({ state: "warn", what, fix: TEXT.feedStays }));
}

function named(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).join(", ")}${more}`;
}

function dayAndTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
