// Stay or switch: which model and host of those that may take the request are tried first because of what came before. An
// open tool loop goes on where it is. Otherwise the cost decides. In a conversation, all models and hosts of the tier that
// count as equally good are compared. For a request that stands alone, and in a chain whose order the operator has decided,
// candidates are the first model and those that have something cached. Behaviour 5.21.

import { type Catalog, chainOf, isOrderedForTools } from "../../catalog/catalog.ts";
import type { RoutingQuestion } from "../../core/decision.ts";
import type { HostedModel, Model, ProviderKey } from "../../core/model.ts";
import type { SessionState, SessionTurn, SessionView } from "../../core/session.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { EXPECTED_OUTPUT_TOKENS, thinkingTokens } from "../cost.ts";
import { expectedEffort } from "../effort.ts";
import { type HostRules, hostRules, orderHosts, rankBySession } from "../hosts.ts";
import { onlyPreferred, preferenceOf } from "../preference.ts";
import { type Offer, type StayCandidate, stayOrSwitch } from "./offers.ts";
import { type Outlook, type Output, outlookOf } from "./outlook.ts";

export interface KeepInput {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  /** The tier whose chain is used, and the highest that may be; null where nothing limits it. */
  readonly tier: Tier;
  readonly ceiling: Tier | null;
  readonly inputTokens: number;
  /** In the order without a session. */
  readonly models: readonly Model[];
  /** True when the first of the models stays because it made the open tool call. */
  readonly isLoop: boolean;
  /** The hosts of a model that pass every filter. */
  readonly hostsOf: (model: Model) => readonly HostedModel[];
  /** Tells which models count as equally good as the first; null where the order of the chain is the operator's own. */
  readonly isEqual: ((model: Model) => boolean) | null;
}

export interface Kept {
  readonly models: readonly Model[];
  /** The model and host that are tried first; null where the session changes nothing. */
  readonly first: Offer | null;
  readonly note: string | null;
  /** Says what the operator's order costs; absent where it costs little more. */
  readonly orderNote?: string;
}

export function keepSession(given: KeepInput): Kept {
  const { question, models: all, isLoop } = given;
  const view = question.sessionView ?? null;
  if (view === null) return { models: all, first: null, note: null };
  const input = onlyPreferred(given, preferenceOf(question, given.catalog));
  const { models } = input;
  const loop = isLoop ? view.loop : null;
  const held = loop === null ? null : heldHost(loop, input);
  const isTalk = isConversation(question);
  if (view.cached.length === 0 && held === null && !isTalk) return { models: all, first: null, note: null };
  const outputOf = outputIn(view, input);
  const outlook = isTalk ? outlookIn(view, input, outputOf) : null;
  const only = held === null ? null : [{ model: models[0] as Model, hosts: [held] }];
  const tried = isLoop ? models.slice(0, 1) : models;
  const chain = only ?? candidatesOf(tried, { view, outlook, input });
  const isOrdered = outlook !== null && !isLoop && input.isEqual === null;
  const { best, note, orderNote } = stayOrSwitch({
    chain,
    passedOver: isOrdered ? othersOf(tried, chain, input) : [],
    isHeld: held !== null,
    above: isLoop ? [] : aboveTier(view, outlook, input),
    ableHosts: (model) => candidateOf(model, input, hostRules(question, input.catalog)).hosts,
    outlook,
    view,
    promptTokens: input.inputTokens,
    outputOf,
    markupPpm: input.catalog.markupPpm,
    resting: question.restingModels,
    keyOf: (host) => keyOf(host, loop ?? view.last, input),
  });
  const said = orderNote === undefined ? { first: best, note } : { first: best, note, orderNote };
  if (best.model === models[0]) return { models: all, ...said };
  return { models: [best.model, ...all.filter((model) => model !== best.model)], ...said };
}

/** A host that reads less of what it should have cached counts as one without a cache. */
const HIT_MIN = 0.3;

/** A tool loop goes on at the host and with the key that opened it, while these are well. Null where there is no choice. */
function heldHost({ hostKey, keyId }: SessionTurn, { models, question, hostsOf }: KeepInput): HostedModel | null {
  const first = models[0] as Model;
  const hasChoice = first.hosts.length > 1 || keyId !== null;
  if (!hasChoice || question.restingModels.has(hostKey)) return null;
  const host = hostsOf(first).find((each) => each.hostKey === hostKey) ?? null;
  // Where nothing is ever read from the cache, there is nothing to stay for.
  const hit = question.sessionView?.habit?.cacheOf(hostKey).hit ?? 1;
  return keyId === null && host?.cache !== undefined && hit < HIT_MIN ? null : host;
}

function outlookIn(view: SessionView, input: KeepInput, outputOf: Output): Outlook {
  const { question, catalog, inputTokens: promptTokens } = input;
  const { last } = view;
  // The host counted it with the tokenizer of its model.
  const { tokenFactor = 1 } = catalog.models.get(last?.model ?? "") ?? {};
  const lastTokens = last === null ? null : last.promptTokens / tokenFactor;
  return outlookOf({ view, promptTokens, lastTokens, outputOf, hasTools: question.chat.tools.length > 0 });
}

