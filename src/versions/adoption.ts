// Rows of the run-time configuration for what was found outside: prices of a price list, and models of a server on this
// machine. A model is written whole, as the run-time configuration keeps it.

import type { PriceChange } from "../catalog/prices/diff.ts";
import type { HostedModel, Model } from "../core/model.ts";
import type { Price } from "../core/money.ts";
import type { Json, JsonMap, Overlay } from "../core/overlay.ts";
import { withEntry } from "./document.ts";

/** Where prices come from, and of which day. */
export interface PriceStamp {
  readonly asOf: string;
  readonly source: string;
}

/** With the new prices of these hosts. */
export function withPrices(
  document: Overlay,
  models: ReadonlyMap<string, Model>,
  { changes, stamp }: { readonly changes: readonly PriceChange[]; readonly stamp: PriceStamp },
): Overlay {
  const ids = new Set(changes.map(({ model }) => model));
  return [...ids].reduce((next, id) => {
    const model = models.get(id);
    const own = changes.filter((change) => change.model === id);
    return model === undefined ? next : withEntry(next, "models", id, rowOf(model, own, stamp));
  }, document);
}

/** Changes of models that the file sets are left to those who write the file. */
export function withoutLocked(
  changes: readonly PriceChange[],
  locks: readonly { readonly path: string }[],
): { readonly free: readonly PriceChange[]; readonly locked: readonly string[] } {
  const paths = new Set(locks.map(({ path }) => path));
  const isLocked = ({ model }: PriceChange): boolean => paths.has(`models.${model}`);
  const locked = changes.filter(isLocked).map(({ model }) => model);
  return { free: changes.filter((change) => !isLocked(change)), locked: [...new Set(locked)] };
}

function rowOf(model: Model, changes: readonly PriceChange[], stamp: PriceStamp): JsonMap {
  const { id, name, vendor, tier, endpoint, scores, hosts } = model;
  const hostOf = (host: HostedModel): JsonMap => {
    const change = changes.find(({ provider, upstream }) => provider === host.provider && upstream === host.upstream);
    return hostRow(host, change, stamp);
  };
  const own = { id, name, vendor, tier, ...(scores === null ? {} : { bfcl: { ...scores } }) };
  if (endpoint !== null) return { ...own, ...hostOf(model), capabilities: [endpoint] };
  if (hosts.length === 1) return { ...own, ...hostOf(model) };
  const { context, maxOutput, capabilities } = model;
  return { ...own, context, maxOutput, capabilities: [...capabilities], hosts: hosts.map(hostOf) };
}

function hostRow(host: HostedModel, change: PriceChange | undefined, stamp: PriceStamp): JsonMap {
  const { provider, upstream, context, maxOutput, capabilities, dialect, formats, region, dataPolicy } = host;
  const price = change?.to ?? host.price;
  const dated = change === undefined ? { asOf: host.priceAsOf, source: host.priceSource } : stamp;
  return {
    ...{ provider, upstream, context, maxOutput, capabilities: [...capabilities] },
    dialect: JSON.parse(JSON.stringify(dialect)) as Json,
    ...(price === null ? {} : { price: priceRow(price) }),
    ...(dated.asOf === "" ? {} : { priceAsOf: dated.asOf }),
    ...(dated.source === "" ? {} : { priceSource: dated.source }),
    ...(formats === undefined ? {} : { formats: [...formats] }),
    ...(region === undefined ? {} : { region }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
  };
}

/** USD per million tokens. */
function priceRow({ input, output, cacheRead, cacheWrite }: Price): JsonMap {
  return {
    ...{ input: input / 1e6, output: output / 1e6 },
    ...(cacheRead === null ? {} : { cacheRead: cacheRead / 1e6 }),
    ...(cacheWrite === null ? {} : { cacheWrite: cacheWrite / 1e6 }),
  };
}

/** A model server and those of its models that are to be used. */
export interface LocalProvider {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  /** Whether a provider of this id is configured already. */
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
