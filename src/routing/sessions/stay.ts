// Stay or switch: which model and host of those that may take the request are tried first because of what came before. An
// open tool loop goes on where it is. Otherwise arithmetic decides: each candidate is priced with the part of its prompt
// that is still cached there at the price of a cache read and the rest at full price, cache writes included. The cheapest
// goes first. Candidates are the model that is first without a session, and models that have something cached.
// Behaviour 5.21.

import { type Catalog, chainOf } from "../../catalog/catalog.ts";
import type { RoutingQuestion } from "../../core/decision.ts";
import type { HostedModel, Model, PromptCache, ProviderKey } from "../../core/model.ts";
import { roughUsd } from "../../core/money.ts";
import { type RateCard, type Rates, ratesFor } from "../../core/price.ts";
import type { CachedPrefix, SessionState, SessionTurn, SessionView } from "../../core/session.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../cost.ts";
import { hostRules, orderHosts, rankBySession } from "../hosts.ts";
import { onlyPreferred, preferenceOf } from "../preference.ts";
import * as TEXT from "../text.ts";

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
}

export interface Kept {
  readonly models: readonly Model[];
  /** The model and host that are tried first; null where the session changes nothing. */
  readonly first: Offer | null;
  readonly note: string | null;
}

export function keepSession(given: KeepInput): Kept {
  const { question, models: all, isLoop } = given;
  const view = question.sessionView ?? null;
  if (view === null) return { models: all, first: null, note: null };
  const input = onlyPreferred(given, preferenceOf(question, given.catalog));
  const { models } = input;
  const loop = isLoop ? view.loop : null;
  const held = loop === null ? null : heldHost(loop, input);
  const ahead = held ?? (isLoop ? null : hostAhead(input));
  if (view.cached.length === 0 && ahead === null) return { models: all, first: null, note: null };
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
  if (best.model === models[0]) return { models: all, first: best, note };
  return { models: [best.model, ...all.filter((model) => model !== best.model)], first: best, note };
}

/** A tool loop goes on at the host and with the key that opened it, while these are well. Null where there is no choice. */
function heldHost({ hostKey, keyId }: SessionTurn, { models, question, hostsOf }: KeepInput): HostedModel | null {
  const first = models[0] as Model;
  const hasChoice = first.hosts.length > 1 || keyId !== null;
  if (!hasChoice || question.restingModels.has(hostKey)) return null;
  return hostsOf(first).find((host) => host.hostKey === hostKey) ?? null;
}

/** Turns that are expected to follow in a conversation. Agents have many more. */
const NEXT_TURNS = 3;
/** The share of the cost over these turns that a cache may leave at most. */
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
  const isWell = ({ hostKey }: HostedModel): boolean => !question.restingModels.has(hostKey);
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

/** Tells whether a request has tools, or an answer to go on from. */
function isConversation({ chat: { tools, messages } }: RoutingQuestion): boolean {
  return tools.length > 0 || messages.some(({ role }) => role === "assistant");
}

/** The cost of this turn and those that are expected, all with a prompt of this length. */
function costAhead({ price, cache, maxOutput }: HostedModel, input: KeepInput): number {
  const { input: full, output, cacheRead, cacheWrite } = ratesAt(price, input.inputTokens);
  const isCached = cache !== undefined && input.inputTokens >= cache.tokensMin && cacheRead !== null;
  const first = isCached ? Math.max(full, cacheWrite ?? 0) : full;
  const next = isCached ? cacheRead : full;
  const answers = Math.min(outputTokens(input), maxOutput) * output * (1 + NEXT_TURNS);
  return input.inputTokens * (first + NEXT_TURNS * next) + answers;
}

/** The first model, and those that may have something cached. */
function candidates(models: readonly Model[], view: SessionView, input: KeepInput): readonly StayCandidate[] {
  const isWarm = ({ hosts }: Model): boolean =>
    hosts.some(({ hostKey }) => view.cached.some((prefix) => prefix.hostKey === hostKey));
  return models.filter((model, place) => place === 0 || isWarm(model)).map((model) => candidateOf(model, input));
}

/** Takes only the first host where hosts are chosen by speed: then caches choose among models only. */
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
  const hasTools = question.chat.tools.length > 0;
  const isAbove = allowed.some((higher) => chainOf(catalog, higher, hasTools).includes(model));
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

/** A model that may take the request, with its hosts that can, in the order of trying. There is at least one. */
interface StayCandidate {
  readonly model: Model;
  readonly hosts: readonly HostedModel[];
}

interface StayInput {
  /** Models of the decided tier that pass every filter, in the order without a session. Never empty. */
  readonly chain: readonly StayCandidate[];
  /** The session's model where that is above the tier, within the ceiling, and passes every filter; null otherwise. */
  readonly above: StayCandidate | null;
  /** The host to begin at instead of the usual one; null for that. */
  readonly ahead: HostedModel | null;
  readonly view: SessionView;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly markupPpm: number;
  /** Routes that are cooling down. */
  readonly resting: ReadonlyMap<string, string>;
  /** The key that the session would use at a host; null where there are not several. */
  readonly keyOf: (host: HostedModel) => string | null;
}

