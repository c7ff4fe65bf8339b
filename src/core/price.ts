// Prices of models: rates by unit, bands by the length of the prompt, cards by service tier, periods by date and hour.
// Chooses the one price that a request is charged at, and the dearest one that it can reach. Pure.

import { promptTokens, type Usage } from "./chat.ts";
import {
  type AskedServiceTier,
  bucketRate,
  type ChargedLine,
  cacheWritePrice,
  longCacheWritePrice,
  type Price,
  type ServiceTier,
  UNITS,
  type Unit,
} from "./money.ts";

/** Rates in pico-USD per unit. `null` and left out: as the usual rate of the same bucket. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly own?: Readonly<Partial<Record<Unit, number>>>;
  /** Rates for each image, by size and quality such as `1024x1024/low`, by one of them, or `any`. */
  readonly images?: Readonly<Record<string, number>>;
  /** Time of the unit `minute` that every request with some of it is charged for at least. */
  readonly leastSeconds?: number;
}

/** Rates for all tokens of a request whose prompt is longer than this. */
export interface Band extends Rates {
  readonly above: number;
}

export interface BandedRates extends Rates {
  /** In rising order. */
  readonly bands?: readonly Band[];
}

/** All rates of a model at one moment. */
export interface RateCard extends BandedRates {
  readonly tiers?: Readonly<Partial<Record<ServiceTier, BandedRates>>>;
}

/** Hours of the week with a card of their own, in UTC. */
export interface PriceHours {
  /** Days of the week, 0 for Sunday. */
  readonly days: readonly number[];
  readonly fromMinute: number;
  /** The minute in which the usual card begins again. */
  readonly untilMinute: number;
  readonly card: RateCard;
}

export interface PricePeriod {
  /** The first moment; null for ever since. */
  readonly fromMs: number | null;
  /** The moment after the last one, where the vendor has named it. The period goes on until another one begins. */
  readonly untilMs: number | null;
  readonly card: RateCard;
  readonly hours: readonly PriceHours[];
}

/** Periods in the order of their dates. Never empty. */
export type PriceSchedule = readonly PricePeriod[];

/** Usage as far as it has a price. */
export type PricedUsage = Pick<Usage, "buckets"> & Partial<Usage>;

/** The rate of a unit, or what it costs without one of its own. */
export function effectiveRate(rates: Rates, unit: Unit): number {
  const { bucket } = UNITS[unit];
  return rateOf(rates, unit) ?? (bucket === null ? 0 : bucketRate(rates, bucket));
}

/** Each configuration makes new cards, so their figures are compared. */
export function isSamePrice(one: RateCard | null, other: RateCard | null): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The price of a request that used this. */
export function priceOf(card: RateCard, usage: PricedUsage): Price {
  const rates = ratesFor(card, usage.longestPrompt ?? promptTokens(usage.buckets), usage.serviceTier);
  const { input, output, cacheRead, cacheWrite } = rates;
  const own = linesOf(rates, usage);
  const { ownSearches, pictures } = usage;
  const lines =
    ownSearches === undefined && pictures === undefined
      ? own
      : [...own, ...ownSearchLines(usage), ...(pictures ?? NO_LINES)];
  return lines.length === 0
    ? { input, output, cacheRead, cacheWrite }
    : { input, output, cacheRead, cacheWrite, lines };
}

/** The rates for a prompt of this length. Everything in a request is charged at one band. */
export function ratesFor(card: RateCard, tokens: number, serviceTier?: ServiceTier): Rates {
  const tiered: BandedRates = (serviceTier && card.tiers?.[serviceTier]) ?? card;
  return tiered.bands?.findLast(({ above }) => tokens > above) ?? tiered;
}

/** The tier to ask a host for; null where it has none at a known price, so that nothing is asked. */
export function tierServed(card: RateCard | null, asked: AskedServiceTier | undefined): AskedServiceTier | null {
  if (asked === undefined || card?.tiers === undefined) return null;
  return asked === "default" || card.tiers[asked] !== undefined ? asked : null;
}

/** The tier with a price of its own that a host is asked for. */
export function pricedTier(card: RateCard | null, asked: AskedServiceTier | undefined): ServiceTier | undefined {
  const tier = tierServed(card, asked);
  return tier === null || tier === "default" ? undefined : tier;
}

const NO_LINES: readonly ChargedLine[] = [];
const ALL_UNITS = Object.entries(UNITS) as readonly [Unit, (typeof UNITS)[Unit]][];

