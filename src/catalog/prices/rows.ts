// Prices as people write them, in USD, to and from the integers that requests are charged with. A price with one figure
// that is not exact is refused as a whole.

import {
  priceFromUsd,
  priceFromUsdPerMillion,
  SERVICE_TIERS,
  type ServiceTier,
  UNITS,
  type Unit,
} from "../../core/money.ts";
import type { Band, BandedRates, PriceHours, PricePeriod, PriceSchedule, RateCard, Rates } from "../../core/price.ts";

/** USD per million tokens or characters; for minutes, requests, searches and images, USD for each. */
interface RateRow extends Partial<Record<Unit, number | undefined>> {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | null | undefined;
  readonly cacheWrite?: number | null | undefined;
  /** One rate for all images, or rates by size and quality. */
  readonly image?: number | Readonly<Record<string, number>> | undefined;
  /** Time of the unit `minute` that a request is charged for at least. */
  readonly leastSeconds?: number | undefined;
}

export interface CardRow extends RateRow {
  /** Rates of the whole request, for prompts with more tokens than `above`. */
  readonly bands?: readonly (RateRow & { readonly above: number })[] | undefined;
}

interface TieredRow extends CardRow {
  /** Factors on all rates, or rates, by service tier. */
  readonly factors?: Readonly<Partial<Record<ServiceTier, number | CardRow | undefined>>> | undefined;
}

export interface HoursRow extends TieredRow {
  /** Times of the day in UTC, such as 06:00. `until` is the first minute at the usual price. */
  readonly from: string;
  readonly until: string;
  /** Left out: every day. */
  readonly days?: readonly PriceDay[] | undefined;
  readonly factor?: number | undefined;
}

/** A price from one day to another. */
export interface PeriodRow extends TieredRow {
  readonly input: number;
  readonly output: number;
  readonly hours?: readonly HoursRow[] | undefined;
  /** The first and the last day, in UTC. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

export interface PriceRow extends PeriodRow {
  /** Prices of later days, each of them whole. */
  readonly changes?: readonly (PeriodRow & { readonly from: string })[] | undefined;
}

export const PRICE_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
type PriceDay = (typeof PRICE_DAYS)[number];

const EVERY_DAY: readonly number[] = PRICE_DAYS.map((_, day) => day);
const DAY_MS = 86_400_000;

/** Units that are priced by the million; the others have a price for each. */
const BY_MILLION: ReadonlySet<string> = new Set(
  Object.entries(UNITS).flatMap(([unit, { bucket }]) => (bucket === null && unit !== "characters" ? [] : [unit])),
);

export interface HostPrice {
  /** The card of the first period, outside its hours. */
  readonly price: RateCard;
  /** Absent where nothing depends on the date or the hour. */
  readonly schedule?: PriceSchedule;
}

/** Thrown and caught here: it saves a check at each figure. */
class Inexact extends Error {}

/** Reads a price. Null when a figure is negative or not exact, or dates are out of order. */
export function priceFromRow(row: PriceRow): HostPrice | null {
  try {
    const { changes = [] } = row;
    const periods = [row, ...changes].map(readPeriod);
    const isRising = periods.every(
      ({ fromMs }, place) => place === 0 || (fromMs ?? 0) > (periods[place - 1]?.fromMs ?? Number.NEGATIVE_INFINITY),
    );
    const [first] = periods as [PricePeriod, ...PricePeriod[]];
    if (!isRising) return null;
    const isPlain = periods.length === 1 && first.hours.length === 0 && first.untilMs === null && first.fromMs === null;
    return isPlain ? { price: first.card } : { price: first.card, schedule: periods };
  } catch (error) {
    if (error instanceof Inexact) return null;
    throw error;
  }
}

function readPeriod(row: PeriodRow): PricePeriod {
  const card = readCard(row, null);
  const { from, until, hours = [] } = row;
  return {
    fromMs: from === undefined ? null : dayMs(from),
    untilMs: until === undefined ? null : dayMs(until) + DAY_MS,
    card,
    hours: hours.map((each) => readHours(each, card)),
  };
}

