// From a tier to the models that are tried, in order: what the request cannot do without, moves to a neighbouring tier,
// the two soft filters with their full-chain rule, and the order of trying. Behaviour 5.3 to 5.5.

import { type Catalog, chainOf, isRoutable } from "../catalog/catalog.ts";
import { forcesTool } from "../core/chat.ts";
import type { Candidate, HostChoice, RoutingQuestion, ToolCallsSeen } from "../core/decision.ts";
import { GatewayError, TOO_LONG } from "../core/errors.ts";
import type { HostedModel, Model, ToolScenario } from "../core/model.ts";
import { usdNumber } from "../core/money.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { Placement } from "./adjust.ts";
import { candidateOf, listCandidates, type Removals } from "./candidates.ts";
import { estimateCost } from "./cost.ts";
import { expectedEffort } from "./effort.ts";
import { describeHosts, hostOrderOf, hostRules, orderHosts, usableHosts } from "./hosts.ts";
import { latencyLimit, leftOutNotes } from "./latency.ts";
import { areAble, describeNeeds, hostsMeeting, isOnlyTooLong, listNeeds, type Need, reasonAgainst } from "./needs.ts";
import { preferenceOf, preferredFirst } from "./preference.ts";
import type { Offer } from "./sessions/offers.ts";
import { keepSession } from "./sessions/stay.ts";
import * as TEXT from "./text.ts";
import { demoteFailing, equallyGood, equalNote, rankByToolScore, toolScoreOf } from "./tools/scores.ts";

export interface Chain {
  readonly tier: Tier;
  /** Never empty; the first is the one selected. */
  readonly models: readonly Model[];
  /** The model selected, at the host that is tried first. */
  readonly first: HostedModel;
  readonly hosts?: HostChoice;
  /** The cached model and host that the session leads to; absent where the session changes nothing. */
  readonly offer?: Offer;
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
  /** Notes about unusual steps, which the order by function-calling score is not. */
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
  const ranked = orderChain(filtered, capable.tier, input);
  const looped = keepLoopModel(ranked, capable.tier, input);
  const ordered = stay(looped, { input, tier: capable.tier, filtered, isLoop: isLoopKept(looped, question) });
  if (filtered.isWhole && isUsual(ordered, capable.tier, input)) return usualChain(capable.tier, input);
  const { removed } = filtered;
  const passedOver = capable.tier === placement.tier ? [] : tierChain(placement.tier, input);
  const firstHost = ordered.offer?.host;
  const { first, hosts, note } = chooseHosts(ordered.models, filtered.hostsOf, { question, catalog, firstHost });
  return {
    tier: capable.tier,
    models: ordered.models,
    first,
    ...(hosts === null ? {} : { hosts }),
    ...(ordered.offer === undefined ? {} : { offer: ordered.offer }),
    candidates: listCandidates([ordered.models, tierChain(capable.tier, input), passedOver], removed, input),
    notes: [...capable.notes, ...filtered.notes, ...ordered.notes, ...note],
    adjustments: [...capable.notes, ...filtered.notes, ...ordered.adjustments],
  };
}

/** The models of a tier for a request like this one. */
function tierChain(tier: Tier, { question, catalog }: Pick<ChainInput, "question" | "catalog">): readonly Model[] {
  return chainOf(catalog, tier, question.chat.tools.length > 0);
}

/** Tells whether the catalogue alone has ordered models and hosts. */
function isUsual(
  { models, notes, offer }: Pick<Chain, "models" | "notes" | "offer">,
  tier: Tier,
  input: ChainInput,
): boolean {
  const { question, catalog } = input;
  const { preferredFormat = null, controls, restingModels } = question;
  const isAnyHost = preferredFormat === null && (controls.providersFirst ?? controls.isOneHost) === undefined;
  const isUndisturbed = isAnyHost && offer === undefined && notes.length === 0 && restingModels.size === 0;
  return isUndisturbed && models === tierChain(tier, input) && hostOrderOf(question, catalog) === "cheapest";
}

/** By catalogue and models. Most requests get one of them, so each is put together once. */
const USUAL_CHAINS = new WeakMap<Catalog, Map<readonly Model[], Chain>>();

/** The chain of a tier as the catalogue has it. */
function usualChain(tier: Tier, input: ChainInput): Chain {
  const { question, catalog } = input;
  const models = tierChain(tier, input);
  const ofCatalog = USUAL_CHAINS.get(catalog) ?? new Map<readonly Model[], Chain>();
  const known = ofCatalog.get(models);
  if (known !== undefined) return known;
  const hostsOf = (model: Model): readonly HostedModel[] => usableHosts(model, catalog);
  const { first, hosts, note } = chooseHosts(models, hostsOf, { question, catalog });
  const candidates = models.map((model) => candidateOf(model, null, input));
  const chain = { tier, models, first, ...(hosts === null ? {} : { hosts }), candidates, notes: note, adjustments: [] };
  USUAL_CHAINS.set(catalog, ofCatalog.set(models, chain));
  return chain;
}

