// The search of a chat-completions request, and its citations in an answer.

import { searchesHeld } from "../../core/chat.ts";
import type { FoundPage, SearchAsk } from "../../core/search/web-search.ts";
import { firstDelta } from "../content.ts";
import type { ChatChunk } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty } from "../json/fields.ts";
import { citedPlaces, inOneMessage, pagesOf, roundsOf, stepOf } from "../tools/searches.ts";

const REASON = "few hosts search the web for 'web_search_options'";

/** The search that the request asks for, and the request without it; undefined where the gateway cannot run it. */
export function searchAskIn(body: JsonObject): SearchAsk | undefined {
  const { web_search_options: options, functions, tool_choice: choice } = body;
  const isOld = Array.isArray(functions) && functions.length > 0;
  if (!isObject(options) || isOld || choice === "none") return undefined;
  return {
    reasons: [REASON],
    strip: ({ web_search_options: _, ...rest }) => rest,
    isForced: false,
    usesMax: searchesHeld(null),
    domains: { allowed: [], blocked: [] },
  };
}

function annotationsOf(text: string, pages: readonly FoundPage[]): readonly JsonObject[] {
  return citedPlaces(text, pages).map(({ page: { url, title }, start, end }) => ({
    type: "url_citation",
    url_citation: { url, title, start_index: start, end_index: end },
  }));
}

/** The same choice where nothing was searched. */
export function withCitations(choice: JsonObject): JsonObject {
  const { message } = choice;
  if (!isObject(message) || roundsOf(message).length === 0) return choice;
  const { said, text, pages } = inOneMessage(message);
  const annotations = annotationsOf(text, pages);
  return { ...choice, message: annotations.length === 0 ? said : { ...said, annotations } };
}

/** Reads a stream whose model searches. Clients of this format are not told of searches, and get the citations at the end. */
export class Citing {
  #text = "";
  readonly #pages: FoundPage[] = [];

  shown(chunk: ChatChunk): readonly ChatChunk[] {
    const choice = firstDelta(chunk.json);
    const delta = isObject(choice?.delta) ? choice.delta : {};
    const step = stepOf(delta);
    if (step !== null) {
      this.#pages.push(...pagesOf([step]));
      return [];
    }
    this.#text += textOrEmpty(delta.content);
    const annotations = chunk.isFinish ? annotationsOf(this.#text, this.#pages) : [];
    if (annotations.length === 0) return [chunk];
    const choices = [{ index: 0, delta: { annotations }, finish_reason: null, logprobs: null }];
    return [{ json: { choices }, hasContent: false, isFinish: false }, chunk];
  }
}
