// The filters of the request log by name: which there are, each in words, and how they travel in the address.

import { categoryName, usd } from "../../format.ts";
import { type Changes, place } from "../../router.ts";

/** In the order of the chips. The API knows them by the same names. */
const NAMES = [
  ...["status", "tier", "model", "key", "category", "provider", "keyProfile", "profile"],
  ...["costFrom", "costTo", "answered", "failed", "fallback", "adjusted", "q"],
] as const;

/** Statuses to choose from; the address may hold others. */
export const STATUSES = [
  ["error", "all errors"],
  ["2xx", "2xx answered"],
  ["402", "402 no credits"],
  ["429", "429 limited"],
  ["4xx", "4xx refused"],
  ["5xx", "5xx failed"],
  ["broken", "broken off"],
] as const;

/** Who chose the model. */
export const ROUTINGS = [
  ["auto", "automatic"],
  ["tier", "tier as asked"],
  ["direct", "model as asked"],
] as const;

/** Which attempt answered. */
export const TRIES = [
  ["first", "first try"],
  ["second", "second try"],
  ["later", "third try or later"],
  ["none", "no try"],
  ["second,later,none", "not the first try"],
] as const;

/** Powers of ten: the gateway counts requests by them and needs no scan. */
export const COSTS = ["0.000001", "0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10"] as const;

/** The filters that are set. */
export function filterNames(query: URLSearchParams): readonly string[] {
  return NAMES.filter((name) => query.has(name));
}

/** The filters as the API wants them, to be appended to a query. */
export function filterQuery(query: URLSearchParams): string {
  return filterNames(query)
    .map((name) => `&${name}=${encodeURIComponent(query.get(name) ?? "")}`)
    .join("");
}

/** The change of the address that removes all filters. */
export function withoutFilters(): Changes {
  return Object.fromEntries([...filterNames(place.value.query), "after"].map((name) => [name, null]));
}

/** Names for ids that a filter may hold. */
interface FilterNames {
  readonly keys: ReadonlyMap<string, string>;
  readonly profiles: ReadonlyMap<string, string>;
}

/** A filter as people say it. */
export function describeFilter(name: string, value: string, { keys, profiles }: FilterNames): string {
  switch (name) {
    case "status":
      return STATUSES.find(([each]) => each === value)?.[1] ?? `status ${value}`;
    case "key":
      return `key ${keys.get(value) ?? value}`;
    case "keyProfile":
      return value === "none" ? "keys without a profile" : `profile ${profiles.get(value) ?? value}`;
    case "profile":
      return `routing: ${ROUTINGS.find(([each]) => each === value)?.[1] ?? value}`;
    case "category":
      return categoryName(value);
    case "costFrom":
      return `cost from ${usd(value)}`;
    case "costTo":
      return `cost below ${usd(value)}`;
    case "answered":
      return `answered by ${TRIES.find(([each]) => each === value)?.[1] ?? value.replaceAll(",", " or ")}`;
    case "failed":
      return `${value} failed`;
    case "fallback":
      return value === "true" ? "fallbacks only" : "no fallbacks";
    case "adjusted":
      return value === "true" ? "adjusted only" : "not adjusted";
    case "q":
      return `id ${value}…`;
    default:
      return value === "none" ? `no ${name}` : `${name} ${value}`;
  }
}
