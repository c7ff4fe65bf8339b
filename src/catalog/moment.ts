// The catalogue with the prices of a moment. A price that begins or ends on a day, or at an hour, changes by itself.

import type { HostedModel, Model } from "../core/model.ts";
import { cardAt } from "../core/price.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import type { Catalog } from "./catalog.ts";

interface CatalogNow {
  readonly catalog: Catalog;
  /** The moment from which another price may be valid; infinity where none ever will be. */
  readonly untilMs: number;
}

/** Nobody has to publish a price that begins on a day: the first request of that day is the first to have it. */
export function pricedByClock(published: Catalog): (atMs: number) => Catalog {
  let now: CatalogNow = { catalog: published, untilMs: Number.NEGATIVE_INFINITY };
  return (atMs) => {
    if (atMs >= now.untilMs) now = catalogAt(published, atMs);
    return now.catalog;
  };
}

/** Returns the same catalogue where no price depends on the moment. */
export function catalogAt(catalog: Catalog, atMs: number): CatalogNow {
  let untilMs = Number.POSITIVE_INFINITY;
  const priced = <Host extends HostedModel>(host: Host): Host => {
    if (host.schedule === undefined) return host;
    const now = cardAt(host.schedule, atMs);
    untilMs = Math.min(untilMs, now.untilMs);
    return now.card === host.price ? host : { ...host, price: now.card };
  };
  const models = new Map<string, Model>();
  let isSame = true;
  for (const [id, model] of catalog.models) {
    const hosts = model.hosts.map(priced);
    const isModelSame = hosts.every((host, place) => host === model.hosts[place]);
    models.set(id, isModelSame ? model : { ...(hosts[0] as HostedModel), hosts });
    isSame &&= isModelSame;
  }
  if (isSame) return { catalog, untilMs };
  const of = (model: Model): Model => models.get(model.id) ?? model;
  const chains = Object.fromEntries(TIERS.map((tier) => [tier, catalog.chains[tier].map(of)])) as Record<Tier, Model[]>;
  // A baseline without a schedule counts at its regular price.
  const baseline = catalog.baseline.schedule === undefined ? catalog.baseline : of(catalog.baseline);
  const tools = Object.entries(catalog.withTools).map(([tier, chain]) => [
    tier,
    { ...chain, models: chain.models.map(of) },
  ]);
  const withTools = Object.fromEntries(tools) as Catalog["withTools"];
  return { catalog: { ...catalog, models, chains, withTools, baseline }, untilMs };
}
