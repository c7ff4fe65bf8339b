// The schedule of price checks, and the age of prices for the metric. Of all processes on one database, one makes each
// check. The code of a check, and what it reads, is loaded for the check alone.

import { type Catalog, isSimulated } from "../catalog/catalog.ts";
import { oldestPrice } from "../catalog/prices/age.ts";
import type { PriceCheck, PriceCheckStore } from "../catalog/prices/check.ts";
import type { LiveSettings } from "../config/settings.ts";
import type { Log } from "../core/log.ts";
import { feedAddresses } from "../gateway/operate/feed-places.ts";
import type { Services } from "../gateway/services.ts";
import type { AuditLog } from "../store/audit/log.ts";
import { isOperatorPrice } from "../versions/adoption.ts";
import type { Versions } from "../versions/versions.ts";

interface PriceCheckContext {
  readonly prices: () => LiveSettings["prices"];
  readonly versions: Versions;
  readonly audit: AuditLog;
  readonly checks: PriceCheckStore;
  readonly current: () => Pick<Services, "catalog" | "registry">;
  readonly log: Log;
  readonly now: () => number;
}

interface PriceChecks {
  /** The age of the oldest price in use; null where none has a date. */
  ageSeconds(): number | null;
  /** Seconds since each feed changed last, for those whose last change is known. */
  feedAges(): Readonly<Record<string, number>>;
  close(): void;
}

const HOUR_MS = 3_600_000;
/** Processes look this often whether a check is due. A process that has just started waits once. */
const LOOK_MS = 60_000;
/** A process that dies during a check keeps the others from it for this long. */
const TURN_MS = 15 * 60_000;

/** Starts the schedule. Each look takes the settings as they are then, so checks can be switched on and off. */
export function startPriceCheck(context: PriceCheckContext): PriceChecks {
  const { prices, current, now } = context;
  const seen: Confirmations = { confirmed: new Map(), feeds: [], atMs: Number.NEGATIVE_INFINITY };
  let isLooking = false;
  const lookOnce = async (): Promise<void> => {
    const everyMs = intervalMs(prices());
    if (isLooking || everyMs === null) return;
    isLooking = true;
    await look(context, everyMs, seen);
    isLooking = false;
  };
  const timer = setInterval(() => void lookOnce(), Math.min(LOOK_MS, intervalMs(prices()) ?? LOOK_MS)).unref();
  return {
    ageSeconds() {
      const addresses = feedAddresses(prices());
      const isOwn = (source: string): boolean => isOperatorPrice(source, addresses);
      const oldest = oldestPrice(current().catalog, seen.confirmed, isOwn);
      return oldest === null ? null : Math.max(0, Math.round((now() - oldest.sinceMs) / 1000));
    },
    feedAges() {
      const changed = seen.feeds.filter(({ changedAtMs = 0 }) => changedAtMs > 0);
      const ageOf = (ms: number): number => Math.max(0, Math.round((now() - ms) / 1000));
      return Object.fromEntries(changed.map(({ feed, changedAtMs }) => [feed, ageOf(changedAtMs)]));
    },
    close: () => clearInterval(timer),
  };
}

/** Returns null where checks are off. */
function intervalMs({ priceCheck, priceCheckHours }: LiveSettings["prices"]): number | null {
  return priceCheck === "off" || priceCheckHours === 0 ? null : Math.max(1, priceCheckHours * HOUR_MS);
}

/** Feeds of the last check and prices that it confirmed, as far as this process knows. */
interface Confirmations {
  confirmed: ReadonlyMap<string, number>;
  feeds: PriceCheck["feeds"];
  atMs: number;
}

/** Nobody is charged for simulated answers, so their prices need no check. */
async function look(context: PriceCheckContext, everyMs: number, seen: Confirmations): Promise<void> {
  const { prices, checks, current, log, now } = context;
  if (isSimulated(current().catalog)) return;
  try {
    const startedMs = now();
    if (!(await checks.claim(startedMs, startedMs + TURN_MS))) {
      if (startedMs - seen.atMs >= HOUR_MS)
        await see(await checks.read(), current().catalog, { seen, atMs: startedMs });
      return;
    }
    const last = await checks.read();
    const dueMs = last.atMs + everyMs;
    if (dueMs > startedMs) return void (await checks.claim(Number.MAX_SAFE_INTEGER, nextLook(dueMs, startedMs)));
    const { checkAndAdopt } = await import("../gateway/operate/adopt-prices.ts");
    const check = await checkAndAdopt({ ...context, prices: prices() });
    await checks.claim(Number.MAX_SAFE_INTEGER, nextLook(startedMs + everyMs, startedMs));
    await see(check, current().catalog, { seen, atMs: startedMs });
  } catch (error) {
    log.warn({ event: "prices.unavailable", err: error }, "prices could not be checked");
  }
}

/** Bounded, so that a shorter interval counts soon after it was set. */
function nextLook(dueMs: number, nowMs: number): number {
  return Math.min(dueMs, nowMs + TURN_MS);
}

/** Another process may have made the check. */
async function see(
  check: PriceCheck,
  catalog: Catalog,
  { seen, atMs }: { readonly seen: Confirmations; readonly atMs: number },
) {
  const { reviewPrices } = await import("../catalog/prices/review.ts");
  seen.confirmed = reviewPrices(catalog, check, 0).confirmed;
  seen.feeds = check.feeds;
  seen.atMs = atMs;
}
