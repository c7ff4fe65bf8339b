// Takes a search, or pages, that a client asks its provider for upon the gateway, where it is configured for that. Hosts of the
// client's own format still run it themselves; for all others it becomes a function that the gateway answers.

import type { Tool } from "../../core/chat.ts";
import type { Constraints } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Residency } from "../../core/requests/controls.ts";
import {
  FETCHES_PER_ROUND,
  type FetchAsk,
  RESULT_BYTES_MAX,
  SEARCHES_PER_ROUND,
  type SearchAsk,
  type SearchBounds,
  type WebTools,
} from "../../core/search/web-search.ts";
import type { ClientRequest } from "../../formats/format.ts";
import { type JsonObject, objectsIn, textOrEmpty } from "../../formats/json/fields.ts";
import { ownTool } from "../../formats/tools/searches.ts";
import { usableHosts } from "../../routing/hosts.ts";
import { runsTools } from "../../routing/preference.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";

/** The same request where nobody asks for a search or a page, or where the gateway cannot or must not help. */
export function takeSearchOver(
  request: ClientRequest,
  constraints: Constraints,
  services: Pick<Services, "webTools" | "catalog">,
): ClientRequest {
  const { nativeNeeds = [], nativeWishes = [], searching, body } = request;
  if (request.searchAsk === undefined && request.fetchAsk === undefined) return request;
  const mayRun = searching === undefined && !mustStay(request, constraints) && mayCall(request, services);
  const asks = mayRun ? runnable(request, services) : [];
  const reasons = asks.flatMap(({ ask }) => ask.reasons);
  if (asks.length === 0 || nativeNeeds.some((reason) => !reasons.includes(reason))) return request;
  const left = asks.reduce((given: JsonObject, { ask }) => ask.strip(given), body);
  const taken = objectsIn(left.tools).map(({ name }) => textOrEmpty(name));
  const tools = asks.map(({ kind }) => ownTool(kind, taken));
  const forced = tools.find((_, at) => asks[at]?.ask.isForced)?.name ?? null;
  const offered = [...request.chat.tools, ...tools.map(({ definition }) => definition.function as Tool)];
  const chat = { ...request.chat, tools: offered, ownSearches: boundsOf(asks, services.webTools as WebTools) };
  return {
    ...request,
    chat,
    nativeNeeds: [],
    nativeWishes: isNativeCheaper(request, asks, services)
      ? [...new Set([...reasons, ...nativeWishes])]
      : nativeWishes.filter((reason) => !reasons.includes(reason)),
    searching: {
      ...{ plain: { ...request, body: left, chat, nativeNeeds: [] }, tools, forced },
      ...{ turns: [], state: "first" },
    },
  };
}

type KindAsk =
  | { readonly kind: "search"; readonly ask: SearchAsk }
  | { readonly kind: "fetch"; readonly ask: FetchAsk };

/** The asks of a request that the gateway has a way to run. */
function runnable(
  { searchAsk, fetchAsk }: ClientRequest,
  { webTools }: Pick<Services, "webTools">,
): readonly KindAsk[] {
  const { search = null, fetch = null } = webTools ?? {};
  const searches: KindAsk[] = searchAsk === undefined || search === null ? [] : [{ kind: "search", ask: searchAsk }];
  const pages: KindAsk[] = fetchAsk === undefined || fetch === null ? [] : [{ kind: "fetch", ask: fetchAsk }];
  return [...searches, ...pages];
}

function boundsOf(asks: readonly KindAsk[], { maxRounds: rounds, search, fetch }: WebTools): SearchBounds {
  let bounds: SearchBounds = { rounds, search: null, fetch: null };
  for (const { kind, ask } of asks) {
    const { usesMax: uses } = ask;
    const held =
      kind === "search"
        ? { perRound: SEARCHES_PER_ROUND, bytes: RESULT_BYTES_MAX, rate: search?.rate ?? 0 }
        : { perRound: FETCHES_PER_ROUND, bytes: ask.bytesMax, rate: fetch?.rate ?? 0 };
    bounds = { ...bounds, [kind]: { uses, ...held } };
  }
  return bounds;
}

/** Tells whether the query may not leave for a search provider, of which no place and no retention is known. */
function mustStay({ controls }: ClientRequest, constraints: Constraints): boolean {
  return [controls, constraints]
    .flatMap((scoped): readonly Residency[] => [scoped, ...(scoped.required ?? [])])
    .some(({ regions = null, zeroRetention = false }) => regions !== null || zeroRetention);
}

/** Searches end in one answer, and are functions that the model calls. */
function mayCall({ chat, controls }: ClientRequest, { catalog }: Pick<Services, "catalog">): boolean {
  const named = catalog.models.get(controls.model ?? "");
  return chat.choiceCount === 1 && named?.capabilities.has("tools") !== false;
}

/** An error of routing, with what the operator can do where a search or a page is all that no model has. */
export function withSearchAdvice(
  error: unknown,
  request: ClientRequest,
  constraints: Constraints,
  { webTools }: Pick<Services, "webTools">,
): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { searchAsk, fetchAsk, nativeNeeds = [] } = request;
  const { search = null, fetch = null } = webTools ?? {};
  const isNeeded = (ask?: SearchAsk): boolean => ask?.reasons.some((each) => nativeNeeds.includes(each)) === true;
  const isHeldBack = (isNeeded(searchAsk) || isNeeded(fetchAsk)) && mustStay(request, constraints);
  const advice = [
    ...(isHeldBack ? [TEXT.searchesNowhere] : []),
    ...(isNeeded(searchAsk) && search === null ? [TEXT.configureSearch] : []),
    ...(isNeeded(fetchAsk) && fetch === null ? [TEXT.configureFetch] : []),
  ];
  if (advice.length === 0) return error;
  const { kind, message, details } = error;
  const operator = [details.operator, ...advice].filter((text) => text !== undefined).join(" ");
  return new GatewayError(kind, message, { ...details, operator });
}

/** Tells whether a host of the client's own format searches for less. Vendors read pages for nothing but their tokens. */
function isNativeCheaper(
  { format }: ClientRequest,
  asks: readonly KindAsk[],
  { catalog, webTools }: Pick<Services, "webTools" | "catalog">,
): boolean {
  const hosts = [...catalog.models.values()].flatMap((model) => usableHosts(model, catalog));
  const native = hosts.filter((host) => runsTools(host, format, catalog));
  if (asks.every(({ kind }) => kind === "fetch")) return native.length > 0 && (webTools?.fetch?.rate ?? 0) > 0;
  const fees = native.map(({ price }) => price?.own?.search ?? 0);
  return fees.some((fee) => fee > 0 && fee < (webTools?.search?.rate ?? 0));
}
