// Web searches that the gateway runs itself, for models whose hosts run none.

import type { CancelSignal } from "../cancellation.ts";

/** Bytes of all results of one search, as holds count on. */
export const RESULT_BYTES_MAX = 12_000;
/** Searches that are run for one round of the model. */
export const SEARCHES_PER_ROUND = 8;
/** Bytes of a page that the model reads, where the request sets no lower limit. */
export const PAGE_TEXT_BYTES_MAX = 40_000;
/** Pages that are fetched for one round of the model. */
export const FETCHES_PER_ROUND = 3;
/** Pages that a hold covers for a request that sets no limit of its own, and for any. */
const FETCHES_HELD = 6;
const FETCHES_HELD_MAX = 20;

/** The pages that a hold covers, by the limit that the request sets for them. */
export function fetchesHeld(limit: unknown): number {
  const isLimit = typeof limit === "number" && Number.isInteger(limit) && limit > 0;
  return isLimit ? Math.min(limit, FETCHES_HELD_MAX) : FETCHES_HELD;
}

export interface FoundPage {
  readonly url: string;
  readonly title: string;
  /** The part of the page that the search provider shows. */
  readonly text: string;
}

/** Reasons why a search or a fetch found nothing, in words that clients know. */
export type SearchFault =
  | ("unavailable" | "max_uses_exceeded" | "invalid_tool_input" | "too_many_requests")
  | ("url_not_allowed" | "url_not_accessible" | "url_too_long" | "url_not_in_prior_context")
  | "unsupported_content_type";

export type SearchOutcome =
  | { readonly ok: true; readonly pages: readonly FoundPage[] }
  | { readonly ok: false; readonly fault: SearchFault };

/** A search finds pages; a fetch reads one. */
export type StepKind = "search" | "fetch";

/** A search or a fetch of a model on its way to the client. */
export interface SearchStep {
  readonly kind: StepKind;
  readonly id: string;
  /** The query of a search, the address of a fetch. */
  readonly query: string;
  /** Is null while it runs. */
  readonly outcome: SearchOutcome | null;
}

export interface SearchDomains {
  /** Only these, where there are any. */
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

/** The search provider of the operator. */
export interface SearchEngineRun {
  /** Pico-USD per search. */
  readonly rate: number;
  /** Never rejects. */
  search(query: string, domains: SearchDomains, signal: CancelSignal): Promise<SearchOutcome>;
}

export interface FetchBounds {
  readonly domains: SearchDomains;
  /** Bytes of the text that the model reads. */
  readonly bytesMax: number;
}

export interface PageFetcher {
  /** Pico-USD per page. */
  readonly rate: number;
  /** Never rejects. */
  read(url: string, bounds: FetchBounds, signal: CancelSignal): Promise<SearchOutcome>;
}

/** Tools that the gateway runs. At least one is there. */
export interface WebTools {
  /** Rounds in which a model may search before it has to answer. */
  readonly maxRounds: number;
  readonly search: SearchEngineRun | null;
  readonly fetch: PageFetcher | null;
}

/** A search, or pages, that a client asks its provider for. */
export interface SearchAsk {
  /** Reasons of the request for a provider of its own format that go away where the gateway searches. */
  readonly reasons: readonly string[];
  /** The request without it. */
  strip(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Says that the model must search. */
  readonly isForced: boolean;
  readonly usesMax: number;
  readonly domains: SearchDomains;
}

export interface FetchAsk extends SearchAsk {
  readonly bytesMax: number;
  /** Addresses that were found in earlier turns. */
  readonly found: readonly string[];
  /** Says that the answer cites pages that were fetched. */
  readonly isCited: boolean;
}

/** Bounds of what the gateway may run for a request, for its hold. */
export interface SearchBounds {
  readonly rounds: number;
  readonly search: UseBounds | null;
  readonly fetch: UseBounds | null;
}

export interface UseBounds {
  readonly uses: number;
  readonly perRound: number;
  /** Bytes of one result. */
  readonly bytes: number;
  readonly rate: number;
}