interface StayInChain {
  readonly input: ChainInput;
  readonly tier: Tier;
  readonly filtered: Step;
  readonly isLoop: boolean;
}

/** Reorders the chain where that saves money because the session has a prompt cached. */
function stay(ordered: Ordered, { input, tier, filtered, isLoop }: StayInChain): Ordered & Pick<Chain, "offer"> {
  const { question, catalog, inputTokens, placement, scenario } = input;
  if ((question.sessionView ?? null) === null) return ordered;
  const { hostsOf } = filtered;
  const { ceiling } = placement;
  const { models: all } = ordered;
  const { toolCallsSeen = NOTHING_SEEN } = question;
  const isEqual = equallyGood(all, { scenario, seen: toolCallsSeen, catalog, tier });
  const kept = keepSession({ question, catalog, tier, ceiling, inputTokens, models: all, isLoop, hostsOf, isEqual });
  const { models, first, note, orderNote } = kept;
  if (first === null) return ordered;
  const notes = note === null ? [] : [note];
  const aside = orderNote === undefined ? equalNote(models, all, { scenario, isEqual }) : [orderNote];
  return {
    models,
    offer: first,
    notes: [...ordered.notes, ...notes, ...aside],
    adjustments: [...ordered.adjustments, ...notes],
  };
}

interface ChosenHosts {
  readonly first: HostedModel;
  /** Hosts by model; null where no model of the chain has a choice. */
  readonly hosts: HostChoice | null;
  /** About the hosts of the model selected, where it has several. */
  readonly note: readonly string[];
}

const NO_NOTE: readonly string[] = [];

interface HostQuestion extends Pick<ChainInput, "question" | "catalog"> {
  /** The host of the first model that the session leads to. */
  readonly firstHost?: HostedModel | undefined;
}

/** For each model of the chain, its hosts that can take the request in the order of trying. */
export function chooseHosts(
  models: readonly Model[],
  hostsOf: (model: Model) => readonly HostedModel[],
  { question, catalog, firstHost }: HostQuestion,
): ChosenHosts {
  let hosts: Record<string, readonly string[]> | null = null;
  let first: HostedModel | undefined;
  let note = NO_NOTE;
  for (const model of models) {
    const able = hostsOf(model);
    const [only] = able;
    if (able.length === 1 && only === model.hosts[0]) {
      first ??= only;
      continue;
    }
    const rules = hostRules(question, catalog);
    const usual = orderHosts(able, rules);
    const isMoved = first === undefined && firstHost !== undefined && firstHost !== usual[0] && rules.putFirst === null;
    const sorted = isMoved ? [firstHost, ...usual.filter((host) => host !== firstHost)] : usual;
    const ordered = rules.isOneHost ? sorted.slice(0, 1) : sorted;
    hosts ??= {};
    hosts[model.id] = ordered.map(({ host }) => host);
    if (first === undefined && !isMoved) note = [describeHosts(ordered, rules)];
    first ??= ordered[0];
  }
  return { first: first as HostedModel, hosts, note };
}

interface Step {
  readonly models: readonly Model[];
  /** Up to here, by all steps. */
  readonly removed: Removals;
  readonly notes: readonly string[];
  /** True where the requested tier keeps every model and host. */
  readonly isWhole: boolean;
  /** The hosts of a model that pass all steps up to here. */
  hostsOf(model: Model): readonly HostedModel[];
}

type Ordered = Pick<Step, "models" | "notes"> & Pick<Chain, "adjustments">;

function findCapableTier({ question, catalog, placement, inputTokens }: ChainInput): Step & { readonly tier: Tier } {
  const needs = listNeeds({ question, catalog, inputTokens });
  const hostsOf = (model: Model): readonly HostedModel[] => hostsMeeting(needs, model, catalog);
  const ofTier = (tier: Tier): readonly Model[] => tierChain(tier, { question, catalog });
  const asked = ofTier(placement.tier);
  if (isWhole(asked, needs, catalog)) {
    return { tier: placement.tier, models: asked, removed: NONE_REMOVED, notes: NO_NOTE, isWhole: true, hostsOf };
  }
  const removed = new Map<string, string>();
  for (const tier of searchOrder(placement)) {
    const models = ofTier(tier).filter((model) => {
      const usable = isRoutable(catalog, model) ? usableHosts(model, catalog) : [];
      if (usable.length > 0 && hostsOf(model).length > 0) return true;
      removed.set(model.id, reasonAgainst(needs, usable) ?? TEXT.notConnected);
      return false;
    });
    if (models.length === 0) continue;
    if (tier === placement.tier) return { tier, models, removed, notes: NO_NOTE, isWhole: false, hostsOf };
    const notes = [
      TEXT.tierUsedInstead(placement.tier, tier, describeNeeds(needs, routable(asked, catalog))?.sentence ?? null),
    ];
    return { tier, models, removed, notes, isWhole: false, hostsOf };
  }
  throw noneCapable({ question, catalog, placement }, needs);
}

