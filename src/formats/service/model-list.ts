// A model as the models list shows it. Prices are exact decimal text in USD per token, with the markup. A missing cache
// price is shown as the price that is charged instead. Behaviour 9.

import type { Catalog } from "../../catalog/catalog.ts";
import type { Capability, Model } from "../../core/model.ts";
import { cacheWritePrice } from "../../core/money.ts";
import { TIERS } from "../../core/tiers.ts";
import type { JsonObject } from "../wire/fields.ts";

/** Enough for any price with any markup to be exact. */
const DECIMALS = 18;
const PPM = 1_000_000;
const MODALITIES: readonly (readonly [Capability, string])[] = [
  ["vision", "image"],
  ["audio", "audio"],
  ["files", "file"],
];
/** What every model takes unless its host refuses it. */
const PARAMETERS = ["max_tokens", "temperature", "top_p", "stop", "seed", "stream", "n"] as const;

export function writeModels(models: readonly Model[], catalog: Catalog): JsonObject {
  return { object: "list", data: models.map((model) => writeModel(model, catalog)) };
}

export function writeModel(model: Model, catalog: Catalog): JsonObject {
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
    pricing: {
      prompt: perToken(model.price?.input, catalog),
      completion: perToken(model.price?.output, catalog),
      input_cache_read: perToken(model.price && (model.price.cacheRead ?? model.price.input), catalog),
      input_cache_write: perToken(model.price && cacheWritePrice(model.price), catalog),
    },
    service: {
      tiers: TIERS.filter((tier) => catalog.chains[tier].some(({ id }) => id === model.id)),
      bfcl: model.scores,
      priceAsOf: model.priceAsOf,
    },
  };
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
