// /api/prices: what the last price check found, and the call that adopts what waits. For operators.

import { Type } from "typebox";
import type { Catalog } from "../../../catalog/catalog.ts";
import { oldestPrice } from "../../../catalog/prices/age.ts";
import { type FeedState, isStale, type PriceCheck, STALE_DAYS } from "../../../catalog/prices/check.ts";
import type { UnpricedModel } from "../../../catalog/prices/diff.ts";
import { FEED_IDS, FEEDS, type FeedId, feedSource } from "../../../catalog/prices/feeds.ts";
import { type Proposal, reviewPrices, STANDINGS } from "../../../catalog/prices/review.ts";
import { priceFromRow } from "../../../catalog/prices/rows.ts";
import type { LiveSettings } from "../../../config/settings.ts";
import { GatewayError } from "../../../core/errors.ts";
import { CAPABILITIES, ENDPOINTS } from "../../../core/model.ts";
import { PRICE_DECIMALS } from "../../../core/money.ts";
import type { Overlay } from "../../../core/overlay.ts";
import type { Band, RateCard } from "../../../core/price.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { feedAddresses } from "../../../gateway/operate/feed-places.ts";
import {
  type DatedChange,
  type DatedPrice,
  dayOf,
  isOperatorPrice,
  MODEL_LIST,
  newModelId,
  withModel,
  withPrices,
} from "../../../versions/adoption.ts";
import { OPERATOR_PRICE } from "../../../versions/prices.ts";
import type { Versions } from "../../../versions/versions.ts";
import type { OperatorContext } from "../../context.ts";
import { AnyText, Flag, Integer, named, nullable, type Shape, strict, Time } from "../../openapi/schema.ts";
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

const FeedName = Type.Enum([...FEED_IDS]);

const hostFields = { provider: AnyText, upstream: AnyText };

export const PricesSchema = named("Prices", {
  // The time of the last check. Null before the first one.
  checkedAt: nullable(Time),
  // The interval at which prices are checked by themselves; 0 for never.
  everyHours: Type.Number(),
  feeds: Type.Array(
    Type.Object({
      feed: FeedName,
      label: AnyText,
      source: AnyText,
      readAt: nullable(Time),
      changedAt: nullable(Time),
      isStale: Type.Boolean({ description: `It has not changed for ${STALE_DAYS} days, so it has no vote on prices.` }),
      problem: nullable(Type.String({ description: "Why the last reading failed; what was read before is shown." })),
      models: Integer,
      lost: Type.Array(AnyText, { description: "Providers and models that the feed listed before." }),
    }),
  ),
  oldest: nullable(
    Type.Object(
      { model: AnyText, provider: AnyText, since: Time },
      { description: "The oldest price in use: its day, or when a feed had the same." },
    ),
  ),
  changes: Type.Array(
    Type.Object({
      model: AnyText,
      ...hostFields,
      price: nullable(PriceSchema),
      priceAsOf: AnyText,
      priceSource: AnyText,
      listed: PriceSchema,
      startsOn: nullable(Type.String({ description: "The first day of an announced price; null for today's." })),
      percent: nullable(Type.Number({ description: "The largest change of its figures; null for a new price." })),
      confirmed: nullable(
        Type.Object(
          { price: PriceSchema, asOf: AnyText },
          { description: "What a person or the catalogue confirmed last, where the price in use came from feeds." },
        ),
      ),
      isOwn: Type.Boolean({ description: "An operator wrote this price. Only an operator changes it." }),
      standing: Type.Enum([...STANDINGS], { description: "Why it waits; `agreed` is taken over by the next check." }),
      feeds: Type.Array(Type.Object({ feed: FeedName, price: PriceSchema, isSame: Flag })),
      locked: nullable(LockSchema),
    }),
  ),
  refused: Type.Array(Type.Object({ model: AnyText, upstream: AnyText, reason: AnyText, feed: FeedName })),
  provisional: Type.Array(
    Type.Object({ model: AnyText, ...hostFields, price: nullable(PriceSchema), priceSource: AnyText }),
    {
      description: "Models that a check found, which nobody has proven yet.",
    },
  ),
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
        feed: Type.Optional(Type.Enum([...FEED_IDS], { description: "The feed whose price is adopted." })),
        startsOn: Type.Optional(
          Type.String({
            pattern: "^\\d{4}-\\d{2}-\\d{2}$",
            description: "The first day of the announced price that is adopted; left out, today's is.",
          }),
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
    summary: "Prices that differ from the feeds, and models of your providers without a price",
    access: "operator",
    response: PricesSchema,
    handle: async (_call, edge) => writePrices(await edge.priceChecks.read(), edge),
  }),
  post("checkPrices", "/api/prices/check", {
    summary: "Read the feeds and the providers' own lists of models now; six times per minute",
    access: "operator",
    // What a check takes over is recorded where it is published.
    isAudited: false,
    response: PricesSchema,
    async handle(_call, edge) {
      const { limiter, now, live, versions, audit, log, priceChecks: checks, feedMsMax } = edge;
      const { allowed, retryAfterSeconds } = await limiter.admit("price check", CHECKS_PER_MINUTE, now());
      if (!allowed) throw tooManyChecks(retryAfterSeconds);
      const { checkAndAdopt } = await import("../../../gateway/operate/adopt-prices.ts");
      const services = { versions, audit, current: edge.services, checks, log, now };
      const bounds = feedMsMax === undefined ? {} : { withinMs: feedMsMax };
      return writePrices(await checkAndAdopt({ prices: live().prices, ...services, ...bounds }), edge);
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
        adopted(document, given.hosts, {
          check,
          catalog: edge.services().catalog,
          nowMs: edge.now(),
          prices: edge.live().prices,
        });
      return writePublished(await edge.versions.publish({ ...publisher, isDated: true, change }));
    },
  }),
];

