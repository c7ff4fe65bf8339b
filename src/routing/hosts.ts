// The hosts of a model in the order in which they are tried: those that are well first, then by the policy. Where the
// policy finds hosts equal, the conversation decides, so that its requests stay together. Behaviour 5.17 to 5.19.

import { blendedPrice, type Catalog, isUsable } from "../catalog/catalog.ts";
import type { Decision, HostSpeed, HostSpeeds, RoutingQuestion } from "../core/decision.ts";
import type { HostedModel, Model, ProviderKey } from "../core/model.ts";
import type { HostOrder } from "../core/requests/controls.ts";
import { type Preference, preferenceOf, preferredFirst, providersFirst } from "./preference.ts";
import * as TEXT from "./text.ts";

/** Facts that decide the order. No fact of a single request: the hosts of a conversation must not change as it grows. */
export interface HostRules {
  readonly order: HostOrder;
  readonly resting: RoutingQuestion["restingModels"];
  readonly speeds: HostSpeeds;
  readonly session: () => string;
  /** Host that answered the last turn of the conversation, in any process. */
  readonly lastHostKey: string | undefined;
  readonly preference: Preference | null;
  /** Puts the hosts first that the request names; null where it names none. */
  readonly putFirst: ((hosts: readonly HostedModel[]) => readonly HostedModel[]) | null;
  /** Only the first host is tried. */
  readonly isOneHost: boolean;
}

const NOTHING_OBSERVED: HostSpeeds = new Map();

/** The request's own policy counts before the profile's, and that before the configured one. */
export function hostRules(question: RoutingQuestion, catalog: Catalog): HostRules {
  const { restingModels, hostSpeeds = NOTHING_OBSERVED, session = noSession } = question;
  const order = hostOrderOf(question, catalog);
  const lastHostKey = question.sessionView?.last?.hostKey;
  const preference = preferenceOf(question, catalog);
  const { providersFirst: names, isOneHost = false } = question.controls;
  const putFirst =
    names === undefined ? null : (hosts: readonly HostedModel[]) => providersFirst(hosts, names, catalog);
  return {
    ...{ order, resting: restingModels, speeds: hostSpeeds, session, lastHostKey, preference },
    ...{ putFirst, isOneHost },
  };
}

export function hostOrderOf({ controls, constraints }: RoutingQuestion, catalog: Catalog): HostOrder {
  return controls.hostOrder ?? constraints.hostOrder ?? catalog.hostOrder;
}

function noSession(): string {
  return "";
}

/** By catalogue: its providers and prices never change. */
const USABLE = new WeakMap<Catalog, Map<Model, readonly HostedModel[]>>();

/** The hosts of a model that can be called: its provider is configured and it has a price. Each time the same list. */
export function usableHosts(model: Model, catalog: Catalog): readonly HostedModel[] {
  let known = USABLE.get(catalog);
  if (known === undefined) {
    known = new Map();
    USABLE.set(catalog, known);
  }
  let usable = known.get(model);
  if (usable === undefined) {
    usable = findUsable(model, catalog);
    known.set(model, usable);
  }
  return usable;
}

/** Hosts that have retired are tried only where there is no other, and so are provisional ones. */
function findUsable(model: Model, catalog: Catalog): readonly HostedModel[] {
  const isLeft = model.hosts.some((host) => host.isRetired === true) && model.isRetired !== true;
  const hosts = isLeft ? model.hosts.filter((host) => host.isRetired !== true) : model.hosts;
  // Hosts that can be called come first.
  const second = hosts[1];
  if (second === undefined || !isUsable(catalog, second)) return isUsable(catalog, model) ? [hosts[0] ?? model] : [];
  const usable = hosts.filter((host) => isUsable(catalog, host));
  const proven = usable.filter(({ isProvisional }) => isProvisional !== true);
  return proven.length > 0 ? proven : usable;
}

const NO_HOSTS: readonly HostedModel[] = [];

