// Offers: what a request costs with a model at a host. The part of its prompt that is still cached there counts at the price
// of a cache read and the rest at full price, cache writes included. In a conversation the turns that are expected are
// added. The cheapest offer goes first, and says by how much. Behaviour 5.21.

import type { HostedModel, Model, PromptCache } from "../../core/model.ts";
import { roughUsd } from "../../core/money.ts";
import type { CachedPrefix, SessionView } from "../../core/session.ts";
import { tokensAt } from "../cost.ts";
import * as TEXT from "../text.ts";
import { costAhead, type Outlook, type Output, ratesAt, readChance } from "./outlook.ts";

/** A model that may take the request, with its hosts that can, in the order of trying. There is at least one. */
export interface StayCandidate {
  readonly model: Model;
  readonly hosts: readonly HostedModel[];
}

interface StayInput {
  /** Models of the decided tier that pass every filter, in the order without a session. Never empty. */
  readonly chain: readonly StayCandidate[];
  /** Models of the chain that the operator's order leaves behind the first. */
  readonly passedOver: readonly StayCandidate[];
  /** Models above the tier, within the ceiling. */
  readonly above: readonly Model[];
  /** Their hosts that pass every filter. */
  readonly ableHosts: (model: Model) => readonly HostedModel[];
  /** True when a tool loop goes on at its host. */
  readonly isHeld: boolean;
  /** Expectations; null for a request that stands alone. */
  readonly outlook: Outlook | null;
  readonly view: SessionView;
  readonly promptTokens: number;
  readonly outputOf: Output;
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
  readonly orderNote?: string;
}

/** Another model or host than that of the turn before must be cheaper by this share: what is expected is not exact. */
const WORTH_MOVING = 0.98;

export function stayOrSwitch(input: StayInput): Stay {
  const { chain, isHeld } = input;
  const primary = chain[0] as StayCandidate;
  const usual = offerOf(primary.model, primary.hosts[0] as HostedModel, input);
  if (isHeld) return { best: usual, note: null };
  const [best, limit] = bestOfTier(usual, input);
  const cheapest = bestAbove(best, limit, input);
  if (input.outlook === null) {
    const note = cheapest === usual ? noteOfSwitch(usual, input) : noteOfStay(cheapest, usual, input);
    return { best: cheapest, note };
  }
  const note = noteOfWhole(cheapest, usual, input);
  return cheapest.model === primary.model
    ? { best: cheapest, note, ...noteOfOrder(cheapest, input) }
    : { best: cheapest, note };
}

/** The cheapest offer, and what another one must cost less than. */
function bestOfTier(usual: Offer, input: StayInput): readonly [Offer, number] {
  const { chain, outlook, view } = input;
  let best = usual;
  let limit = usual.cost;
  const lastKey = outlook === null ? undefined : view.last?.hostKey;
  if (lastKey !== undefined) {
    for (const { model, hosts } of chain) {
      const before = hosts.find(({ hostKey }) => hostKey === lastKey);
      if (before === undefined || input.resting.has(lastKey)) continue;
      best = offerOf(model, before, input);
      limit = best.cost * WORTH_MOVING;
    }
  }
  for (const { model, hosts } of chain) {
    for (const host of hosts) {
      if (!isOffered(host, input)) continue;
      const offer = offerBelow(limit, model, host, input);
      if (offer !== null) [best, limit] = [offer, offer.cost];
    }
  }
  return [best, limit];
}

function bestAbove(bestOfTier: Offer, limitOfTier: number, input: StayInput): Offer {
  let best = bestOfTier;
  let limit = limitOfTier;
  for (const model of input.above) {
    let able: readonly HostedModel[] | null = null;
    for (const host of model.hosts) {
      if (host.price === null || !isOffered(host, input)) continue;
      const offer = offerBelow(limit, model, host, input);
      if (offer === null) continue;
      able ??= input.ableHosts(model);
      if (able.includes(host)) [best, limit] = [offer, offer.cost];
    }
  }
  return best;
}

/** In a conversation each host that is well, cached or not; else those that may have something cached. */
function isOffered({ hostKey }: HostedModel, { resting, outlook, view }: StayInput): boolean {
  if (resting.size > 0 && resting.has(hostKey)) return false;
  return outlook !== null || view.cached.some((prefix) => prefix.hostKey === hostKey);
}

/** Returns null where the offer costs as much or more, or where a request that stands alone would find nothing cached. */
function offerBelow(limit: number, model: Model, host: HostedModel, input: StayInput): Offer | null {
  const keyId = input.keyOf(host);
  const cachedTokens = host.cache === undefined ? 0 : cachedAt(host, host.cache, keyId, input);
  if (input.outlook === null && cachedTokens === 0) return null;
  const now = costNow(host, cachedTokens, input);
  // The turns that are expected only add to it.
  if (now >= limit) return null;
  const cost = input.outlook === null ? now : now + costAhead(host, input.outlook);
  return cost < limit ? { model, host, cachedTokens, keyId, cost } : null;
}

