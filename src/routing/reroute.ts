// A past request under another profile: the tier and the model it would get, and what the same tokens would cost there.
// Works from what was noted at the time; of images only that there were some. Pure.

import type { Catalog } from "../catalog/catalog.ts";
import type { ChatRequest } from "../core/chat.ts";
import { type Constraints, type Decision, NO_CONTROLS, type RoutingQuestion } from "../core/decision.ts";
import type { PastRequest } from "../core/decision-log.ts";
import { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import { costNano, type NanoUsd } from "../core/money.ts";
import type { Tier } from "../core/tiers.ts";
import { type Placement, placeAuto, placeForced } from "./adjust.ts";
import { buildChain, type Chain } from "./chain.ts";
import { directChain } from "./direct.ts";
import { CODING } from "./evidence.ts";

export type Rerouted =
  | { readonly state: "routed"; readonly tier: Tier; readonly model: string; readonly cost: NanoUsd | null }
  | { readonly state: "refused"; readonly because: string };

export function reroute(past: PastRequest, constraints: Constraints, catalog: Catalog): Rerouted {
  try {
    const { tier, models } = chainOf(past, constraints, catalog);
    const model = models[0] as Model;
    return { state: "routed", tier, model: model.id, cost: costOf(past, model, catalog) };
  } catch (error) {
    if (error instanceof GatewayError) return { state: "refused", because: error.message };
    throw error;
  }
}

function chainOf(past: PastRequest, constraints: Constraints, catalog: Catalog): Chain {
  const { decision } = past;
  const { profile, model, toolScenario: scenario, estimatedTokens } = decision;
  const controls = decision.controls ?? { ...NO_CONTROLS, profile, model };
  const question: RoutingQuestion = { chat: shapeOf(past), controls, constraints, restingModels: new Map() };
  if (profile === "direct") return directChain(question, catalog);
  const placement = place(decision, question, catalog);
  return buildChain({ question, catalog, placement, scenario, inputTokens: estimatedTokens.input });
}

function place(decision: Decision, { controls, constraints }: RoutingQuestion, catalog: Catalog): Placement {
  const { profile, tier, classifiedTier = tier, category, historyFloor } = decision;
  if (profile === "tier") return placeForced(controls.forcedTier ?? tier, constraints);
  const isCoding = category === CODING;
  const unsureFloor = decision.isSure === false ? catalog.unsureTier : null;
  return placeAuto({ tier: classifiedTier, isCoding, unsureFloor, historyFloor, controls, constraints });
}

/** A request of the same shape: what routing asks of it beyond its words. */
function shapeOf({ features, decision }: PastRequest): ChatRequest {
  const image = { role: "user", content: [{ type: "image_url" }] } as const;
  const tool = { name: "", description: "", parameters: null };
  return {
    messages: (features?.["roles.attachments"] ?? 0) > 0 ? [image] : [],
    tools: decision.toolScenario === null ? [] : [tool],
    toolChoice: null,
    isStream: false,
    wantsUsage: false,
    maxOutputTokens: features?.outputCap || null,
    choiceCount: features?.choices ?? 1,
  };
}

/** Where nothing changes, the charge is what it was: by a fallback perhaps, or at an older price. */
function costOf({ decision, answer }: PastRequest, model: Model, { markupPpm }: Catalog): NanoUsd | null {
  if (answer === null || model.price === null) return null;
  const isSame = answer.model === model.id || decision.model === model.id;
  return isSame ? answer.charge : costNano(answer.buckets, model.price, markupPpm);
}