function noneCapable(
  { question, catalog, placement }: Pick<ChainInput, "question" | "catalog" | "placement">,
  needs: readonly Need[],
): GatewayError {
  const { ceiling } = placement;
  const offered = routable(
    [...searchOrder(placement)].flatMap((tier) => tierChain(tier, { question, catalog })),
    catalog,
  );
  const hosts = offered.flatMap((model) => usableHosts(model, catalog));
  const missing = describeNeeds(needs, offered);
  const code = isOnlyTooLong(needs, hosts) ? TOO_LONG : "no_capable_model";
  if (missing === null) {
    return new GatewayError("badRequest", TEXT.noneConnected(ceiling), { code, operator: TEXT.connectModel(ceiling) });
  }
  const { sentence, capabilities } = missing;
  const operator = capabilities.length === 0 ? {} : { operator: TEXT.enable(capabilities) };
  return new GatewayError("badRequest", TEXT.noneCapable(sentence, ceiling), { code, ...operator });
}

function routable(models: readonly Model[], catalog: Catalog): readonly Model[] {
  return models.filter((model) => isRoutable(catalog, model));
}

const NONE_REMOVED: Removals = new Map();

/** Tells whether each model of a chain can take the request at all its hosts, as is usual. */
function isWhole(models: readonly Model[], needs: readonly Need[], catalog: Catalog): boolean {
  for (const model of models) {
    if (!isRoutable(catalog, model) || !areAble(needs, usableHosts(model, catalog))) return false;
  }
  return models.length > 0;
}

/** The tier itself, then upwards as far as the ceiling, then downwards. */
function* searchOrder({ tier, ceiling }: Placement): Generator<Tier> {
  yield tier;
  const rank = tierRank(tier);
  const top = ceiling === null ? TIERS.length - 1 : tierRank(ceiling);
  yield* TIERS.slice(rank + 1, Math.max(rank, top) + 1);
  yield* TIERS.slice(0, rank).reverse();
}

interface SoftFilter {
  readonly name: string;
  reason(model: HostedModel): string;
  passes(model: HostedModel): boolean;
}

// Behaviour 5.4: when no model passes, the chain is what it was before all of these filters.
function applySoftFilters(input: ChainInput, capable: Step & { readonly tier: Tier }): Step {
  const { tier, models, removed: before, hostsOf } = capable;
  const filters = softFilters(input, tier);
  if (filters.length === 0) return capable.notes.length === 0 ? capable : { ...capable, notes: NO_NOTE };
  const removed = new Map(before);
  const failedBy = (host: HostedModel): SoftFilter | undefined => filters.find((filter) => !filter.passes(host));
  const passing = models.filter((model) => {
    const hosts = hostsOf(model);
    const failed = hosts.map(failedBy);
    if (failed.includes(undefined)) return true;
    removed.set(model.id, failed[0]?.reason(hosts[0] as HostedModel) ?? "");
    return false;
  });
  if (passing.length > 0) {
    const passingHosts = (model: Model) => hostsOf(model).filter((host) => failedBy(host) === undefined);
    const limit = latencyLimit(input.question);
    const notes = passing.flatMap((model) => leftOutNotes(model.id, hostsOf(model), limit));
    return { models: passing, removed, notes, isWhole: false, hostsOf: passingHosts };
  }
  const isImpossible = (filter: SoftFilter): boolean =>
    !models.some((model) => hostsOf(model).some((host) => filter.passes(host)));
  const impossible = filters.filter(isImpossible);
  const culprits = (impossible.length > 0 ? impossible : filters).map((filter) => filter.name);
  const notes = [TEXT.filtersIgnored(culprits)];
  return { models, removed: before, notes, isWhole: false, hostsOf };
}

