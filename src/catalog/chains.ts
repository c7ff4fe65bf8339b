// The chains: for each tier the models to try in order, all of them routable, and the effort that each is asked for.

import type { Model, Provider } from "../core/model.ts";
import type { Effort, Efforts } from "../core/requests/effort.ts";
import { readEntry } from "../core/requests/effort.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { Builtin } from "./builtin.ts";
import { blendedPrice, type Catalog, effortsTaken, type TierChain } from "./catalog.ts";
import { findModel } from "./model-names.ts";
import { nearest } from "./nearest.ts";

/** Entries as they are written, by tier. */
export type ChainLists = Readonly<Partial<Record<Tier, readonly string[]>>>;

interface ChainProblem {
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | null;
}

interface ChainsInput {
  /** The configuration's chains, checked word by word. */
  readonly written: ChainLists;
  /** The configuration's chains for requests with tools. */
  readonly writtenWithTools: ChainLists;
  /** The built-in chains; models that are missing from the catalogue are skipped. */
  readonly shipped: ChainLists;
  /** The built-in chains for requests with tools, for tiers whose chain is not written. */
  readonly shippedWithTools: ChainLists;
  /** Ids of the models that ship. */
  readonly shippedIds: ReadonlySet<string>;
  readonly models: ReadonlyMap<string, Model>;
  readonly aliases: Catalog["aliases"];
  /** Ids of provisional models that join the chain of their tier, behind all others. */
  readonly joining: ReadonlySet<string>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly findings: { readonly problems: ChainProblem[]; readonly warnings: ChainProblem[] };
}

export type CatalogChains = Pick<Catalog, "chains" | "efforts" | "withTools" | "ownChains" | "ownToolChains">;

/** A tier that was not written and has none of its shipped models gets at most this many others. */
const FILLED_LENGTH = 4;

export function buildChains(input: ChainsInput): CatalogChains {
  const chains: Partial<Record<Tier, readonly Model[]>> = {};
  const efforts: Partial<Record<Tier, Efforts>> = {};
  const withTools: Partial<Record<Tier, TierChain>> = {};
  for (const tier of TIERS) {
    const written = input.written[tier];
    const chain = written === undefined ? shippedChain(tier, input) : writtenChain("tiers", tier, written, input);
    chains[tier] = [...chain.models, ...joiningModels(tier, chain.models, input)];
    efforts[tier] = chain.efforts;
    const tools = toolChain(tier, input);
    if (tools.models.length > 0) withTools[tier] = tools;
  }
  const isEmpty = TIERS.every((tier) => chains[tier]?.length === 0);
  if (isEmpty) {
    const names = [...input.providers.keys()].join(", ");
    const message = `no tier has a model that requests can be routed to (configured: ${names}); list priced models of these providers under models and tiers`;
    input.findings.problems.push({ at: "tiers", message, suggestion: null });
  }
  const ownChains = tiersIn(input.written);
  const ownToolChains = tiersIn(input.writtenWithTools);
  return { chains, efforts, withTools, ownChains, ownToolChains } as CatalogChains;
}

function tiersIn(lists: ChainLists): ReadonlySet<Tier> {
  return new Set(TIERS.filter((tier) => lists[tier] !== undefined));
}

/** Cheapest first. */
function joiningModels(tier: Tier, chain: readonly Model[], input: ChainsInput): readonly Model[] {
  const models = [...input.joining].flatMap((id) => input.models.get(id) ?? []);
  const isLast = (model: Model): boolean => model.isProvisional === true && !chain.includes(model);
  const own = models.filter((model) => model.tier === tier && isServed(model, input) && isLast(model));
  return own.toSorted((a, b) => blendedPrice(a) - blendedPrice(b));
}

/** A tier that is written without a chain for tools has one chain. Empty for none. */
function toolChain(tier: Tier, input: ChainsInput): TierChain {
  const written = input.writtenWithTools[tier];
  if (written !== undefined) return writtenChain(TIERS_WITH_TOOLS, tier, written, input);
  if (input.written[tier] !== undefined) return NO_CHAIN;
  const shipped = served(input.shippedWithTools[tier], input);
  return shipped.models.length > 0 ? shipped : filledToolChain(tier, input);
}

/**
 * Keeps the order of prices where a tier was filled: by scores, a lower tier would begin with the dearest model of a
 * vendor. Operators' own models, and a chain that ships, are ordered by scores.
 */
function filledToolChain(tier: Tier, input: ChainsInput): TierChain {
  if (served(input.shipped[tier], input).models.length > 0) return NO_CHAIN;
  const { models, efforts } = shippedChain(tier, input);
  const isShipped = models.every(({ id }) => input.shippedIds.has(id));
  return isShipped ? { models: models.filter(takesTools), efforts } : NO_CHAIN;
}

/** The section of a configuration with these chains. */
export const TIERS_WITH_TOOLS = "tiersWithTools";

/** The lowest tier whose chain names this model. */
export function lowestListing(lists: ChainLists, id: string, isModel: (id: string) => boolean): Tier | null {
  return TIERS.find((tier) => lists[tier]?.some((entry) => readEntry(entry, isModel).id === id)) ?? null;
}

function shippedChain(tier: Tier, input: ChainsInput): TierChain {
  const chain = served(input.shipped[tier], input);
  return chain.models.length > 0 ? chain : filledChain(tier, input);
}

