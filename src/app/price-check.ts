// The scheduled comparison of prices with a price list. Small changes are adopted if the operator allows that. All others
// are logged and shown until somebody adopts them.

import type { PriceCheckStore } from "../catalog/prices/check.ts";
import { diffPrices, isWithin } from "../catalog/prices/diff.ts";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import type { Overlay } from "../core/overlay.ts";
import { checkPrices } from "../gateway/operate/check-prices.ts";
import type { Services } from "../gateway/services.ts";
import { datedBy, dayOf, sortChanges, withPrices } from "../versions/adoption.ts";
import type { Versions } from "../versions/versions.ts";

interface PriceCheckContext {
  readonly settings: Pick<Settings, "prices">;
  readonly versions: Versions;
  readonly checks: PriceCheckStore;
  readonly current: () => Pick<Services, "catalog" | "registry">;
  readonly log: Log;
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;
/** A timer of 25 days or more fires at once. */
const STEP_MS_MAX = 24 * HOUR_MS;
const AUTHOR = "price check";

/** Starts the price check. Returns null where the check is switched off, which is the default. */
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

async function check({ settings, versions, checks, current, log, now }: PriceCheckContext): Promise<void> {
  const { priceListUrl, priceMaxChangePercent } = settings.prices;
  try {
    const { catalog, registry } = current();
    const found = await checkPrices(priceListUrl, { catalog, registry, checks, now });
    if (found.problem !== null) throw new Error(found.problem);
    const { changes, refused } = diffPrices(catalog, found);
    const { free } = sortChanges(changes, versions.locks);
    const small = free.filter((change) => isWithin(change, priceMaxChangePercent));
    const left = changes.filter((change) => !small.includes(change)).map(({ model }) => model);
    if (small.length > 0) {
      const dated = datedBy(small, { asOf: dayOf(now()), source: priceListUrl });
      const change = (document: Overlay): Overlay => withPrices(document, current().catalog.models, dated);
      await versions.publish({
        author: AUTHOR,
        note: `Prices of ${priceListUrl}`.slice(0, 500),
        isDated: true,
        change,
      });
    }
    if (left.length + refused.length > 0) {
      const reasons = refused.map(({ model, reason }) => `${model}: ${reason}`);
      log.warn({ event: "prices.differ", models: left, refused: reasons }, "prices differ from the price list");
    }
  } catch (error) {
    log.warn({ event: "prices.unavailable", err: error }, "prices could not be compared with the price list");
  }
}
