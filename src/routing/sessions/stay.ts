// Stay or switch, by arithmetic: what a request costs at each model and host, with the part of its prompt that is still
// cached there at the price of a cache read and the rest at full price, cache writes included. The cheapest goes first.
// Candidates are the model that is first without a session, and models that have something cached. Behaviour 5.21.

import type { HostedModel, Model, PromptCache } from "../../core/model.ts";
import { decimalText, type Price } from "../../core/money.ts";
import type { CachedPrefix, SessionState, SessionView } from "../../core/session.ts";
import * as TEXT from "../text.ts";

/** A model that may take the request, with its hosts that can, in the order of trying. There is at least one. */
export interface StayCandidate {
  readonly model: Model;
  readonly hosts: readonly HostedModel[];
}

export interface StayInput {
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
  /** Which of several keys the session would use at a host; null where there are not several. */
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

export interface Stay {
  /** What is tried first. */
  readonly best: Offer;
  /** Why that is not what would be first without a session; null where it is. */
  readonly note: string | null;
}

export function stayOrSwitch(input: StayInput): Stay {
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
    if (input.resting.has(host.route) || !input.view.cached.some(({ route }) => route === host.route)) continue;
    const offer = offerOf(model, host, input);
    if (offer.cachedTokens > 0) offers.push(offer);
  }
  return offers;
}

function offerOf(model: Model, host: HostedModel, input: StayInput): Offer {
  const keyId = input.keyOf(host);
  const cachedTokens = host.cache === undefined ? 0 : cachedAt(host, host.cache, keyId, input);
  const { promptTokens, outputTokens } = input;
  const price = host.price as Price;
  const fresh = promptTokens - cachedTokens;
  const output = Math.min(outputTokens, host.maxOutput);
  const freshPrice = isCached(promptTokens, host.cache) ? Math.max(price.input, price.cacheWrite ?? 0) : price.input;
  const cost = fresh * freshPrice + cachedTokens * (price.cacheRead ?? price.input) + output * price.output;
  return { model, host, cachedTokens, keyId, cost };
}

function isCached(tokens: number, cache: PromptCache | undefined): boolean {
  return cache !== undefined && tokens >= cache.tokensMin;
}

/** As much as the host's own counts have borne out of what it was sent. */
function cachedAt(
  host: HostedModel,
  cache: PromptCache,
  keyId: string | null,
  { view, promptTokens }: StayInput,
): number {
  let most = 0;
  for (const prefix of view.cached) {
    if (prefix.route !== host.route || (keyId !== null && prefix.keyId !== keyId)) continue;
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
  if (ahead === null || cachedTokens > 0 || view.last?.route === host.route) return null;
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

/** With two digits that count. */
function usd(pico: number, markupPpm: number): string {
  const amount = (pico / PICO_PER_USD) * (1 + markupPpm / PPM);
  return `$${decimalText(Number(amount.toPrecision(2)))}`;
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / 1000)}k`;
}

interface SettledTurn {
  readonly model: string;
  readonly route: string;
  readonly escalation: number;
  readonly task: number;
}

/** What a request does to its session. A rise that was there before is no news. */
export function sessionState({ last }: SessionView, { model, route, escalation, task }: SettledTurn): SessionState {
  const before = last !== null && last.task === task ? last.escalation : 0;
  if (escalation > before) return "escalated";
  if (last === null) return "started";
  return last.model === model && last.route === route ? "stayed" : "switched";
}
