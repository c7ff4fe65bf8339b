// Search providers: how each is asked and where its results stand. A new one is a row.

import type { SearchDomains } from "../core/search/web-search.ts";

interface SearchRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface SearchEngine {
  /** The address of the vendor; null where the operator has to name one. */
  readonly baseUrl: string | null;
  readonly needsKey: boolean;
  /** The path to the list of results. */
  readonly results: string;
  /** Fields of a result that may hold its excerpt, best first. */
  readonly texts: readonly string[];
  readonly request: (base: string, asked: AskedEngine) => SearchRequest;
}

interface AskedEngine {
  readonly query: string;
  readonly key: string;
  readonly domains: SearchDomains;
}

export const ENGINE_NAMES = ["brave", "tavily", "exa", "searxng", "custom"] as const;

/** Operators of the query language that most engines know. Results are held against paths later. */
function withSites(query: string, { allowed, blocked }: SearchDomains): string {
  const only = allowed.length === 0 ? "" : ` (${allowed.map((domain) => `site:${hostOf(domain)}`).join(" OR ")})`;
  return `${query}${only}${blocked
    .filter((domain) => !domain.includes("/"))
    .map((domain) => ` -site:${domain}`)
    .join("")}`;
}

/** A path may hold what the query language knows. */
function hostOf(domain: string): string {
  return domain.replace(/\/.*/, "");
}

export const SEARCH_ENGINES: Readonly<Record<(typeof ENGINE_NAMES)[number], SearchEngine>> = {
  brave: {
    baseUrl: "https://api.search.brave.com",
    needsKey: true,
    results: "web.results",
    texts: ["extra_snippets", "description"],
    request: (base, { query, key, domains }) => ({
      method: "GET",
      url: `${base}/res/v1/web/search?count=8&q=${encodeURIComponent(withSites(query, domains))}`,
      headers: { "x-subscription-token": key },
    }),
  },
  tavily: {
    baseUrl: "https://api.tavily.com",
    needsKey: true,
    results: "results",
    texts: ["content"],
    request: (base, { query, key, domains }) => ({
      method: "POST",
      url: `${base}/search`,
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: 8, include_domains: domains.allowed, exclude_domains: domains.blocked },
    }),
  },
  exa: {
    baseUrl: "https://api.exa.ai",
    needsKey: true,
    results: "results",
    texts: ["highlights", "summary", "text"],
    request: (base, { query, key, domains }) => ({
      method: "POST",
      url: `${base}/search`,
      headers: { "x-api-key": key },
      body: {
        query,
        numResults: 8,
        contents: { text: { maxCharacters: 2000 } },
        ...(domains.allowed.length === 0 ? {} : { includeDomains: domains.allowed }),
        ...(domains.blocked.length === 0 ? {} : { excludeDomains: domains.blocked }),
      },
    }),
  },
  searxng: {
    baseUrl: null,
    needsKey: false,
    results: "results",
    texts: ["content"],
    request: (base, { query, domains }) => ({
      method: "GET",
      url: `${base}/search?format=json&q=${encodeURIComponent(withSites(query, domains))}`,
      headers: {},
    }),
  },
  custom: {
    baseUrl: null,
    needsKey: false,
    results: "results",
    texts: ["content", "snippet", "description", "text"],
    request: (base, { query, key, domains }) => ({
      method: "GET",
      url: `${base}${base.includes("?") ? "&" : "?"}q=${encodeURIComponent(withSites(query, domains))}`,
      headers: Object.fromEntries(key === "" ? [] : [["authorization", `Bearer ${key}`]]),
    }),
  },
};
