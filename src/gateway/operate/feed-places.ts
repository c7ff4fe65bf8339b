// Places of the feeds by the settings, and what waits for an operator by them.

import type { FeedId } from "../../catalog/prices/feeds.ts";
import type { Proposal } from "../../catalog/prices/review.ts";
import type { Settings } from "../../config/settings.ts";
import { sortChanges } from "../../versions/adoption.ts";
import type { Versions } from "../../versions/versions.ts";

/** Addresses or files by feed. A feed that is left out is off. */
export type FeedPlaces = Readonly<Partial<Record<FeedId, string>>>;

export function feedPlaces({ priceListUrl, genaiPricesUrl, openrouterPricesUrl }: Settings["prices"]): FeedPlaces {
  const places = { litellm: priceListUrl, genai: genaiPricesUrl, openrouter: openrouterPricesUrl };
  return Object.fromEntries(Object.entries(places).filter(([, place]) => place.toLowerCase() !== "off"));
}

/** Addresses that prices may have as their source. */
export function feedAddresses(prices: Settings["prices"]): readonly string[] {
  return Object.values(feedPlaces(prices));
}

/** Proposals that an operator can decide on: those of the file, and prices of their own, are settled. */
export function waitingIn(
  proposals: readonly Proposal[],
  { locks }: Pick<Versions, "locks">,
  prices: Settings["prices"],
): readonly Proposal[] {
  return sortChanges(proposals, locks, feedAddresses(prices)).free;
}
