// Judges what feeds say of the prices in the catalogue. A price that two feeds agree on may be taken over; everything else
// waits for an operator. Pure.

import { UNITS, type Unit } from "../../core/money.ts";
import { type RateCard, type Rates, ratesFor } from "../../core/price.ts";
import { anchorOf } from "./anchors.ts";
import { type ConfirmedPrice, type FeedState, isStale, type PriceCheck } from "./check.ts";
import {
  changeOf,
  configuredHosts,
  isListed,
  isSameModel,
  keyOf,
  listedVendor,
  type PriceChange,
  type PricedCatalog,
  type PricedHost,
  pairsOf,
  type UnpricedModel,
  unpricedOf,
} from "./diff.ts";
import type { FeedId } from "./feeds.ts";
import type { ListedRow, RefusedRow } from "./listed.ts";

/** Reasons for which a price waits, or `agreed` where it does not. */
export const STANDINGS = [
  "agreed",
  "single",
  "disputed",
  "implausible",
  "large",
  "drifted",
  "timed",
  "undone",
  "details",
] as const;
type Standing = (typeof STANDINGS)[number];

/** Another price of a host, and what each feed says. */
export interface Proposal extends PriceChange {
  readonly standing: Standing;
  /** The feeds that have this price. */
  readonly feeds: readonly FeedId[];
  /** The price that a person or the shipped catalogue confirmed last; null where that is the one in use. */
  readonly anchor: ConfirmedPrice | null;
  readonly listed: readonly FeedPrice[];
}

interface FeedPrice {
  readonly feed: FeedId;
  readonly price: RateCard;
  /** Says that the price is the one in use. */
  readonly isSame: boolean;
}

export interface PriceReview {
  readonly proposals: readonly Proposal[];
  readonly refused: readonly (RefusedRow & { readonly model: string; readonly feed: FeedId })[];
  readonly unpriced: readonly UnpricedModel[];
  /** Time at which a feed had the price in use last, by `hostName`. */
  readonly confirmed: ReadonlyMap<string, number>;
}

/** Names a host in the results and in what was adopted. */
export function hostName({ provider, upstream }: Pick<PricedHost, "provider" | "upstream">): string {
  return keyOf(provider, upstream);
}

/** Names a change among those that were adopted. */
export function changeName({ startsOn, ...host }: Pick<PriceChange, "provider" | "upstream" | "startsOn">): string {
  return startsOn === undefined ? hostName(host) : `${hostName(host)}\n${startsOn}`;
}

/** `maxPercent` is the largest change that is taken over: 100 is from half the price to twice the price. */
export function reviewPrices(catalog: PricedCatalog, check: PriceCheck, maxPercent: number): PriceReview {
  const index = indexOf(check);
  const ours = configuredHosts(catalog);
  const confirmed = new Map<string, number>();
  const proposals = ours.flatMap((host) => {
    const rows = index.rowsOf(host);
    const same = rows.filter((each) => isSame(host, each));
    if (same.length > 0) confirmed.set(hostName(host), Math.max(...same.map((each) => confirmedMs(each, check.atMs))));
    const judged = { host, rows, hint: index.hintFor(host), check, maxPercent };
    const isKnown = rows.every(({ row }) => isListed(host, row.price));
    return [...(isKnown ? [] : [proposalFor(judged)]), ...announced(judged)];
  });
  return {
    proposals,
    confirmed,
    refused: ours.flatMap((host) => index.refusedOf(host).map((row) => ({ ...row, model: host.model }))),
    unpriced: unpricedOf(catalog, { rows: index.merged, refused: [], offered: check.offered }, ours),
  };
}

/** A list that is stale confirms a price up to its last change. */
function confirmedMs({ state }: FeedRow, atMs: number): number {
  return isStale(state, atMs) ? state.changedAtMs : state.readAtMs;
}

/** A row with the state of its feed. */
export interface FeedRow {
  readonly state: FeedState;
  readonly row: ListedRow;
  /** A feed that could not be read now, or has become stale, has no vote. */
  readonly isFresh: boolean;
}

