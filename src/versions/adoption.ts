// Rows of the run-time configuration for what was found outside: prices of a price list, and models of a server on this
// machine. A model is written whole, as the run-time configuration keeps it.

import { readBuiltin } from "../catalog/builtin.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { PriceChange, UnpricedModel } from "../catalog/prices/diff.ts";
import { isFeedSource } from "../catalog/prices/feeds.ts";
import { rowFromPrice } from "../catalog/prices/rows.ts";
import { hostRows, type ProvisionalUse } from "../catalog/rows.ts";
import type { HostedModel, Model } from "../core/model.ts";
import { isJsonMap, type Json, type JsonMap, type Overlay } from "../core/overlay.ts";
import type { PricePeriod, PriceSchedule, RateCard } from "../core/price.ts";
import type { Tier } from "../core/tiers.ts";
import { entryAt, withEntry } from "./document.ts";
import { OPERATOR_PRICE } from "./prices.ts";

/** Source of prices, and the day they were read. */
export interface PriceStamp {
  readonly asOf: string;
  readonly source: string;
}

export interface DatedPrice {
  readonly price: RateCard;
  readonly stamp: PriceStamp;
}

/** Another price of one host. */
export interface DatedChange extends DatedPrice, Pick<PriceChange, "model" | "provider" | "upstream" | "startsOn"> {}

/** The changes of a list, dated. */
export function datedBy(changes: readonly PriceChange[], stamp: PriceStamp): readonly DatedChange[] {
  return changes.map(({ model, provider, upstream, to }) => ({ model, provider, upstream, price: to, stamp }));
}

/** The day of a time, in UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** With the new prices of these hosts. */
export function withPrices(
  document: Overlay,
  models: ReadonlyMap<string, Model>,
  changes: readonly DatedChange[],
): Overlay {
  const ids = new Set(changes.map(({ model }) => model));
  return [...ids].reduce((next, id) => {
    const model = models.get(id);
    const own = changes.filter((change) => change.model === id);
    if (model === undefined) return next;
    const { hosts, joined } = splitHosts(model);
    const priced = joined.reduce((each, host) => withJoinedPrice(each, host, own), next);
    if (!own.some((change) => hosts.some((host) => isAt(host, change)))) return priced;
    const row = entryAt(priced, "models", id);
    const changed = rowOf({ ...model, ...hosts[0], hosts }, own);
    const provisional = isJsonMap(row) ? row.provisional : undefined;
    return withEntry(priced, "models", id, provisional === undefined ? changed : { ...changed, provisional });
  }, document);
}

function isAt(host: HostedModel, { provider, upstream }: DatedChange): boolean {
  return host.provider === provider && host.upstream === upstream;
}

/** The hosts in the row of a model, and provisional ones of a known model, which have rows of their own. */
function splitHosts({ hosts }: Model): {
  readonly hosts: readonly HostedModel[];
  readonly joined: readonly HostedModel[];
} {
  const known = hosts.filter(({ isProvisional }) => isProvisional !== true);
  return known.length === 0
    ? { hosts, joined: [] }
    : { hosts: known, joined: hosts.filter((host) => !known.includes(host)) };
}

/** With the new price of a provisional host. */
function withJoinedPrice(document: Overlay, host: HostedModel, changes: readonly DatedChange[]): Overlay {
  const its = changes.filter((change) => isAt(host, change));
  const { models } = document;
  if (its.length === 0 || !Array.isArray(models)) return document;
  const { price = null, priceAsOf = "", priceSource = "" } = hostRow(host, its);
  const isIts = (row: Json): row is JsonMap =>
    isJsonMap(row) && row.hostOf === host.id && row.provider === host.provider && row.upstream === host.upstream;
  const rows = (models as readonly Json[]).filter(isIts);
  return rows.reduce(
    (next, row) => withEntry(next, "models", String(row.id), { ...row, price, priceAsOf, priceSource }),
    document,
  );
}

const ID_LENGTH_MAX = 128;

