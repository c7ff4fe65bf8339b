// Reads a provider of Pydantic's genai-prices: USD per million tokens, with bands by the length of the prompt, prices of
// other days, and prices of hours.

import type { Band, RateCard, Rates } from "../../core/price.ts";
import { readPerMillion } from "./decimal.ts";
import { countOf, type DatedCard, isMap, type ListedRow, type ReadRow, type TextMap } from "./listed.ts";

/** Vendors by their names in LiteLLM's list, where they differ. */
const VENDORS: Readonly<Record<string, string>> = {
  google: "gemini",
  together: "together_ai",
  fireworks: "fireworks_ai",
  "x-ai": "xai",
  moonshotai: "moonshot",
  qwen: "dashscope",
};

const FIELDS = {
  input: "input_mtok",
  output: "output_mtok",
  cacheRead: "cache_read_mtok",
  cacheWrite: "cache_write_mtok",
} as const;
const OWN_FIELDS = {
  audioInput: "input_audio_mtok",
  audioCacheRead: "cache_audio_read_mtok",
  audioOutput: "output_audio_mtok",
} as const;

/** A model may be listed under several names, and has a row for each. */
export function readGenaiProvider(provider: unknown, day: string): readonly ReadRow[] {
  if (!isMap(provider) || typeof provider.id !== "string" || !Array.isArray(provider.models)) return [null];
  const vendor = VENDORS[provider.id] ?? provider.id;
  return (provider.models as readonly unknown[]).flatMap((model) => readModel(model, vendor, day));
}

/** Thrown and caught here. */
class Refused extends Error {}

function readModel(model: unknown, vendor: string, day: string): readonly ReadRow[] {
  if (!isMap(model) || typeof model.id !== "string") return [null];
  const names = new Set([model.id, ...exactNames(model.match)]);
  try {
    const read = readPrices(model, day);
    if (read === null) return [null];
    return [...names].map((upstream) => ({ upstream, vendor, ...read }));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [...names].map((upstream) => ({ upstream, vendor, reason: error.message }));
  }
}

/** The names that match as a whole. Clauses that match parts of names may fit models that cost something else. */
function exactNames(match: unknown): readonly string[] {
  if (!isMap(match)) return [];
  if (typeof match.equals === "string") return [match.equals];
  return Array.isArray(match.or) ? (match.or as readonly unknown[]).flatMap(exactNames) : [];
}

/** Returns null for a model that is not priced by token. */
function readPrices(model: TextMap, day: string): Omit<ListedRow, "upstream" | "vendor"> | null {
  const entries = Array.isArray(model.prices) ? (model.prices as readonly unknown[]) : [{ prices: model.prices }];
  const dated: DatedCard[] = [];
  let isTimed = false;
  for (const entry of entries) {
    if (!isMap(entry) || !isMap(entry.prices)) throw new Refused("a price is missing");
    const { start_date: from = "", start_time: hour } = isMap(entry.constraint) ? entry.constraint : {};
    if (hour !== undefined) isTimed = true;
    else if (entry.prices[FIELDS.input] === undefined) return null;
    else dated.push({ from: String(from), price: cardOf(entry.prices) });
  }
  dated.sort((one, other) => (one.from < other.from ? -1 : 1));
  const now = dated.findLast(({ from }) => from <= day);
  if (now === undefined) throw new Refused("no price is valid yet");
  const later = dated.filter(({ from }) => from > day);
  return {
    price: now.price,
    ...{ context: countOf(model.context_window), maxOutput: null, capabilities: [] },
    ...(later.length === 0 ? {} : { later }),
    ...(isTimed ? { isTimed } : {}),
    ...(model.deprecated === true ? { retires: "" } : {}),
  };
}

/** A rate is a figure, or a base with the rates of longer prompts. */
function cardOf(prices: TextMap): RateCard {
  const starts = new Set(Object.values(prices).flatMap((rate) => tiersOf(rate).map(({ start }) => start)));
  const rates = ratesOf(prices, 0);
  const bands: readonly Band[] = [...starts]
    .sort((a, b) => a - b)
    .map((start) => ({ above: start, ...ratesOf(prices, start) }));
  return bands.length === 0 ? rates : { ...rates, bands };
}

function ratesOf(prices: TextMap, above: number): Rates {
  const read = (field: string): number | null => rateOf(field, prices[field], above);
  const own = Object.entries(OWN_FIELDS).flatMap(([unit, field]) => {
    const rate = read(field);
    return rate === null ? [] : [[unit, rate] as const];
  });
  return {
    input: read(FIELDS.input) ?? 0,
    // Models without output, such as those of embeddings.
    output: read(FIELDS.output) ?? 0,
    cacheRead: read(FIELDS.cacheRead),
    cacheWrite: read(FIELDS.cacheWrite),
    ...(own.length === 0 ? {} : { own: Object.fromEntries(own) }),
  };
}

function rateOf(field: string, rate: unknown, above: number): number | null {
  if (rate === undefined || rate === null) return null;
  const tier = tiersOf(rate).findLast(({ start }) => start <= above);
  const text = tier?.price ?? (isMap(rate) ? rate.base : rate);
  const read = typeof text === "string" ? readPerMillion(text) : ({ ok: false, reason: "is not a number" } as const);
  if (!read.ok) throw new Refused(`${field} ${read.reason}`);
  return read.micro;
}

function tiersOf(rate: unknown): readonly { readonly start: number; readonly price: unknown }[] {
  if (!isMap(rate) || !Array.isArray(rate.tiers)) return [];
  return (rate.tiers as readonly unknown[])
    .flatMap((tier) => (isMap(tier) ? [{ start: countOf(tier.start) ?? 0, price: tier.price }] : []))
    .filter(({ start }) => start > 0)
    .sort((a, b) => a.start - b.start);
}
