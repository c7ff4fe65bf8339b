// The chains: for each tier the models to try in order, all of them routable.

import type { Model, Provider } from "../core/model.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import { blendedPrice } from "./catalog.ts";
import { nearest } from "./nearest.ts";

export type ChainLists = Readonly<Partial<Record<Tier, readonly string[]>>>;

interface ChainProblem {
  readonly at: string;
  readonly message: string;
  readonly suggestion: string | null;
}

interface ChainsInput {
  /** The configuration's chains, checked word by word. */
  readonly written: ChainLists;
  /** The built-in chains; models that are missing from the catalogue are skipped. */
  readonly shipped: ChainLists;
  /** Ids of the models that ship. */
  readonly shippedIds: ReadonlySet<string>;
  readonly models: ReadonlyMap<string, Model>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly findings: { readonly problems: ChainProblem[]; readonly warnings: ChainProblem[] };
}

/** A tier that was not written and has none of its shipped models gets at most this many others. */
const FILLED_LENGTH = 4;

export function buildChains(input: ChainsInput): Readonly<Record<Tier, readonly Model[]>> {
  const chains: Partial<Record<Tier, readonly Model[]>> = {};
  for (const tier of TIERS) {
    const written = input.written[tier];
    chains[tier] = written === undefined ? shippedChain(tier, input) : writtenChain(tier, written, input);
  }
  const isEmpty = TIERS.every((tier) => chains[tier]?.length === 0);
  if (isEmpty) {
    const names = [...input.providers.keys()].join(", ");
    const message = `no tier has a model that requests can be routed to (configured: ${names}); list priced models of these providers under models and tiers`;
    input.findings.problems.push({ at: "tiers", message, suggestion: null });
  }
  return chains as Record<Tier, readonly Model[]>;
}

/** The lowest tier whose chain names this model. */
export function lowestListing(lists: ChainLists, id: string): Tier | null {
  return TIERS.find((tier) => lists[tier]?.includes(id)) ?? null;
}

/**
 * A user with a single key should have every tier, so where none of the shipped models is routable, others take their
 * place, cheapest first: those that belong to the tier, else shipped ones from above, else those of the next tier below.
 */
function shippedChain(tier: Tier, input: ChainsInput): readonly Model[] {
  const routable = (input.shipped[tier] ?? [])
    .map((id) => input.models.get(id))
    .filter((model) => model !== undefined)
    .filter((model) => isServed(model, input));
  if (routable.length > 0) return routable;
  const served = [...input.models.values()].filter((model) => isServed(model, input));
  const own = served.filter((model) => model.tier === tier);
  return cheapest(
    own.length > 0
      ? own
      : neighbours(
          tier,
          served.filter(({ id }) => input.shippedIds.has(id)),
        ),
  );
}

function neighbours(tier: Tier, models: readonly Model[]): readonly Model[] {
  const above = models.filter((model) => tierRank(model.tier) > tierRank(tier));
  if (above.length > 0) return above;
  const below = TIERS.findLast((other) => models.some((model) => model.tier === other));
  return models.filter((model) => model.tier === below);
}

function cheapest(models: readonly Model[]): readonly Model[] {
  return models.toSorted((a, b) => blendedPrice(a) - blendedPrice(b)).slice(0, FILLED_LENGTH);
}

function writtenChain(tier: Tier, ids: readonly string[], input: ChainsInput): readonly Model[] {
  const chain: Model[] = [];
  for (const [index, id] of ids.entries()) {
    const at = `tiers.${tier}[${index}]`;
    const model = input.models.get(id);
    if (model === undefined) {
      const suggestion = nearest(id, input.models.keys());
      input.findings.problems.push({ at, message: `there is no model "${id}" in the catalogue`, suggestion });
    } else if (chain.includes(model)) {
      input.findings.problems.push({ at, message: `"${id}" is listed twice in ${tier}`, suggestion: null });
    } else if (isServed(model, input)) {
      chain.push(model);
    } else {
      const message = `${id} is left out of ${tier}: ${whyNotServed(model)}`;
      input.findings.warnings.push({ at, message, suggestion: null });
    }
  }
  return chain;
}

function isServed(model: Model, input: ChainsInput): boolean {
  return model.endpoint === null && model.price !== null && input.providers.has(model.provider);
}

function whyNotServed({ endpoint, price, provider }: Model): string {
  if (endpoint !== null) return `it serves ${endpoint} and is never routed to`;
  return price === null ? "it has no price" : `its provider ${provider} is not configured`;
}