/** A model at a host, and what the request costs there. */
export interface Offer {
  readonly model: Model;
  readonly host: HostedModel;
  readonly cachedTokens: number;
  readonly keyId: string | null;
  /** In 10⁻¹² USD without markup: an estimate, to compare and to show. */
  readonly cost: number;
}

interface Stay {
  /** The offer that is tried first. */
  readonly best: Offer;
  /** Explains why the best offer is not the first one without a session; null where it is. */
  readonly note: string | null;
}

function stayOrSwitch(input: StayInput): Stay {
  const { chain, above, ahead, view } = input;
  const primary = chain[0] as StayCandidate;
  const usual = offerOf(primary.model, ahead ?? (primary.hosts[0] as HostedModel), input);
  if (view.cached.length === 0) return { best: usual, note: noteOfBeginning(usual, input) };
  const offers = chain.flatMap((candidate) => warmOffers(candidate, input));
  if (above !== null) offers.push(...warmOffers(above, input));
  let best = usual;
  for (const offer of offers) if (offer.cost < best.cost) best = offer;
  if (best !== usual) return { best, note: noteOfStay(best, usual, input) };
  return { best, note: noteOfSwitch(usual, offers, input) ?? noteOfBeginning(usual, input) };
}

function warmOffers({ model, hosts }: StayCandidate, input: StayInput): readonly Offer[] {
  const offers: Offer[] = [];
  for (const host of hosts) {
    if (input.resting.has(host.hostKey) || !input.view.cached.some(({ hostKey }) => hostKey === host.hostKey)) continue;
    const offer = offerOf(model, host, input);
    if (offer.cachedTokens > 0) offers.push(offer);
  }
  return offers;
}

function offerOf(model: Model, host: HostedModel, input: StayInput): Offer {
  const keyId = input.keyOf(host);
  const cachedTokens = host.cache === undefined ? 0 : cachedAt(host, host.cache, keyId, input);
  const { promptTokens, outputTokens } = input;
  const price = ratesAt(host.price, promptTokens);
  const fresh = promptTokens - cachedTokens;
  const output = Math.min(outputTokens, host.maxOutput);
  const freshPrice = isCached(promptTokens, host.cache) ? Math.max(price.input, price.cacheWrite ?? 0) : price.input;
  const cost = fresh * freshPrice + cachedTokens * (price.cacheRead ?? price.input) + output * price.output;
  return { model, host, cachedTokens, keyId, cost };
}

/** Hosts of a chain have a price. */
function ratesAt(price: RateCard | null, promptTokens: number): Rates {
  return ratesFor(price as RateCard, promptTokens);
}

function isCached(tokens: number, cache: PromptCache | undefined): boolean {
  return cache !== undefined && tokens >= cache.tokensMin;
}

/** Counts as many cached tokens as the host's own counts have confirmed. */
function cachedAt(
  host: HostedModel,
  cache: PromptCache,
  keyId: string | null,
  { view, promptTokens }: StayInput,
): number {
  let most = 0;
  for (const prefix of view.cached) {
    if (prefix.hostKey !== host.hostKey || (keyId !== null && prefix.keyId !== keyId)) continue;
    const isThere = isCached(prefix.tokens, cache) && isAlive(prefix, cache, view.nowMs);
    if (isThere) most = Math.max(most, Math.floor(Math.min(prefix.tokens, promptTokens) * prefix.trust));
  }
  return most;
}

function isAlive({ atMs }: CachedPrefix, { seconds }: PromptCache, nowMs: number): boolean {
  return nowMs - atMs < seconds * 1000;
}

function noteOfStay(best: Offer, usual: Offer, { view, markupPpm }: StayInput): string {
  const isSameModel = best.model === usual.model;
  const to = isSameModel ? TEXT.atHost(best.model.id, best.host.host) : best.model.id;
  const from = isSameModel ? usual.host.host : usual.model.id;
  const saved = usd(usual.cost - best.cost, markupPpm);
  const cachedTokens = tokens(best.cachedTokens);
  return TEXT.staysOn({ to, from, saved, cachedTokens }, view.last?.model === best.model.id);
}

/** A conversation begins where its next turns will be cheap, or a tool loop goes on where it is. */
function noteOfBeginning({ model, host, cachedTokens }: Offer, { ahead, view, chain }: StayInput): string | null {
  if (ahead === null || cachedTokens > 0 || view.last?.hostKey === host.hostKey) return null;
  return TEXT.beginsAt(TEXT.atHost(model.id, host.host), chain[0]?.hosts[0]?.host);
}

/** The session's model still has something cached, and yet another one costs less. */
function noteOfSwitch(usual: Offer, offers: readonly Offer[], { view, markupPpm }: StayInput): string | null {
  const left = offers.find(({ model }) => model.id === view.last?.model);
  if (left === undefined || left.model === usual.model) return null;
  const saved = usd(left.cost - usual.cost, markupPpm);
  const cachedTokens = tokens(left.cachedTokens);
  return TEXT.switches({ to: usual.model.id, from: left.model.id, saved, cachedTokens });
}

const PICO_PER_USD = 1e12;
const PPM = 1e6;

function usd(pico: number, markupPpm: number): string {
  return roughUsd((pico / PICO_PER_USD) * (1 + markupPpm / PPM));
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / 1000)}k`;
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
