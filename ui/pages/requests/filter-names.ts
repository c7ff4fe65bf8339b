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
  ["error", "Errors"],
  ["2xx", "Success"],
  ["402", "Out of credits (402)"],
  ["429", "Rate limited (429)"],
  ["4xx", "Client error (4xx)"],
  ["5xx", "Server error (5xx)"],
  ["broken", "Interrupted"],
] as const;

/** Who chose the model. */
export const ROUTINGS = [
  ["auto", "Automatic"],
  ["tier", "Fixed tier"],
  ["direct", "Fixed model"],
] as const;

/** Which attempt answered. */
export const ATTEMPTS = [
  ["first", "1st attempt"],
  ["second", "2nd attempt"],
  ["later", "3rd attempt or later"],
  ["none", "All attempts failed"],
  ["second,later,none", "Fallback only"],
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
      return STATUSES.find(([each]) => each === value)?.[1] ?? `Status ${value}`;
    case "key":
      return `Key ${keys.get(value) ?? value}`;
    case "keyProfile":
      return value === "none" ? "Keys without a profile" : `Profile ${profiles.get(value) ?? value}`;
    case "profile":
      return `Routing: ${ROUTINGS.find(([each]) => each === value)?.[1] ?? value}`;
    case "category":
      return categoryName(value);
    case "costFrom":
      return `Min cost ${usd(value)}`;
    case "costTo":
      return `Max cost ${usd(value)}`;
    case "answered":
      return ATTEMPTS.find(([each]) => each === value)?.[1] ?? `Attempt: ${value.replaceAll(",", " or ")}`;
    case "failed":
      return `Failed provider: ${value}`;
    case "fallback":
      return value === "true" ? "Fallback only" : "No fallbacks";
    case "adjusted":
      return value === "true" ? "Tier adjusted" : "Tier not adjusted";
    case "q":
      return `Id ${value}…`;
    default:
      return value === "none" ? `No ${name}` : `${name[0]?.toUpperCase()}${name.slice(1)} ${value}`;
  }
}