interface FeedIndex {
  rowsOf(host: Pick<PricedHost, "provider" | "upstream">): readonly FeedRow[];
  refusedOf(host: PricedHost): readonly (RefusedRow & { readonly feed: FeedId })[];
  /** OpenRouter's row of a maker's own model, by OpenRouter's own feed. */
  hintFor(host: Pick<PricedHost, "provider" | "upstream">): ListedRow | null;
  /** All rows; of several for one model, the last one counts. */
  readonly merged: readonly ListedRow[];
}

export function indexOf({ feeds, atMs }: Pick<PriceCheck, "feeds" | "atMs">): FeedIndex {
  const isFresh = (state: FeedState): boolean => state.problem === null && !isStale(state, atMs);
  const indexed = feeds.map((state) => ({
    ...{ state, isFresh: isFresh(state) },
    rows: new Map(state.rows.map((row) => [keyOf(row.vendor, row.upstream), row])),
    refused: new Map(state.refused.map((row) => [keyOf(row.vendor, row.upstream), row])),
  }));
  const keyAt = ({ provider, upstream }: Pick<PricedHost, "provider" | "upstream">): string =>
    keyOf(listedVendor(provider), upstream);
  // Other feeds have rows of OpenRouter too, which would make one feed two.
  const routed = feeds.filter((state) => state.feed === ROUTER && isFresh(state)).flatMap(({ rows }) => rows);
  const makers = routed.filter(({ vendor }) => vendor === ROUTER);
  return {
    rowsOf: (host) =>
      indexed.flatMap(({ state, isFresh, rows }) => {
        const row = rows.get(keyAt(host));
        return row === undefined ? [] : [{ state, row, isFresh }];
      }),
    refusedOf: (host) =>
      indexed.flatMap(({ state, refused }) => {
        const row = refused.get(keyAt(host));
        return row === undefined ? [] : [{ ...row, feed: state.feed }];
      }),
    hintFor: ({ provider, upstream }) => {
      const maker = MAKERS[provider];
      if (maker === undefined) return null;
      const name = plain(upstream);
      const isIt = (row: ListedRow): boolean => isSameModel(name, plain(row.upstream.slice(maker.length + 1)));
      return makers.find((row) => row.upstream.startsWith(`${maker}/`) && isIt(row)) ?? null;
    },
    merged: feeds.toReversed().flatMap(({ rows }) => rows),
  };
}

const ROUTER = "openrouter";

/**
 * Makers by their names at OpenRouter. Its prices are averages over hosts, so one that differs says nothing; one that is
 * the same as that of a feed confirms it.
 */
const MAKERS: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  xai: "x-ai",
  deepseek: "deepseek",
  mistral: "mistralai",
  moonshot: "moonshotai",
  zai: "z-ai",
  qwen: "qwen",
  minimax: "minimax",
};

function plain(name: string): string {
  return name.toLowerCase().replaceAll(".", "-");
}

/** Prices of later days that differ from those that are known for these days. */
function announced(judged: HostRows): readonly Proposal[] {
  const told = judged.rows.filter(isFresh);
  const days = new Set(told.flatMap(({ row }) => (row.later ?? []).map(({ from }) => from)));
  return [...days].sort().flatMap((startsOn) => {
    const host = hostOn(judged.host, startsOn);
    const rows = told.flatMap((each) => {
      const later = each.row.later?.find(({ from }) => from === startsOn);
      return later === undefined ? [] : [{ ...each, row: { ...each.row, price: later.price } }];
    });
    if (rows.every((each) => isSame(host, each))) return [];
    return [{ ...proposalFor({ ...judged, host, rows, hint: null, startsOn }), startsOn }];
  });
}

/** The host at the price that is known for this day. */
function hostOn(host: PricedHost, day: string): PricedHost {
  const { schedule = [] } = host;
  const period = schedule.findLast(({ fromMs }) => fromMs !== null && fromMs <= Date.parse(day));
  return period === undefined ? host : { ...host, price: period.card };
}

interface HostRows {
  /** The day of the prices; left out for today. */
  readonly startsOn?: string;
  readonly host: PricedHost;
  readonly rows: readonly FeedRow[];
  readonly hint: ListedRow | null;
  readonly check: Pick<PriceCheck, "adopted" | "anchors">;
  readonly maxPercent: number;
}

