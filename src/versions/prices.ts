// Dates of prices: a price that is written without its date and source gets those of the change.

import { isDeepStrictEqual } from "node:util";
import { isJsonMap, type Json, type JsonMap, type Overlay } from "../core/overlay.ts";
import { modelsOf } from "./document.ts";

/** The source of a price that somebody wrote. */
export const OPERATOR_PRICE = "run-time configuration";

/** The document with a date at every price that is new or has changed. */
export function stampPrices(document: Overlay, previous: Overlay, nowMs: number): Overlay {
  const { models } = document;
  if (!Array.isArray(models)) return document;
  const asOf = new Date(nowMs).toISOString().slice(0, 10);
  const before = new Map(modelsOf(previous).map((row) => [row.id, row]));
  const stamped = (models as readonly Json[]).map((row) =>
    isJsonMap(row) ? stampRow(row, before.get(row.id as Json), asOf) : row,
  );
  return { ...document, models: stamped };
}

/** A model's own price, and those of its hosts. */
function stampRow(row: JsonMap, before: JsonMap | undefined, asOf: string): JsonMap {
  const own = stampPrice(row, before, asOf);
  if (!Array.isArray(row.hosts)) return own;
  const known = hostsOf(before);
  const hosts = (row.hosts as readonly Json[]).map((host) =>
    isJsonMap(host) ? stampPrice(host, known.get(nameOf(host)), asOf) : host,
  );
  return { ...own, hosts };
}

function hostsOf(row: JsonMap | undefined): ReadonlyMap<string, JsonMap> {
  const hosts = Array.isArray(row?.hosts) ? (row.hosts as readonly Json[]).filter(isJsonMap) : [];
  return new Map(hosts.map((host) => [nameOf(host), host]));
}

function nameOf({ provider, upstream }: JsonMap): string {
  return JSON.stringify([provider, upstream]);
}

function stampPrice(row: JsonMap, before: JsonMap | undefined, asOf: string): JsonMap {
  if (row.price === undefined || isDeepStrictEqual(row.price, before?.price)) return row;
  const isFresh = (name: string): boolean => row[name] !== undefined && row[name] !== before?.[name];
  return {
    ...row,
    ...(isFresh("priceAsOf") ? {} : { priceAsOf: asOf }),
    ...(isFresh("priceSource") ? {} : { priceSource: OPERATOR_PRICE }),
  };
}
