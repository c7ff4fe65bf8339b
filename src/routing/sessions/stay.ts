// Stay or switch: which model and host of those that may take the request are tried first because of what came before. An
// open tool loop goes on where it is. Otherwise arithmetic decides: each candidate is priced with the part of its prompt
// that is still cached there at the price of a cache read and the rest at full price, cache writes included. In a
// conversation, the turns that are expected are added, and all models and hosts of the tier are compared. The cheapest
// goes first. For a request that stands alone, candidates are the first model and those that have something cached.
// Behaviour 5.21.

import { type Catalog, chainOf } from "../../catalog/catalog.ts";
import type { RoutingQuestion } from "../../core/decision.ts";
import type { HostedModel, Model, PromptCache, ProviderKey } from "../../core/model.ts";
import { roughUsd } from "../../core/money.ts";
import type { CachedPrefix, SessionState, SessionTurn, SessionView } from "../../core/session.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../cost.ts";
import { hostRules, orderHosts, rankBySession } from "../hosts.ts";
import { onlyPreferred, preferenceOf } from "../preference.ts";
import * as TEXT from "../text.ts";
import { costAhead, type Outlook, outlookOf, ratesAt, readChance } from "./outlook.ts";

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
  /** Tells whether a model calls tools about as well as the others of its tier; absent without tools. */
  readonly isGoodEnough?: (model: Model) => boolean;
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
  const outlook = isConversation(question) ? outlookIn(view, input) : null;
  if (view.cached.length === 0 && held === null && outlook === null) return { models: all, first: null, note: null };
  const only = held === null ? null : [{ model: models[0] as Model, hosts: [held] }];
  const tried = isLoop ? models.slice(0, 1) : models;
  const chain = only ?? (outlook === null ? warmCandidates(tried, view, input) : allCandidates(tried, input));
  const { best, note } = stayOrSwitch({
    chain,
    isHeld: held !== null,
    above: isLoop ? [] : aboveTier(view, outlook, input),
    outlook,
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

function outlookIn(view: SessionView, input: KeepInput): Outlook {
  const { question, inputTokens: promptTokens } = input;
  return outlookOf({ view, promptTokens, outputTokens: outputTokens(input), hasTools: question.chat.tools.length > 0 });
}

/** Tells whether a request has tools, or an answer to go on from. */
function isConversation({ chat: { tools, messages } }: RoutingQuestion): boolean {
  return tools.length > 0 || messages.some(({ role }) => role === "assistant");
}

/** The first model, and those that may have something cached. */
function warmCandidates(models: readonly Model[], view: SessionView, input: KeepInput): readonly StayCandidate[] {
  const isWarm = ({ hosts }: Model): boolean =>
    hosts.some(({ hostKey }) => view.cached.some((prefix) => prefix.hostKey === hostKey));
  return models.filter((model, place) => place === 0 || isWarm(model)).map((model) => candidateOf(model, input));
}

/** All that may take the request, without those that are clearly worse at calling tools. */
function allCandidates(models: readonly Model[], input: KeepInput): readonly StayCandidate[] {
  const { isGoodEnough = anyModel } = input;
  return models.filter((model, place) => place === 0 || isGoodEnough(model)).map((model) => candidateOf(model, input));
}

function anyModel(): boolean {
  return true;
}

/** Takes only the first host where hosts are chosen by speed: then caches choose among models only. */
function candidateOf(model: Model, { question, catalog, hostsOf }: KeepInput): StayCandidate {
  const rules = hostRules(question, catalog);
  const hosts = orderHosts(hostsOf(model), rules);
  return { model, hosts: rules.order === "fastest" ? hosts.slice(0, 1) : hosts };
}

/**
 * Never a model below the tier, and above it only where the request leaves the tier to the router: the session's model, and
 * in a conversation those of the next tier, which may cost less than the ones below.
 */
function aboveTier({ last }: SessionView, outlook: Outlook | null, input: KeepInput): readonly StayCandidate[] {
  const { question, catalog, models, tier, ceiling, hostsOf } = input;
  if (question.controls.profile !== "auto") return [];
  const allowed = TIERS.slice(tierRank(tier) + 1, ceiling === null ? undefined : tierRank(ceiling) + 1);
  const [next] = allowed;
  const above = (higher: Tier): readonly Model[] => chainOf(catalog, higher, question.chat.tools.length > 0);
  const found = outlook === null || next === undefined ? [] : [...above(next)];
  const model = last === null ? undefined : catalog.models.get(last.model);
  if (model !== undefined && allowed.some((higher) => above(higher).includes(model))) found.push(model);
  return found
    .filter((each, at) => !models.includes(each) && found.indexOf(each) === at && hostsOf(each).length > 0)
    .map((each) => candidateOf(each, input));
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
  /** Models above the tier, within the ceiling, that pass every filter. */
  readonly above: readonly StayCandidate[];
  /** True when a tool loop goes on at its host. */
  readonly isHeld: boolean;
  /** Expectations; null for a request that stands alone. */
  readonly outlook: Outlook | null;
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
  /** In 10⁻¹² USD without markup, of this turn and those that are expected: an estimate, to compare and to show. */
  readonly cost: number;
}

interface Stay {
  /** The offer that is tried first. */
  readonly best: Offer;
  /** Explains why the best offer is not the first one without a session; null where it is. */
  readonly note: string | null;
}

/** Another model or host than that of the turn before must be cheaper by this share: what is expected is not exact. */
const WORTH_MOVING = 0.98;

function stayOrSwitch(input: StayInput): Stay {
  const { chain, above, outlook, view, isHeld } = input;
  const primary = chain[0] as StayCandidate;
  const usual = offerOf(primary.model, primary.hosts[0] as HostedModel, input);
  if (isHeld) return { best: usual, note: null };
  const offersOf = outlook === null ? warmOffers : coldOffers;
  const offers = [...chain, ...above].flatMap((candidate) => offersOf(candidate, input));
  const isOfTier = ({ model }: Offer): boolean => chain.some((candidate) => candidate.model === model);
  const before = outlook === null ? undefined : offers.find(({ host }) => host.hostKey === view.last?.hostKey);
  const isBefore = before !== undefined && isOfTier(before);
  let best = isBefore ? before : usual;
  let limit = best.cost * (isBefore ? WORTH_MOVING : 1);
  for (const offer of offers) if (offer.cost < limit) [best, limit] = [offer, offer.cost];
  if (outlook !== null) return { best, note: noteOfWhole(best, usual, offers, input) };
  return best !== usual
    ? { best, note: noteOfStay(best, usual, input) }
    : { best, note: noteOfSwitch(usual, offers, input) };
}

/** Each host that is well, cached or not. */
function coldOffers({ model, hosts }: StayCandidate, input: StayInput): readonly Offer[] {
  return hosts.filter(({ hostKey }) => !input.resting.has(hostKey)).map((host) => offerOf(model, host, input));
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
  const now = fresh * freshPrice + cachedTokens * (price.cacheRead ?? price.input) + output * price.output;
  const cost = input.outlook === null ? now : now + costAhead(host, input.outlook);
  return { model, host, cachedTokens, keyId, cost };
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
  const hit = view.habit?.cacheOf(host.hostKey).hit ?? 1;
  for (const prefix of view.cached) {
    if (prefix.hostKey !== host.hostKey || (keyId !== null && prefix.keyId !== keyId)) continue;
    const isThere = isCached(prefix.tokens, cache) && isAlive(prefix, cache, view.nowMs);
    if (isThere) most = Math.max(most, Math.floor(Math.min(prefix.tokens, promptTokens) * Math.min(prefix.trust, hit)));
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

/** The sum over the whole conversation, against the model and host that would be next. */
function noteOfWhole(best: Offer, usual: Offer, offers: readonly Offer[], input: StayInput): string | null {
  const { outlook, view, markupPpm } = input;
  if (best.cachedTokens > 0 && best !== usual && best.host.hostKey !== usual.host.hostKey) {
    return noteOfStay(best, usual, input);
  }
  const left = noteOfSwitch(best, offers, input);
  if (left !== null) return left;
  if (view.last?.hostKey === best.host.hostKey || outlook === null) return null;
  let other: Offer | null = best.host.hostKey === usual.host.hostKey ? null : usual;
  if (other === null) {
    for (const offer of offers) {
      if (offer.host.hostKey !== best.host.hostKey && (other === null || offer.cost < other.cost)) other = offer;
    }
  }
  if (other === null) return null;
  const nameOf = ({ model, host }: Offer): string =>
    model.hosts.length > 1 ? TEXT.atHost(model.id, host.host) : model.id;
  return TEXT.wholeCost({
    to: nameOf(best),
    cost: usd(best.cost, markupPpm),
    turns: Math.round(outlook.turns),
    readPct: Math.round(100 * readChance(best.host, outlook.habit)),
    other: nameOf(other),
    otherCost: usd(other.cost, markupPpm),
  });
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