function proposalFor(judged: HostRows): Proposal {
  const { host, rows } = judged;
  const usual = rows.filter((each) => !isSame(host, each));
  const differing = usual.length > 0 ? usual : rows.filter(({ row }) => !isListed(host, row.price));
  const [first] = (differing.some(isFresh) ? differing.filter(isFresh) : differing) as [FeedRow, ...FeedRow[]];
  const change = changeOf(host, usual.length > 0 ? withKnownDetails(first.row, host.price) : first.row);
  const agreeing = rows.filter((each) => isFresh(each) && agree(each.row.price, first.row.price));
  const anchor = anchorOf(host, judged.check);
  return {
    ...{ ...change, anchor },
    standing: usual.length === 0 ? "details" : standingOf(judged, change, { first, agreeing, anchor }),
    feeds: agreeing.length === 0 ? [first.state.feed] : agreeing.map(({ state }) => state.feed),
    listed: rows.map(({ state, row }) => ({
      ...{ feed: state.feed, price: row.price, isSame: isSame(host, { row }) },
    })),
  };
}

function isFresh({ isFresh }: FeedRow): boolean {
  return isFresh;
}

interface JudgedRows {
  readonly first: FeedRow;
  readonly agreeing: readonly FeedRow[];
  readonly anchor: ConfirmedPrice | null;
}

function standingOf(
  { host, rows, hint, check, maxPercent, startsOn }: HostRows,
  change: PriceChange,
  { first, agreeing, anchor }: JudgedRows,
): Standing {
  if (check.adopted[changeName({ ...host, ...(startsOn && { startsOn }) })] === priceMark(change.to)) return "undone";
  const hasHours = host.schedule?.some(({ hours }) => hours.length > 0) === true;
  if (hasHours || rows.some(({ row }) => row.isTimed === true)) return "timed";
  if (rows.filter(isFresh).length > agreeing.length) return "disputed";
  if (!isPlausible(first.row.price, host.price)) return "implausible";
  const hinted = agreeing.length === 1 && hint !== null && agree(hint.price, first.row.price) ? 1 : 0;
  if (agreeing.length + hinted < 2) return "single";
  if (!isWithin(host, change.to, maxPercent)) return "large";
  // Steps that are each within the bounds may still lead anywhere.
  const confirmed = anchor === null ? null : { ...host, price: withUnitsOf(host.price, anchor.price) };
  if (confirmed !== null && !isWithin(confirmed, change.to, maxPercent)) return "drifted";
  return host.price === null || hasSameDetails(host.price, change.to) ? "agreed" : "details";
}

/** A provider's fees, such as for searches, are added to a price after it was confirmed. */
function withUnitsOf(ours: RateCard | null, price: RateCard): RateCard {
  return ours?.own === undefined ? price : { ...price, own: { ...ours.own, ...price.own } };
}

/** Tells whether the usual rates of a feed are those in use. Only LiteLLM has those of service tiers and further units. */
function isSame(host: PricedHost, { row }: Pick<FeedRow, "row">): boolean {
  const { bands, ...price } = row.price;
  const usual = {
    ...usualRates(price),
    ...(bands && { bands: bands.map((band) => ({ ...band, ...usualRates(band) })) }),
  };
  return isListed(host, usual);
}

function usualRates({ input, output, cacheRead, cacheWrite }: Rates): Rates {
  return { input, output, cacheRead, cacheWrite };
}

/** A feed's row without service tiers and units that the price in use lacks: one feed alone has them. */
function withKnownDetails(row: ListedRow, ours: RateCard | null): ListedRow {
  if (ours === null)
    return { ...row, price: { ...usualRates(row.price), ...(row.price.bands && { bands: row.price.bands }) } };
  const { own, tiers, bands, ...price } = row.price;
  const kept = <Value>(values: Readonly<Record<string, Value>> = {}, known: object = {}) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(known, name)));
  return {
    ...row,
    price: {
      ...price,
      ...(bands && { bands: bands.map(({ own: _, ...band }) => band) }),
      ...(ours.own && own ? { own: kept(own, ours.own) } : {}),
      ...(ours.tiers && tiers ? { tiers: kept(tiers, ours.tiers) } : {}),
    },
  };
}