/** Provisional hosts beside proven ones. They serve what no proven host of the model can. */
export function reserveHosts(model: Model, catalog: Catalog): readonly HostedModel[] {
  if (!model.hosts.some(({ isProvisional }) => isProvisional === true)) return NO_HOSTS;
  const usual = usableHosts(model, catalog);
  return model.hosts.filter(
    (host) =>
      host.isProvisional === true && host.isRetired !== true && isUsable(catalog, host) && !usual.includes(host),
  );
}

export function orderHosts(hosts: readonly HostedModel[], rules: HostRules): readonly HostedModel[] {
  if (hosts.length < 2) return hosts;
  const { resting, preference, putFirst } = rules;
  const usual = ORDERS[rules.order](hosts, rules);
  const named = putFirst === null ? usual : putFirst(usual);
  const ordered = preference === null ? named : preferredFirst(named, preference.isMetBy);
  if (resting.size === 0 || !ordered.some(({ hostKey }) => resting.has(hostKey))) return ordered;
  return [
    ...ordered.filter(({ hostKey }) => !resting.has(hostKey)),
    ...ordered.filter(({ hostKey }) => resting.has(hostKey)),
  ];
}

type Orderer = (hosts: readonly HostedModel[], rules: HostRules) => readonly HostedModel[];

const ORDERS: Readonly<Record<HostOrder, Orderer>> = { cheapest, fastest, balanced };

/** Hosts that cost the same keep the order in which the model lists them: the vendor's own comes first. */
function cheapest(hosts: readonly HostedModel[]): readonly HostedModel[] {
  const isSorted = hosts.every(
    (host, at) => at === 0 || blendedPrice(hosts[at - 1] as HostedModel) <= blendedPrice(host),
  );
  return isSorted ? hosts : [...hosts].sort((a, b) => blendedPrice(a) - blendedPrice(b));
}

/** Up to this many times the shortest time, hosts count as equally fast: what one process observes is no more exact. */
const EQUAL_SPEED = 1.5;

/** A conversation leaves its host for one that is this many times as fast: processes measure by themselves and differ. */
const WORTH_MOVING = 3;

/** Nobody knows how fast a host is that was not called of late, so it gets its share of conversations and is measured. */
function fastest(hosts: readonly HostedModel[], { speeds, session, lastHostKey }: HostRules): readonly HostedModel[] {
  const known = hosts.map(({ hostKey }) => speeds.get(hostKey)).filter(isMeasured);
  const bestMs = Math.min(...known.map(answerMs));
  const timeOf = ({ hostKey }: HostedModel): number => {
    const speed = speeds.get(hostKey);
    return isMeasured(speed) ? answerMs(speed) : bestMs;
  };
  const equal = hosts.filter((host) => known.length === 0 || timeOf(host) <= bestMs * EQUAL_SPEED);
  const slower = hosts.filter((host) => !equal.includes(host)).sort((a, b) => timeOf(a) - timeOf(b));
  const ordered = [...rankBySession(equal, session, hostIdentity), ...slower];
  const last = hosts.find(({ hostKey }) => hostKey === lastHostKey);
  if (last === undefined || timeOf(last) > bestMs * WORTH_MOVING) return ordered;
  return [last, ...ordered.filter((host) => host !== last)];
}

/** Heads of whole answers do not count here: they tell how long an answer was more than how fast its host is. */
function isMeasured(speed: HostSpeed | undefined): speed is HostSpeed {
  return speed !== undefined && (speed.firstMs > 0 || speed.tokensPerSecond > 0);
}

/** A host may cost this many times the cheapest one when it is faster. */
const EQUAL_PRICE = 1.25;

function balanced(hosts: readonly HostedModel[], rules: HostRules): readonly HostedModel[] {
  const byPrice = cheapest(hosts);
  const most = blendedPrice(byPrice[0] as HostedModel) * EQUAL_PRICE;
  const affordable = byPrice.filter((host) => blendedPrice(host) <= most);
  return [...fastest(affordable, rules), ...byPrice.filter((host) => !affordable.includes(host))];
}