function dayMs(day: string): number {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms)) throw new Inexact();
  return ms;
}

function readHours(row: HoursRow, usual: RateCard): PriceHours {
  const { from, until, days, factor } = row;
  const [fromMinute, untilMinute] = [minuteOf(from), minuteOf(until)];
  if (fromMinute >= untilMinute) throw new Inexact();
  const card = factor === undefined ? readCard(row, usual) : scaledCard(usual, factor);
  return { days: days?.map((day) => PRICE_DAYS.indexOf(day)) ?? EVERY_DAY, fromMinute, untilMinute, card };
}

function minuteOf(time: string): number {
  const [, hours, minutes] = /^(\d{2}):(\d{2})$/.exec(time) ?? [];
  if (hours === undefined) throw new Inexact();
  return Number(hours) * 60 + Number(minutes);
}

/** Figures that are left out are those of `usual`. */
function readCard(row: TieredRow, usual: RateCard | null): RateCard {
  const card = readBanded(row, usual);
  const tiers = SERVICE_TIERS.flatMap((tier) => {
    const written = row.factors?.[tier];
    if (written === undefined) return [];
    return [[tier, typeof written === "number" ? scaledBands(card, written) : readBanded(written, card)] as const];
  });
  return tiers.length === 0 ? card : { ...card, tiers: Object.fromEntries(tiers) };
}

function readBanded(row: CardRow, usual: Rates | null): BandedRates {
  const rates = readRates(row, usual);
  const { bands = [] } = row;
  if (bands.length === 0) return rates;
  const read = bands.map((band): Band => ({ ...readRates(band, rates), above: band.above }));
  return { ...rates, bands: read.sort((a, b) => a.above - b.above) };
}

function readRates(row: RateRow, usual: Rates | null): Rates {
  const own = { ...usual?.own };
  for (const unit of Object.keys(UNITS) as Unit[]) {
    const usd = row[unit];
    if (usd !== undefined) own[unit] = exact(BY_MILLION.has(unit) ? priceFromUsdPerMillion(usd) : priceFromUsd(usd));
  }
  const images = row.image === undefined ? usual?.images : readImages(row.image);
  const leastSeconds = row.leastSeconds ?? usual?.leastSeconds;
  return {
    input: exact(row.input === undefined ? usual?.input : priceFromUsdPerMillion(row.input)),
    output: exact(row.output === undefined ? usual?.output : priceFromUsdPerMillion(row.output)),
    cacheRead: optional(row.cacheRead, usual?.cacheRead),
    cacheWrite: optional(row.cacheWrite, usual?.cacheWrite),
    ...(Object.keys(own).length === 0 ? {} : { own }),
    ...(images === undefined ? {} : { images }),
    ...(leastSeconds === undefined ? {} : { leastSeconds }),
  };
}

function readImages(image: number | Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const written = typeof image === "number" ? { any: image } : image;
  return mapped(written, (usd) => exact(priceFromUsd(usd)));
}

function optional(usd: number | null | undefined, usual: number | null = null): number | null {
  if (usd === undefined) return usual;
  return usd === null ? null : exact(priceFromUsdPerMillion(usd));
}

function exact(rate: number | null | undefined): number {
  if (rate === null || rate === undefined) throw new Inexact();
  return rate;
}

function scaledCard({ tiers, ...card }: RateCard, factor: number): RateCard {
  const scaled = scaledBands(card, factor);
  return tiers === undefined ? scaled : { ...scaled, tiers: mapped(tiers, (tier) => scaledBands(tier, factor)) };
}

function scaledBands({ bands, ...rates }: BandedRates, factor: number): BandedRates {
  const scaled = scaledRates(rates, factor);
  if (bands === undefined) return scaled;
  return { ...scaled, bands: bands.map((band) => ({ ...scaledRates(band, factor), above: band.above })) };
}

