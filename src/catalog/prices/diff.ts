// Compares a price list with the catalogue, host by host: what changed and by how much, which rows of ours the list cannot
// be believed for, and which models of configured providers the catalogue lacks.

import type { Price } from "../../core/money.ts";
import type { Catalog } from "../catalog.ts";
import type { ListedRow, PriceList, RefusedRow } from "./list.ts";

/** How LiteLLM's list names our providers, where that is another name. */
const LISTED_AS: Readonly<Record<string, string>> = {
  google: "gemini",
  together: "together_ai",
  fireworks: "fireworks_ai",
  qwen: "dashscope",
};

export interface PriceChange {
  readonly model: string;
  readonly provider: string;
  readonly upstream: string;
  readonly from: Price | null;
  readonly fromAsOf: string;
  readonly fromSource: string;
  readonly to: Price;
  /** The largest change of its figures in percent; null where one was nothing before, or there was no price. */
  readonly percent: number | null;
}

interface UnpricedModel {
  readonly provider: string;
  readonly upstream: string;
  readonly price: Price;
  readonly context: number | null;
  readonly maxOutput: number | null;
}

export interface PriceDiff {
  readonly changes: readonly PriceChange[];
  /** How many hosts of configured providers have the same price in the list. */
  readonly same: number;
  /** Rows of hosts in the catalogue that cannot be true. */
  readonly refused: readonly (RefusedRow & { readonly model: string })[];
  /** Of configured providers, and not in the catalogue: unpriced, so never routed to. */
  readonly unpriced: readonly UnpricedModel[];
}

export function diffPrices({ models, providers }: Pick<Catalog, "models" | "providers">, list: PriceList): PriceDiff {
  const keyOf = (vendor: string, upstream: string): string => `${vendor}\n${upstream}`;
  const vendorOf = (provider: string): string => LISTED_AS[provider] ?? provider;
  const rows = new Map(list.rows.map((row) => [keyOf(row.vendor, row.upstream), row]));
  const wrong = new Map(list.refused.map((row) => [keyOf(row.vendor, row.upstream), row]));
  const hosts = [...models.values()].flatMap(({ id, hosts }) => hosts.map((host) => ({ ...host, model: id })));
  const ours = hosts.filter(({ provider }) => providers.has(provider));
  const keys = ours.map(({ provider, upstream }) => keyOf(vendorOf(provider), upstream));
  const changes = ours.flatMap((host, index): readonly PriceChange[] => {
    const row = rows.get(keys[index] ?? "");
    return row === undefined || isSame(host.price, row.price) ? [] : [changeOf(host, row)];
  });
  const known = new Set(keys);
  return {
    changes,
    same: keys.filter((key) => rows.has(key)).length - changes.length,
    refused: ours.flatMap(({ model }, index) => {
      const row = wrong.get(keys[index] ?? "");
      return row === undefined ? [] : [{ ...row, model }];
    }),
    unpriced: [...providers.keys()].flatMap((provider) =>
      list.rows
        .filter(({ vendor, upstream }) => vendor === vendorOf(provider) && !known.has(keyOf(vendor, upstream)))
        .map(({ upstream, price, context, maxOutput }) => ({ provider, upstream, price, context, maxOutput })),
    ),
  };
}

interface PricedHost {
  readonly model: string;
  readonly provider: string;
  readonly upstream: string;
  readonly price: Price | null;
  readonly priceAsOf: string;
  readonly priceSource: string;
}

/** A figure for the cache that the list leaves out stays as it was. */
function changeOf(
  { model, provider, upstream, price, priceAsOf, priceSource }: PricedHost,
  row: ListedRow,
): PriceChange {
  const to = {
    ...row.price,
    cacheRead: row.price.cacheRead ?? price?.cacheRead ?? null,
    cacheWrite: row.price.cacheWrite ?? price?.cacheWrite ?? null,
  };
  const percent = price === null ? null : largestChange(price, to);
  return { model, provider, upstream, from: price, fromAsOf: priceAsOf, fromSource: priceSource, to, percent };
}

function figuresOf({ input, output, cacheRead, cacheWrite }: Price): readonly (number | null)[] {
  return [input, output, cacheRead, cacheWrite];
}

function isSame(price: Price | null, listed: Price): boolean {
  if (price === null) return false;
  const ours = figuresOf(price);
  return figuresOf(listed).every((figure, index) => figure === null || figure === ours[index]);
}

function largestChange(from: Price, to: Price): number | null {
  const before = figuresOf(from);
  let largest = 0;
  for (const [index, figure] of figuresOf(to).entries()) {
    const old = before[index] ?? null;
    if (figure === old || figure === null) continue;
    if (old === null || old === 0) return null;
    largest = Math.max(largest, Math.abs(figure - old) / old);
  }
  return Math.round(largest * 1000) / 10;
}

/** Whether a change may be applied without anybody looking at it. */
export function isWithin({ percent }: PriceChange, maxPercent: number): boolean {
  return percent !== null && percent <= maxPercent;
}
