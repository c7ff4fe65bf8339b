// The catalogue the router reads: models, chains and the baseline, checked and indexed once at start.

import type { HostedModel, Model, Provider } from "../core/model.ts";
import type { AskedServiceTier } from "../core/money.ts";
import type { HostOrder } from "../core/requests/controls.ts";
import { EFFORTS, type Effort, type Efforts, USUAL_EFFORTS } from "../core/requests/effort.ts";
import type { BaselinePrice } from "../core/requests/records.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { PolicyRow } from "./rows.ts";
import type { Weights } from "./weights.ts";

/** Models in the order in which they are tried, and the efforts that the chain asks of them. */
export interface TierChain {
  readonly models: readonly Model[];
  readonly efforts: Efforts;
}

export interface Catalog {
  /** Every model known, also those whose provider is not configured. */
  readonly models: ReadonlyMap<string, Model>;
  /** Ids of models by their other names. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Configured providers by id. With none configured, the sandbox alone. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Known regions of providers, and their policies for content. */
  readonly policies: ReadonlyMap<string, PolicyRow>;
  /** The models of each tier in order, all of them routable: priced, with a configured provider. */
  readonly chains: Readonly<Record<Tier, readonly Model[]>>;
  /** The efforts that these chains ask of their models. */
  readonly efforts: Readonly<Record<Tier, Efforts>>;
  /** Chains for requests with tools, already in order of score and price, where a tier has one of its own. */
  readonly withTools: Readonly<Partial<Record<Tier, TierChain>>>;
  /** Tiers whose chain for tools the operator has written. It stays when the tier gets another chain. */
  readonly ownToolChains: ReadonlySet<Tier>;
  /** Tiers whose chain the operator has written, the primary first. */
  readonly ownChains: ReadonlySet<Tier>;
  /** Ids of the models above the floor of each tier, where there are floors. */
  readonly proven: Readonly<Record<Tier, ReadonlySet<string>>> | null;
  /** The model that savings are counted against. */
  readonly baseline: Model;
  /** Parts per million on top of provider cost. */
  readonly markupPpm: number;
  /** The learned weights of the classifier; null leaves the decision to its rules alone. */
  readonly weights: Weights | null;
  /** An auto-routed request whose tier is unsure is not placed below this one. */
  readonly unsureTier: Tier;
  /** In which order the hosts of a model are tried, unless request or profile say otherwise. */
  readonly hostOrder: HostOrder;
  /** The service tier that hosts are asked for, unless request or profile name one; null leaves it to them. */
  readonly serviceTier: AskedServiceTier | null;
}

/** Tells whether requests can be sent to a model: the model has a price and a configured provider. */
export function isUsable(catalog: Catalog, model: HostedModel): boolean {
  return model.price !== null && catalog.providers.has(model.provider);
}

/** The models of a tier in order, for a request with or without tools. */
export function chainOf({ chains, withTools }: Catalog, tier: Tier, hasTools: boolean): readonly Model[] {
  return (hasTools ? withTools[tier]?.models : undefined) ?? chains[tier];
}

/** Tells whether the operator has put the models of a tier in order for requests with tools. An empty list is no order. */
export function isOrderedForTools(catalog: Pick<Catalog, "withTools" | "ownToolChains">, tier: Tier): boolean {
  return catalog.ownToolChains.has(tier) && catalog.withTools[tier] !== undefined;
}

/**
 * The effort that a model is asked for in a tier. One that the tier does not list is asked for no more than the next tier
 * above that does, else for that of its own tier.
 */
export function effortIn(catalog: Catalog, model: HostedModel, tier: Tier, hasTools: boolean): Effort | null {
  for (let rank = tierRank(tier); rank < TIERS.length; rank++) {
    const listed = listedEffort(catalog, model, TIERS[rank] as Tier, hasTools);
    if (listed !== undefined) return listed;
  }
  return listedEffort(catalog, model, model.tier, hasTools) ?? null;
}