function offerOf(model: Model, host: HostedModel, input: StayInput): Offer {
  const keyId = input.keyOf(host);
  const cachedTokens = host.cache === undefined ? 0 : cachedAt(host, host.cache, keyId, input);
  const now = costNow(host, cachedTokens, input);
  const cost = input.outlook === null ? now : now + costAhead(host, input.outlook);
  return { model, host, cachedTokens, keyId, cost };
}

function costNow(host: HostedModel, cachedTokens: number, given: StayInput): number {
  const { outputOf } = given;
  const promptTokens = tokensAt(host, given.promptTokens);
  const { input, output, cacheRead, cacheWrite } = ratesAt(host.price, promptTokens);
  const fresh = isCached(promptTokens, host.cache) ? Math.max(input, cacheWrite ?? 0) : input;
  const answer = outputOf(host) * output;
  return (promptTokens - cachedTokens) * fresh + cachedTokens * (cacheRead ?? input) + answer;
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
  const sent = tokensAt(host, promptTokens);
  for (const prefix of view.cached) {
    if (prefix.hostKey !== host.hostKey || (keyId !== null && prefix.keyId !== keyId)) continue;
    if (!isCached(prefix.tokens, cache) || !isAlive(prefix, cache, view.nowMs)) continue;
    const hit = view.habit?.cacheOf(host.hostKey).hit ?? 1;
    most = Math.max(most, Math.floor(Math.min(prefix.tokens, sent) * Math.min(prefix.trust, hit)));
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
function noteOfWhole(best: Offer, usual: Offer, input: StayInput): string | null {
  const { outlook, view, markupPpm } = input;
  if (best.cachedTokens > 0 && best !== usual && best.host.hostKey !== usual.host.hostKey) {
    return noteOfStay(best, usual, input);
  }
  const left = noteOfSwitch(best, input);
  if (left !== null) return left;
  if (view.last?.hostKey === best.host.hostKey || outlook === null) return null;
  const other = best.host.hostKey === usual.host.hostKey ? nextBest(best, input) : usual;
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

/** A model that the operator put behind the first is named where it would cost less than this share. By hand. */
const CLEARLY_LESS = 0.5;

function noteOfOrder(best: Offer, input: StayInput): Pick<Stay, "orderNote"> {
  const least = nextBest(best, { ...input, chain: input.passedOver });
  if (least === null || least.cost >= CLEARLY_LESS * best.cost) return {};
  const [cost, otherCost] = [usd(best.cost, input.markupPpm), usd(least.cost, input.markupPpm)];
  return { orderNote: TEXT.keepsOrder({ to: best.model.id, cost, other: least.model.id, otherCost }) };
}

function nextBest(best: Offer, input: StayInput): Offer | null {
  let next: Offer | null = null;
  let limit = Number.POSITIVE_INFINITY;
  for (const { model, hosts } of input.chain) {
    for (const host of hosts) {
      const offer = host === best.host || !isOffered(host, input) ? null : offerBelow(limit, model, host, input);
      if (offer !== null) [next, limit] = [offer, offer.cost];
    }
  }
  return next;
}

/** The session's model still has something cached, and yet another one costs less. */
function noteOfSwitch(usual: Offer, input: StayInput): string | null {
  const { view, chain, markupPpm } = input;
  if (view.last === null || view.last.model === usual.model.id) return null;
  const before = chain.find(({ model }) => model.id === view.last?.model) ?? aboveOf(view.last.model, input);
  const host = before?.hosts.find((each) => isOffered(each, input));
  if (before === undefined || host === undefined) return null;
  const left = offerOf(before.model, host, input);
  if (input.outlook === null && left.cachedTokens === 0) return null;
  const saved = usd(left.cost - usual.cost, markupPpm);
  const cachedTokens = tokens(left.cachedTokens);
  return TEXT.switches({ to: usual.model.id, from: left.model.id, saved, cachedTokens });
}

function aboveOf(id: string, { above, ableHosts }: StayInput): StayCandidate | undefined {
  const model = above.find((each) => each.id === id);
  return model === undefined ? undefined : { model, hosts: ableHosts(model) };
}

const PICO_PER_USD = 1e12;
const PPM = 1e6;

function usd(pico: number, markupPpm: number): string {
  return roughUsd((pico / PICO_PER_USD) * (1 + markupPpm / PPM));
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / 1000)}k`;
}
