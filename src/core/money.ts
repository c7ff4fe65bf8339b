// Money as integers: amounts in nano-USD (bigint), prices in micro-USD per million tokens
// (which is pico-USD per token). Floating point appears only where an estimate is shown.

export type NanoUsd = bigint;

/** The price of one request, in micro-USD per million tokens. `null` where the vendor names no such price. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** Counts with a rate of their own; absent where there are none. */
  readonly lines?: readonly ChargedLine[];
  /** A card has bands. Which of them counts must be decided before anything is charged at it. */
  readonly bands?: never;
}

/** Counted units with a rate of their own, in pico-USD per unit. */
export interface ChargedLine {
  readonly unit: Unit | "image" | "fetch";
  readonly count: number;
  readonly rate: number;
}

/**
 * Units that may have a rate of their own. Tokens among them are part of a bucket; `per` says how many of the others one
 * rate pays for. Minutes are counted in milliseconds.
 */
export const UNITS = {
  cacheWriteLong: { bucket: "cacheWrite", per: 1 },
  audioCacheRead: { bucket: "cacheRead", per: 1 },
  imageCacheRead: { bucket: "cacheRead", per: 1 },
  audioInput: { bucket: "input", per: 1 },
  imageInput: { bucket: "input", per: 1 },
  videoInput: { bucket: "input", per: 1 },
  audioOutput: { bucket: "output", per: 1 },
  imageOutput: { bucket: "output", per: 1 },
  reasoning: { bucket: "output", per: 1 },
  characters: { bucket: null, per: 1 },
  minute: { bucket: null, per: 60_000 },
  request: { bucket: null, per: 1 },
  search: { bucket: null, per: 1 },
  /** A prompt for which the provider searched, however often. */
  searchedPrompt: { bucket: null, per: 1 },
} as const satisfies Record<string, { readonly bucket: keyof TokenBuckets | null; readonly per: number }>;
export type Unit = keyof typeof UNITS;

/** Service tiers of providers that have prices of their own. */
export const SERVICE_TIERS = ["batch", "flex", "priority"] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

export const ASKED_SERVICE_TIERS = ["default", "flex", "priority"] as const;
/** A service tier that a request can ask its provider for; `default` is the usual one. */
export type AskedServiceTier = (typeof ASKED_SERVICE_TIERS)[number];

