// A model as the models list shows it. Prices are exact decimal text in USD per token, with the markup. A missing cache
// price is shown as the price that is charged instead. Behaviour 9.

import { type Catalog, isUsable } from "../../catalog/catalog.ts";
import { retirementDay } from "../../catalog/retirement.ts";
import type { Capability, HostedModel, Model } from "../../core/model.ts";
import { cacheWritePrice } from "../../core/money.ts";
import { type BandedRates, periodPlace, type Rates } from "../../core/price.ts";
import { TIERS } from "../../core/tiers.ts";
import type { JsonObject } from "../json/fields.ts";

/** Enough for any price with any markup to be exact. */
const DECIMALS = 18;
const PPM = 1_000_000;
const MODALITIES: readonly (readonly [Capability, string])[] = [
  ["vision", "image"],
  ["audio", "audio"],
  ["files", "file"],
];
/** Parameters that every model takes unless its host refuses them. */
const PARAMETERS = ["max_tokens", "temperature", "top_p", "stop", "seed", "stream", "n"] as const;

export function writeModels(models: readonly Model[], catalog: Catalog): JsonObject {
  return { object: "list", data: models.map((model) => writeModel(model, catalog)) };
}

export function writeModel(model: Model, catalog: Catalog): JsonObject {
  const retires = retirementDay(catalog, model);
  return {
    id: model.id,
    object: "model",
    created: Math.floor(Date.parse(model.priceAsOf) / 1000) || 0,
    owned_by: model.vendor,
    name: model.name,
    context_length: model.context,
    max_output_tokens: model.maxOutput,
    architecture: { input_modalities: inputModalities(model), output_modalities: [model.endpoint ?? "text"] },
    supported_parameters: supportedParameters(model),
    pricing: writePricing(model, catalog),
    service: {
      tiers: TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id)),
      bfcl: model.scores,
      priceAsOf: model.priceAsOf,
      ...(retires === null ? {} : { retires }),
      ...(model.isProvisional ? { provisional: true } : {}),
      hosts: model.hosts.filter((host) => isUsable(catalog, host)).map((host) => writeHost(host, catalog)),
    },
  };
}

function writeHost(host: HostedModel, catalog: Catalog): JsonObject {
  const { host: name, context, maxOutput, priceAsOf, region, dataPolicy } = host;
  return {
    host: name,
    context_length: context,
    max_output_tokens: maxOutput,
    pricing: writePricing(host, catalog),
    priceAsOf,
    ...(region === undefined ? {} : { region }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
  };
}

/** The price of this moment, with what it depends on, and the price that follows. */
export function writePricing({ price, schedule = [] }: HostedModel, catalog: Catalog): JsonObject {
  const usual = writeBanded(price, catalog);
  if (price === null) return usual;
  const place = periodPlace(schedule, price);
  const { untilMs = null } = schedule[place] ?? {};
  const next = place < 0 ? undefined : schedule[place + 1];
  const tiers = Object.entries(price.tiers ?? {}).map(([name, tier]) => [name, writeBanded(tier, catalog)]);
  return {
    ...usual,
    ...(tiers.length === 0 ? {} : { tiers: Object.fromEntries(tiers) }),
    ...(untilMs === null ? {} : { valid_until: isoTime(untilMs) }),
    ...(next?.fromMs == null ? {} : { next: { from: isoTime(next.fromMs), ...writeBanded(next.card, catalog) } }),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function writeBanded(price: BandedRates | null, catalog: Catalog): JsonObject {
  const { bands = [] } = price ?? {};
  if (bands.length === 0) return writeRates(price, catalog);
  return {
    ...writeRates(price, catalog),
    bands: bands.map((band) => ({ above_prompt_tokens: band.above, ...writeRates(band, catalog) })),
  };
}

function writeRates(rates: Rates | null, catalog: Catalog): JsonObject {
  return {
    prompt: perToken(rates?.input, catalog),
    completion: perToken(rates?.output, catalog),
    input_cache_read: perToken(rates && (rates.cacheRead ?? rates.input), catalog),
    input_cache_write: perToken(rates && cacheWritePrice(rates), catalog),
    ...(rates === null ? {} : writeUnits(rates, catalog)),
  };
}

/** Units beside tokens that images and sound are paid by. */
function writeUnits({ own = {}, images }: Rates, catalog: Catalog): JsonObject {
  const { characters, minute } = own;
  return {
    ...(characters === undefined ? {} : { character: perToken(characters, catalog) }),
    ...(minute === undefined ? {} : { minute: perToken(minute, catalog) }),
    ...(images === undefined ? {} : { image: mapped(images, (rate) => perToken(rate, catalog)) }),
  };
}

function mapped(rates: Readonly<Record<string, number>>, write: (rate: number) => string | null): JsonObject {
  return Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, write(rate)]));
}

function inputModalities({ capabilities }: Model): readonly string[] {
  const others = MODALITIES.filter(([capability]) => capabilities.has(capability)).map(([, modality]) => modality);
  return ["text", ...others];
}

function supportedParameters({ capabilities, dialect, endpoint }: Model): readonly string[] {
  if (endpoint !== null) return [];
  const optional = [
    ...(capabilities.has("tools") ? ["tools", "tool_choice"] : []),
    ...(capabilities.has("json") ? ["response_format"] : []),
    ...(capabilities.has("reasoning") ? ["reasoning_effort"] : []),
  ];
  return [...PARAMETERS, ...optional].filter((name) => !dialect.refuses.includes(name));
}

/** Micro-USD per million tokens with the markup, in units of 10⁻¹⁸ USD per token: exact as an integer. */
function perToken(price: number | null | undefined, { markupPpm }: Catalog): string | null {
  if (price === null || price === undefined) return null;
  const digits = (BigInt(price) * BigInt(PPM + markupPpm)).toString().padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  const whole = digits.slice(0, -DECIMALS);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
