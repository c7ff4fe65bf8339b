// A price check: reads the feeds, asks configured providers for their models, and keeps what they said. Feeds are read one
// after the other, so that only one is in memory.

import { readBuiltin } from "../../catalog/builtin.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { confirmedBy } from "../../catalog/prices/anchors.ts";
import type { ConfirmedPrice, FeedState, PriceCheck, PriceCheckStore } from "../../catalog/prices/check.ts";
import { configuredHosts, keyOf, listedVendor, type OfferedModel } from "../../catalog/prices/diff.ts";
import { FEED_IDS, type FeedId } from "../../catalog/prices/feeds.ts";
import type { ListedRow } from "../../catalog/prices/listed.ts";
import { priceFromRow } from "../../catalog/prices/rows.ts";
import { hostRows } from "../../catalog/rows.ts";
import type { Registry } from "../../providers/registry.ts";
import { type Fetched, fetchFeed } from "../../providers/sources/price-list.ts";
import { UnreadableSource } from "../../providers/sources/source.ts";
import type { FeedPlaces } from "./feed-places.ts";
import { listModels } from "./list-models.ts";

export interface PriceServices {
  readonly catalog: Catalog;
  readonly registry: Registry;
  readonly checks: PriceCheckStore;
  readonly now: () => number;
  /** Bounds the reading of one feed. */
  readonly withinMs?: number;
}

/** A feed that cannot be read leaves what it said before in place, and says why. */
export async function checkPrices(places: FeedPlaces, services: PriceServices): Promise<CheckedPrices> {
  const { checks, now } = services;
  const last = await checks.read();
  const feeds: FeedState[] = [];
  for (const feed of FEED_IDS) {
    const source = places[feed];
    if (source === undefined) continue;
    const known = last.feeds.find((state) => state.feed === feed && state.source === source) ?? null;
    feeds.push(await readFeed({ feed, source, known }, services));
  }
  const offered = { ...last.offered, ...(await offeredBy(services)) };
  const anchors = confirmedBy(shippedPrices(), last);
  const check = { atMs: now(), feeds, offered, adopted: last.adopted, anchors };
  await checks.write(check);
  return { check, before: last.offered };
}

export interface CheckedPrices {
  readonly check: PriceCheck;
  /** Models that providers offered at the check before. */
  readonly before: PriceCheck["offered"];
}

interface FeedReading {
  readonly feed: FeedId;
  readonly source: string;
  readonly known: FeedState | null;
}

async function readFeed({ feed, source, known }: FeedReading, services: PriceServices): Promise<FeedState> {
  const { catalog, now, withinMs } = services;
  const vendors = vendorsOf(catalog);
  const atMs = now();
  const last = { ...EMPTY, ...known, feed, source };
  // Rows of a vendor that is new here were not kept.
  const isComplete = known !== null && known.readAtMs > 0 && vendors.every((vendor) => known.vendors.includes(vendor));
  const wanted = new Set(vendors);
  const terms = {
    ...{ cwd: ".", day: new Date(atMs).toISOString().slice(0, 10), known: isComplete ? known : null },
    isWanted: (vendor: string) => wanted.has(vendor),
    ...(withinMs === undefined ? {} : { withinMs }),
  };
  const fetched = await fetchedOrWhy(source, terms);
  if (typeof fetched === "string") return { ...last, problem: fetched };
  if (fetched.isUnchanged) {
    const rows = last.rows.map((row) => rowAt(row, terms.day));
    return { ...last, readAtMs: atMs, changedAtMs: last.changedAtMs || atMs, problem: null, rows };
  }
  const { rows, refused, digest } = fetched.list;
  const { etag, modified } = fetched;
  const changedAtMs = lastChangeMs(last, fetched, atMs);
  const read = { ...last, readAtMs: atMs, changedAtMs, digest, problem: null, etag, modified, vendors, rows, refused };
  return { ...read, lost: lostRows(last, rows, catalog) };
}

