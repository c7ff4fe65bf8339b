// Models that a configured provider lists, a feed prices and the catalogue lacks. They may be asked for by name at once, and
// count as provisional until somebody knows them. Pure.

import { ENDPOINTS, type Model } from "../../core/model.ts";
import type { BandedRates, RateCard } from "../../core/price.ts";
import type { Tier } from "../../core/tiers.ts";
import type { PriceCheck } from "./check.ts";
import { configuredHosts, isSameModel, type OfferedModel, type PricedCatalog, type PricedHost } from "./diff.ts";
import type { FeedId } from "./feeds.ts";
import type { ListedRow } from "./listed.ts";
import { agree, type FeedRow, hostName, indexOf, isPlausible } from "./review.ts";

export interface Newcomer
  extends Pick<ListedRow, "upstream" | "price" | "context" | "maxOutput" | "capabilities" | "formats"> {
  readonly provider: string;
  /** The feeds that have this price. */
  readonly feeds: readonly FeedId[];
  /** The tier of its price. */
  readonly tier: Tier;
  /** Says that the model may join the chain of its tier: it is newer than the catalogue. */
  readonly isChainable: boolean;
}

interface NewcomerTerms {
  /** The day of the catalogue, and today. */
  readonly catalogDay: string;
  readonly today: string;
  /** Models that providers offered at the check before. */
  readonly before: PriceCheck["offered"];
}

/** More are an aggregator's whole list, and stay on the list of models without a price. */
const NEWCOMERS_MAX = 300;

export function newcomers(catalog: PricedCatalog, check: PriceCheck, terms: NewcomerTerms): readonly Newcomer[] {
  const index = indexOf(check);
  const ours = configuredHosts(catalog);
  const offers = Object.entries(check.offered)
    .filter(([provider]) => catalog.providers.has(provider))
    .flatMap(([provider, models]) => models.map((offer) => ({ provider, offer })));
  const found = offers.flatMap(({ provider, offer }): readonly Newcomer[] => {
    const host = { provider, upstream: offer.id };
    if (isKnown(host, ours) || check.adopted[hostName(host)] !== undefined) return [];
    const rows = index.rowsOf(host).filter(({ isFresh }) => isFresh);
    const [first] = rows;
    if (first === undefined || !rows.every(({ row }) => isUsable(row, first.row, terms.today))) return [];
    const isNew = isNewer(provider, offer, terms) && !GATED.test(offer.id);
    return [{ ...offerOf(host, first.row, offer), ...pricedBy(rows), isChainable: isNew && rows.some(knowsKind) }];
  });
  const provisional = [...catalog.models.values()].filter(({ isProvisional }) => isProvisional);
  const beside = new Set([...found, ...provisional.flatMap(({ hosts }) => hosts)].map(hostName));
  const isWanted = (own: Pick<PricedHost, "provider" | "upstream"> | null): boolean =>
    own === null || beside.has(hostName(own));
  return found.filter((each) => isWanted(makersOwn(each, check))).slice(0, NEWCOMERS_MAX);
}

type Hosts = readonly [Newcomer, ...Newcomer[]];

/** A model that is new, at all providers that have it, or new hosts of a model. */
interface NewModel {
  /** Id of the model that has the name already; null where none does. */
  readonly known: string | null;
  /** Says that the model was known before it was found anywhere, so that these are provisional hosts of it. */
  readonly isProven: boolean;
  readonly hosts: Hosts;
}

/**
 * Newcomers of one name are one model, whatever their providers write before the name. One that has the name of a known
 * model is a host of it, if its price may be true.
 */
export function newModels(
  { models }: PricedCatalog,
  found: readonly Newcomer[],
  mayJoin: (model: Model) => boolean,
): readonly NewModel[] {
  const provisional = [...models.values()].filter(({ hosts }) => hosts.every(({ isProvisional }) => isProvisional));
  const known = new Map(provisional.flatMap(({ id, hosts }) => hosts.map((host) => [nameOf(host), id])));
  const proven = provenByName(models);
  const joining = new Map<Model, Newcomer[]>();
  const named = new Map<string, Newcomer[]>();
  for (const each of found) {
    const name = nameOf(each);
    const model = proven.get(name);
    if (model == null || !mayJoin(model)) named.set(name, [...(named.get(name) ?? []), each]);
    else if (isNear(each, model)) joining.set(model, [...(joining.get(model) ?? []), withFacts(each, model)]);
  }
  const joined = [...joining].map(([{ id }, hosts]) => ({
    known: id,
    isProven: true,
    hosts: hosts as readonly Newcomer[] as Hosts,
  }));
  const added = [...named].map(([name, hosts]) => {
    // A name without a maker before it is most often the maker's own.
    const sorted = hosts.toSorted((one, other) => slashes(one) - slashes(other)) as readonly Newcomer[] as Hosts;
    return { known: known.get(name) ?? null, isProven: false, hosts: sorted };
  });
  return [...joined, ...added];
}

/** Chat models that are no provisional ones by the names that their hosts have for them; null for a name of several. */
function provenByName(models: PricedCatalog["models"]): ReadonlyMap<string, Model | null> {
  const named = new Map<string, Model | null>();
  for (const model of models.values()) {
    if (model.endpoint !== null) continue;
    for (const host of model.hosts) {
      const name = nameOf(host);
      const isOther = named.has(name) && named.get(name) !== model;
      if (host.isProvisional !== true) named.set(name, isOther ? null : model);
    }
  }
  return named;
}

