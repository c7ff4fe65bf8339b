// Tools that the gateway runs itself, for models whose hosts do not: searches of the web, pages, and pictures.

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

/** Bytes of the description of a picture. */
export const PICTURE_PROMPT_BYTES_MAX = 8_000;
/** Bytes of what the model is told about a picture. */
export const PICTURE_TOLD_BYTES = 200;
/** Pictures that a hold covers for a request that sets no limit of its own, and for any. */
const PICTURES_HELD = 2;
const PICTURES_HELD_MAX = 10;

/** The pictures that a hold covers, by the limit that the request sets for its tools. */
export function picturesHeld(limit: unknown): number {
  const isLimit = typeof limit === "number" && Number.isInteger(limit) && limit > 0;
  return isLimit ? Math.min(limit, PICTURES_HELD_MAX) : PICTURES_HELD;
}

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
  | { readonly ok: true; readonly pages: readonly FoundPage[]; readonly picture?: Picture }
  | { readonly ok: false; readonly fault: SearchFault };

/** A picture that was made. */
export interface Picture {
  readonly base64: string;
  /** The description that it was made from. */
  readonly prompt: string;
  /** Size, quality and the like, as they are known. */
  readonly facts: Readonly<Record<string, string>>;
}

/** The beginning of a picture, to be shown until it is whole. */
export interface PartialPicture {
  readonly index: number;
  readonly base64: string;
}

/** A search finds pages; a fetch reads one; an image makes a picture. */
export type StepKind = "search" | "fetch" | "image";

/** A search, a fetch or a picture of a model on its way to the client. */
export interface SearchStep {
  readonly kind: StepKind;
  readonly id: string;
  /** The query of a search, the address of a fetch, the description of a picture. */
  readonly query: string;
  /** Is null while it runs. */
  readonly outcome: SearchOutcome | null;
  /** Set where the step only brings the beginning of its picture. */
  readonly partial?: PartialPicture;
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

/** Tools of the web that the gateway runs, each null where it is not configured. Models of the catalogue make pictures. */
export interface WebTools {
  /** Rounds in which a model may use tools of the gateway before it has to answer. */
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

/** A picture that the client asks its provider for. */
export interface ImageAsk extends Omit<SearchAsk, "domains"> {
  /** The model that the request names for it; null for none. */
  readonly model: string | null;
  /** Size, quality and the like, for the image model. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Beginnings of the picture that a stream shows. */
  readonly partials: number;
  /** Says that the request wants what only its own provider does, such as changing a picture. */
  readonly isNativeOnly: boolean;
}

/** Bounds of what the gateway may run for a request, for its hold. */
export interface SearchBounds {
  readonly rounds: number;
  readonly search: UseBounds | null;
  readonly fetch: UseBounds | null;
  readonly image: UseBounds | null;
}

export interface UseBounds {
  readonly uses: number;
  readonly perRound: number;
  /** Bytes of one result. */
  readonly bytes: number;
  readonly rate: number;
}