/** Counts with a rate of their own. Tokens of a bucket are taken in the order of the units. */
function linesOf(rates: Rates, usage: PricedUsage): readonly ChargedLine[] {
  const { buckets, longCacheWrite = 0, reasoning = 0, parts, images } = usage;
  const isPlain = parts === undefined && images === undefined && reasoning === 0 && rates.own?.request === undefined;
  if (longCacheWrite === 0 && (isPlain || (rates.own === undefined && rates.images === undefined))) return NO_LINES;
  const request = usage.ownSearches?.rounds ?? 1;
  const told: Partial<Record<Unit, number>> = { request, ...parts, cacheWriteLong: longCacheWrite, reasoning };
  const left = { ...buckets };
  const lines: ChargedLine[] = [];
  for (const [unit, { bucket }] of ALL_UNITS) {
    const all = told[unit] ?? 0;
    if (!(all > 0)) continue;
    const count = bucket === null ? atLeast(rates, unit, all) : Math.min(all, left[bucket]);
    if (bucket !== null) left[bucket] -= count;
    const rate = count > 0 ? rateOf(rates, unit) : undefined;
    if (rate !== undefined) lines.push({ unit, count, rate });
  }
  for (const [kind, count] of Object.entries(images ?? {})) {
    const rate = imageRate(rates, kind);
    if (rate !== undefined && count > 0) lines.push({ unit: "image", count, rate });
  }
  return lines;
}

/** Sound is counted in milliseconds. */
function atLeast({ leastSeconds = 0 }: Rates, unit: Unit, count: number): number {
  return unit === "minute" && count > 0 ? Math.max(count, leastSeconds * 1000) : count;
}

/** Searches of the gateway, and pages it fetched, cost the same at every model. */
function ownSearchLines({ ownSearches }: PricedUsage): readonly ChargedLine[] {
  if (ownSearches === undefined) return NO_LINES;
  const { count, rate, fetched = { count: 0, rate: 0 } } = ownSearches;
  const lines: readonly ChargedLine[] = [
    { unit: "search", count, rate },
    { unit: "fetch", ...fetched },
  ];
  return lines.filter((line) => line.count > 0 && line.rate > 0);
}

/** Undefined where the unit costs what its bucket costs, or nothing. */
function rateOf(rates: Rates, unit: Unit): number | undefined {
  return rates.own?.[unit] ?? (unit === "cacheWriteLong" ? longCacheWritePrice(rates) : undefined);
}

/** The rate of exactly this kind, else of its size or quality, else of any. An unknown kind costs as much as the dearest. */
function imageRate({ images = {} }: Rates, kind: string): number | undefined {
  const named = [kind, ...kind.split("/"), "any"].find((name) => Object.hasOwn(images, name));
  if (named !== undefined) return images[named];
  return Object.keys(images).length === 0 ? undefined : Math.max(...Object.values(images));
}

const SIZE = /^\d+x\d+$/;

/** A provider chooses what is left to it, and answers with its choice. */
function dearestImage({ images = {} }: Rates, kind: string): number {
  if (Object.hasOwn(images, kind)) return images[kind] ?? 0;
  const asked = kind.split("/");
  const isLeft = (word: string): boolean =>
    !asked.some((other) => other !== "auto" && SIZE.test(other) === SIZE.test(word));
  const isPossible = (name: string): boolean =>
    name === "any" || name.split("/").every((word) => asked.includes(word) || isLeft(word));
  const possible = Object.keys(images).filter(isPossible);
  return Math.max(0, ...(possible.length === 0 ? Object.keys(images) : possible).map((name) => images[name] ?? 0));
}

/** Bounds of a request: the longest prompt, and whether parts of it may have rates of their own. */
export interface Reach {
  readonly promptTokens: number;
  readonly serviceTier?: ServiceTier | undefined;
  /** Says that the prompt may be cached for an hour. */
  readonly mayCacheLong: boolean;
  /** Says that the prompt has images, sound or files. */
  readonly hasMedia: boolean;
  /** The most images that may be made, by size and quality. */
  readonly images?: Readonly<Record<string, number>>;
  /** The most searches that the provider may charge. */
  readonly searches?: number;
  /** Calls of the model; 1 where left out. */
  readonly rounds?: number;
  /** The most of other units that the request can use, such as characters. */
  readonly counted?: Readonly<Partial<Record<CountedUnit, number>>>;
}

/** Units that are counted from the request itself. Minutes are counted in milliseconds. */
type CountedUnit = "characters" | "minute";

/**
 * The most that each input and output token may cost, whatever is cached and whichever band and tier is charged. A
 * provider may answer a request for a tier at its usual one.
 */
export function dearestPrice(card: RateCard, reach: Reach): Price {
  if (!isUsual(card, reach)) return dearest(card, reach);
  const known = USUAL_PRICES.get(card);
  if (known !== undefined) return known;
  const price = dearest(card, reach);
  USUAL_PRICES.set(card, price);
  return price;
}