/** The id of a model that is added: its own name where that is free, else with its provider before it. */
export function newModelId(upstream: string, provider: string, { models }: KnownIds): string {
  const plain = upstream.replace(/[^A-Za-z0-9._:/@+-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return (models.has(plain) || plain === "auto" ? `${provider}/${plain}` : plain).slice(0, ID_LENGTH_MAX);
}

interface KnownIds {
  readonly models: Pick<Catalog["models"], "has">;
}

/** With a model that a provider has. */
export function withModel(document: Overlay, id: string, found: PricedModel): Overlay {
  const { tier, provisional, hostOf } = found;
  return withEntry(document, "models", id, {
    ...{ id, ...foundAt(found) },
    ...(tier === undefined ? {} : { tier }),
    ...(provisional === undefined ? {} : { provisional }),
    ...(hostOf === undefined ? {} : { hostOf }),
  });
}

/** With a model of the document at further providers. */
export function withHosts(document: Overlay, id: string, found: readonly PricedModel[]): Overlay {
  const row = entryAt(document, "models", id);
  if (!isJsonMap(row) || found.length === 0) return document;
  const hosts = Array.isArray(row.hosts) ? (row.hosts as readonly Json[]) : [];
  return withEntry(document, "models", id, { ...row, hosts: [...hosts, ...found.map(foundAt)] });
}

function foundAt({
  provider,
  upstream,
  price,
  stamp,
  context,
  maxOutput,
  capabilities,
  formats,
}: PricedModel): JsonMap {
  return {
    ...{ provider, upstream, price: priceRow(price), priceAsOf: stamp.asOf, priceSource: stamp.source },
    ...(context === null ? {} : { context }),
    ...(maxOutput === null ? {} : { maxOutput }),
    ...(capabilities.length === 0 ? {} : { capabilities: [...capabilities] }),
    ...(formats === undefined ? {} : { formats: [...formats] }),
  };
}

interface PricedModel
  extends DatedPrice,
    Pick<UnpricedModel, "provider" | "upstream" | "context" | "maxOutput" | "capabilities" | "formats"> {
  readonly tier?: Tier;
  readonly provisional?: ProvisionalUse;
  /** The known model that the provider has. */
  readonly hostOf?: string;
}

/** Tells whether an operator wrote the price of this source: it is neither of the catalogue nor from a list. */
export function isOperatorPrice(source: string, addresses: readonly string[]): boolean {
  if (source === OPERATOR_PRICE) return true;
  const isKnown = source === "" || source.startsWith(MODEL_LIST) || shippedSources().has(source);
  return !isKnown && !isFeedSource(source, addresses);
}

/** The source of a price that a provider lists itself. */
export const MODEL_LIST = "model list of ";

function shippedSources(): ReadonlySet<string> {
  const { models } = readBuiltin();
  const hosts = models.flatMap((row) => [row, ...hostRows(row)]);
  return new Set(hosts.flatMap(({ priceSource }) => (priceSource === undefined ? [] : [priceSource])));
}

/** Changes of a list, by who may make them. */
export interface SortedChanges<Change extends PriceChange = PriceChange> {
  readonly free: readonly Change[];
  /** Models that the file sets. */
  readonly locked: readonly string[];
  /** Models at a price that an operator wrote, which no list changes. */
  readonly own: readonly string[];
}

export function sortChanges<Change extends PriceChange>(
  changes: readonly Change[],
  locks: readonly { readonly path: string }[],
  addresses: readonly string[],
): SortedChanges<Change> {
  const paths = new Set(locks.map(({ path }) => path));
  const isOwn = ({ fromSource }: PriceChange): boolean => isOperatorPrice(fromSource, addresses);
  const isLocked = ({ model }: PriceChange): boolean => paths.has(`models.${model}`);
  const namesOf = (some: readonly PriceChange[]): readonly string[] => [...new Set(some.map(({ model }) => model))];
  const open = changes.filter((change) => !isLocked(change));
  return {
    free: open.filter((change) => !isOwn(change)),
    locked: namesOf(changes.filter(isLocked)),
    own: namesOf(open.filter(isOwn)),
  };
}

function rowOf(model: Model, changes: readonly DatedChange[]): JsonMap {
  const { id, name, vendor, tier, endpoint, scores, hosts } = model;
  const hostOf = (host: HostedModel): JsonMap => {
    return hostRow(
      host,
      changes.filter((change) => isAt(host, change)),
    );
  };
  const own = { id, name, vendor, tier, ...(scores === null ? {} : { bfcl: { ...scores } }) };
  if (endpoint !== null) return { ...own, ...hostOf(model), capabilities: [endpoint] };
  if (hosts.length === 1) return { ...own, ...hostOf(model) };
  const { context, maxOutput, capabilities } = model;
  return { ...own, context, maxOutput, capabilities: [...capabilities], hosts: hosts.map(hostOf) };
}

function hostRow(host: HostedModel, changes: readonly DatedChange[]): JsonMap {
  const { provider, upstream, context, maxOutput, capabilities, dialect, formats } = host;
  // Facts about the provider change with the catalogue, so only the operator's own words are taken over.
  const { region, dataPolicy } = host.policySource === undefined ? host : {};
  const { ownResidency: own } = host;
  const change = changes.find(({ startsOn }) => startsOn === undefined);
  const today = change === undefined ? host : { price: change.price, schedule: laterOf(host, change) };
  const { price } = today;
  const schedule = withAnnounced(today, changes);
  const dated = change?.stamp ?? { asOf: host.priceAsOf, source: host.priceSource };
  return {
    ...{ provider, upstream, context, maxOutput, capabilities: [...capabilities] },
    dialect: JSON.parse(JSON.stringify(dialect)) as Json,
    ...(price === null ? {} : { price: priceRow(price, schedule) }),
    ...(dated.asOf === "" ? {} : { priceAsOf: dated.asOf }),
    ...(dated.source === "" ? {} : { priceSource: dated.source }),
    ...(formats === undefined ? {} : { formats: [...formats] }),
    ...(region === undefined ? {} : { region }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
    ...(own?.regions === undefined ? {} : { regions: [...own.regions] }),
    ...(own?.zeroRetention === undefined ? {} : { zeroRetention: own.zeroRetention }),
  };
}

/** A new price changes on the days that were known for the old one. */
function laterOf({ schedule = [] }: HostedModel, { price: card, stamp }: DatedChange): PriceSchedule | undefined {
  const asOfMs = Date.parse(stamp.asOf);
  const later = schedule.filter(({ fromMs }) => fromMs !== null && fromMs > asOfMs);
  return later.length === 0 ? undefined : [{ fromMs: null, untilMs: null, card, hours: [] }, ...later];
}

/** An announced price takes the place of another one that was known for its day. */
function withAnnounced(
  { price, schedule }: { readonly price: RateCard | null; readonly schedule?: PriceSchedule | undefined },
  changes: readonly DatedChange[],
): PriceSchedule | undefined {
  const added = changes.flatMap(({ startsOn, price: card }) =>
    startsOn === undefined ? [] : [{ fromMs: Date.parse(startsOn), untilMs: null, card, hours: [] }],
  );
  if (price === null || added.length === 0) return schedule;
  const known = schedule ?? [{ fromMs: null, untilMs: null, card: price, hours: [] }];
  const kept = known.filter(({ fromMs }) => added.every((each) => each.fromMs !== fromMs));
  const fromOf = ({ fromMs }: PricePeriod): number => fromMs ?? Number.NEGATIVE_INFINITY;
  return [...kept, ...added].sort((one, other) => fromOf(one) - fromOf(other));
}

function priceRow(price: RateCard, schedule?: PriceSchedule): JsonMap {
  return JSON.parse(JSON.stringify(rowFromPrice(price, schedule))) as JsonMap;
}

/** A model server and those of its models that are to be used. */
export interface LocalProvider {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  /** Says that a provider with this id is configured already. */
  readonly isKnown: boolean;
  readonly models: readonly {
    readonly id: string;
    readonly upstream: string;
    readonly context: number | null;
    readonly capabilities: readonly string[];
  }[];
}

/** With the server as a provider, and its models at price zero: the machine is the operator's own. */
export function withLocal(document: Overlay, { id, kind, baseUrl, isKnown, models }: LocalProvider): Overlay {
  const start = isKnown ? document : withEntry(document, "providers", id, { kind, baseUrl });
  return models.reduce(
    (next, { id: model, upstream, context, capabilities }) =>
      withEntry(next, "models", model, {
        ...{ id: model, provider: id, upstream, capabilities: [...capabilities] },
        ...(context === null ? {} : { context }),
        ...{ price: { input: 0, output: 0 }, priceSource: "own machine" },
      }),
    start,
  );
}
