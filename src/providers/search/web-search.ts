// Asks the operator's search provider. Time and size are bounded, redirects are not followed, and a provider that fails or
// lies costs nothing: the model reads that the search failed.

import { Agent, request } from "undici";
import { SEARCH_ENGINES, type SearchEngine } from "../../catalog/search-engines.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import type { Log } from "../../core/log.ts";
import type { FoundPage, SearchDomains, SearchEngineRun, SearchOutcome } from "../../core/search/web-search.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty } from "../../formats/json/fields.ts";
import { boundedPages, isWithin } from "../../formats/tools/searches.ts";
import { guardedLookup } from "../lookup.ts";

export interface WebSearchOptions {
  readonly engine: keyof typeof SEARCH_ENGINES;
  readonly key: string;
  readonly baseUrl: string;
  /** The path to the list of results, where it is not the engine's own. */
  readonly results: string | null;
  readonly timeoutMs: number;
  readonly rate: number;
  readonly log: Log;
}

const ANSWER_BYTES_MAX = 1024 * 1024;
const TOO_MANY = 429;

export function createWebSearch(options: WebSearchOptions): SearchEngineRun {
  const { rate, log } = options;
  return {
    rate,
    async search(query, domains, signal) {
      try {
        return await ask(query, domains, { ...options, signal });
      } catch (error) {
        if (!signal.aborted) log.warn({ event: "search.failed", engine: options.engine, err: error }, "search failed");
        return { ok: false, fault: "unavailable" };
      }
    },
  };
}

async function ask(
  query: string,
  domains: SearchDomains,
  { engine: name, key, baseUrl, results, timeoutMs, log, signal }: WebSearchOptions & { readonly signal: CancelSignal },
): Promise<SearchOutcome> {
  const engine = SEARCH_ENGINES[name];
  const asked = engine.request(baseUrl, { query, key, domains });
  const left = new AbortController();
  const leave = (): void => left.abort();
  signal.addEventListener("abort", leave);
  // The operator wrote the address, so it may be one of their own network.
  const agent = new Agent({ connect: { lookup: guardedLookup(true), timeout: timeoutMs } });
  try {
    if (signal.aborted) leave();
    const ends = AbortSignal.any([left.signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await request(asked.url, {
      method: asked.method,
      headers: { accept: "application/json", "content-type": "application/json", ...asked.headers },
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
      dispatcher: agent,
      signal: ends,
    });
    const { statusCode: status } = answer;
    if (status !== 200) {
      log.warn({ event: "search.failed", engine: name, status }, "search provider answered with an error");
      return { ok: false, fault: status === TOO_MANY ? "too_many_requests" : "unavailable" };
    }
    const found = pagesIn(JSON.parse(await readBounded(answer.body)), engine, results ?? engine.results);
    return { ok: true, pages: boundedPages(found.filter(({ url }) => isWithin(url, domains))) };
  } finally {
    signal.removeEventListener("abort", leave);
    await agent.destroy();
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error("the answer of the search provider is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function pagesIn(answer: unknown, { texts }: SearchEngine, path: string): readonly FoundPage[] {
  const list = path.split(".").reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), answer);
  if (!Array.isArray(list)) throw new Error(`the answer of the search provider has no list '${path}'`);
  return objectsIn(list).flatMap((result) => {
    const url = textOrEmpty(result.url) || textOrEmpty(result.link);
    return isWeb(url) ? [{ url, title: textOrEmpty(result.title) || url, text: excerpt(result, texts) }] : [];
  });
}

function excerpt(result: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const value = result[name];
    const text = Array.isArray(value) ? value.filter((each) => typeof each === "string").join("\n") : value;
    if (typeof text === "string" && text !== "") return text;
  }
  return "";
}

function isWeb(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
