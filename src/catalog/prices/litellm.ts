// Rates in a row of LiteLLM's list beyond the usual four: rates of other units, bands by the length of the prompt, and
// rates by service tier. Their names are made of parts, such as input_cost_per_token_above_272k_tokens_priority.

import { SERVICE_TIERS, type ServiceTier, type Unit } from "../../core/money.ts";
import { type BandedRates, effectiveRate, type RateCard, type Rates } from "../../core/price.ts";
import { readPerToken } from "./decimal.ts";

const USUAL_FIELDS = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cacheRead: "cache_read_input_token_cost",
  cacheWrite: "cache_creation_input_token_cost",
} as const;

/** The names of each unit, the first of which counts. */
const UNIT_FIELDS: Readonly<Partial<Record<Unit, readonly string[]>>> = {
  cacheWriteLong: ["cache_creation_input_token_cost_above_1hr", "cache_creation_input_token_cost_above_12hr"],
  audioCacheRead: ["cache_read_input_audio_token_cost"],
  imageCacheRead: ["cache_read_input_image_token_cost"],
  audioInput: ["input_cost_per_audio_token"],
  imageInput: ["input_cost_per_image_token"],
  videoInput: ["input_cost_per_video_token"],
  audioOutput: ["output_cost_per_audio_token"],
  imageOutput: ["output_cost_per_image_token"],
  reasoning: ["output_cost_per_reasoning_token"],
};

const TIER_ENDINGS: Readonly<Record<ServiceTier, string>> = {
  batch: "_batches",
  flex: "_flex",
  priority: "_priority",
};

type ListRow = Readonly<Record<string, unknown>>;

/** Thrown and caught here. */
class Refused extends Error {}

/** Completes a card of the usual rates. Text says why the row cannot be believed. */
export function completeCard(row: ListRow, usual: Rates): RateCard | string {
  try {
    const rates = ratesOf(row, "", usual);
    const card = bandsOf(row, "", rates);
    const tiers = SERVICE_TIERS.flatMap((tier) => {
      const ending = TIER_ENDINGS[tier];
      const isThere = row[`${USUAL_FIELDS.input}${ending}`] !== undefined;
      return isThere ? [[tier, bandsOf(row, ending, ratesOf(row, ending, rates))] as const] : [];
    });
    return tiers.length === 0 ? card : { ...card, tiers: Object.fromEntries(tiers) };
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function bandsOf(row: ListRow, ending: string, rates: Rates): BandedRates {
  const thresholds = Object.keys(row).flatMap((field) => {
    const match = /^(?:input|output)_cost_per_token_above_(\d+)k_tokens(_[a-z]+)?$/.exec(field);
    return match !== null && (match[2] ?? "") === ending ? [Number(match[1])] : [];
  });
  const rising = [...new Set(thresholds)].sort((a, b) => a - b);
  if (rising.length === 0) return rates;
  const bands = rising.map((thousands) => ({
    above: thousands * 1000,
    ...ratesOf(row, `_above_${thousands}k_tokens${ending}`, rates),
  }));
  return { ...rates, bands };
}

/** Rates that are left out are the usual ones. */
function ratesOf(row: ListRow, ending: string, usual: Rates): Rates {
  const read = (names: readonly string[]): number | undefined => {
    for (const name of names) {
      const text = row[`${name}${ending}`] ?? null;
      if (text !== null) return rateOf(`${name}${ending}`, text);
    }
    return undefined;
  };
  const own = { ...usual.own };
  for (const [unit, names] of Object.entries(UNIT_FIELDS)) {
    const rate = read(names);
    if (rate !== undefined) own[unit as Unit] = rate;
  }
  const rates: Rates = {
    input: read([USUAL_FIELDS.input]) ?? usual.input,
    output: read([USUAL_FIELDS.output]) ?? usual.output,
    cacheRead: read([USUAL_FIELDS.cacheRead]) ?? usual.cacheRead,
    cacheWrite: read([USUAL_FIELDS.cacheWrite]) ?? usual.cacheWrite,
  };
  return withOwn(rates, own);
}

/** A rate that is the one of its bucket says nothing, and would be wrong in a band or tier that leaves it out. */
function withOwn(rates: Rates, own: NonNullable<Rates["own"]>): Rates {
  const differing = Object.entries(own).filter(([unit, rate]) => rate !== effectiveRate(rates, unit as Unit));
  return differing.length === 0 ? rates : { ...rates, own: Object.fromEntries(differing) };
}

function rateOf(field: string, text: unknown): number {
  const read = typeof text === "string" ? readPerToken(text) : ({ ok: false, reason: "is not a number" } as const);
  if (!read.ok) throw new Refused(`${field} ${read.reason}`);
  return read.micro;
}
