// What an answer must cost, computed from the prices as text and from what the provider counted. Nothing of the gateway's
// own code is used, so that both can be compared.

export interface Tokens {
  /** Without what was read from or written to the provider's cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** USD per million tokens, as written into the configuration. */
export interface PriceText {
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string;
  readonly cacheWrite: string;
}

/** The first two are chat-completions models, the last one speaks the Messages format. */
export const PRICES = {
  alpha: { input: "1.1", output: "4.4", cacheRead: "0.275", cacheWrite: "1.375" },
  beta: { input: "0.15", output: "0.6", cacheRead: "0.033333", cacheWrite: "0.2" },
  gamma: { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75" },
} as const satisfies Readonly<Record<string, PriceText>>;

export type ModelId = keyof typeof PRICES;

export const MODEL_IDS = Object.keys(PRICES) as readonly ModelId[];
export const MARKUP = "0.0731";

/** Nano-USD: added up exactly, the markup on the sum, rounded up once. */
export function owed(tokens: Tokens, model: ModelId): bigint {
  const price = PRICES[model];
  const sum =
    BigInt(tokens.input) * decimal(price.input, 6) +
    BigInt(tokens.cacheRead) * decimal(price.cacheRead, 6) +
    BigInt(tokens.cacheWrite) * decimal(price.cacheWrite, 6) +
    BigInt(tokens.output) * decimal(price.output, 6);
  // Six decimals of the price, six of the million, six of the markup; nine of them stay as nano.
  const exact = sum * (10n ** 6n + decimal(MARKUP, 6));
  return (exact + 10n ** 9n - 1n) / 10n ** 9n;
}

/** "1.5" with six decimals is 1500000n. */
export function decimal(text: string, places: number): bigint {
  const sign = text.startsWith("-") ? -1n : 1n;
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  return sign * BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
}

/** Nano-USD as the API takes them. */
export function usd(nano: bigint): string {
  const digits = nano.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
