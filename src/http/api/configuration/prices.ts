// /api/prices: what the last price check found, and the call that adopts prices and models. For operators.

import { Type } from "typebox";
import type { Catalog } from "../../../catalog/catalog.ts";
import type { PriceCheck } from "../../../catalog/prices/check.ts";
import { diffPrices, type PriceChange, type UnpricedModel } from "../../../catalog/prices/diff.ts";
import { priceFromRow } from "../../../catalog/prices/rows.ts";
import { GatewayError } from "../../../core/errors.ts";
import { CAPABILITIES, ENDPOINTS } from "../../../core/model.ts";
import { PRICE_DECIMALS } from "../../../core/money.ts";
import type { Overlay } from "../../../core/overlay.ts";
import type { Band, RateCard } from "../../../core/price.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { checkPrices } from "../../../gateway/operate/check-prices.ts";
import {
  type DatedChange,
  type DatedPrice,
  dayOf,
  isOperatorPrice,
  newModelId,
  withModel,
  withPrices,
} from "../../../versions/adoption.ts";
import { OPERATOR_PRICE } from "../../../versions/prices.ts";
import type { Versions } from "../../../versions/versions.ts";
import type { OperatorContext } from "../../context.ts";
import { AnyText, Integer, named, nullable, type Shape, strict, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { isoTime } from "../exchange.ts";
import { type ApiRoute, get, post } from "../route.ts";
import {
  ifMatch,
  LockSchema,
  lockOn,
  PublishedSchema,
  publicationFields,
  publisherOf,
  writePublished,
} from "./exchange.ts";

/** USD per million tokens, as in the file. */
const PriceSchema = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: nullable(Type.Number()),
  cacheWrite: nullable(Type.Number()),
  bands: Type.Optional(
    Type.Array(Type.Object({ above: Integer, input: Type.Number(), output: Type.Number() }), {
      description: "Prices of the whole request, for prompts with more tokens than that.",
    }),
  ),
});

const hostFields = { provider: AnyText, upstream: AnyText };

export const PricesSchema = named("Prices", {
  // The list that prices are compared with, and when it was read last. Null before the first time.
  source: AnyText,
  checkedAt: nullable(Time),
  // The reason for the failure of the last reading; the prices shown are from the one before.
  problem: nullable(AnyText),
  // The interval at which the list is read by itself; 0 for never.
  everyHours: Type.Number(),
  changes: Type.Array(
    Type.Object({
      model: AnyText,
      ...hostFields,
      price: nullable(PriceSchema),
      priceAsOf: AnyText,
      priceSource: AnyText,
      listed: PriceSchema,
      percent: nullable(Type.Number({ description: "The largest change of its figures; null for a new price." })),
      isOwn: Type.Boolean({ description: "An operator wrote this price. Only an operator changes it." }),
      locked: nullable(LockSchema),
    }),
  ),
  refused: Type.Array(Type.Object({ model: AnyText, upstream: AnyText, reason: AnyText })),
  unpriced: Type.Array(
    Type.Object({
      ...hostFields,
      // The id of the model where the catalogue has the model without a price.
      model: nullable(AnyText),
      listed: nullable(PriceSchema),
      context: nullable(Integer),
      capabilities: Type.Array(Type.Enum([...CAPABILITIES, ...ENDPOINTS])),
    }),
    { description: "Models of configured providers that nobody has priced. They are not routable." },
  ),
});

/** Amounts up to the largest that a price list may have. */
const amount = Type.Number({ minimum: 0, maximum: 10_000 });

const AdoptionSchema = strict("PriceAdoption", {
  hosts: Type.Array(
    Type.Object(
      {
        provider: Type.String({ minLength: 1, maxLength: 200 }),
        upstream: Type.String({ minLength: 1, maxLength: 200, description: "The provider's name for the model." }),
        id: Type.Optional(
          Type.String({ minLength: 1, maxLength: 128, description: "The id of a new model; else its own name." }),
        ),
        price: Type.Optional(
          Type.Object(
            { input: amount, output: amount, cacheRead: Type.Optional(amount), cacheWrite: Type.Optional(amount) },
            { additionalProperties: false, description: "USD per million tokens; left out, the list's." },
          ),
        ),
      },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: 500 },
  ),
  ...publicationFields,
});
type Wanted = Shape<typeof AdoptionSchema>["hosts"][number];

/** A check calls other servers, so it must not become a way to flood them. */
const CHECKS_PER_MINUTE = 6;

export const PRICE_ROUTES: readonly ApiRoute[] = [
  get("getPrices", "/api/prices", {
    summary: "Prices that differ from the price list, and models of your providers without a price",
    access: "operator",
    response: PricesSchema,
    handle: async (_call, edge) => writePrices(await edge.priceChecks.read(), edge),
  }),
  post("checkPrices", "/api/prices/check", {
    summary: "Read the price list and the providers' own lists of models now; six times per minute",
    access: "operator",
    response: PricesSchema,
    async handle(_call, edge) {
      const { limiter, now, settings, priceChecks: checks } = edge;
      const { allowed, retryAfterSeconds } = await limiter.admit("price check", CHECKS_PER_MINUTE, now());
      if (!allowed) throw tooManyChecks(retryAfterSeconds);
      const { catalog, registry } = edge.services();
      const check = await checkPrices(settings.prices.priceListUrl, { catalog, registry, checks, now });
      return writePrices(check, edge);
    },
  }),
  post("adoptPrices", "/api/prices/adopt", {
    summary: "Adopt prices of the last check, and models with their price, as one version of the configuration",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: AdoptionSchema,
    example: { hosts: [{ provider: "groq", upstream: "llama-4-scout" }] },
    response: PublishedSchema,
    async handle({ request, body }, edge) {
      const given = body();
      const publisher = publisherOf(request, given);
      const check = await edge.priceChecks.read();
      const change = (document: Overlay): Overlay =>
        adopted(document, given.hosts, { check, catalog: edge.services().catalog, nowMs: edge.now() });
      return writePublished(await edge.versions.publish({ ...publisher, isDated: true, change }));
    },
  }),
];

