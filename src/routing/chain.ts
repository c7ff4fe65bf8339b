// From a tier to the models that are tried, in order: what the request cannot do without, moves to a neighbouring tier,
// the two soft filters with their full-chain rule, and the order of trying. Behaviour 5.3 to 5.5.

import { type Catalog, isRoutable } from "../catalog/catalog.ts";
import { type ChatRequest, type ContentPart, hasImages } from "../core/chat.ts";
import type { Candidate, Constraints, RoutingQuestion, ToolCallsSeen } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { type Capability, formatsOf, type Model, type ToolScenario } from "../core/model.ts";
import { usdNumber } from "../core/money.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { Placement } from "./adjust.ts";
import { estimateCost } from "./cost.ts";
import { rankByToolScore, toolScoreOf } from "./tools/scores.ts";

export interface Chain {
  readonly tier: Tier;
  /** Never empty; the first is the one selected. */
  readonly models: readonly Model[];
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
  /** Those of the notes that tell of something out of the ordinary; the order by function-calling score is not. */
  readonly adjustments: readonly string[];
}

export interface ChainInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  readonly placement: Placement;
  readonly scenario: ToolScenario | null;
  readonly inputTokens: number;
}

/** Throws a 400 that names what is missing when no model of any tier will do. */
export function buildChain(input: ChainInput): Chain {
  const { question, catalog, placement } = input;
  const capable = findCapableTier(input);
  const filtered = applySoftFilters(input, capable);
  const ranked = orderChain(filtered.models, input);
  const ordered = keepLoopModel(ranked, capable.tier, input);
  const { removed } = filtered;
  const passedOver = capable.tier === placement.tier ? [] : catalog.chains[placement.tier];
  return {
    tier: capable.tier,
    models: ordered.models,
    candidates: listCandidates([ordered.models, catalog.chains[capable.tier], passedOver], removed, question),
    notes: [...capable.notes, ...filtered.notes, ...ordered.notes],
    adjustments: [...capable.notes, ...filtered.notes, ...ordered.adjustments],
  };
}

type Removals = ReadonlyMap<string, string>;

interface Step {
  readonly models: readonly Model[];
  /** Up to here, by all steps. */
  readonly removed: Removals;
  readonly notes: readonly string[];
}

type Ordered = Omit<Step, "removed"> & Pick<Chain, "adjustments">;

function findCapableTier({ question, catalog, placement, inputTokens }: ChainInput): Step & { readonly tier: Tier } {
  const needs = listNeeds({ question, catalog, inputTokens });
  const removed = new Map<string, string>();
  for (const tier of searchOrder(placement)) {
    const models = catalog.chains[tier].filter((model) => {
      const reason = isRoutable(catalog, model) ? firstReason(needs, model) : "not routable";
      if (reason !== null) removed.set(model.id, reason);
      return reason === null;
    });
    if (models.length === 0) continue;
    if (tier === placement.tier) return { tier, models, removed, notes: [] };
    const lacking = describeNeeds(needs, catalog.chains[placement.tier]);
    return { tier, models, removed, notes: [`${placement.tier} has no model with ${lacking}: moved to ${tier}`] };
  }
  const offered = [...searchOrder(placement)].flatMap((tier) => catalog.chains[tier]);
  const message = `No available model has what this request needs: ${describeNeeds(needs, offered)}.`;
  throw new GatewayError("badRequest", message, { code: "no_capable_model" });
}

/** The tier itself, then upwards as far as the ceiling, then downwards. */
function* searchOrder({ tier, ceiling }: Placement): Generator<Tier> {
  yield tier;
  const rank = tierRank(tier);
  const top = ceiling === null ? TIERS.length - 1 : tierRank(ceiling);
  yield* TIERS.slice(rank + 1, Math.max(rank, top) + 1);
  yield* TIERS.slice(0, rank).reverse();
}

function firstReason(needs: readonly Need[], model: Model): string | null {
  for (const need of needs) if (!need.isMetBy(model)) return need.unmet(model);
  return null;
}

/** The needs that none of these models meets; when each is met by some model, all of them together. */
function describeNeeds(needs: readonly Need[], models: readonly Model[]): string {
  if (needs.length === 0 || models.length === 0) return "a configured provider and a price";
  const missing = needs.filter((need) => !models.some((model) => need.isMetBy(model)));
  if (missing.length > 0) return missing.map((need) => need.name).join(", ");
  return `${needs.map((need) => need.name).join(", ")} together`;
}

