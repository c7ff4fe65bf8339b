// The profile `direct`: the one model that was named, when this key may have it. Behaviour 5.2, 5.6.

import { type Catalog, isRoutable } from "../catalog/catalog.ts";
import { PLAIN_DIALECT } from "../catalog/dialect.ts";
import type { Constraints, Controls, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { isTierAllowed } from "./adjust.ts";
import { type Chain, candidateOf, constraintNeeds } from "./chain.ts";
import { wrongEndpoint } from "./named.ts";

/** A client that asks for this model, or for none, leaves the choice to the router. */
const AUTO = "auto";

function namesModel({ model }: Controls): boolean {
  return model !== null && model !== "" && model !== AUTO;
}

/** What the request asks for under the key's profile, which may honour the model that it names. Behaviour 5.14. */
export function controlsUnder({ honoursModel }: Constraints, controls: Controls): Controls {
  if (!honoursModel || controls.profile !== "auto" || !namesModel(controls)) return controls;
  return { ...controls, profile: "direct" };
}

export function directChain({ controls, constraints, restingModels }: RoutingQuestion, catalog: Catalog): Chain {
  const { model: id } = controls;
  if (id === null || !namesModel(controls)) {
    const message = "The profile direct needs the id of a model in `model`; the models list has them.";
    throw new GatewayError("badRequest", message, { code: "model_required", param: "model" });
  }
  const model = catalog.models.get(id);
  if (model !== undefined && model.endpoint !== null) {
    throw wrongEndpoint(model, "chat", `GET /v1/models lists the chat models.`);
  }
  const tier = model === undefined ? null : offeredTier(model, constraints, catalog);
  if (model === undefined || tier === null) {
    const message = `The model ${JSON.stringify(id.slice(0, 200))} is not offered to this key. Pick one of the models list, or "auto".`;
    throw new GatewayError("notFound", message, { code: "model_not_found", param: "model" });
  }
  return {
    tier,
    models: [model],
    candidates: [candidateOf(id, null, restingModels)],
    notes: [],
    adjustments: [],
  };
}

/** The models that a key with these constraints may ask for by name, for its models list. */
export function offeredModels(constraints: Constraints, catalog: Catalog): readonly Model[] {
  const offered = [...catalog.models.values()].filter((model) => offeredTier(model, constraints, catalog) !== null);
  return constraints.honoursModel ? [autoModel(offered), ...offered] : offered;
}

/** The router as an entry of the models list: it can do what any of its models can, at no price of its own. */
function autoModel(models: readonly Model[]): Model {
  return {
    ...{ id: AUTO, name: "Auto", vendor: "switchyard", provider: "", upstream: AUTO, tier: "NANO" },
    ...{ host: "", route: AUTO, hosts: [] },
    ...{ price: null, priceSource: "", scores: null, dialect: PLAIN_DIALECT, endpoint: null },
    priceAsOf: models.map(({ priceAsOf }) => priceAsOf).reduce((a, b) => (a > b ? a : b), ""),
    context: Math.max(0, ...models.map(({ context }) => context)),
    maxOutput: Math.max(0, ...models.map(({ maxOutput }) => maxOutput)),
    capabilities: new Set(models.flatMap(({ capabilities }) => [...capabilities])),
  };
}

/** The model's own tier; where a profile leaves that out, the lowest one it allows whose chain has the model. */
function offeredTier(model: Model, constraints: Constraints, catalog: Catalog): Tier | null {
  const isFit = isRoutable(catalog, model) && constraintNeeds(constraints).every((need) => need.isMetBy(model));
  if (!isFit) return null;
  const listings = TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id));
  return [model.tier, ...listings].find((tier) => isTierAllowed(tier, constraints)) ?? null;
}
