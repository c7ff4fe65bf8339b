// Options of the web search that the gateway runs for models whose hosts run none.

import { ENGINE_NAMES, SEARCH_ENGINES } from "../../catalog/search-engines.ts";
import { baseUrl, number, oneOf, secretText, text, truth } from "../readers.ts";
import type { Report } from "../report.ts";
import { option, type ValuesOf } from "./option.ts";

/** Section `search` of the settings. */
export const SEARCH_OPTIONS = {
  searchProvider: option<(typeof ENGINE_NAMES)[number] | "none">({
    path: "search.provider",
    env: "SWITCHYARD_SEARCH_PROVIDER",
    default: "none",
    read: oneOf([...ENGINE_NAMES, "none"]),
    help: "Who searches the web for models whose hosts do not. With none, such requests need a host that does.",
  }),
  searchApiKey: option<string | null>({
    path: "search.apiKey",
    env: "SWITCHYARD_SEARCH_API_KEY",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: secretText,
    help: "The key of the search provider.",
  }),
  searchBaseUrl: option<string | null>({
    path: "search.baseUrl",
    env: "SWITCHYARD_SEARCH_BASE_URL",
    default: null,
    shownDefault: "the provider's own",
    read: baseUrl,
    help: "The address of the search provider. Required for searxng and custom; custom gets the query as the parameter q.",
  }),
  searchResults: option<string | null>({
    path: "search.results",
    env: "SWITCHYARD_SEARCH_RESULTS",
    default: null,
    shownDefault: "the provider's own",
    read: text({ test: (value) => /^[\w.-]{1,100}$/.test(value), expected: "a path such as web.results" }),
    help: "Where the list of results stands in the answer of the search provider.",
  }),
  searchPriceUsd: option<number>({
    path: "search.priceUsd",
    env: "SWITCHYARD_SEARCH_PRICE_USD",
    default: 0.005,
    read: number({ min: 0, max: 10 }),
    help: "USD that a search is charged, before the markup.",
  }),
  searchMaxRounds: option<number>({
    path: "search.maxRounds",
    env: "SWITCHYARD_SEARCH_MAX_ROUNDS",
    default: 3,
    read: number({ min: 1, max: 10, isWhole: true }),
    help: "How often a model may search before it has to answer. Each round is a further call of the model.",
  }),
  searchTimeoutMs: option<number>({
    path: "search.timeoutMs",
    env: "SWITCHYARD_SEARCH_TIMEOUT_MS",
    default: 10_000,
    read: number({ min: 100, max: 120_000, isWhole: true }),
    help: "How long a search may take. After that the model goes on without it.",
  }),
  searchFetch: option<"off" | "on">({
    path: "search.fetch",
    env: "SWITCHYARD_SEARCH_FETCH",
    default: "off",
    read: oneOf(["off", "on"]),
    help: "Reads pages of the web that a request names, for models whose hosts read none.",
  }),
  searchFetchPriceUsd: option<number>({
    path: "search.fetchPriceUsd",
    env: "SWITCHYARD_SEARCH_FETCH_PRICE_USD",
    default: 0.001,
    read: number({ min: 0, max: 10 }),
    help: "USD that a page is charged, before the markup.",
  }),
  searchFetchRobots: option<boolean>({
    path: "search.fetchRobots",
    env: "SWITCHYARD_SEARCH_FETCH_ROBOTS",
    default: false,
    read: truth,
    help: "Obeys the robots.txt of a site before one of its pages is read.",
  }),
  searchFetchPrivate: option<boolean>({
    path: "search.fetchPrivateNetwork",
    env: "SWITCHYARD_SEARCH_FETCH_PRIVATE_NETWORK",
    default: false,
    read: truth,
    help: "Lets pages lie in private networks, such as an intranet. Everybody with a key can read them then.",
  }),
};

type SearchValues = ValuesOf<typeof SEARCH_OPTIONS>;

const PICO_PER_USD = 1e12;

/** The terms on which searches and pages are run, each null where they are not. */
export function webTerms(values: SearchValues) {
  return { maxRounds: values.searchMaxRounds, search: searchTerms(values), fetch: fetchTerms(values) };
}

function searchTerms(values: SearchValues) {
  const { searchProvider: engine, searchApiKey, searchBaseUrl, searchResults: results } = values;
  if (engine === "none") return null;
  const { searchTimeoutMs: timeoutMs, searchPriceUsd } = values;
  const base = searchBaseUrl ?? SEARCH_ENGINES[engine].baseUrl ?? "";
  const rate = Math.round(searchPriceUsd * PICO_PER_USD);
  return { engine, key: searchApiKey ?? "", baseUrl: base.replace(/\/$/, ""), results, timeoutMs, rate };
}

function fetchTerms(values: SearchValues) {
  const { searchFetch, searchFetchPriceUsd, searchFetchRobots: asksRobots, searchFetchPrivate: allowsPrivate } = values;
  if (searchFetch === "off") return null;
  const rate = Math.round(searchFetchPriceUsd * PICO_PER_USD);
  return { rate, timeoutMs: values.searchTimeoutMs, asksRobots, allowsPrivate };
}

/** Reports a search provider that cannot be asked as the other options have it. */
export function checkSearch(values: SearchValues, { problems }: Report): void {
  const { searchProvider: engine, searchApiKey, searchBaseUrl } = values;
  // A value that was reported already is missing here.
  if (engine === undefined || engine === "none") return;
  const { needsKey, baseUrl: own } = SEARCH_ENGINES[engine];
  const report = (place: string, message: string) => problems.push({ place, message, suggestion: null });
  if (needsKey && searchApiKey === null) report("search.apiKey", `is missing: ${engine} needs a key`);
  if (own === null && searchBaseUrl === null)
    report("search.baseUrl", `is missing: ${engine} has no address of its own`);
}