/** Disjoint buckets: cached tokens are not part of `input`; reasoning is part of `output`. */
export interface TokenBuckets {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

const PICO_PER_NANO = 1000n;
const PPM = 1_000_000n;
const NANO_PER_USD = 1_000_000_000n;

/** The cost of these tokens with the markup (parts per million), rounded up once to whole nano-USD. */
export function costNano(tokens: TokenBuckets, price: Price, markupPpm: number): NanoUsd {
  const inDoubles = price.lines === undefined ? costInDoubles(tokens, price, markupPpm) : null;
  return inDoubles ?? costInBigints(tokens, price, markupPpm);
}

/** Several times as fast, and exact as long as every number on the way is a safe integer; null where it is not. */
function costInDoubles(tokens: TokenBuckets, price: Price, markupPpm: number): NanoUsd | null {
  const pico =
    tokens.input * price.input +
    tokens.cacheRead * (price.cacheRead ?? price.input) +
    tokens.cacheWrite * cacheWritePrice(price) +
    tokens.output * price.output;
  // Without a markup larger amounts are exact.
  const marked = markupPpm === 0 ? pico : pico * (1e6 + markupPpm);
  if (!Number.isSafeInteger(marked) || marked < 0) return null;
  const perNano = markupPpm === 0 ? 1e3 : 1e9;
  const rest = marked % perNano;
  return BigInt((marked - rest) / perNano + (rest > 0 ? 1 : 0));
}

function costInBigints(tokens: TokenBuckets, price: Price, markupPpm: number): NanoUsd {
  return ceilDivide(sharesAt(tokens, price) * (PPM + BigInt(markupPpm)), PICO_PER_NANO * PPM * SHARES);
}

function sharesAt(tokens: TokenBuckets, price: Price): bigint {
  const pico =
    BigInt(tokens.input) * BigInt(price.input) +
    BigInt(tokens.cacheRead) * BigInt(price.cacheRead ?? price.input) +
    BigInt(tokens.cacheWrite) * BigInt(cacheWritePrice(price)) +
    BigInt(tokens.output) * BigInt(price.output);
  const { lines = [] } = price;
  return lines.reduce((sum, line) => sum + sharesOf(line, price), pico * SHARES);
}

/** The same in pico-USD and without a markup, to be the rate of a line. */
export function costPico(tokens: TokenBuckets, price: Price): number {
  return Number(ceilDivide(sharesAt(tokens, price), SHARES));
}

/** Parts of a pico-USD, so that milliseconds at a rate per minute are whole. */
const SHARES = 60_000n;

/** The cost of a line beyond what its tokens cost in their bucket. */
function sharesOf({ unit, count, rate }: ChargedLine, price: Price): bigint {
  const { bucket, per } = unitOf(unit);
  const usual = bucket === null ? 0 : bucketRate(price, bucket);
  return BigInt(count) * (BigInt(rate) - BigInt(usual)) * (SHARES / BigInt(per));
}

const EACH = { bucket: null, per: 1 } as const;

export function unitOf(unit: ChargedLine["unit"]): (typeof UNITS)[Unit] {
  return unit === "image" || unit === "fetch" ? EACH : UNITS[unit];
}

export function bucketRate(
  price: InputRates & Pick<Price, "cacheRead" | "output">,
  bucket: keyof TokenBuckets,
): number {
  if (bucket === "cacheRead") return price.cacheRead ?? price.input;
  return bucket === "cacheWrite" ? cacheWritePrice(price) : price[bucket];
}

type InputRates = Pick<Price, "input" | "cacheWrite">;

export function cacheWritePrice({ input, cacheWrite }: InputRates): number {
  return cacheWrite ?? Math.ceil(input * 1.25);
}

/** An entry that is kept for an hour costs twice the input, unless writing is free. */
export function longCacheWritePrice(price: InputRates): number {
  const usual = cacheWritePrice(price);
  return usual === 0 ? 0 : Math.max(usual, price.input * 2);
}

/** Plain decimal text such as "12.5". Nine digits before the point: more nano-USD than those no store can hold. */
export const USD_TEXT = /^(\d{1,9})(?:\.(\d{1,9}))?$/;

/** Parses plain decimal text of at most nine decimals; null when it is not that. */
export function parseUsd(text: string): NanoUsd | null {
  const match = USD_TEXT.exec(text);
  if (match === null) return null;
  const fraction = (match[2] ?? "").padEnd(9, "0");
  return BigInt(match[1] as string) * NANO_PER_USD + BigInt(fraction);
}

/** Exact decimal text without trailing zeros: 1500000000n is "1.5". */
export function formatUsd(nano: NanoUsd): string {
  const sign = nano < 0n ? "-" : "";
  const absolute = nano < 0n ? -nano : nano;
  const fraction = (absolute % NANO_PER_USD).toString().padStart(9, "0").replace(/0+$/, "");
  const whole = (absolute / NANO_PER_USD).toString();
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** A number as decimal text without an exponent, whatever its size. */
export function decimalText(amount: number): string {
  const text = String(amount);
  return text.includes("e") ? amount.toFixed(18).replace(/\.?0+$/, "") : text;
}

/** An estimate for people, with two digits that count. */
export function roughUsd(amount: number): string {
  return `$${decimalText(Number(amount.toPrecision(2)))}`;
}

/** For showing and comparing estimates only, never for booking. */
export function usdNumber(nano: NanoUsd): number {
  return Number(nano) / 1e9;
}

/** For messages about a price that is not exact. */
export const PRICE_DECIMALS = "at most six decimals (the smallest price is 0.000001)";

/** A price as written by people (USD per million tokens) to its integer form; null when it is not exact. */
export function priceFromUsdPerMillion(usd: number): number | null {
  return wholeOf(usd, 1e6);
}

/** A price of one thing, such as an image, in pico-USD; null when it has more than nine decimals. */
export function priceFromUsd(usd: number): number | null {
  const nano = wholeOf(usd, 1e9);
  return nano === null ? null : nano * 1e3;
}

function wholeOf(usd: number, parts: number): number | null {
  const whole = Math.round(usd * parts);
  // However small, a price is not zero.
  const isExact = Math.abs(whole - usd * parts) < 1e-3 && (whole > 0 || usd === 0);
  return Number.isSafeInteger(whole) && whole >= 0 && isExact ? whole : null;
}

function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