interface SoftFilter {
  readonly name: string;
  readonly reason: string;
  passes(model: Model): boolean;
}

// Behaviour 5.4: when no model passes, the chain is what it was before both filters.
function applySoftFilters(input: ChainInput, { tier, models, removed: before }: Step & { readonly tier: Tier }): Step {
  const filters = softFilters(input, tier);
  if (filters.length === 0) return { models, removed: before, notes: [] };
  const removed = new Map(before);
  const passing = models.filter((model) => {
    const failed = filters.find((filter) => !filter.passes(model));
    if (failed !== undefined) removed.set(model.id, failed.reason);
    return failed === undefined;
  });
  if (passing.length > 0) return { models: passing, removed, notes: [] };
  const impossible = filters.filter((filter) => !models.some((model) => filter.passes(model)));
  const culprits = (impossible.length > 0 ? impossible : filters).map((filter) => filter.name).join(" and ");
  return { models, removed: before, notes: [`${culprits} ignored: no model qualifies, full chain used`] };
}

function softFilters({ question, catalog, scenario, inputTokens }: ChainInput, tier: Tier): readonly SoftFilter[] {
  const { chat, controls, constraints } = question;
  const filters: SoftFilter[] = [];
  const maxCost = pick(Math.min, controls.maxCostUsd, constraints.maxCostUsd);
  if (maxCost !== null) {
    filters.push({
      name: `max cost ${maxCost} USD`,
      reason: `estimated cost exceeds ${maxCost} USD`,
      passes: (model) => usdNumber(estimateCost({ chat, inputTokens, tier, model, catalog }).cost) <= maxCost,
    });
  }
  const minScore = pick(Math.max, controls.toolScoreMin, constraints.toolScoreMin);
  if (minScore !== null && scenario !== null) {
    // Behaviour 5.4 means the benchmark: what was seen of the calls changes the order, not which models are in the chain.
    filters.push({
      name: `minimum function-calling score ${minScore}`,
      reason: `function-calling score is below ${minScore} or unknown`,
      passes: (model) => (toolScoreOf(model, scenario) ?? Number.NEGATIVE_INFINITY) >= minScore,
    });
  }
  return filters;
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return choose(a, b);
}

const NOTHING_SEEN: ToolCallsSeen = new Map();

/** With tools by function-calling score; models that are cooling down go to the end, unless all are. Behaviour 5.5. */
function orderChain(models: readonly Model[], { question, scenario }: ChainInput): Ordered {
  const { restingModels: coolingDown, toolCallsSeen = NOTHING_SEEN } = question;
  const byScore = scenario === null ? { models, notes: [] } : rankByToolScore(models, scenario, toolCallsSeen);
  const { models: ranked, notes } = byScore;
  const healthy = ranked.filter((model) => !coolingDown.has(model.id));
  if (healthy.length === ranked.length || healthy.length === 0) return { models: ranked, notes, adjustments: [] };
  const last = ranked.filter((model) => coolingDown.has(model.id));
  const note = `cooling down after failures, tried last: ${last.map((model) => model.id).join(", ")}`;
  return { models: [...healthy, ...last], notes: [...notes, note], adjustments: [note] };
}

/** Within a tool loop the model that made the call goes on, as far as floor, ceiling, filters, needs and health allow. */
function keepLoopModel(ordered: Ordered, tier: Tier, input: ChainInput): Ordered {
  const { question, catalog, placement, inputTokens } = input;
  const model = catalog.models.get(question.loopModel ?? "");
  if (model === undefined || question.restingModels.has(model.id) || ordered.models[0] === model) return ordered;
  const needs = listNeeds({ question, catalog, inputTokens });
  const isFree = question.controls.profile === "auto" && isWithin(model.tier, placement);
  const passes = isFree && softFilters(input, tier).every((filter) => filter.passes(model));
  const isAllowed = ordered.models.includes(model) || passes;
  if (!isAllowed || !isRoutable(catalog, model) || firstReason(needs, model) !== null) return ordered;
  const others = ordered.models.filter((other) => other !== model);
  const note = `stays with ${model.id}, which made the open tool call`;
  return {
    models: [model, ...others],
    notes: [...ordered.notes, note],
    adjustments: [...ordered.adjustments, note],
  };
}

function isWithin(tier: Tier, { floor, ceiling }: Placement): boolean {
  const rank = tierRank(tier);
  return (floor === null || rank >= tierRank(floor)) && (ceiling === null || rank <= tierRank(ceiling));
}

