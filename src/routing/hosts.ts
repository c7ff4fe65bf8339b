// The hosts of a model in the order in which they are tried: those that are well first, then by the policy. Where the
// policy finds hosts equal, the conversation decides, so that its requests stay together. Behaviour 5.17 to 5.19.

import { blendedPrice, type Catalog, isUsable } from "../catalog/catalog.ts";
import type { Decision, HostOrder, HostSpeed, HostSpeeds, RoutingQuestion } from "../core/decision.ts";
import type { HostedModel, Model } from "../core/model.ts";
import { rankBySession } from "./session.ts";
import * as TEXT from "./text.ts";

/** What the order depends on. Nothing of one request: the hosts of a conversation must not change as it grows. */
export interface HostRules {
  readonly order: HostOrder;
  readonly resting: RoutingQuestion["restingModels"];
  readonly speeds: HostSpeeds;
  readonly session: () => string;
  /** The route that answered the conversation before, in whichever process. */
  readonly lastRoute: string | undefined;
}

const NOTHING_OBSERVED: HostSpeeds = new Map();

/** The request's own policy counts before the profile's, and that before the configured one. */
export function hostRules(question: RoutingQuestion, catalog: Catalog): HostRules {
  const { controls, constraints, restingModels, hostSpeeds = NOTHING_OBSERVED, session = noSession } = question;
  const order = controls.hostOrder ?? constraints.hostOrder ?? catalog.hostOrder;
  const lastRoute = question.sessionView?.last?.route;
  return { order, resting: restingModels, speeds: hostSpeeds, session, lastRoute };
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

function findUsable(model: Model, catalog: Catalog): readonly HostedModel[] {
  const { hosts } = model;
  // Those that can be called come first.
  const second = hosts[1];
  if (second === undefined || !isUsable(catalog, second)) return isUsable(catalog, model) ? [hosts[0] ?? model] : [];
  return hosts.filter((host) => isUsable(catalog, host));
}

export function orderHosts(hosts: readonly HostedModel[], rules: HostRules): readonly HostedModel[] {
  if (hosts.length < 2) return hosts;
  const ordered = ORDERS[rules.order](hosts, rules);
  const { resting } = rules;
  if (resting.size === 0 || !ordered.some(({ route }) => resting.has(route))) return ordered;
  return [...ordered.filter(({ route }) => !resting.has(route)), ...ordered.filter(({ route }) => resting.has(route))];
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
function fastest(hosts: readonly HostedModel[], { speeds, session, lastRoute }: HostRules): readonly HostedModel[] {
  const known = hosts.map(({ route }) => speeds.get(route)).filter((speed) => speed !== undefined);
  const bestMs = Math.min(...known.map(answerMs));
  const timeOf = ({ route }: HostedModel): number => {
    const speed = speeds.get(route);
    return speed === undefined ? bestMs : answerMs(speed);
  };
  const equal = hosts.filter((host) => known.length === 0 || timeOf(host) <= bestMs * EQUAL_SPEED);
  const slower = hosts.filter((host) => !equal.includes(host)).sort((a, b) => timeOf(a) - timeOf(b));
  const ordered = [...rankBySession(equal, session, hostIdentity), ...slower];
  const last = hosts.find(({ route }) => route === lastRoute);
  if (last === undefined || timeOf(last) > bestMs * WORTH_MOVING) return ordered;
  return [last, ...ordered.filter((host) => host !== last)];
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

/** Why the first host of a model stands first, in words. */
export function describeHosts(ordered: readonly HostedModel[], { order, resting, speeds }: HostRules): string {
  const [first, ...others] = ordered as readonly [HostedModel, ...HostedModel[]];
  if (others.length === 0) return TEXT.onlyHost(first.host);
  const names = others.map(({ host, route }) => (resting.has(route) ? TEXT.hostCoolingDown(host) : host));
  const speed = order === "cheapest" ? undefined : speeds.get(first.route);
  return TEXT.firstHost(first.host, order, speed === undefined ? null : Math.round(speed.firstMs), names);
}

/** The models of a decision as their hosts serve them, in the order in which they are tried. */
export function routesOf({ chain, hosts: choice }: Pick<Decision, "chain" | "hosts">, catalog: Catalog): HostedModel[] {
  const routes: HostedModel[] = [];
  for (const id of chain) {
    const { hosts } = catalog.models.get(id) as Model;
    const names = choice !== undefined && Object.hasOwn(choice, id) ? choice[id] : undefined;
    if (names === undefined) routes.push(hosts[0] as HostedModel);
    else for (const name of names) routes.push(hosts.find(({ host }) => host === name) as HostedModel);
  }
  return routes;
}