/** Tells whether a request has tools, or an answer to go on from. */
function isConversation({ chat: { tools, messages } }: RoutingQuestion): boolean {
  return tools.length > 0 || messages.some(({ role }) => role === "assistant");
}

interface WarmInput {
  readonly view: SessionView;
  readonly outlook: Outlook | null;
  readonly input: KeepInput;
}

/** The first model, those that may have something cached, and in a conversation those that are equally good. */
function candidatesOf(models: readonly Model[], { view, outlook, input }: WarmInput): readonly StayCandidate[] {
  const isEqual = outlook === null ? null : input.isEqual;
  const rules = hostRules(input.question, input.catalog);
  const candidates: StayCandidate[] = [];
  for (const model of models) {
    const isWanted = candidates.length === 0 || isEqual?.(model) === true || isWarm(model, view);
    if (isWanted) candidates.push(candidateOf(model, input, rules));
  }
  return candidates;
}

function isWarm({ hosts }: Model, { cached }: SessionView): boolean {
  return cached.length > 0 && hosts.some(({ hostKey }) => cached.some((prefix) => prefix.hostKey === hostKey));
}

function othersOf(
  models: readonly Model[],
  chain: readonly StayCandidate[],
  input: KeepInput,
): readonly StayCandidate[] {
  const rules = hostRules(input.question, input.catalog);
  const others = models.filter((model) => !chain.some((each) => each.model === model));
  return others.map((model) => candidateOf(model, input, rules));
}

/** Takes only the first host where hosts are chosen by speed: then caches choose among models only. */
function candidateOf(model: Model, { hostsOf }: KeepInput, rules: HostRules): StayCandidate {
  const hosts = orderHosts(hostsOf(model), rules);
  return { model, hosts: rules.order === "fastest" ? hosts.slice(0, 1) : hosts };
}

/**
 * Never a model below the tier, and above it only where the request leaves the tier to the router: the session's model, and
 * in a conversation those of the next tier, which may cost less than the ones below. An operator's own order holds there too.
 * Their hosts are looked at only where one of them may cost less.
 */
function aboveTier({ last }: SessionView, outlook: Outlook | null, input: KeepInput): readonly Model[] {
  const { question, catalog, models, tier, ceiling, isEqual } = input;
  if (question.controls.profile !== "auto") return [];
  const allowed = TIERS.slice(tierRank(tier) + 1, ceiling === null ? undefined : tierRank(ceiling) + 1);
  const [next] = allowed;
  const hasTools = question.chat.tools.length > 0;
  const above = (higher: Tier): readonly Model[] => chainOf(catalog, higher, hasTools);
  const isOwn = (higher: Tier): boolean =>
    catalog.ownChains.has(higher) || (hasTools && isOrderedForTools(catalog, higher));
  const isFree = outlook !== null && isEqual !== null && next !== undefined && !isOwn(next);
  const found = isFree ? above(next).filter((model) => !models.includes(model) && isEqual(model)) : [];
  const model = last === null ? undefined : catalog.models.get(last.model);
  if (model === undefined || models.includes(model) || found.includes(model)) return found;
  return allowed.some((higher) => above(higher).includes(model)) ? [...found, model] : found;
}

/** A model that thinks more writes more. Agents often send a large cap, and answers are much shorter. */
function outputIn({ habit }: SessionView, { question, catalog, tier }: KeepInput): Output {
  const { maxOutputTokens, choiceCount } = question.chat;
  const cap = maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const known = new Map<string, number>();
  const thinkingOf = (host: HostedModel): number => {
    const before = known.get(host.id);
    if (before !== undefined) return before;
    const effort = expectedEffort(host, { question, catalog, tier });
    const usual = thinkingTokens(host, effort);
    const thinking = habit?.thought(host.id, effort, usual) ?? usual;
    known.set(host.id, thinking);
    return thinking;
  };
  return (host, answer = EXPECTED_OUTPUT_TOKENS[tier]) =>
    Math.min(answer + thinkingOf(host), cap, host.maxOutput) * Math.max(1, choiceCount);
}

/** The key of the turn before; where another host is considered, the one that the session's name leads to. */
export function keyOf(
  host: HostedModel,
  last: SessionTurn | null,
  { question, catalog }: Pick<KeepInput, "question" | "catalog">,
): string | null {
  const keys = catalog.providers.get(host.provider)?.apiKeys;
  if (keys === undefined) return null;
  const isKnown = last?.hostKey === host.hostKey && keys.some(({ id }) => id === last.keyId);
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

interface SettledTurn {
  readonly model: string;
  readonly hostKey: string;
  readonly escalation: number;
  readonly task: number;
}

/** Names the effect of a request on its session. A rise that was there before is not reported again. */
export function sessionState({ last }: SessionView, { model, hostKey, escalation, task }: SettledTurn): SessionState {
  const before = last !== null && last.task === task ? last.escalation : 0;
  if (escalation > before) return "escalated";
  if (last === null) return "started";
  return last.model === model && last.hostKey === hostKey ? "stayed" : "switched";
}
