// The profile `direct`: the one model that was named, when this key may have it. Behaviour 5.2, 5.6.

import { type Catalog, isRoutable } from "../catalog/catalog.ts";
import { PLAIN_DIALECT } from "../catalog/dialect.ts";
import { findModel } from "../catalog/model-names.ts";
import { nearest } from "../catalog/nearest.ts";
import type { Constraints, Controls, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { HostedModel, Model } from "../core/model.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { isTierAllowed } from "./adjust.ts";
import { candidateOf } from "./candidates.ts";
import { type Chain, chooseHosts } from "./chain.ts";
import { usableHosts } from "./hosts.ts";
import { latencyLimit, withinLimit } from "./latency.ts";
import { wrongEndpoint } from "./named.ts";
import {
  ableHosts,
  constraintNeeds,
  describeNeeds,
  hostsMeeting,
  listNeeds,
  type NeedsInput,
  reasonAgainst,
  scopedNeeds,
} from "./needs.ts";
import { keepSession } from "./sessions/stay.ts";
import * as TEXT from "./text.ts";

/** A client that asks for this model, or for none, leaves the choice to the router. */
export const AUTO = "auto";

function namesModel({ model }: Controls): boolean {
  return model !== null && model !== "" && model !== AUTO;
}

/** The request's controls under the key's profile, which may honour the model that is named. Behaviour 5.14. */
export function controlsUnder({ honoursModel }: Constraints, controls: Controls): Controls {
  if (!honoursModel || controls.profile !== "auto" || !namesModel(controls)) return controls;
  return { ...controls, profile: "direct" };
}

export function directChain(input: NeedsInput): Chain {
  const { question, catalog } = input;
  const { models, tier, leftOut } = namedChain(input);
  const [model] = models as readonly [Model];
  const limit = latencyLimit(question);
  const withinOf = new Map(models.map((each) => [each, withinLimit(each.id, hostsFor(each, input), limit)]));
  const hostsOf = (each: Model): readonly HostedModel[] => withinOf.get(each)?.hosts ?? [];
  const kept = keepSession({
    ...{ question: asDirect(question), catalog, tier, ceiling: null, inputTokens: input.inputTokens, hostsOf },
    ...{ models: [model], isLoop: question.loopModel === model.id, isEqual: null },
  });
  const { first, hosts, note } = chooseHosts(models, hostsOf, { question, catalog, firstHost: kept.first?.host });
  const slow = [...withinOf.values()].flatMap(({ notes }) => notes);
  const notes = [...leftOut.map(TEXT.modelLeftOut), ...slow, ...(kept.note === null ? [] : [kept.note])];
  return {
    ...{ tier, models, first },
    ...(hosts === null ? {} : { hosts }),
    ...(kept.first === null ? {} : { offer: kept.first }),
    candidates: [...models.map((each) => candidateOf(each, null, input)), ...leftOut],
    notes: [...notes, ...note],
    adjustments: notes,
  };
}

interface NamedChain {
  /** In the order of trying, and never empty. */
  readonly models: readonly Model[];
  readonly tier: Tier;
  /** Names of the request that are not tried, and why. */
  readonly leftOut: readonly { readonly model: string; readonly removedBecause: string }[];
}

/** The model that the request names, and those that it lists to be tried after it. */
function namedChain(input: NeedsInput): NamedChain {
  const { question } = input;
  const { model: id, fallbacks = [] } = question.controls;
  if (id === null || !namesModel(question.controls)) {
    throw new GatewayError("badRequest", TEXT.modelRequired, { code: "model_required", param: "model" });
  }
  if (fallbacks.length === 0) {
    const { model, tier } = namedModel(id, input);
    return { models: [model], tier, leftOut: [] };
  }
  const models = new Map<Model, Tier>();
  const leftOut: { model: string; removedBecause: string }[] = [];
  let refusal: GatewayError | null = null;
  for (const name of [id, ...fallbacks]) {
    try {
      const { model, tier } = namedModel(name, input);
      const reason = reasonAgainst(listNeeds(input), hostsFor(model, input));
      if (reason === null) models.set(model, tier);
      else leftOut.push({ model: model.id, removedBecause: reason });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const isUnknown = error.status === 404;
      // The first name is the one that the client relies on, so a mistake in it is told.
      if (name === id && isUnknown) throw error;
      if (name === id) refusal = error;
      leftOut.push({ model: name.slice(0, ID_SHOWN), removedBecause: isUnknown ? TEXT.notForThisKey : error.message });
    }
  }
  const [first] = models;
  if (first !== undefined) return { models: [...models.keys()], tier: first[1], leftOut };
  if (refusal !== null) throw refusal;
  // None of them can take it, so the one that was named is asked all the same.
  const { model, tier } = namedModel(id, input);
  return { models: [model], tier, leftOut: leftOut.filter((each) => each.model !== model.id) };
}

function namedModel(id: string, input: NeedsInput): { readonly model: Model; readonly tier: Tier } {
  const { question, catalog } = input;
  const model = findModel(catalog, id);
  if (model !== undefined && model.endpoint !== null) {
    throw wrongEndpoint(model, "chat", TEXT.seeChatModels);
  }
  if (model !== undefined) requireHost(model, input);
  const tier = model === undefined ? null : offeredTier(model, question.constraints, catalog);
  if (model === undefined || tier === null) throw notOffered(id, model, input);
  return { model, tier };
}

/** Throws a 400 that names what profile and request require, where no host of the model has it. */
function requireHost(model: Model, { question: { controls, constraints }, catalog }: NeedsInput): void {
  const needs = [...scopedNeeds(constraints, catalog), ...scopedNeeds(controls, catalog)];
  const usable = usableHosts(model, catalog);
  if (needs.length === 0 || usable.length === 0 || hostsMeeting(needs, model, catalog).length > 0) return;
  const sentence = describeNeeds(needs, [{ ...model, hosts: usable }])?.sentence ?? "";
  throw new GatewayError("badRequest", TEXT.noHostLeft(model.id, sentence), { code: "no_capable_model" });
}

function notOffered(id: string, model: Model | undefined, { question, catalog }: NeedsInput): GatewayError {
  const needs = constraintNeeds(question.constraints, catalog);
  const details = { code: "model_not_found", param: "model", logged: TEXT.namedNotOffered };
  const isAllowed = model !== undefined && ableHosts(needs, model.hosts).length > 0;
  const isPriced = !isAllowed || model.hosts.some(({ price }) => price !== null);
  const message = isPriced
    ? TEXT.notOffered(id.slice(0, ID_SHOWN), nearestOffered(id, question.constraints, catalog))
    : TEXT.withoutPrice(id);
  return new GatewayError("notFound", message, isPriced ? details : { ...details, logged: message });
}

const ID_SHOWN = 200;

/** Names only what this key may use. */
function nearestOffered(id: string, constraints: Constraints, catalog: Catalog): string | null {
  const ids = offeredModels(constraints, catalog).map((model) => model.id);
  return nearest(id.slice(id.lastIndexOf("/") + 1, ID_SHOWN), ids);
}

/** No other model may stay in the place of the one that was named. */
function asDirect(question: RoutingQuestion): RoutingQuestion {
  return { ...question, controls: { ...question.controls, profile: "direct" } };
}

/** Hosts that can do what the request needs. Where none can, the model was asked for all the same. */
function hostsFor(model: Model, input: NeedsInput): readonly HostedModel[] {
  const { question, catalog } = input;
  const needs = [...constraintNeeds(question.constraints, catalog), ...scopedNeeds(question.controls, catalog)];
  const able = hostsMeeting([...needs, ...listNeeds(input)], model, catalog);
  return able.length > 0 ? able : hostsMeeting(needs, model, catalog);
}

/** The router, and the models that a key with these constraints may ask for by name, for its models list. */
export function offeredModels(constraints: Constraints, catalog: Catalog): readonly Model[] {
  const offered = [...catalog.models.values()].filter((model) => offeredTier(model, constraints, catalog) !== null);
  return offered.length === 0 ? offered : [autoModel(offered), ...offered];
}

/** The router as an entry of the models list: it can do what any of its models can, at no price of its own. */
function autoModel(models: readonly Model[]): Model {
  return {
    ...{ id: AUTO, name: TEXT.auto, vendor: "switchyard", provider: "", upstream: AUTO, tier: "NANO" },
    ...{ host: "", hostKey: AUTO, hosts: [] },
    ...{ price: null, priceSource: "", scores: null, dialect: PLAIN_DIALECT, endpoint: null },
    priceAsOf: models.map(({ priceAsOf }) => priceAsOf).reduce((a, b) => (a > b ? a : b), ""),
    context: Math.max(0, ...models.map(({ context }) => context)),
    maxOutput: Math.max(0, ...models.map(({ maxOutput }) => maxOutput)),
    capabilities: new Set(models.flatMap(({ capabilities }) => [...capabilities])),
  };
}

/** The model's own tier; where a profile leaves that out, the lowest one it allows whose chain has the model. */
function offeredTier(model: Model, constraints: Constraints, catalog: Catalog): Tier | null {
  const isFit = isRoutable(catalog, model) && isOffered(model, constraints, catalog);
  if (!isFit) return null;
  const listings = TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id));
  return [model.tier, ...listings].find((tier) => isTierAllowed(tier, constraints)) ?? null;
}

function isOffered(model: Model, constraints: Constraints, catalog: Catalog): boolean {
  return hostsMeeting(constraintNeeds(constraints, catalog), model, catalog).length > 0;
}
