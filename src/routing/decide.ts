// Routing in one screen: the order of the steps and nothing else. Pure: the same question and catalogue
// give the same decision.

import type { Catalog } from "../catalog/catalog.ts";
import type { Decision, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Tier } from "../core/tiers.ts";
import { type Placement, placeAuto, placeForced } from "./adjust.ts";
import { newestAsk } from "./ask.ts";
import { buildChain } from "./chain.ts";
import type { Classification } from "./classifier/classification.ts";
import { classify } from "./classifier/classify.ts";
import { readSignals } from "./classifier/signals.ts";
import { estimateCost, estimateInputTokens } from "./cost.ts";
import { directChain } from "./direct.ts";
import { explain } from "./explain.ts";
import { findHistoryFloor } from "./history.ts";
import { detectScenario } from "./tools/scenario.ts";
import { toolScoreOf } from "./tools/scores.ts";

export function decide(question: RoutingQuestion, catalog: Catalog): Decision {
  const { chat, controls } = question;
  const { profile } = controls;
  const ask = newestAsk(chat.messages);
  const signals = readSignals(ask.text);
  const classification = classify({ text: ask.text, signals, weights: catalog.weights });
  const scenario = detectScenario({
    chat,
    text: ask.text,
    signals,
    category: classification.category,
    weights: catalog.weights,
  });
  const historyFloor =
    profile === "auto" ? findHistoryFloor({ messages: chat.messages, ask, signals, weights: catalog.weights }) : null;
  const inputTokens = estimateInputTokens(chat);
  const placement = profile === "direct" ? null : place({ question, classification, historyFloor, catalog });
  const chain =
    placement === null
      ? directChain(question, catalog)
      : buildChain({ question, catalog, placement, scenario, inputTokens });
  const model = chain.models[0] as Model;
  const moves = placement?.notes ?? [];
  const estimate = estimateCost({ chat, inputTokens, tier: chain.tier, model, catalog });
  return {
    tier: chain.tier,
    confidence: profile === "auto" ? classification.confidence : 1,
    model: model.id,
    category: classification.category,
    method: profile === "auto" ? classification.method : profile,
    reasoning: explain({ classification, controls, notes: [...moves, ...chain.notes] }),
    costEstimate: estimate.cost,
    baselineCost: estimate.baselineCost,
    savings: estimate.savings,
    chain: chain.models.map(({ id }) => id),
    profile,
    historyFloor,
    toolScenario: scenario,
    toolScore: toolScoreOf(model, scenario),
    candidates: chain.candidates,
    estimatedTokens: { input: inputTokens, output: estimate.output },
    classifiedTier: classification.tier,
    score: classification.score,
    isSure: classification.isSure,
    adjustments: [...moves, ...chain.adjustments],
    controls,
    measures: signals,
  };
}

interface PlaceInput {
  readonly question: RoutingQuestion;
  readonly classification: Classification;
  readonly historyFloor: Tier | null;
  readonly catalog: Catalog;
}

function place({ question, classification, historyFloor, catalog }: PlaceInput): Placement {
  const { controls, constraints } = question;
  const { tier, isCoding, isSure } = classification;
  const unsureFloor = isSure ? null : catalog.unsureTier;
  if (controls.profile === "auto") {
    return placeAuto({ tier, isCoding, unsureFloor, historyFloor, controls, constraints });
  }
  if (controls.forcedTier !== null) return placeForced(controls.forcedTier, constraints);
  throw new GatewayError("badRequest", "The profile tier needs a tier.", { code: "tier_required" });
}