function tooManyChecks(retryAfterSeconds: number): GatewayError {
  const message = TEXT.pricesCheckedTooOften(CHECKS_PER_MINUTE, retryAfterSeconds);
  return new GatewayError("rateLimited", message, { code: "too_many_checks", retryAfterSeconds });
}

interface Adopting {
  readonly prices: LiveSettings["prices"];
  readonly check: PriceCheck;
  readonly catalog: Catalog;
  readonly nowMs: number;
}

/** Gives new prices to models of the catalogue, and adds the models that the catalogue lacks. */
function adopted(document: Overlay, wanted: readonly Wanted[], adopting: Adopting): Overlay {
  const { catalog, check, prices } = adopting;
  const { proposals, unpriced } = reviewPrices(catalog, check, prices.priceMaxChangePercent);
  const changes: DatedChange[] = [];
  const ids = new Set(catalog.models.keys());
  let next = document;
  for (const [index, host] of wanted.entries()) {
    const isIt = (one: Pick<Wanted, "provider" | "upstream">): boolean =>
      one.provider === host.provider && one.upstream === host.upstream;
    const owners = [...catalog.models.values()].filter(({ hosts }) => hosts.some(isIt));
    const found = unpriced.find(isIt) ?? { ...UNKNOWN, provider: host.provider, upstream: host.upstream };
    const { startsOn } = host;
    if (startsOn !== undefined && host.price !== undefined) {
      throw invalid(`hosts[${index}].startsOn`, TEXT.announcedPrice);
    }
    const proposal = proposals.find((each) => isIt(each) && each.startsOn === startsOn);
    const offered = proposedBy(proposal, host.feed) ?? (startsOn === undefined ? foundBy(found, check) : null);
    // Somebody else was faster.
    if (offered === null && host.price === undefined && owners.some(({ price }) => price !== null)) continue;
    const dated = datedPrice(host, index, { offered, ...adopting });
    for (const { id } of owners)
      changes.push({
        ...dated,
        ...{ model: id, provider: host.provider, upstream: host.upstream },
        ...(startsOn && { startsOn }),
      });
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

/** A price that was found, with its source. */
interface SourcedPrice {
  readonly price: RateCard;
  readonly source: string;
}

/** The price of one feed, else that of the feeds that say the same. */
function proposedBy(proposal: Proposal | undefined, wanted: FeedId | undefined): SourcedPrice | null {
  if (proposal === undefined) return null;
  const { to, feeds, listed } = proposal;
  const own = listed.find(({ feed }) => feed === wanted);
  if (wanted === undefined || feeds.includes(wanted)) return { price: to, source: feedSource(feeds) };
  return own === undefined ? null : { price: own.price, source: feedSource([own.feed]) };
}

/** The price of a model that the catalogue lacks. */
function foundBy(
  { provider, upstream, price, isOwnPrice }: Omit<UnpricedModel, "model">,
  { feeds }: PriceCheck,
): SourcedPrice | null {
  if (price === null) return null;
  if (isOwnPrice) return { price, source: `${MODEL_LIST}${provider}` };
  const has = ({ rows }: FeedState): boolean => rows.some((row) => row.upstream === upstream && row.price === price);
  const feed = feeds.find(has)?.feed;
  return { price, source: feed === undefined ? "" : feedSource([feed]) };
}

interface PriceTerms extends Adopting {
  readonly offered: SourcedPrice | null;
}

/** The price that was given, else the one found, with where it comes from. */
function datedPrice(host: Wanted, index: number, { offered, check, nowMs }: PriceTerms): DatedPrice {
  const price = host.price === undefined ? (offered?.price ?? null) : (priceFromRow(host.price)?.price ?? null);
  if (price === null) {
    const what = host.price === undefined ? TEXT.priceUnknown(host.upstream) : TEXT.sendPrice(PRICE_DECIMALS);
    throw new GatewayError("unprocessable", what, { code: "price_needed", param: `hosts[${index}].price` });
  }
  const [atMs, source] = host.price !== undefined ? [nowMs, OPERATOR_PRICE] : [check.atMs, offered?.source ?? ""];
  return { price, stamp: { asOf: dayOf(atMs), source } };
}

function writePrices(check: PriceCheck, edge: OperatorContext): Shape<typeof PricesSchema> {
  const { live, versions } = edge;
  const { prices } = live();
  const { priceCheck, priceCheckHours, priceMaxChangePercent } = prices;
  const { catalog } = edge.services();
  const { proposals, refused, unpriced, confirmed } = reviewPrices(catalog, check, priceMaxChangePercent);
  const isOwn = (source: string): boolean => isOperatorPrice(source, feedAddresses(prices));
  const oldest = oldestPrice(catalog, confirmed, isOwn);
  return {
    checkedAt: check.atMs === 0 ? null : isoTime(check.atMs),
    everyHours: priceCheck === "off" ? 0 : priceCheckHours,
    feeds: check.feeds.map((state) => writeFeed(state, check.atMs)),
    oldest: oldest === null ? null : { model: oldest.model, provider: oldest.provider, since: isoTime(oldest.sinceMs) },
    changes: proposals.map((proposal) => writeChange(proposal, versions, isOwn(proposal.fromSource))),
    refused: refused.map(({ model, upstream, reason, feed }) => ({ model, upstream, reason, feed })),
    provisional: [...catalog.models.values()].flatMap((model) => {
      // A model is listed once, and a known one with each host that was found for it.
      const found = model.hosts.filter(({ isProvisional }) => isProvisional);
      const listed = found.length === model.hosts.length ? found.slice(0, 1) : found;
      return listed.map(({ id, provider, upstream, price, priceSource }) => ({
        ...{ model: id, provider, upstream, price: price && usd(price), priceSource },
      }));
    }),
    unpriced: unpriced.map(writeUnpriced),
  };
}

function writeFeed(state: FeedState, atMs: number): Shape<typeof PricesSchema>["feeds"][number] {
  const { feed, source, readAtMs, changedAtMs = 0, problem, rows, lost } = state;
  const timeOf = (ms: number): string | null => (ms === 0 ? null : isoTime(ms));
  return {
    ...{ feed, label: FEEDS[feed].label, source, readAt: timeOf(readAtMs), changedAt: timeOf(changedAtMs) },
    ...{ isStale: isStale(state, atMs), problem, models: rows.length, lost: [...lost] },
  };
}

function writeChange(
  change: Proposal,
  versions: Versions,
  isOwn: boolean,
): Shape<typeof PricesSchema>["changes"][number] {
  const {
    model,
    provider,
    upstream,
    from,
    fromAsOf,
    fromSource,
    to,
    percent,
    standing,
    listed,
    startsOn = null,
    anchor,
  } = change;
  return {
    ...{ model, provider, upstream, percent, isOwn, standing, startsOn, priceAsOf: fromAsOf, priceSource: fromSource },
    feeds: listed.map(({ feed, price, isSame }) => ({ feed, price: usd(price), isSame })),
    confirmed: anchor === null ? null : { price: usd(anchor.price), asOf: anchor.asOf },
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