/** Prices of usual requests: most are, and each is quoted at every host of its chain. */
const USUAL_PRICES = new WeakMap<RateCard, Price>();

/** Says that the reach is as small as any: no band, tier, medium or search that could have another rate. */
function isUsual({ bands }: RateCard, reach: Reach): boolean {
  const { promptTokens, serviceTier, mayCacheLong, hasMedia, searches, images, counted } = reach;
  const isText = !hasMedia && images === undefined && counted === undefined;
  if ((reach.rounds ?? 1) > 1) return false;
  const isBare = serviceTier === undefined && !mayCacheLong && isText && (searches ?? 0) === 0;
  return isBare && (bands?.[0] === undefined || promptTokens <= bands[0].above);
}

function dearest(card: RateCard, reach: Reach): Price {
  const tiers: readonly BandedRates[] = [card, ...(reach.serviceTier ? [card.tiers?.[reach.serviceTier] ?? card] : [])];
  const rates = tiers.flatMap((tier) => [
    tier,
    ...(tier.bands ?? []).filter(({ above }) => reach.promptTokens > above),
  ]);
  const lines = LINES.flatMap(([unit, countOf]): ChargedLine[] => {
    const rate = Math.max(...rates.map(({ own }) => own?.[unit] ?? 0));
    const count = Math.max(...rates.map((each) => atLeast(each, unit, countOf(reach))));
    return rate === 0 || count === 0 ? [] : [{ unit, count, rate }];
  });
  for (const [kind, count] of Object.entries(reach.images ?? {})) {
    const rate = Math.max(...rates.map((each) => dearestImage(each, kind)));
    if (rate > 0) lines.push({ unit: "image", count, rate });
  }
  return {
    input: Math.max(...rates.map((each) => dearestInput(each, reach))),
    output: Math.max(...rates.map(dearestOutput)),
    cacheRead: null,
    cacheWrite: null,
    ...(lines.length === 0 ? {} : { lines }),
  };
}

/** Units other than tokens that a request can reach, with how many of them. */
const LINES: readonly (readonly [Unit, (reach: Reach) => number])[] = [
  ["request", ({ rounds = 1 }) => rounds],
  ["search", ({ searches = 0 }) => searches],
  ["searchedPrompt", ({ searches = 0 }) => Math.min(1, searches)],
  ["characters", ({ counted = {} }) => counted.characters ?? 0],
  ["minute", ({ counted = {} }) => counted.minute ?? 0],
];

function dearestInput(rates: Rates, { mayCacheLong, hasMedia }: Reach): number {
  const { input, cacheRead } = rates;
  const long = rates.own?.cacheWriteLong ?? longCacheWritePrice(rates);
  const usual = Math.max(input, cacheRead ?? 0, cacheWritePrice(rates), mayCacheLong ? long : 0);
  return hasMedia ? Math.max(usual, ...ownRates(rates, ["input", "cacheRead"])) : usual;
}

function dearestOutput(rates: Rates): number {
  return Math.max(rates.output, ...ownRates(rates, ["output"]));
}

function ownRates({ own = {} }: Rates, buckets: readonly (string | null)[]): readonly number[] {
  const units = Object.entries(own) as [Unit, number][];
  return units.filter(([unit]) => buckets.includes(UNITS[unit].bucket)).map(([, rate]) => rate);
}

/** The place of the period that a card of the schedule belongs to. */
export function periodPlace(schedule: PriceSchedule, price: RateCard): number {
  return schedule.findIndex(({ card, hours }) => card === price || hours.some((each) => each.card === price));
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The card of a moment, and the moment from which another one may be valid. */
export function cardAt(schedule: PriceSchedule, atMs: number): { readonly card: RateCard; readonly untilMs: number } {
  const place = Math.max(
    0,
    schedule.findLastIndex(({ fromMs }) => fromMs === null || fromMs <= atMs),
  );
  const { card, hours } = schedule[place] as PricePeriod;
  const nextMs = schedule[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
  if (hours.length === 0) return { card, untilMs: nextMs };
  const minute = Math.floor((atMs % DAY_MS) / MINUTE_MS);
  const day = new Date(atMs).getUTCDay();
  const now = hours.find(
    ({ days, fromMinute, untilMinute }) => days.includes(day) && minute >= fromMinute && minute < untilMinute,
  );
  const edges = hours.flatMap(({ fromMinute, untilMinute }) => [fromMinute, untilMinute]);
  const edge = Math.min(...edges.filter((each) => each > minute), DAY_MS / MINUTE_MS);
  const edgeMs = atMs - (atMs % DAY_MS) + edge * MINUTE_MS;
  return { card: now?.card ?? card, untilMs: Math.min(nextMs, edgeMs) };
}
