// The session in a chain: which model and host of those that may take the request are tried first because of what came
// before. An open tool loop goes on where it is; otherwise the arithmetic of `stay.ts` decides.

import type { Catalog } from "../../catalog/catalog.ts";
import type { RoutingQuestion } from "../../core/decision.ts";
import type { HostedModel, Model, ProviderKey } from "../../core/model.ts";
import type { Price } from "../../core/money.ts";
import type { SessionTurn, SessionView } from "../../core/session.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../cost.ts";
import { hostRules, orderHosts } from "../hosts.ts";
import { rankBySession } from "../session.ts";
import { type Offer, type StayCandidate, stayOrSwitch } from "./stay.ts";

export interface KeepInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  /** The tier whose chain is used, and the highest that may be; null where nothing limits it. */
  readonly tier: Tier;
  readonly ceiling: Tier | null;
  readonly inputTokens: number;
  /** In the order without a session. */
  readonly models: readonly Model[];
  /** Whether the first of them stays because it made the open tool call. */
  readonly isLoop: boolean;
  /** The hosts of a model that pass every filter. */
  readonly hostsOf: (model: Model) => readonly HostedModel[];
}

export interface Kept {
  readonly models: readonly Model[];
  /** The model and host that are tried first; null where the session changes nothing. */
  readonly first: Offer | null;
  readonly note: string | null;
}

export function keepSession(input: KeepInput): Kept {
  const { question, models, isLoop } = input;
  const view = question.sessionView ?? null;
  if (view === null) return { models, first: null, note: null };
  const loop = isLoop ? view.loop : null;
  const held = loop === null ? null : heldHost(loop, input);
  const ahead = held ?? (isLoop ? null : hostAhead(input));
  if (view.cached.length === 0 && ahead === null) return { models, first: null, note: null };
  const only = held === null ? null : [{ model: models[0] as Model, hosts: [held] }];
  const chain = only ?? candidates(isLoop ? models.slice(0, 1) : models, view, input);
  const { best, note } = stayOrSwitch({
    chain,
    ahead,
    above: isLoop ? null : aboveTier(view, input),
    view,
    promptTokens: input.inputTokens,
    outputTokens: outputTokens(input),
    markupPpm: input.catalog.markupPpm,
    resting: question.restingModels,
    keyOf: (host) => keyOf(host, loop ?? view.last, input),
  });
  if (best.model === models[0]) return { models, first: best, note };
  return { models: [best.model, ...models.filter((model) => model !== best.model)], first: best, note };
}

/** A tool loop goes on at the host and with the key that opened it, while these are well. Null where there is no choice. */
function heldHost({ route, keyId }: SessionTurn, { models, question, hostsOf }: KeepInput): HostedModel | null {
  const first = models[0] as Model;
  const hasChoice = first.hosts.length > 1 || keyId !== null;
  if (!hasChoice || question.restingModels.has(route)) return null;
  return hostsOf(first).find((host) => host.route === route) ?? null;
}

/** How many turns are expected to follow in a conversation. Agents have many more. */
const NEXT_TURNS = 3;
/** What a cache must leave of the cost over these turns. */
const WORTHWHILE = 0.8;

/**
 * The host of the first model to begin at, where that is not the usual one: in a conversation, the prompt comes again with
 * every turn, so a host that caches it may cost less than one with a lower price. Null where the usual one is as good.
 */
function hostAhead(input: KeepInput): HostedModel | null {
  const { question, catalog, models, hostsOf } = input;
  const first = models[0] as Model;
  if (first.hosts.length < 2 || !isConversation(question)) return null;
  const able = hostsOf(first);
  const rules = hostRules(question, catalog);
  if (able.length < 2 || rules.order === "fastest") return null;
  const [usual, ...others] = orderHosts(able, rules) as readonly [HostedModel, ...HostedModel[]];
  const isWell = ({ route }: HostedModel): boolean => !question.restingModels.has(route);
  let best: HostedModel | null = null;
  let least = costAhead(usual, input) * WORTHWHILE;
  for (const host of others) {
    const cost = costAhead(host, input);
    if (cost >= least || !isWell(host)) continue;
    best = host;
    least = cost;
  }
  return best;
}

/** It has tools, or an answer to go on from. */
function isConversation({ chat: { tools, messages } }: RoutingQuestion): boolean {
  return tools.length > 0 || messages.some(({ role }) => role === "assistant");
}

/** Of this turn and those that are expected, all with a prompt of this length. */
function costAhead({ price, cache, maxOutput }: HostedModel, input: KeepInput): number {
  const { input: full, output, cacheRead, cacheWrite } = price as Price;
  const isCached = cache !== undefined && input.inputTokens >= cache.tokensMin && cacheRead !== null;
  const first = isCached ? Math.max(full, cacheWrite ?? 0) : full;
  const next = isCached ? cacheRead : full;
  const answers = Math.min(outputTokens(input), maxOutput) * output * (1 + NEXT_TURNS);
  return input.inputTokens * (first + NEXT_TURNS * next) + answers;
}

/** The first model, and those that may have something cached. */
function candidates(models: readonly Model[], view: SessionView, input: KeepInput): readonly StayCandidate[] {
  const isWarm = ({ hosts }: Model): boolean =>
    hosts.some(({ route }) => view.cached.some((prefix) => prefix.route === route));
  return models.filter((model, place) => place === 0 || isWarm(model)).map((model) => candidateOf(model, input));
}

/** Where hosts are chosen by speed, what is cached chooses among models only. */
function candidateOf(model: Model, { question, catalog, hostsOf }: KeepInput): StayCandidate {
  const rules = hostRules(question, catalog);
  const hosts = orderHosts(hostsOf(model), rules);
  return { model, hosts: rules.order === "fastest" ? hosts.slice(0, 1) : hosts };
}

/** Never a model below the tier, and above it only where the request leaves the tier to the router. */
function aboveTier({ last }: SessionView, input: KeepInput): StayCandidate | null {
  const { question, catalog, models, tier, ceiling, hostsOf } = input;
  const model = last === null ? undefined : catalog.models.get(last.model);
  if (model === undefined || models.includes(model) || question.controls.profile !== "auto") return null;
  const allowed = TIERS.slice(tierRank(tier) + 1, ceiling === null ? undefined : tierRank(ceiling) + 1);
  const isAbove = allowed.some((higher) => catalog.chains[higher].includes(model));
  return isAbove && hostsOf(model).length > 0 ? candidateOf(model, input) : null;
}

function outputTokens({ question: { chat }, tier }: KeepInput): number {
  return (chat.maxOutputTokens ?? EXPECTED_OUTPUT_TOKENS[tier]) * Math.max(1, chat.choiceCount);
}

/** The key of the turn before; where another host is considered, the one that the session's name leads to. */
export function keyOf(
  host: HostedModel,
  last: SessionTurn | null,
  { question, catalog }: Pick<KeepInput, "question" | "catalog">,
): string | null {
  const keys = catalog.providers.get(host.provider)?.apiKeys;
  if (keys === undefined) return null;
  const isKnown = last?.route === host.route && keys.some(({ id }) => id === last.keyId);
  if (isKnown) return last.keyId;
  const [first] = rankBySession(keys, question.session ?? noName, identify) as readonly [ProviderKey];
  return first.id;
}

function noName(): string {
  return "";
}

function identify(key: ProviderKey): ProviderKey {
  return key;
}