function scaledRates(
  { input, output, cacheRead, cacheWrite, own, images, leastSeconds }: Rates,
  factor: number,
): Rates {
  const times = (rate: number): number => exact(product(rate, factor));
  return {
    input: times(input),
    output: times(output),
    cacheRead: cacheRead === null ? null : times(cacheRead),
    cacheWrite: cacheWrite === null ? null : times(cacheWrite),
    ...(own === undefined ? {} : { own: { ...mapped(own, times), ...searchFees(own) } }),
    ...(images === undefined ? {} : { images: mapped(images, times) }),
    ...(leastSeconds === undefined ? {} : { leastSeconds }),
  };
}

/** Fees for searches are the same in every tier and at every hour. */
function searchFees({ search, searchedPrompt }: NonNullable<Rates["own"]>): NonNullable<Rates["own"]> {
  return { ...(search === undefined ? {} : { search }), ...(searchedPrompt === undefined ? {} : { searchedPrompt }) };
}

/** Returns null where the product is no whole number. */
function product(rate: number, factor: number): number | null {
  const parts = priceFromUsdPerMillion(factor);
  if (parts === null) return null;
  const whole = BigInt(rate) * BigInt(parts);
  return whole % 1_000_000n === 0n ? Number(whole / 1_000_000n) : null;
}

/** A price as it is written. The other way of `priceFromRow`, with rates in the place of factors. */
export function rowFromPrice(price: RateCard, schedule?: PriceSchedule): PriceRow {
  if (schedule === undefined) return writeCard(price);
  const [first, ...changes] = schedule.map(writePeriod);
  const later = changes.map((row) => ({ ...row, from: row.from ?? "" }));
  return { ...(first as PeriodRow), ...(later.length === 0 ? {} : { changes: later }) };
}

function writePeriod({ card, fromMs, untilMs, hours }: PricePeriod): PeriodRow {
  return {
    ...writeCard(card),
    ...(fromMs === null ? {} : { from: dayOf(fromMs) }),
    ...(untilMs === null ? {} : { until: dayOf(untilMs - DAY_MS) }),
    ...(hours.length === 0 ? {} : { hours: hours.map(writeHours) }),
  };
}

function writeHours({ days, fromMinute, untilMinute, card }: PriceHours): HoursRow {
  const time = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  const named = days.length === EVERY_DAY.length ? {} : { days: days.map((day) => PRICE_DAYS[day] as PriceDay) };
  return { from: time(fromMinute), until: time(untilMinute), ...named, ...writeCard(card) };
}

/** The last or first day of a period, in UTC. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function writeCard({ tiers, ...card }: RateCard): TieredRow & { input: number; output: number } {
  return { ...writeBanded(card), ...(tiers === undefined ? {} : { factors: mapped(tiers, writeBanded) }) };
}

function writeBanded({ bands, ...rates }: BandedRates): CardRow & { input: number; output: number } {
  const written = writeRates(rates);
  if (bands === undefined) return written;
  return { ...written, bands: bands.map((band) => ({ above: band.above, ...writeRates(band) })) };
}

function writeRates({ input, output, cacheRead, cacheWrite, own = {}, images, leastSeconds }: Rates) {
  const units = Object.entries(own).map(([unit, rate]) => [unit, rate / (BY_MILLION.has(unit) ? 1e6 : 1e12)]);
  return {
    input: input / 1e6,
    output: output / 1e6,
    ...(cacheRead === null ? {} : { cacheRead: cacheRead / 1e6 }),
    ...(cacheWrite === null ? {} : { cacheWrite: cacheWrite / 1e6 }),
    ...(Object.fromEntries(units) as Partial<Record<Unit, number>>),
    ...(images === undefined ? {} : { image: mapped(images, (rate) => rate / 1e12) }),
    ...(leastSeconds === undefined ? {} : { leastSeconds }),
  };
}

function mapped<Key extends string, From, To>(
  values: Readonly<Partial<Record<Key, From>>>,
  change: (value: From) => To,
): Readonly<Record<Key, To>> {
  const entries = Object.entries<From | undefined>(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value as From)])) as Record<Key, To>;
}