/** Hosts of one model differ up to this many times in price. Beyond, a feed is wrong or means another model. */
const HOST_FACTOR_MAX = 4;

function isNear({ price }: Newcomer, { hosts }: Model): boolean {
  const cards = hosts.flatMap(({ price: own, isProvisional }) => (own === null || isProvisional ? [] : [own]));
  const isWithin = (rate: (rates: BandedRates) => number): boolean => {
    const known = cards.map(rate);
    const [least, most] = [Math.min(...known) / HOST_FACTOR_MAX, Math.max(...known) * HOST_FACTOR_MAX];
    return rate(price) >= least && rate(price) <= most;
  };
  return isWithin(({ input }) => input) && isWithin(({ output }) => output);
}

/** Facts that no feed tells of the host are as elsewhere. */
function withFacts(found: Newcomer, { context, maxOutput, capabilities, tier }: Model): Newcomer {
  return {
    ...found,
    context: found.context ?? context,
    maxOutput: found.maxOutput ?? maxOutput,
    capabilities: found.capabilities.length > 0 ? found.capabilities : [...capabilities],
    tier,
  };
}

function slashes({ upstream }: Newcomer): number {
  return upstream.split("/").length;
}

/** A name without a version, such as `chat-latest`, says too little to be the same elsewhere. */
function nameOf({ provider, upstream }: Pick<PricedHost, "provider" | "upstream">): string {
  const name = (upstream.split("/").at(-1) ?? "").toLowerCase().replaceAll(".", "-");
  return /\d/.test(name) ? name : hostName({ provider, upstream });
}

function isKnown({ provider, upstream }: Pick<PricedHost, "provider" | "upstream">, ours: readonly PricedHost[]) {
  return ours.some((host) => host.provider === provider && isSameModel(upstream, host.upstream));
}

/** For an aggregator's name, the model that its maker offers here as well. Null for any other. */
function makersOwn({ upstream }: Pick<PricedHost, "upstream">, { offered }: PriceCheck) {
  const [provider = "", ...rest] = upstream.split("/");
  const isOffered = rest.length > 0 && offered[provider]?.some(({ id }) => id === rest.join("/")) === true;
  return isOffered ? { provider, upstream: rest.join("/") } : null;
}

function isUsable(row: ListedRow, first: ListedRow, today: string): boolean {
  const isGoing = row.retires !== undefined && row.retires <= today;
  const isChat = row.capabilities.every((capability) => !OTHERS.has(capability));
  const isPriced = row.isTimed !== true && isPlausible(row.price) && !hasFreePart(row.price);
  return !isGoing && isChat && isPriced && agree(row.price, first.price);
}

/** Service tiers and units stand in one feed alone, so one that is free would be so on its word. */
function hasFreePart({ bands = [], tiers = {}, ...usual }: RateCard): boolean {
  const parts: readonly BandedRates[] = [usual, ...bands, ...Object.values(tiers).flatMap(allRates)];
  return parts.some(({ input, output, own = {} }) => [input, output, ...Object.values(own)].includes(0));
}

function allRates({ bands = [], ...usual }: BandedRates): readonly BandedRates[] {
  return [usual, ...bands];
}

const OTHERS: ReadonlySet<string> = new Set(ENDPOINTS);
/** Variants that not everybody may call, or that are made for one trade. */
const GATED = /(^|[-/.])(cyber|law|rosalind)([-/.]|$)/i;

/** Newer than the catalogue by the provider's word, else listed now and not at the check before. */
function isNewer(provider: string, { id, created }: OfferedModel, { catalogDay, before }: NewcomerTerms): boolean {
  if (created !== undefined) return created >= catalogDay;
  return before[provider]?.every((offer) => offer.id !== id) === true;
}

/** genai-prices does not say what a model is for. */
function knowsKind({ state }: FeedRow): boolean {
  return state.feed !== "genai";
}

function offerOf(
  { provider, upstream }: Pick<PricedHost, "provider" | "upstream">,
  row: ListedRow,
  offer: OfferedModel,
) {
  const { maxOutput, capabilities, formats, context } = row;
  return {
    ...{ provider, upstream, maxOutput, capabilities, context: context ?? offer.context ?? null },
    ...(formats === undefined ? {} : { formats }),
  };
}

function pricedBy(rows: readonly FeedRow[]): Pick<Newcomer, "price" | "feeds" | "tier"> {
  const { price } = (rows[0] as FeedRow).row;
  const blend = (3 * price.input + price.output) / 4 / 1e6;
  const tier = BANDS.find(([, max]) => blend <= max)?.[0] ?? "COMPLEX";
  return { price, feeds: rows.map(({ state }) => state.feed), tier };
}

/** The tier of a price: USD per million tokens, three of input to one of output. */
const BANDS: readonly (readonly [tier: Tier, max: number])[] = [
  ["NANO", 0.15],
  ["SIMPLE", 0.35],
  ["LIGHT", 0.9],
  ["STANDARD", 2.5],
];
