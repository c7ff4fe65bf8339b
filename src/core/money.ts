// Money as integers: amounts in nano-USD (bigint), prices in micro-USD per million tokens
// (which is pico-USD per token). Floating point appears only where an estimate is shown.

export type NanoUsd = bigint;

/** Integers in micro-USD per million tokens. `null` where the vendor names no such price. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

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
  return costInDoubles(tokens, price, markupPpm) ?? costInBigints(tokens, price, markupPpm);
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
  const pico =
    BigInt(tokens.input) * BigInt(price.input) +
    BigInt(tokens.cacheRead) * BigInt(price.cacheRead ?? price.input) +
    BigInt(tokens.cacheWrite) * BigInt(cacheWritePrice(price)) +
    BigInt(tokens.output) * BigInt(price.output);
  return ceilDivide(pico * (PPM + BigInt(markupPpm)), PICO_PER_NANO * PPM);
}

export function cacheWritePrice({ input, cacheWrite }: Price): number {
  return cacheWrite ?? Math.ceil(input * 1.25);
}

/** An entry that is kept for an hour costs twice the input, unless writing is free. */
export function longCacheWritePrice(price: Price): number {
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
  const micro = Math.round(usd * 1e6);
  // However small, a price is not zero.
  const isExact = Math.abs(micro - usd * 1e6) < 1e-3 && (micro > 0 || usd === 0);
  return Number.isSafeInteger(micro) && micro >= 0 && isExact ? micro : null;
}

function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
