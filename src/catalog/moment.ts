// The catalogue of a moment. A price that begins or ends on a day, or at an hour, changes by itself, and a model that
// has retired leaves its chains.

import type { HostedModel, Model } from "../core/model.ts";
import { cardAt } from "../core/price.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { type Catalog, isUsable, type TierChain } from "./catalog.ts";
import { isRetired, nextRetirementMs } from "./retirement.ts";

interface CatalogNow {
  readonly catalog: Catalog;
  /** The moment from which another price may be valid, or a model be retired; infinity where none ever will be. */
  readonly untilMs: number;
}

/**
 * Nobody has to publish a price that begins on a day: the first request of that day is the first to have it. `onMoment`
 * is called whenever something may have changed.
 */
export function pricedByClock(published: Catalog, onMoment?: (atMs: number) => void): (atMs: number) => Catalog {
  let now: CatalogNow = { catalog: published, untilMs: Number.NEGATIVE_INFINITY };
  return (atMs) => {
    if (atMs >= now.untilMs) {
      now = catalogAt(published, atMs);
      onMoment?.(atMs);
    }
    return now.catalog;
  };
}

/** Returns the same catalogue where no price depends on the moment. */
export function catalogAt(catalog: Catalog, atMs: number): CatalogNow {
  let untilMs = nextRetirementMs(catalog, atMs);
  const priced = (host: HostedModel): HostedModel => {
    if (host.schedule === undefined) return host;
    const now = cardAt(host.schedule, atMs);
    untilMs = Math.min(untilMs, now.untilMs);
    return now.card === host.price ? host : { ...host, price: now.card };
  };
  const dated = (host: HostedModel): HostedModel =>
    isRetired(host, atMs) ? { ...priced(host), isRetired: true } : priced(host);
  const models = new Map<string, Model>();
  let isSame = true;
  for (const [id, model] of catalog.models) {
    const hosts = retiredLast(model.hosts.map(dated), catalog);
    const isModelSame = hosts.every((host, place) => host === model.hosts[place]);
    models.set(id, isModelSame ? model : { ...(hosts[0] as HostedModel), hosts });
    isSame &&= isModelSame;
  }
  if (isSame) return { catalog, untilMs };
  const of = (model: Model): Model => models.get(model.id) ?? model;
  const chains = withoutRetired(catalog, of);
  // A baseline without a schedule counts at its regular price.
  const baseline = catalog.baseline.schedule === undefined ? catalog.baseline : of(catalog.baseline);
  const tools = Object.entries(catalog.withTools).map(([tier, chain]): [string, TierChain] => [
    tier,
    { ...chain, models: chain.models.map(of).filter(isServing) },
  ]);
  const withTools = Object.fromEntries(tools.filter(([, { models }]) => models.length > 0)) as Catalog["withTools"];
  return { catalog: { ...catalog, models, chains, withTools, baseline }, untilMs };
}

/** A model whose first host is retired has no other that can be called. */
function isServing({ isRetired }: Model): boolean {
  return isRetired !== true;
}

/** Hosts that can be called stay before the others. */
function retiredLast(hosts: readonly HostedModel[], catalog: Catalog): readonly HostedModel[] {
  if (hosts.every((host) => host.isRetired !== true)) return hosts;
  const rankOf = (host: HostedModel): number => (isUsable(catalog, host) ? (host.isRetired === true ? 1 : 0) : 2);
  return hosts.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Keeps retired models where every tier would be empty without them: they are still worth a try. */
function withoutRetired({ chains }: Catalog, of: (model: Model) => Model): Catalog["chains"] {
  const now = TIERS.map((tier) => [tier, chains[tier].map(of)] as const);
  const serving = now.map(([tier, models]) => [tier, models.filter(isServing)] as const);
  const isEmpty = serving.every(([, models]) => models.length === 0);
  return Object.fromEntries(isEmpty ? now : serving) as Record<Tier, Model[]>;
}
