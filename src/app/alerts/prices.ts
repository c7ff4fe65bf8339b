// Events of the last price check: what it left to an operator. Checks are rare, and reading one takes a while.

import { createHash } from "node:crypto";
import type { EventSource } from "../../alerting/watch.ts";
import { isSimulated } from "../../catalog/catalog.ts";
import { isStale, type PriceCheck, type PriceCheckStore } from "../../catalog/prices/check.ts";
import type { Settings } from "../../config/settings.ts";
import type { Observation } from "../../core/alerts/kinds.ts";
import type { Services } from "../../gateway/services.ts";
import type { Versions } from "../../versions/versions.ts";

interface PriceContext {
  readonly prices: () => Settings["prices"];
  readonly current: () => Pick<Services, "catalog">;
  readonly versions: Versions;
  readonly priceChecks: PriceCheckStore;
}

const EVERY_MS = 15 * 60_000;
const NAMED_MAX = 5;

export function priceSource(context: PriceContext): EventSource {
  const { prices, current, priceChecks } = context;
  return {
    everyMs: EVERY_MS,
    async look() {
      const { catalog } = current();
      if (prices().priceCheck === "off" || isSimulated(catalog)) return [];
      const check = await priceChecks.read();
      return [...(await waitingOf(check, context)), ...invalidOf(check)];
    },
  };
}

/** The code is loaded when it is needed, as for the check itself. */
async function waitingOf(check: PriceCheck, context: PriceContext): Promise<readonly Observation[]> {
  if (check.atMs === 0) return [];
  const { current, versions } = context;
  const { reviewPrices } = await import("../../catalog/prices/review.ts");
  const { waitingIn } = await import("../../gateway/operate/feed-places.ts");
  const prices = context.prices();
  const { proposals } = reviewPrices(current().catalog, check, prices.priceMaxChangePercent);
  const waiting = waitingIn(proposals, versions, prices);
  if (waiting.length === 0) return [];
  const names = [...new Set(waiting.map(({ model }) => model))].sort();
  const more = names.length > NAMED_MAX ? [`and ${names.length - NAMED_MAX} more`] : [];
  const data = { count: waiting.length.toString(), models: [...names.slice(0, NAMED_MAX), ...more].join(", ") };
  const subject = createHash("sha256").update(names.join("\n")).digest("hex").slice(0, 16);
  return [{ kind: "prices.waiting", accountId: null, subject, data }];
}

function invalidOf(check: PriceCheck): readonly Observation[] {
  return check.feeds.flatMap((state): readonly Observation[] => {
    const { feed, problem, changedAtMs } = state;
    const stale = isStale(state, check.atMs) ? `it has not changed since ${new Date(changedAtMs).toISOString()}` : null;
    const reason = problem ?? stale;
    return reason === null ? [] : [{ kind: "feed.invalid", accountId: null, subject: feed, data: { feed, reason } }];
  });
}