function tooManyChecks(retryAfterSeconds: number): GatewayError {
  const message = TEXT.pricesCheckedTooOften(CHECKS_PER_MINUTE, retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_checks", retryAfterSeconds });
}

interface Adopting {
  readonly check: PriceCheck | null;
  readonly catalog: Catalog;
  readonly nowMs: number;
}

/** Gives new prices to models of the catalogue, and adds the models that the catalogue lacks. */
function adopted(document: Overlay, wanted: readonly Wanted[], adopting: Adopting): Overlay {
  const { catalog, check } = adopting;
  const diff = diffPrices(catalog, check ?? { rows: [], refused: [] });
  const changes: DatedChange[] = [];
  const ids = new Set(catalog.models.keys());
  let next = document;
  for (const [index, host] of wanted.entries()) {
    const isIt = (one: Pick<Wanted, "provider" | "upstream">): boolean =>
      one.provider === host.provider && one.upstream === host.upstream;
    const owners = [...catalog.models.values()].filter(({ hosts }) => hosts.some(isIt));
    const found = diff.unpriced.find(isIt) ?? { ...UNKNOWN, provider: host.provider, upstream: host.upstream };
    const listed = diff.changes.find(isIt)?.to ?? found.price;
    // Somebody else was faster.
    if (listed === null && host.price === undefined && owners.some(({ price }) => price !== null)) continue;
    const dated = datedPrice(host, index, { listed, isOwnPrice: found.isOwnPrice, ...adopting });
    for (const { id } of owners)
      changes.push({ model: id, provider: host.provider, upstream: host.upstream, ...dated });
    if (owners.length > 0) continue;
    const id = host.id ?? newModelId(host.upstream, host.provider, catalog);
    if (ids.has(id)) throw invalid(`hosts[${index}].id`, TEXT.modelExists(id));
    ids.add(id);
    next = withModel(next, id, { ...found, ...dated });
  }
  return withPrices(next, catalog.models, changes);
}

/** Values for a model that neither the list nor its provider describes. */
const UNKNOWN = { price: null, context: null, maxOutput: null, capabilities: [], isOwnPrice: false };

interface PriceTerms extends Adopting {
  readonly listed: RateCard | null;
  readonly isOwnPrice: boolean;
}

/** The price that was given, else the one found, with where it comes from. */
function datedPrice(host: Wanted, index: number, { listed, isOwnPrice, check, nowMs }: PriceTerms): DatedPrice {
  const price = host.price === undefined ? listed : (priceFromRow(host.price)?.price ?? null);
  if (price === null) {
    const what = host.price === undefined ? TEXT.priceUnknown(host.upstream) : TEXT.sendPrice(PRICE_DECIMALS);
    throw new GatewayError("unprocessable", what, { code: "price_needed", param: `hosts[${index}].price` });
  }
  const [atMs, source] =
    host.price !== undefined
      ? [nowMs, OPERATOR_PRICE]
      : [check?.atMs ?? nowMs, isOwnPrice ? TEXT.modelListOf(host.provider) : (check?.source ?? "")];
  return { price, stamp: { asOf: dayOf(atMs), source } };
}

function writePrices(check: PriceCheck | null, edge: OperatorContext): Shape<typeof PricesSchema> {
  const { settings, versions } = edge;
  const { priceListUrl, priceCheckHours } = settings.prices;
  const { changes, refused, unpriced } = diffPrices(edge.services().catalog, check ?? { rows: [], refused: [] });
  return {
    source: check?.source ?? priceListUrl,
    checkedAt: check === null || check.atMs === 0 ? null : isoTime(check.atMs),
    problem: check?.problem ?? null,
    everyHours: priceCheckHours,
    changes: changes.map((change) => writeChange(change, versions)),
    refused: refused.map(({ model, upstream, reason }) => ({ model, upstream, reason })),
    unpriced: unpriced.map(writeUnpriced),
  };
}

function writeChange(change: PriceChange, versions: Versions): Shape<typeof PricesSchema>["changes"][number] {
  const { model, provider, upstream, from, fromAsOf, fromSource, to, percent } = change;
  return {
    ...{ model, provider, upstream, percent, priceAsOf: fromAsOf, priceSource: fromSource },
    isOwn: isOperatorPrice(change),
    ...{ price: from === null ? null : usd(from), listed: usd(to), locked: lockOn(versions, `models.${model}`) },
  };
}

function writeUnpriced(found: UnpricedModel): Shape<typeof PricesSchema>["unpriced"][number] {
  const { provider, upstream, model, price, context, capabilities } = found;
  const listed = price === null ? null : usd(price);
  return { provider, upstream, model, listed, context, capabilities: [...capabilities] };
}

function usd({ input, output, cacheRead, cacheWrite, bands }: RateCard): Shape<typeof PriceSchema> {
  const perMillion = (micro: number | null): number | null => (micro === null ? null : micro / 1e6);
  return {
    ...{ input: input / 1e6, output: output / 1e6 },
    ...{ cacheRead: perMillion(cacheRead), cacheWrite: perMillion(cacheWrite) },
    ...(bands === undefined ? {} : { bands: bands.map(writeBand) }),
  };
}

function writeBand({ above, input, output }: Band) {
  return { above, input: input / 1e6, output: output / 1e6 };
}