/** Returns null where the tier leaves it to the model, and undefined where it does not list the model. */
function listedEffort(catalog: Catalog, { id }: HostedModel, tier: Tier, hasTools: boolean): Effort | null | undefined {
  const efforts = (hasTools ? catalog.withTools[tier]?.efforts : undefined) ?? catalog.efforts[tier];
  if (Object.hasOwn(efforts, id)) return efforts[id];
  return chainOf(catalog, tier, hasTools).some((each) => each.id === id) ? null : undefined;
}

/** The efforts that a model takes at one of its hosts at least, the least first. */
export function effortsTaken({ hosts }: Pick<Model, "hosts">): readonly Effort[] {
  const taken = new Set(hosts.flatMap(effortsAt));
  return EFFORTS.filter((effort) => taken.has(effort));
}

function effortsAt({ capabilities, dialect }: HostedModel): readonly Effort[] {
  return capabilities.has("reasoning") ? (dialect.efforts ?? USUAL_EFFORTS) : [];
}

/** Three input tokens to one of output, the usual weight of a chat; only for putting models and hosts in order. */
export function blendedPrice({ price }: HostedModel): number {
  return ((price?.input ?? 0) * 3 + (price?.output ?? 0)) / 4;
}

/** Tells whether chat requests can be sent to a model. */
export function isRoutable(catalog: Catalog, model: HostedModel): boolean {
  return model.endpoint === null && isUsable(catalog, model);
}

/** Tells whether every response is simulated, because no real provider is configured. */
export function isSimulated({ providers }: Catalog): boolean {
  return [...providers.values()].every(({ transport }) => transport === "sandbox");
}

/** Explains why no request can reach a provider, with the next step; null where the provider has models. */
export function unreachableBecause(models: Catalog["models"], { id, hasDeployments }: Provider): string | null {
  for (const { hosts } of models.values()) if (hosts.some(({ provider }) => provider === id)) return null;
  return hasDeployments === true
    ? `${id} has no models: list its deployments under providers.${id}.deployments, by the ids of their models`
    : `${id} has no models: adopt some on the Prices tab of the dashboard, or write them under models`;
}

/** The baseline with the price that savings are counted at: USD per million tokens. Null without a price. */
export function baselinePriceOf({ baseline: { price, priceAsOf } }: Pick<Catalog, "baseline">): BaselinePrice | null {
  return price === null ? null : { input: price.input / 1e6, output: price.output / 1e6, asOf: priceAsOf };
}

/** The baseline as responses name it beside savings. */
export function baselineNamed(catalog: Pick<Catalog, "baseline">): {
  readonly baselineModel: string;
  readonly baselinePrice: BaselinePrice | null;
} {
  return { baselineModel: catalog.baseline.id, baselinePrice: baselinePriceOf(catalog) };
}

/** The baseline as it is named beside a saving in a terminal. */
export function baselineText(catalog: Pick<Catalog, "baseline">): string {
  const { id } = catalog.baseline;
  const price = baselinePriceOf(catalog);
  if (price === null) return id;
  return `${id} ($${price.input} in, $${price.output} out per million tokens, price of ${price.asOf})`;
}

/** The position of a model in the chain of a tier: the first is asked first. */
export interface ChainPlace {
  readonly tier: Tier;
  readonly place: number;
  /** Number of models in the chain. */
  readonly of: number;
  /** The effort that the chain asks of it; null where it decides for itself. */
  readonly effort: Effort | null;
}

/** Chains for requests with tools are named only where a tier has one of its own. */
export function chainPlaces(catalog: Catalog, { id }: Model, hasTools = false): readonly ChainPlace[] {
  const chains = TIERS.map((tier): [Tier, TierChain | undefined] => {
    const usual = { models: catalog.chains[tier], efforts: catalog.efforts[tier] };
    return [tier, hasTools ? catalog.withTools[tier] : usual];
  });
  return chains.flatMap(([tier, { models, efforts } = { models: [], efforts: {} }]) => {
    const place = models.findIndex((model) => model.id === id) + 1;
    return place === 0 ? [] : [{ tier, place, of: models.length, effort: efforts[id] ?? null }];
  });
}
