// Searches of the gateway as Gemini's clients read them: the queries, the pages, and the places of the answer that cite
// them. Places are counted in bytes there.

import type { SearchStep } from "../../core/search/web-search.ts";
import type { JsonObject } from "../json/fields.ts";
import { citedPlaces, pagesOf } from "../tools/searches.ts";

/** Fields of a candidate; none where nothing was searched or read. */
export function groundingOf(text: string, steps: readonly SearchStep[]): JsonObject {
  if (steps.length === 0) return {};
  const read = steps.filter(({ kind }) => kind === "fetch");
  const urlMetadata = read.map(({ query: retrievedUrl, outcome }) => ({
    retrievedUrl,
    urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${outcome?.ok === true ? "SUCCESS" : "ERROR"}`,
  }));
  return {
    ...metadataOf(text, steps),
    ...(read.length === 0 ? {} : { urlContextMetadata: { urlMetadata } }),
  };
}

function metadataOf(text: string, steps: readonly SearchStep[]): JsonObject {
  const pages = [...new Map(pagesOf(steps).map((page) => [page.url, page])).values()];
  const groundingSupports = citedPlaces(text, pages).map(({ page, start: link, end }) => {
    const start = sentenceStart(text, link);
    const segment = { startIndex: bytesOf(text, start), endIndex: bytesOf(text, end), text: text.slice(start, end) };
    return { segment, groundingChunkIndices: [pages.findIndex(({ url }) => url === page.url)] };
  });
  const groundingChunks = pages.map(({ url: uri, title }) => ({
    web: { uri, title, domain: URL.canParse(uri) ? new URL(uri).hostname : uri },
  }));
  const webSearchQueries = steps.flatMap(({ kind, query }) => (kind === "search" && query !== "" ? [query] : []));
  return { groundingMetadata: { webSearchQueries, groundingChunks, groundingSupports } };
}

function bytesOf(text: string, end: number): number {
  return Buffer.byteLength(text.slice(0, end));
}

/** The beginning of the sentence that ends with a link. */
function sentenceStart(text: string, link: number): number {
  const before = text.slice(0, link);
  const ends = [...before.matchAll(/[.!?\u3002]\s+|\n+/g)].at(-1);
  return ends === undefined ? 0 : ends.index + ends[0].length;
}