/** The first time, a list's own word counts. From then on, only a change that was seen does. */
function lastChangeMs(last: FeedState, { list, changedAtMs }: Fetched & { isUnchanged: false }, atMs: number): number {
  if (last.digest === list.digest) return last.changedAtMs;
  return last.digest === "" ? Math.min(changedAtMs ?? atMs, atMs) : atMs;
}

/** A list that is the same may have had prices of today for weeks. */
function rowAt(row: ListedRow, day: string): ListedRow {
  const { later = [], ...now } = row;
  const valid = later.findLast(({ from }) => from <= day);
  if (valid === undefined) return row;
  const left = later.filter(({ from }) => from > day);
  return { ...now, price: valid.price, ...(left.length === 0 ? {} : { later: left }) };
}

const EMPTY = {
  ...{ readAtMs: 0, changedAtMs: 0, digest: "", problem: null, etag: null, modified: null },
  ...{ vendors: [], rows: [], refused: [], lost: [] },
} as const satisfies Omit<FeedState, "feed" | "source">;

/** The reason in words where there is none. */
async function fetchedOrWhy(source: string, terms: Parameters<typeof fetchFeed>[1]): Promise<Fetched | string> {
  try {
    return await fetchFeed(source, terms);
  } catch (error) {
    if (error instanceof UnreadableSource) return error.message;
    throw error;
  }
}

/** A list names many vendors; what none of ours could ever use is not kept. */
function vendorsOf({ providers }: Catalog): readonly string[] {
  const ids = [...readBuiltin().providers.map(({ id }) => id), ...providers.keys()];
  return [...new Set(ids.map(listedVendor))];
}

/** Names what a feed had of our models before and has no more, until it is back or the catalogue lacks it. */
function lostRows(last: FeedState, rows: readonly ListedRow[], catalog: Catalog): readonly string[] {
  const keysOf = (some: readonly ListedRow[]) => new Set(some.map(({ vendor, upstream }) => keyOf(vendor, upstream)));
  const [before, after] = [keysOf(last.rows), keysOf(rows)];
  const vendorsAfter = new Set(rows.map(({ vendor }) => vendor));
  const known = new Set(last.lost);
  const lost = configuredHosts(catalog).flatMap(({ provider, upstream }) => {
    const vendor = listedVendor(provider);
    const key = keyOf(vendor, upstream);
    const name = vendorsAfter.has(vendor) ? `${provider}/${upstream}` : provider;
    return after.has(key) || !(before.has(key) || known.has(name)) ? [] : [name];
  });
  return [...new Set(lost)];
}

/** Prices of the catalogue that ships, by host. */
function shippedPrices(): ReadonlyMap<string, ConfirmedPrice> {
  const prices = readBuiltin().models.flatMap((model) =>
    hostRows(model).flatMap((host): readonly (readonly [string, ConfirmedPrice])[] => {
      const { price: written = model.price, upstream = model.id, priceAsOf = model.priceAsOf ?? "" } = host;
      const price = written === undefined ? undefined : priceFromRow(written)?.price;
      return price === undefined ? [] : [[keyOf(host.provider, upstream), { price, asOf: priceAsOf }]];
    }),
  );
  return new Map(prices);
}

/** Models of one provider that are kept; OpenRouter has some hundred. */
const OFFERED_MAX = 2_000;

/** A provider that cannot be asked, or has no list, is left out. */
async function offeredBy({ catalog, registry, now }: PriceServices): Promise<PriceCheck["offered"]> {
  const called = [...catalog.providers.values()].filter(({ transport }) => transport === "network");
  const listings = await Promise.all(called.map((provider) => listModels(provider, { registry, now })));
  const told = listings.flatMap(({ provider, models }): readonly [string, readonly OfferedModel[]][] =>
    models === null ? [] : [[provider.id, models.slice(0, OFFERED_MAX).map(offerOf)]],
  );
  return Object.fromEntries(told);
}

function offerOf({ id, price, context, created }: OfferedModel): OfferedModel {
  return {
    ...{ id, price },
    ...(context === undefined ? {} : { context }),
    ...(created === undefined ? {} : { created }),
  };
}