/**
 * A user with a single key should have every tier, so where none of the shipped models is routable, others take their
 * place: those that belong to the tier, cheapest first, then the shipped ones in the chain of the tier above, with their
 * efforts. Where there are neither, those of the highest tier below. So no tier offers what the tier above finds too dear.
 */
function filledChain(tier: Tier, input: ChainsInput): TierChain {
  const models = [...input.models.values()].filter((model) => isServed(model, input) && !model.isProvisional);
  const isShipped = ({ id }: Model): boolean => input.shippedIds.has(id);
  const own = cheapest(models.filter((model) => model.tier === tier));
  const above = TIERS[tierRank(tier) + 1];
  const next = above === undefined ? NO_CHAIN : shippedChain(above, input);
  const filled = [...own, ...next.models.filter((model) => isShipped(model) && !own.includes(model))];
  if (filled.length > 0) return { models: filled.slice(0, FILLED_LENGTH), efforts: next.efforts };
  const below = TIERS.findLast((other) => models.some((model) => isShipped(model) && model.tier === other));
  const others = models.filter((model) => isShipped(model) && model.tier === below);
  return { models: cheapest(others).slice(0, FILLED_LENGTH), efforts: NO_EFFORTS };
}

/** The routable models of a chain that ships. A replaced model may not take the effort. */
function served(entries: readonly string[] = [], input: ChainsInput): TierChain {
  const models: Model[] = [];
  const efforts: Record<string, Effort> = {};
  for (const entry of entries) {
    const { id, effort } = entryOf(entry, input);
    const model = findModel(input, id);
    if (model === undefined || !isServed(model, input) || model.isProvisional) continue;
    models.push(model);
    if (effort !== null && effortsTaken(model).includes(effort)) efforts[model.id] = effort;
  }
  return { models, efforts };
}

const NO_EFFORTS: Efforts = {};
const NO_CHAIN: TierChain = { models: [], efforts: NO_EFFORTS };

function entryOf(entry: string, input: ChainsInput) {
  return readEntry(entry, (id) => findModel(input, id) !== undefined);
}

function cheapest(models: readonly Model[]): readonly Model[] {
  return models.toSorted((a, b) => blendedPrice(a) - blendedPrice(b));
}

function writtenChain(section: string, tier: Tier, entries: readonly string[], input: ChainsInput): TierChain {
  const chain: Model[] = [];
  const efforts: Record<string, Effort> = {};
  for (const [index, entry] of entries.entries()) {
    const at = `${section}.${tier}[${index}]`;
    const { id, effort } = entryOf(entry, input);
    const model = findModel(input, id);
    if (model === undefined) {
      input.findings.problems.push({ at, ...notFound(id, input) });
    } else if (chain.includes(model)) {
      input.findings.problems.push({ at, message: `"${id}" is listed twice in ${tier}`, suggestion: null });
    } else if (effort !== null && !effortsTaken(model).includes(effort)) {
      input.findings.problems.push({ at, message: effortRefused(model, effort), suggestion: null });
    } else if (isServed(model, input) && (section !== TIERS_WITH_TOOLS || takesTools(model))) {
      chain.push(model);
      if (effort !== null) efforts[model.id] = effort;
    } else {
      const because = isServed(model, input) ? "it has no tools" : whyNotServed(model);
      const message = `${id} is left out of ${tier}: ${because}`;
      input.findings.warnings.push({ at, message, suggestion: null });
    }
  }
  return { models: chain, efforts };
}

/** Explains that a model cannot be asked for an effort, with those that it takes. */
/** Names the effort if the model before it is known, since the model is not what has to change. */
function notFound(written: string, input: ChainsInput): Pick<ChainProblem, "message" | "suggestion"> {
  const at = written.lastIndexOf("@");
  const model = at < 1 ? undefined : findModel(input, written.slice(0, at));
  if (model !== undefined) {
    const message = `"${written.slice(at + 1)}" is no effort; ${model.id} takes ${effortsTaken(model).join(", ") || "no effort"}`;
    return { message, suggestion: null };
  }
  const message = `there is no model "${written}" in the catalogue`;
  return { message, suggestion: nearest(written, input.models.keys()) };
}

export function effortRefused(model: Model, effort: Effort): string {
  const taken = effortsTaken(model);
  if (taken.length === 0) return `${model.id} does not reason, so it takes no effort; write it without "@${effort}"`;
  return `${model.id} does not take the effort "${effort}"; it takes ${taken.join(", ")}`;
}

function isServed(model: Model, input: ChainsInput): boolean {
  return model.endpoint === null && model.price !== null && input.providers.has(model.provider);
}

function takesTools({ hosts }: Model): boolean {
  return hosts.some(({ capabilities }) => capabilities.has("tools"));
}

function whyNotServed({ endpoint, price, provider }: Model): string {
  if (endpoint !== null) return `it serves ${endpoint} and is never routed to`;
  return price === null ? "it has no price" : `its provider ${provider} is not configured`;
}

/** Models that benchmarks put above the floor of a tier. Others of its chain are there for users of a single vendor. */
export function provenModels({ models, tiers: { floors } }: Builtin): Catalog["proven"] {
  if (floors === undefined) return null;
  const above = (tier: Tier): ReadonlySet<string> =>
    new Set(models.flatMap(({ id, evidence }) => ((evidence?.overall ?? 0) >= floors[tier] ? [id] : [])));
  return {
    ...{ NANO: above("NANO"), SIMPLE: above("SIMPLE"), LIGHT: above("LIGHT") },
    ...{ STANDARD: above("STANDARD"), COMPLEX: above("COMPLEX") },
  };
}