/** `restingBecause` is there only while the model is cooling down: decisions are kept by the million. */
export function candidateOf(
  model: string,
  removedBecause: string | null,
  coolingDown: RoutingQuestion["restingModels"],
): Candidate {
  const restingBecause = coolingDown.get(model);
  return restingBecause === undefined ? { model, removedBecause } : { model, removedBecause, restingBecause };
}

/** The chain first, then everything that was considered for it. */
function listCandidates(
  [chain, ...considered]: readonly [readonly Model[], ...(readonly Model[])[]],
  removed: Removals,
  { restingModels }: RoutingQuestion,
): Candidate[] {
  const candidates = chain.map(({ id }) => candidateOf(id, null, restingModels));
  for (const models of considered) {
    for (const { id } of models) {
      if (candidates.some(({ model }) => model === id)) continue;
      candidates.push(candidateOf(id, removed.get(id) ?? null, restingModels));
    }
  }
  return candidates;
}

/** Something a request cannot do without: it knows which models meet it and says why one does not. Behaviour 5.3. */
interface Need {
  readonly name: string;
  isMetBy(model: Model): boolean;
  unmet(model: Model): string;
}

interface NeedsInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  readonly inputTokens: number;
}

function listNeeds({ question, catalog, inputTokens }: NeedsInput): readonly Need[] {
  const { chat, constraints } = question;
  const own = requestCapabilities(chat, catalog).map((capability) => capabilityNeed(capability, "no"));
  return [contextNeed(inputTokens), ...own, ...nativeNeeds(question, catalog), ...constraintNeeds(constraints)];
}

/** What the key's profile asks of any model, whatever the request. */
export function constraintNeeds(constraints: Constraints): readonly Need[] {
  const needs: Need[] = constraints.capabilities.map((capability) =>
    capabilityNeed(capability, "missing what the profile requires:"),
  );
  const { allowedModels, blockedModels } = constraints;
  if (allowedModels !== null) {
    needs.push({
      name: "a place on the profile's allow list",
      isMetBy: (model) => allowedModels.includes(model.id),
      unmet: () => "not allowed by the profile",
    });
  }
  if (blockedModels.length > 0) {
    needs.push({
      name: "a model the profile does not block",
      isMetBy: (model) => !blockedModels.includes(model.id),
      unmet: () => "blocked by the profile",
    });
  }
  return needs;
}

function nativeNeeds({ nativeFormat }: RoutingQuestion, { providers }: Catalog): readonly Need[] {
  if (nativeFormat === undefined || nativeFormat === null) return [];
  const { format, because } = nativeFormat;
  return [
    {
      name: `a provider that speaks ${format} (${because})`,
      isMetBy(model) {
        const provider = providers.get(model.provider);
        return provider !== undefined && formatsOf(model, provider).includes(format);
      },
      unmet: () => `its provider does not speak ${format}: ${because}`,
    },
  ];
}

function contextNeed(inputTokens: number): Need {
  return {
    name: `a context window of ${inputTokens} tokens`,
    isMetBy: (model) => inputTokens <= model.context,
    unmet: (model) => `context window of ${model.context} tokens is too small for about ${inputTokens}`,
  };
}

function capabilityNeed(capability: Capability, because: string): Need {
  return {
    name: capability,
    isMetBy: (model) => model.capabilities.has(capability),
    unmet: () => `${because} ${capability}`,
  };
}

function requestCapabilities(chat: ChatRequest, catalog: Catalog): readonly Capability[] {
  const capabilities: Capability[] = [];
  if (hasImages(chat.messages)) capabilities.push("vision");
  if (chat.tools.length > 0) capabilities.push("tools");
  if (hasPart(chat, "input_audio") && isKnown("audio", catalog)) capabilities.push("audio");
  if (hasPart(chat, "file") && isKnown("files", catalog)) capabilities.push("files");
  return capabilities;
}

function hasPart(chat: ChatRequest, type: string): boolean {
  return chat.messages.some(
    ({ content }) => Array.isArray(content) && content.some((part: ContentPart) => part.type === type),
  );
}

// A catalogue that says nothing of a capability has not been asked about it: absence proves nothing then.
function isKnown(capability: Capability, catalog: Catalog): boolean {
  for (const model of catalog.models.values()) if (model.capabilities.has(capability)) return true;
  return false;
}
