// What-if: replays stored decisions under another policy and says which would change, what that costs and why.
// Pure; it needs no prompt, only what was stored with each decision.

import type { Category, Constraints, Controls } from "../core/decision.ts";
import { costNano, type NanoUsd, type Price } from "../core/money.ts";
import { higherTier, TIERS, type Tier } from "../core/tiers.ts";
import { placeAuto } from "./adjust.ts";
import { CODING } from "./evidence.ts";

/** What is kept of a decision; no text of the request. */
export interface StoredDecision {
  readonly id: string;
  /** Difficulty, 0 to 1. */
  readonly score: number;
  readonly confidence: number;
  readonly category: Category;
  readonly historyFloor: Tier | null;
  readonly controls: Controls;
  readonly constraints: Constraints;
  readonly tier: Tier;
  readonly model: string;
  readonly tokens: { readonly input: number; readonly output: number };
}

export interface Policy {
  /** Where the score is cut into tiers, rising; four bounds. */
  readonly bounds: readonly number[];
  /** The first model of each tier with its price. */
  readonly models: Readonly<Record<Tier, { readonly id: string; readonly price: Price }>>;
  readonly unsureTier: Tier;
  /** A confidence below this counts as unsure. */
  readonly sureFrom: number;
  /** Tiers that a category is never placed below. */
  readonly categoryFloors: Partial<Readonly<Record<Category, Tier>>>;
  readonly markupPpm: number;
}

export const DEFAULT_BOUNDS: readonly number[] = TIERS.slice(1).map((_, at) => (at + 1) / TIERS.length);

export interface Change {
  readonly id: string;
  readonly from: { readonly tier: Tier; readonly model: string };
  readonly to: { readonly tier: Tier; readonly model: string };
  /** Negative where the other policy is cheaper; null where the old model's price is not known. */
  readonly costDifference: NanoUsd | null;
  readonly because: readonly string[];
}

export interface WhatIf {
  readonly total: number;
  readonly changes: readonly Change[];
  readonly costDifference: NanoUsd;
}

/** Decisions whose caller forced a tier or a model are the caller's, so they never change. */
export function whatIf(
  decisions: readonly StoredDecision[],
  policy: Policy,
  prices: ReadonlyMap<string, Price>,
): WhatIf {
  const changes: Change[] = [];
  for (const decision of decisions) {
    if (decision.controls.profile !== "auto") continue;
    const change = changeOf(decision, policy, prices);
    if (change !== null) changes.push(change);
  }
  const costDifference = changes.reduce((sum, change) => sum + (change.costDifference ?? 0n), 0n);
  return { total: decisions.length, changes, costDifference };
}

function changeOf(decision: StoredDecision, policy: Policy, prices: ReadonlyMap<string, Price>): Change | null {
  const { tier, because } = placeUnder(decision, policy);
  const { id: model, price } = policy.models[tier];
  if (tier === decision.tier && model === decision.model) return null;
  const before = prices.get(decision.model);
  const cost = (of: Price) => costNano({ ...decision.tokens, cacheRead: 0, cacheWrite: 0 }, of, policy.markupPpm);
  return {
    id: decision.id,
    from: { tier: decision.tier, model: decision.model },
    to: { tier, model },
    costDifference: before === undefined ? null : cost(price) - cost(before),
    because: tier === decision.tier ? [`the chain of ${tier} begins with ${model}`] : because,
  };
}

function placeUnder(decision: StoredDecision, policy: Policy): { readonly tier: Tier; readonly because: string[] } {
  const { score, category, confidence, historyFloor, controls, constraints } = decision;
  const cut = TIERS[policy.bounds.filter((bound) => score >= bound).length] as Tier;
  const floor = policy.categoryFloors[category];
  const start = floor === undefined ? cut : higherTier(cut, floor);
  const placement = placeAuto({
    tier: start,
    isCoding: category === CODING,
    unsureFloor: confidence < policy.sureFrom ? policy.unsureTier : null,
    historyFloor,
    controls,
    constraints,
  });
  const because = [`score ${score.toFixed(2)} is cut as ${cut}`];
  if (start !== cut) because.push(`the floor of ${category} raised ${cut} to ${start}`);
  return { tier: placement.tier, because: [...because, ...placement.notes] };
}
