// Compares a price list with the catalogue, host by host: what changed and by how much, which rows of ours the list cannot
// be believed for, and which models of configured providers the catalogue lacks.

import type { Unit } from "../../core/money.ts";
import {
  type Band,
  effectiveRate,
  type PriceSchedule,
  periodPlace,
  type RateCard,
  type Rates,
  ratesFor,
} from "../../core/price.ts";
import type { Catalog } from "../catalog.ts";
import type { PriceList } from "./list.ts";
import type { ListedRow, RefusedRow } from "./listed.ts";

/** Names of our providers in LiteLLM's list, where they differ. */
const LISTED_AS: Readonly<Record<string, string>> = {
  google: "gemini",
  together: "together_ai",
  fireworks: "fireworks_ai",
  qwen: "dashscope",
  "azure-openai": "azure",
};

export interface PriceChange {
  readonly model: string;
  readonly provider: string;
  readonly upstream: string;
  readonly from: RateCard | null;
  readonly fromAsOf: string;
  readonly fromSource: string;
  readonly to: RateCard;
  /** The largest change of its figures in percent; null where one was nothing before, or there was no price. */
  readonly percent: number | null;
  /** The first day of a price that is announced; left out for today's. */
  readonly startsOn?: string;
}

/** A model that a configured provider has, and nobody has priced: never routed to. */
export interface UnpricedModel
  extends Pick<ListedRow, "upstream" | "context" | "maxOutput" | "capabilities" | "formats"> {
  readonly provider: string;
  /** Id of the model where the catalogue has the model, but without a price. */
  readonly model: string | null;
  /** The price in the list, else the one that the provider itself lists. */
  readonly price: RateCard | null;
  readonly isOwnPrice: boolean;
}

/** Models that a provider lists. */
export interface OfferedModel {
  readonly id: string;
  readonly price: { readonly input: number; readonly output: number } | null;
  readonly context?: number;
  /** The day on which it came out, where its provider says so. */
  readonly created?: string;
}

/** A price list, and where providers were asked too, what each of them offers. */
export interface Comparison extends Pick<PriceList, "rows" | "refused"> {
  readonly offered?: Readonly<Record<string, readonly OfferedModel[]>>;
}

export interface PriceDiff {
  readonly changes: readonly PriceChange[];
  /** Number of hosts of configured providers whose price in the list is the same. */
  readonly same: number;
  /** Rows of hosts in the catalogue that cannot be true. */
  readonly refused: readonly (RefusedRow & { readonly model: string })[];
  readonly unpriced: readonly UnpricedModel[];
}

export type PricedCatalog = Pick<Catalog, "models" | "providers">;

export function diffPrices(catalog: PricedCatalog, list: Comparison): PriceDiff {
  const { models, providers } = catalog;
  const rows = new Map(list.rows.map((row) => [keyOf(row.vendor, row.upstream), row]));
  const wrong = new Map(list.refused.map((row) => [keyOf(row.vendor, row.upstream), row]));
  const ours = configuredHosts({ models, providers });
  const keys = ours.map(({ provider, upstream }) => keyOf(listedVendor(provider), upstream));
  const changes = ours.flatMap((host, index): readonly PriceChange[] => {
    const row = rows.get(keys[index] ?? "");
    return row === undefined || isListed(host, row.price) ? [] : [changeOf(host, row)];
  });
  return {
    changes,
    same: keys.filter((key) => rows.has(key)).length - changes.length,
    refused: ours.flatMap(({ model }, index) => {
      const row = wrong.get(keys[index] ?? "");
      return row === undefined ? [] : [{ ...row, model }];
    }),
    unpriced: unpricedOf(catalog, list, ours),
  };
}

/** The hosts of configured providers. */
export function configuredHosts({ models, providers }: PricedCatalog): readonly PricedHost[] {
  const hosts = [...models.values()].flatMap(({ id, hosts }) => hosts.map((host) => ({ ...host, model: id })));
  return hosts.filter(({ provider }) => providers.has(provider));
}

export function keyOf(vendor: string, upstream: string): string {
  return `${vendor}\n${upstream}`;
}

/** The name of a provider in price lists. */
export function listedVendor(provider: string): string {
  return LISTED_AS[provider] ?? provider;
}

/** Models that the provider lists, else those in the price list. Models with a price come first. */
export function unpricedOf(
  { providers }: PricedCatalog,
  { rows, offered = {} }: Comparison,
  ours: readonly PricedHost[],
): readonly UnpricedModel[] {
  const all = [...providers.keys()].flatMap((provider) => {
    const own = ours.filter((host) => host.provider === provider);
    const listed = new Map(
      rows.filter((row) => row.vendor === listedVendor(provider)).map((row) => [row.upstream, row]),
    );
    const names = offered[provider]?.map((each) => each.id) ?? [...listed.keys()];
    const added = names.filter((name) => !own.some(({ upstream }) => isSameModel(name, upstream)));
    const bare = own.filter(({ price, upstream }) => price === null && !listed.has(upstream));
    const known = bare.map(({ model, upstream }) => ({ model, name: upstream }));
    return [...known, ...added.map((name) => ({ model: null, name }))].map(({ model, name }) =>
      unpriced(
        { provider, model, upstream: name },
        listed.get(name),
        offered[provider]?.find(({ id }) => id === name),
      ),
    );
  });
  return [...all.filter(({ price }) => price !== null), ...all.filter(({ price }) => price === null)];
}

