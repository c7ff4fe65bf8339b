// Compares prices: reads the price list, asks configured providers for their models, and keeps what they said.

import { readBuiltin } from "../../catalog/builtin.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { PriceCheck, PriceCheckStore } from "../../catalog/prices/check.ts";
import { listedVendor, type OfferedModel } from "../../catalog/prices/diff.ts";
import { fetchPriceList, NoPriceList, type SourcedList } from "../../providers/price-source.ts";
import type { Registry } from "../../providers/registry.ts";
import { listModels } from "./list-models.ts";

export interface PriceServices {
  readonly catalog: Catalog;
  readonly registry: Registry;
  readonly checks: PriceCheckStore;
  readonly now: () => number;
}

/** A list that cannot be read leaves the last one in place, and says why. */
export async function checkPrices(address: string, services: PriceServices): Promise<PriceCheck> {
  const { catalog, checks, now } = services;
  const [list, offered] = await Promise.all([listAt(address), offeredBy(services)]);
  const last = (await checks.read()) ?? { source: address, atMs: 0, rows: [], refused: [] };
  const check =
    typeof list === "string"
      ? { ...last, offered, problem: list }
      : { source: list.source, atMs: now(), problem: null, ...knownOf(list, catalog), offered };
  await checks.write(check);
  return check;
}

/** The reason in words where there is none. */
async function listAt(address: string): Promise<SourcedList | string> {
  try {
    return await fetchPriceList(address, ".");
  } catch (error) {
    if (error instanceof NoPriceList) return error.message;
    throw error;
  }
}

/** A list names many vendors; what none of ours could ever use is not kept. */
function knownOf({ rows, refused }: SourcedList, { providers }: Catalog): Pick<PriceCheck, "rows" | "refused"> {
  const ids = [...readBuiltin().providers.map(({ id }) => id), ...providers.keys()];
  const vendors = new Set(ids.map(listedVendor));
  const isKnown = ({ vendor }: { readonly vendor: string }): boolean => vendors.has(vendor);
  return { rows: rows.filter(isKnown), refused: refused.filter(isKnown) };
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

function offerOf({ id, price, context }: OfferedModel): OfferedModel {
  return { id, price, ...(context === undefined ? {} : { context }) };
}