/** A usual answer, in all requests alike. */
const ANSWER_TOKENS = 400;

function answerMs({ firstMs, tokensPerSecond }: HostSpeed): number {
  return firstMs + (tokensPerSecond === 0 ? 0 : (ANSWER_TOKENS / tokensPerSecond) * 1000);
}

function hostIdentity({ host }: HostedModel): { readonly id: string; readonly weight: number } {
  return { id: host, weight: 1 };
}

/** Explains why the first host of a model stands first. */
export function describeHosts(
  ordered: readonly HostedModel[],
  { order, resting, speeds, putFirst }: HostRules,
): string {
  const [first, ...others] = ordered as readonly [HostedModel, ...HostedModel[]];
  if (others.length === 0) return TEXT.onlyHost(first.host);
  const names = others.map(({ host, hostKey }) => (resting.has(hostKey) ? TEXT.hostCoolingDown(host) : host));
  const speed = order === "cheapest" ? undefined : speeds.get(first.hostKey);
  const policy = putFirst === null || putFirst(ordered) === ordered ? order : TEXT.orderOfRequest;
  return TEXT.firstHost(first.host, policy, isMeasured(speed) ? Math.round(speed.firstMs) : null, names);
}

/** The models of a decision as their hosts serve them, in the order in which they are tried. */
export function hostedModelsOf(
  { chain, hosts: choice }: Pick<Decision, "chain" | "hosts">,
  catalog: Catalog,
): HostedModel[] {
  const hosted: HostedModel[] = [];
  for (const id of chain) {
    const { hosts } = catalog.models.get(id) as Model;
    const names = choice !== undefined && Object.hasOwn(choice, id) ? choice[id] : undefined;
    if (names === undefined) hosted.push(hosts[0] as HostedModel);
    else for (const name of names) hosted.push(hosts.find(({ host }) => host === name) as HostedModel);
  }
  return hosted;
}

const ONLY_KEY: readonly undefined[] = [undefined];

/**
 * The keys of a provider in the order in which a request tries them: the one that has its prompt cached, then those that
 * its conversation leads to. `keys` is undefined where the provider has a single one, and `conversation` names it where
 * sessions are off.
 */
export function keyIdsOf(
  keys: readonly ProviderKey[] | undefined,
  { session }: Pick<Decision, "session">,
  conversation: () => string,
): readonly (string | undefined)[] {
  if (keys === undefined) return ONLY_KEY;
  const ids = rankBySession(
    keys,
    () => session?.id ?? conversation(),
    (key) => key,
  ).map(({ id }) => id);
  const warm = session?.keyId ?? null;
  return warm === null || !ids.includes(warm) ? ids : [warm, ...ids.filter((id) => id !== warm)];
}

/** A choice to be ranked: the name that it has in every process, and its share. */
export interface Contender {
  readonly id: string;
  readonly weight: number;
}

/**
 * The choices of a session, best first. Each is first for its share of all sessions. With rendezvous hashing, every process
 * finds the same choice without asking another, and when one choice goes, only its own conversations move.
 */
export function rankBySession<T>(
  choices: readonly T[],
  session: () => string,
  identify: (choice: T) => Contender,
): readonly T[] {
  if (choices.length < 2) return choices;
  const seed = hashText(session(), OFFSET);
  const ranked = choices.map((choice) => ({ choice, score: scoreOf(identify(choice), seed) }));
  return ranked.sort((a, b) => b.score - a.score).map(({ choice }) => choice);
}

/** Weighted rendezvous hashing: with a uniform u, the largest of -weight/ln(u) is each choice's in its share of cases. */
function scoreOf({ id, weight }: Contender, seed: number): number {
  const uniform = (mixed(hashText(id, seed)) + 0.5) / 2 ** 32;
  return -weight / Math.log(uniform);
}

/** FNV leaves texts that end alike close together; this spreads every bit over all others. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over the characters of a text. */
function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}
