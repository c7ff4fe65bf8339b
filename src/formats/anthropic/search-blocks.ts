// Searches of the gateway as blocks of the Messages format. Clients send them back: the pages stand in the part that is
// sealed at Anthropic, so that the model of the next turn reads them, and Anthropic never gets a seal that is not its own.

import {
  type FoundPage,
  PAGE_TEXT_BYTES_MAX,
  type SearchOutcome,
  type SearchStep,
} from "../../core/search/web-search.ts";
import { urlCitations } from "../content.ts";
import type { ResponseContext } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../json/fields.ts";
import { boundedPage, citedPlaces, pagesOf, resultText, roundsOf } from "../tools/searches.ts";
import type { Block } from "./blocks.ts";

const SEAL = "switchyard.";
const CITED_CHARS_MAX = 150;

/** The call of a search or a fetch. */
export function searchUse({ kind, id, query }: SearchStep): Block {
  const input = kind === "search" ? { query } : { url: query };
  return { type: "server_tool_use", id: useId(id), name: `web_${kind}`, input };
}

export function searchResult({ kind, id, outcome }: SearchStep): Block {
  const content = outcome === null ? [] : kind === "search" ? contentOf(outcome) : pageOf(outcome);
  return { type: kind === "search" ? RESULTS.search : RESULTS.fetch, tool_use_id: useId(id), content };
}

const RESULTS = { search: "web_search_tool_result", fetch: "web_fetch_tool_result" } as const;

const OWN_ID = "srvtoolu_sw";

function useId(id: string): string {
  return `${OWN_ID}${id}`;
}

function contentOf(outcome: SearchOutcome): unknown {
  if (!outcome.ok) return { type: "web_search_tool_result_error", error_code: outcome.fault };
  return outcome.pages.map(({ url, title, text }) => {
    const sealed = SEAL + Buffer.from(text).toString("base64url");
    return { type: "web_search_result", url, title, encrypted_content: sealed, page_age: null };
  });
}

/** A page that was fetched is a document of plain text. */
function pageOf(outcome: SearchOutcome): unknown {
  if (!outcome.ok) return { type: "web_fetch_tool_result_error", error_code: outcome.fault };
  const [{ url, title, text } = NO_PAGE] = outcome.pages;
  const source = { type: "text", media_type: "text/plain", data: text };
  const content = { type: "document", source, title, citations: null };
  return { type: "web_fetch_result", url, content, retrieved_at: null };
}

const NO_PAGE: FoundPage = { url: "", title: "", text: "" };

/** Citations of a text block. Pages that were fetched are cited only where the client asks for that. */
export function citationsOf(text: string, steps: readonly SearchStep[], isCited: boolean): readonly JsonObject[] {
  const read = pagesOf(steps.filter(({ kind }) => kind === "fetch"));
  const found = pagesOf(steps.filter(({ kind }) => kind === "search"));
  return citedPlaces(text, isCited ? [...found, ...read] : found).map(({ page }) => {
    const { url, title, text: content } = page;
    const cited_text = content.slice(0, CITED_CHARS_MAX);
    if (!read.includes(page))
      return { type: "web_search_result_location", url, title, encrypted_index: SEAL, cited_text };
    const place = { document_index: read.indexOf(page), document_title: title, file_id: null };
    return { type: "char_location", ...place, start_char_index: 0, end_char_index: cited_text.length, cited_text };
  });
}

/** Citations of a host that searched by itself. It does not tell what the pages say. */
export function givenCitations(message: JsonObject): readonly JsonObject[] {
  return urlCitations(message).map(({ url, title }) => ({
    ...{ type: "web_search_result_location", url, title, encrypted_index: SEAL, cited_text: "" },
  }));
}

/** Says that the client of this request wants citations of pages that were fetched. */
export function citesPages({ request }: Pick<ResponseContext, "request">): boolean {
  return request?.fetchAsk?.isCited === true;
}

/** The blocks of the rounds before the answer, and the pages that they found. */
export function searchedBlocks(message: JsonObject, said: (message: JsonObject) => readonly Block[]): readonly Block[] {
  return roundsOf(message).flatMap((round) => [
    ...said(round.message),
    ...round.steps.flatMap((step) => [searchUse(step), searchResult(step)]),
  ]);
}

export function searchedSteps(message: JsonObject): readonly SearchStep[] {
  return roundsOf(message).flatMap(({ steps }) => steps);
}

/** Tells whether Anthropic would refuse the block: its seal is ours. */
export function isOwnSearch({ type, citations, id, tool_use_id: useOf }: Block): boolean {
  if (isResult(type) || type === "server_tool_use") return textOrEmpty(useOf ?? id).startsWith(OWN_ID);
  return type === "text" && objectsIn(citations).some(({ encrypted_index: index }) => isSealedHere(index));
}

function isSealedHere(value: unknown): boolean {
  return typeof value === "string" && value.startsWith(SEAL);
}

function isResult(type: string): boolean {
  return type === RESULTS.search || type === RESULTS.fetch;
}

/** A result of ours as the model that takes over reads it; null for others. */
export function ownResultText(block: Block): string | null {
  if (!isResult(block.type) || !isOwnSearch(block)) return null;
  if (block.type === RESULTS.fetch) return ownPageText(block.content);
  const pages = objectsIn(block.content).map(({ url, title, encrypted_content: sealed }) => ({
    ...{ url: textOrEmpty(url), title: textOrEmpty(title) },
    text: isSealedHere(sealed) ? Buffer.from(textOrEmpty(sealed).slice(SEAL.length), "base64url").toString("utf8") : "",
  }));
  return resultText({ kind: "search", query: "", outcome: { ok: true, pages } });
}

function ownPageText(content: unknown): string {
  const { url, content: document } = isObject(content) ? content : {};
  const { title, source } = isObject(document) ? document : {};
  const text = isObject(source) ? textOrEmpty(source.data) : "";
  const page = boundedPage({ url: textOrEmpty(url), title: textOrEmpty(title), text }, PAGE_TEXT_BYTES_MAX);
  const isRead = page.text !== "";
  return resultText({ kind: "fetch", query: "", outcome: isRead ? { ok: true, pages: [page] } : UNREAD_PAGE });
}

const UNREAD_PAGE = { ok: false, fault: "url_not_accessible" } as const;

/** The block as Anthropic takes it. */
export function withoutOwnSearch(block: Block): Block {
  if (block.type === "text") {
    const { citations: _, ...bare } = block;
    return bare as Block;
  }
  const { input } = block;
  const { query, url } = isObject(input) ? input : {};
  const did = block.name === "web_fetch" ? `Read ${textOrEmpty(url)}` : `Searched the web for ${JSON.stringify(query)}`;
  return { type: "text", text: ownResultText(block) ?? `[${did}]` };
}
