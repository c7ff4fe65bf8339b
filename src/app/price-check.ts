// The scheduled comparison of prices with a price list. Small changes are taken over where the operator allows it; all
// others are logged.

import type { Catalog } from "../catalog/catalog.ts";
import { diffPrices, isWithin } from "../catalog/prices/diff.ts";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import { fetchPriceList } from "../providers/price-source.ts";
import { withoutLocked, withPrices } from "../versions/adoption.ts";
import type { Versions } from "../versions/versions.ts";

interface PriceCheckContext {
  readonly settings: Pick<Settings, "prices">;
  readonly versions: Versions;
  readonly catalog: () => Catalog;
  readonly log: Log;
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;
/** A timer of 25 days or more fires at once. */
const STEP_MS_MAX = 24 * HOUR_MS;
const AUTHOR = "price check";

/** Null where it is switched off, which is the default. */
export function startPriceCheck(context: PriceCheckContext): { close(): void } | null {
  const { priceCheckHours } = context.settings.prices;
  if (priceCheckHours === 0) return null;
  const everyMs = Math.max(1, priceCheckHours * HOUR_MS);
  const stepMs = Math.min(everyMs, STEP_MS_MAX);
  let leftMs = everyMs;
  const timer = setInterval(() => {
    leftMs -= stepMs;
    if (leftMs > 0) return;
    leftMs += everyMs;
    void check(context);
  }, stepMs).unref();
  return { close: () => clearInterval(timer) };
}

async function check({ settings, versions, catalog, log, now }: PriceCheckContext): Promise<void> {
  const { priceListUrl, priceMaxChangePercent } = settings.prices;
  try {
    const list = await fetchPriceList(priceListUrl, ".");
    const { models } = catalog();
    const { changes, refused } = diffPrices(catalog(), list);
    const { free } = withoutLocked(changes, versions.locks);
    const small = free.filter((change) => isWithin(change, priceMaxChangePercent));
    const left = changes.filter((change) => !small.includes(change)).map(({ model }) => model);
    if (small.length > 0) {
      const stamp = { asOf: new Date(now()).toISOString().slice(0, 10), source: priceListUrl };
      const change = (document: Parameters<typeof withPrices>[0]) =>
        withPrices(document, models, { changes: small, stamp });
      await versions.publish({ author: AUTHOR, note: `Prices of ${priceListUrl}`.slice(0, 500), change });
    }
    if (left.length + refused.length > 0) {
      const reasons = refused.map(({ model, reason }) => `${model}: ${reason}`);
      log.warn({ event: "prices.differ", models: left, refused: reasons }, "prices differ from the price list");
    }
  } catch (error) {
    log.warn({ event: "prices.unavailable", err: error }, "prices could not be compared with the price list");
  }
}
