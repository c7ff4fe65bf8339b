// The profile `direct`: the one model that was named, when this key may have it. Behaviour 5.2, 5.6.

import { type Catalog, isRoutable } from "../catalog/catalog.ts";
import type { Constraints, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { isTierAllowed } from "./adjust.ts";
import { type Chain, candidateOf, constraintNeeds } from "./chain.ts";

export function directChain({ controls, constraints, restingModels }: RoutingQuestion, catalog: Catalog): Chain {
  const id = controls.model;
  if (id === null || id === "" || id === "auto") {
    const message = "The profile direct needs the id of a model in `model`; the models list has them.";
    throw new GatewayError("badRequest", message, { code: "model_required", param: "model" });
  }
  const model = catalog.models.get(id);
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

/** Whether a key with these constraints may ask for the model by name. */
export function isOffered(model: Model, constraints: Constraints, catalog: Catalog): boolean {
  return offeredTier(model, constraints, catalog) !== null;
}

/** The model's own tier; where a profile leaves that out, the lowest one it allows whose chain has the model. */
function offeredTier(model: Model, constraints: Constraints, catalog: Catalog): Tier | null {
  const isFit = isRoutable(catalog, model) && constraintNeeds(constraints).every((need) => need.isMetBy(model));
  if (!isFit) return null;
  const listings = TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id));
  return [model.tier, ...listings].find((tier) => isTierAllowed(tier, constraints)) ?? null;
}