function softFilters({ question, catalog, scenario, inputTokens }: ChainInput, tier: Tier): readonly SoftFilter[] {
  const { chat, controls, constraints } = question;
  const filters: SoftFilter[] = [];
  const maxCost = pick(Math.min, controls.maxCostUsd, constraints.maxCostUsd);
  if (maxCost !== null) {
    filters.push({
      name: TEXT.maxCost(maxCost),
      reason: () => TEXT.tooDear(maxCost),
      passes(model) {
        const effort = expectedEffort(model, { question, catalog, tier });
        return usdNumber(estimateCost({ chat, inputTokens, tier, model, effort, catalog }).cost) <= maxCost;
      },
    });
  }
  const minScore = pick(Math.max, controls.toolScoreMin, constraints.toolScoreMin);
  if (minScore !== null && scenario !== null) {
    // Behaviour 5.4 means the benchmark: what was seen of the calls changes the order, not which models are in the chain.
    filters.push({
      name: TEXT.minimumScore(minScore),
      reason: () => TEXT.scoreTooLow(minScore),
      passes: (model) => (toolScoreOf(model, scenario) ?? Number.NEGATIVE_INFINITY) >= minScore,
    });
  }
  if (forcesTool(chat.toolChoice) && chat.tools.length > 0) {
    filters.push({
      name: TEXT.forcedTool,
      reason: () => TEXT.takesNoForcedTool,
      passes: ({ dialect }) => dialect.takesForcedTools !== false,
    });
  }
  const limit = latencyLimit(question);
  if (limit !== null) {
    filters.push({ name: limit.name, reason: limit.unmet, passes: limit.isMetBy });
  }
  return filters;
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return choose(a, b);
}

const NOTHING_SEEN: ToolCallsSeen = new Map();
const unnoted = (models: readonly Model[]): Ordered => ({ models, notes: NO_NOTE, adjustments: NO_NOTE });

/** With tools by function-calling score; models that are cooling down go to the end, unless all are. Behaviour 5.5. */
function orderChain(step: Step, tier: Tier, input: ChainInput): Ordered {
  const { models, hostsOf } = step;
  const { restingModels, preferredFormat = null, toolCallsSeen = NOTHING_SEEN } = input.question;
  const { scenario } = input;
  if (scenario === null && preferredFormat === null && restingModels.size === 0) return unnoted(models);
  const rank = tier in input.catalog.withTools ? demoteFailing : rankByToolScore;
  const byScore = scenario === null ? unnoted(models) : rank(models, scenario, toolCallsSeen);
  const preferred = preferModels({ ...byScore, adjustments: NO_NOTE }, step, input);
  const { models: ranked, notes, adjustments } = preferred;
  if (restingModels.size === 0) return preferred;
  const isCoolingDown = (model: Model): boolean => hostsOf(model).every(({ hostKey }) => restingModels.has(hostKey));
  const healthy = ranked.filter((model) => !isCoolingDown(model));
  if (healthy.length === ranked.length || healthy.length === 0) return preferred;
  const last = ranked.filter(isCoolingDown);
  const note = TEXT.coolingDown(last.map((model) => model.id));
  return { models: [...healthy, ...last], notes: [...notes, note], adjustments: [...adjustments, note] };
}

/** Models with a host that the request prefers go first. Behaviour 5.16. */
function preferModels(ordered: Ordered, { hostsOf }: Step, { question, catalog }: ChainInput): Ordered {
  const preference = preferenceOf(question, catalog);
  if (preference === null) return ordered;
  const models = preferredFirst(ordered.models, (model) => hostsOf(model).some(preference.isMetBy));
  if (models === ordered.models) return ordered;
  const note = TEXT.preferred(models[0]?.id ?? "", preference.because);
  return { models, notes: [...ordered.notes, note], adjustments: [note] };
}

/** Within a tool loop the model that made the call goes on, as far as floor, ceiling, filters, needs and health allow. */
function keepLoopModel(ordered: Ordered, tier: Tier, input: ChainInput): Ordered {
  const { question, catalog, placement, inputTokens } = input;
  const model = catalog.models.get(question.loopModel ?? "");
  if (model === undefined || ordered.models[0] === model) return ordered;
  const needs = listNeeds({ question, catalog, inputTokens });
  const able = hostsMeeting(needs, model, catalog);
  if (able.every(({ hostKey }) => question.restingModels.has(hostKey))) return ordered;
  const isFree = question.controls.profile === "auto" && isWithin(model.tier, placement);
  const filters = softFilters(input, tier);
  const passes = isFree && able.some((host) => filters.every((filter) => filter.passes(host)));
  const isAllowed = ordered.models.includes(model) || passes;
  if (!isAllowed || !isRoutable(catalog, model)) return ordered;
  const others = ordered.models.filter((other) => other !== model);
  const note = TEXT.staysInLoop(model.id);
  return {
    models: [model, ...others],
    notes: [...ordered.notes, note],
    adjustments: [...ordered.adjustments, note],
  };
}

function isLoopKept({ models }: Ordered, { loopModel = null }: RoutingQuestion): boolean {
  return loopModel !== null && models[0]?.id === loopModel;
}

function isWithin(tier: Tier, { floor, ceiling }: Placement): boolean {
  const rank = tierRank(tier);
  return (floor === null || rank >= tierRank(floor)) && (ceiling === null || rank <= tierRank(ceiling));
}
