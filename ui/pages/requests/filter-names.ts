// The filters of the request log by name: which there are, each in words, and how they travel in the address.

import { FILTER_FIELDS } from "../../../src/core/requests/fields.ts";
import { categoryName, usd } from "../../format.ts";
import type { GroupNames } from "../../parts/people/group-names.ts";
import { type Changes, place } from "../../router.ts";
import * as TEXT from "./text.ts";

/** Names in the order of the chips. The API knows the filters by the same names. */
const NAMES: readonly string[] = [
  ...["status", ...FILTER_FIELDS.map(({ api }) => api), "costFrom", "costTo", "answered", "failed", "q"],
  ...["tag", "latencyFrom", "latencyTo", "tokensFrom", "tokensTo"],
];

/** Statuses to choose from; the address may hold others. */
export const STATUSES = [
  ["error", TEXT.errors],
  ["2xx", TEXT.success],
  ["402", TEXT.outOfCredits402],
  ["429", TEXT.rateLimited429],
  ["4xx", TEXT.clientError4xx],
  ["5xx", TEXT.serverError5xx],
  ["broken", TEXT.interrupted],
] as const;

/** Choices of the filter by who chose the model. */
export const ROUTINGS = [
  ["auto", TEXT.automatic],
  ["tier", TEXT.fixedTier],
  ["direct", TEXT.fixedModel],
] as const;

/** Choices of the filter by the attempt that answered. */
export const ATTEMPTS = [
  ["first", TEXT.firstAttempt],
  ["second", TEXT.secondAttempt],
  ["later", TEXT.thirdOrLater],
  ["none", TEXT.allAttemptsFailed],
  ["second,later,none", TEXT.fallbackOnly],
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
export interface FilterNames {
  /** Name of the key in the address. */
  readonly keyName: string;
  readonly profiles: ReadonlyMap<string, string>;
  /** Names of teams and members, by the name of the filter. */
  readonly groups: GroupNames;
}

/** A filter as people say it. */
export function describeFilter(name: string, value: string, { keyName, profiles, groups }: FilterNames): string {
  switch (name) {
    case "status":
      return STATUSES.find(([each]) => each === value)?.[1] ?? TEXT.statusIs(value);
    case "key":
      return TEXT.keyNamed(keyName);
    case "keyProfile":
      return value === "none" ? TEXT.keysWithoutAProfile : TEXT.profileNamed(profiles.get(value) ?? value);
    case "profile":
      return TEXT.routingIs(ROUTINGS.find(([each]) => each === value)?.[1] ?? value);
    case "category":
      return categoryName(value);
    case "costFrom":
      return TEXT.minCost(usd(value));
    case "costTo":
      return TEXT.maxCost(usd(value));
    case "answered":
      return ATTEMPTS.find(([each]) => each === value)?.[1] ?? TEXT.attemptIs(value.replaceAll(",", " or "));
    case "failed":
      return TEXT.failedProvider(value);
    case "fallback":
      return value === "true" ? TEXT.fallbackOnly : TEXT.noFallbacks;
    case "adjusted":
      return value === "true" ? TEXT.tierAdjusted : TEXT.tierNotAdjusted;
    case "q":
      return TEXT.searchFor(value);
    case "latencyFrom":
    case "latencyTo":
    case "tokensFrom":
    case "tokensTo":
      return `${TEXT.RANGE_NAMES[name]} ${value}`;
    default:
      return value === "none"
        ? TEXT.noneOf(name)
        : `${name[0]?.toUpperCase()}${name.slice(1)} ${groups.get(name)?.get(value) ?? value}`;
  }
}
