// The catalogue held against what providers list: is each model still offered under the name it is asked for by, at the
// price it is charged by?

import type { Catalog } from "../../catalog/catalog.ts";
import { ageInDays, type Check, PRICES_OLD_DAYS } from "../../config/doctor.ts";
import type { Model } from "../../core/model.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import type { ListedModel, ListedPrice } from "../../formats/service/provider-models.ts";
import type { Listing } from "../../gateway/operate/list-models.ts";

export interface ModelFinding {
  readonly model: Model;
  /** The tiers whose requests it gets; a model in none can still be asked for by name. */
  readonly tiers: readonly Tier[];
  readonly state: Check["state"];
  readonly result: "offered" | "missing" | "unchecked" | "simulated";
  /** The name in the provider's list. */
  readonly listedAs: string | null;
  /** The provider's own price, where its list has one. */
  readonly listedPrice: ListedPrice | null;
  readonly isPriceWrong: boolean;
  /** How old the catalogue's price is, where that is too old. */
  readonly priceOldDays: number | null;
}

/** Of every model whose provider is configured. */
export function findModels(catalog: Catalog, listings: readonly Listing[], nowMs: number): readonly ModelFinding[] {
  const listed = new Map(listings.map((listing) => [listing.provider.id, listing]));
  return [...catalog.models.values()].flatMap((model) => {
    const provider = catalog.providers.get(model.provider);
    if (provider === undefined) return [];
    const tiers = TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id));
    const isSandbox = provider.kind === "sandbox";
    return [
      { tiers, ...findingOf(model, listed.get(provider.id) ?? null, { isSandbox, isRouted: tiers.length > 0, nowMs }) },
    ];
  });
}

interface Circumstances {
  readonly isSandbox: boolean;
  readonly isRouted: boolean;
  readonly nowMs: number;
}

function findingOf(
  model: Model,
  listing: Listing | null,
  { isSandbox, isRouted, nowMs }: Circumstances,
): Omit<ModelFinding, "tiers"> {
  const models = listing?.models ?? null;
  const found = models === null ? null : findListed(models, model.upstream);
  const result = isSandbox ? "simulated" : models === null ? "unchecked" : found === null ? "missing" : "offered";
  const listedPrice = found?.price ?? null;
  const isPriceWrong = listedPrice !== null && !isSamePrice(model, listedPrice);
  const ageDays = model.priceAsOf === "" ? 0 : ageInDays(model.priceAsOf, nowMs);
  const priceOldDays = ageDays > PRICES_OLD_DAYS && !isSandbox && listedPrice === null ? ageDays : null;
  const isBroken = isPriceWrong || (result === "missing" && isRouted);
  const isOdd = result === "missing" || result === "unchecked" || priceOldDays !== null;
  const state = isBroken ? "fail" : isOdd ? "warn" : "ok";
  return { model, state, result, listedAs: found?.id ?? null, listedPrice, isPriceWrong, priceOldDays };
}

/** Vendors list the dated names of models that they also answer under a shorter one. */
function findListed(models: readonly ListedModel[], name: string): ListedModel | null {
  const isDated = (id: string): boolean =>
    id.startsWith(`${name}-`) && /^(\d{4,8}|\d{4}-\d{2}-\d{2}|latest)$/.test(id.slice(name.length + 1));
  return (
    models.find(({ id, aliases }) => id === name || aliases.includes(name)) ??
    models.find(({ id }) => isDated(id)) ??
    null
  );
}

/** Sums of cents per million tokens are rounded here and there. */
const TOLERANCE = 0.005;

function isSamePrice({ price }: Model, listed: ListedPrice): boolean {
  if (price === null) return false;
  const isNear = (ours: number, theirs: number): boolean =>
    Math.abs(ours - theirs) <= TOLERANCE * Math.max(ours, theirs);
  return isNear(price.input, listed.input) && isNear(price.output, listed.output);
}
