// The tools of the web that the gateway runs, as they are configured.

import type { Log } from "../../core/log.ts";
import type { WebTools } from "../../core/search/web-search.ts";
import { guardedLookup } from "../lookup.ts";
import { createPageFetcher, type PageFetchOptions } from "./fetch-page.ts";
import { createWebSearch, type WebSearchOptions } from "./web-search.ts";

interface WebTerms {
  readonly maxRounds: number;
  readonly search: Omit<WebSearchOptions, "log"> | null;
  readonly fetch: Omit<PageFetchOptions, "log" | "lookup"> | null;
}

export function createWebTools({ maxRounds, search, fetch }: WebTerms, log: Log): WebTools {
  const lookup = guardedLookup(fetch?.allowsPrivate === true);
  return {
    maxRounds,
    search: search === null ? null : createWebSearch({ ...search, log }),
    fetch: fetch === null ? null : createPageFetcher({ ...fetch, lookup, log }),
  };
}