function unpriced(
  named: Pick<UnpricedModel, "provider" | "model" | "upstream">,
  row: ListedRow | undefined,
  offer: OfferedModel | undefined,
): UnpricedModel {
  const own = offer?.price == null ? null : { ...offer.price, cacheRead: null, cacheWrite: null };
  return {
    ...named,
    ...{ price: row?.price ?? own, isOwnPrice: row === undefined && own !== null },
    ...{ context: row?.context ?? offer?.context ?? null, maxOutput: row?.maxOutput ?? null },
    capabilities: row?.capabilities ?? [],
    ...(row?.formats === undefined ? {} : { formats: row.formats }),
  };
}

/** Vendors list the dated names of models that they also answer under a shorter one. */
export function isSameModel(listed: string, upstream: string): boolean {
  if (listed === upstream) return true;
  const isLonger = listed.startsWith(`${upstream}-`);
  return isLonger && /^(\d{4,8}|\d{4}-\d{2}-\d{2}|latest)$/.test(listed.slice(upstream.length + 1));
}

export interface PricedHost {
  readonly model: string;
  readonly provider: string;
  readonly upstream: string;
  readonly price: RateCard | null;
  readonly schedule?: PriceSchedule;
  readonly context: number;
  readonly priceAsOf: string;
  readonly priceSource: string;
}

/** A figure for the cache that the list leaves out stays as it was, and so does everything else that lists rarely have. */
export function changeOf(host: PricedHost, row: ListedRow): PriceChange {
  const { model, provider, upstream, price, context, priceAsOf, priceSource } = host;
  const { own, images, bands, tiers, leastSeconds } = price ?? {};
  const to: RateCard = {
    ...{ ...(own && { own }), ...(images && { images }), ...(bands && { bands }), ...(tiers && { tiers }) },
    ...(leastSeconds === undefined ? {} : { leastSeconds }),
    ...row.price,
    ...(own && row.price.own ? { own: { ...own, ...row.price.own } } : {}),
    ...(row.price.bands === undefined ? {} : { bands: row.price.bands.map((band) => withOurEdge(band, bands)) }),
    cacheRead: row.price.cacheRead ?? price?.cacheRead ?? null,
    cacheWrite: row.price.cacheWrite ?? price?.cacheWrite ?? null,
  };
  const percent = price === null ? null : largestChange(pairsOf(price, to, context));
  return { model, provider, upstream, from: price, fromAsOf: priceAsOf, fromSource: priceSource, to, percent };
}

/** Lists do not tell whether the edge itself belongs to a band; our catalogue does. */
function withOurEdge(band: Band, ours: readonly Band[] = []): Band {
  const same = ours.find(({ above }) => Math.abs(above - band.above) <= 1);
  return same === undefined ? band : { ...band, above: same.above };
}

/** A figure of ours, and the same one in the list. */
type Pair = readonly [ours: number | null, listed: number];

/**
 * The figures that the list has. Bands count as far as the model's window reaches. A service tier that we have no price
 * for says nothing about the price that we have.
 */
export function pairsOf(ours: RateCard, listed: RateCard, context: number): readonly Pair[] {
  const tiers = Object.entries(listed.tiers ?? {}).flatMap(([name, tier]) => {
    const own = ours.tiers?.[name as keyof typeof ours.tiers];
    return own === undefined ? [] : pairsOf(own, tier, context);
  });
  const bands = (listed.bands ?? []).filter(({ above }) => above < context);
  return [
    ...ratePairs(ours, listed),
    ...bands.flatMap((band) => ratePairs(ratesFor(ours, band.above + 1), band)),
    ...tiers,
  ];
}

function ratePairs(ours: Rates, listed: Rates): readonly Pair[] {
  const { input, output, cacheRead, cacheWrite, own = {} } = listed;
  const cache = [
    [ours.cacheRead, cacheRead],
    [ours.cacheWrite, cacheWrite],
  ] as const;
  const units = Object.entries(own) as readonly [Unit, number][];
  return [
    [ours.input, input],
    [ours.output, output],
    ...cache.flatMap(([our, figure]): Pair[] => (figure === null ? [] : [[our, figure]])),
    ...units.map(([unit, rate]): Pair => [effectiveRate(ours, unit), rate]),
  ];
}

/** The list has one price for a model. Where ours depends on the hour, any of today's may be the one. */
export function isListed({ price, schedule = [], context }: PricedHost, listed: RateCard): boolean {
  if (price === null) return false;
  const today = schedule[periodPlace(schedule, price)];
  const cards = today === undefined ? [price] : [today.card, ...today.hours.map(({ card }) => card)];
  return cards.some((card) => pairsOf(card, listed, context).every(([ours, figure]) => ours === figure));
}

function largestChange(pairs: readonly Pair[]): number | null {
  let largest = 0;
  for (const [old, figure] of pairs) {
    if (figure === old) continue;
    if (old === null || old === 0) return null;
    largest = Math.max(largest, Math.abs(figure - old) / old);
  }
  return Math.round(largest * 1000) / 10;
}