/** Tells whether service tiers and units cost as much of the usual rates as before. Then no feed is taken at its word alone. */
function hasSameDetails(ours: RateCard, to: RateCard): boolean {
  const shares = ({ own = {}, tiers = {}, input, output }: RateCard): Readonly<Record<string, number>> => ({
    ...Object.fromEntries(
      Object.entries(own).map(([unit, rate]) => [unit, rate / effectiveBase(unit as Unit, { input, output })]),
    ),
    ...Object.fromEntries(
      Object.entries(tiers).flatMap(([name, tier]) => [
        [`${name} input`, tier.input / input],
        [`${name} output`, tier.output / output],
      ]),
    ),
  });
  if (ours.bands?.some(({ own }) => own !== undefined)) return false;
  // Bands that the feeds do not have are the old ones.
  if (ours.bands !== undefined && ours.bands === to.bands) {
    if (ours.input !== to.input || ours.output !== to.output) return false;
  }
  const [before, after] = [shares(ours), shares(to)];
  return Object.entries(before).every(([name, share]) => Math.abs((after[name] ?? 0) - share) <= TOLERANCE * share);
}

/** The usual rate beside which a unit is priced; fees, such as those for searches, stand for themselves. */
function effectiveBase(unit: Unit, { input, output }: Pick<Rates, "input" | "output">): number {
  const { bucket } = UNITS[unit];
  if (bucket === null) return 1;
  return bucket === "output" ? output : input;
}

/** Names a price among those that were adopted. */
export function priceMark(price: RateCard): string {
  return JSON.stringify(price);
}

/** Prices of two feeds that differ by less are the same, rounded. */
const TOLERANCE = 0.01;

/** Tells whether two feeds say the same, as far as both say something. Bands of one alone are another price. */
export function agree(one: RateCard, other: RateCard): boolean {
  const edges = (card: RateCard): readonly number[] => (card.bands ?? []).map(({ above }) => above);
  const [ours, theirs] = [edges(one), edges(other)];
  const isSameEdge = (edge: number, place: number): boolean => Math.abs(edge - (theirs[place] ?? 0)) <= 1;
  if (ours.length !== theirs.length || !ours.every(isSameEdge)) return false;
  return [0, ...ours].every((edge) => ratesAgree(ratesFor(one, edge + 2), ratesFor(other, edge + 2)));
}

function ratesAgree(one: Rates, other: Rates): boolean {
  const isNear = (a: number | null, b: number | null): boolean =>
    a === null || b === null || Math.abs(a - b) <= TOLERANCE * Math.max(a, b);
  return (["input", "output", "cacheRead", "cacheWrite"] as const).every((rate) => isNear(one[rate], other[rate]));
}

/** Free models, and prices that no vendor has, are mistakes of a list more often than not. */
export function isPlausible({ input, output, ...cache }: RateCard, ours: RateCard | null = null): boolean {
  const isOutputUsual =
    output >= input || (ours !== null && ours.output < ours.input && output > 0 === ours.output > 0);
  const isCacheUsual = (cache.cacheRead ?? 0) <= input && (cache.cacheWrite ?? 0) <= CACHE_WRITE_SHARE_MAX * input;
  return input > 0 && isOutputUsual && isCacheUsual;
}

/** The dearest cache write of any vendor, beside the input: one that is kept for an hour. */
const CACHE_WRITE_SHARE_MAX = 2;

/**
 * The larger of two prices, by how much it is above the other. A rate for the cache that was unknown may be added, unless
 * it makes the cache free: that may be the word of one feed.
 */
function isWithin(host: PricedHost, to: RateCard, maxPercent: number): boolean {
  if (host.price === null) return true;
  return pairsOf(host.price, to, host.context).every(([ours, listed]) => {
    if (ours === null) return listed > 0;
    if (ours === listed) return true;
    return (Math.max(ours, listed) / Math.min(ours, listed) - 1) * 100 <= maxPercent;
  });
}
