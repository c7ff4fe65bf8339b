// Takes a search, pages or a picture that a client asks its provider for upon the gateway, where it is configured for that.
// Hosts of the client's own format still run it themselves; for all others it becomes a function that the gateway answers.

import type { Tool } from "../../core/chat.ts";
import type { Constraints } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Residency } from "../../core/requests/controls.ts";
import {
  FETCHES_PER_ROUND,
  type FetchAsk,
  type ImageAsk,
  PICTURE_TOLD_BYTES,
  RESULT_BYTES_MAX,
  SEARCHES_PER_ROUND,
  type SearchAsk,
  type SearchBounds,
  type UseBounds,
} from "../../core/search/web-search.ts";
import type { ClientRequest } from "../../formats/format.ts";
import { type JsonObject, objectsIn, textOrEmpty } from "../../formats/json/fields.ts";
import { ownTool } from "../../formats/tools/searches.ts";
import { usableHosts } from "../../routing/hosts.ts";
import { runsTools } from "../../routing/preference.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";
import { nativePictureRate, planPictures } from "./pictures.ts";

type AskServices = Pick<Services, "webTools" | "catalog">;

/** The same request where nobody asks for any of them, or where the gateway cannot or must not help. */
export function takeSearchOver(given: ClientRequest, constraints: Constraints, services: AskServices): ClientRequest {
  if (given.searching !== undefined) return given;
  if (given.searchAsk === undefined && given.fetchAsk === undefined && given.imageAsk === undefined) return given;
  const asks = mayCall(given, services) ? runnable(given, constraints, services) : [];
  const request = withPictures(given, asks, services);
  const { nativeNeeds = [], nativeWishes = [], body } = request;
  const reasons = asks.flatMap(({ ask }) => ask.reasons);
  if (asks.length === 0 || nativeNeeds.some((reason) => !reasons.includes(reason))) return request;
  const left = asks.reduce((given: JsonObject, { ask }) => ask.strip(given), body);
  const taken = objectsIn(left.tools).map(({ name }) => textOrEmpty(name));
  const tools = asks.map(({ kind }) => ownTool(kind, taken));
  const forced = tools.find((_, at) => asks[at]?.ask.isForced)?.name ?? null;
  const offered = [...request.chat.tools, ...tools.map(({ definition }) => definition.function as Tool)];
  const chat = { ...request.chat, tools: offered, ownSearches: boundsOf(asks, services) };
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
  | { readonly kind: "fetch"; readonly ask: FetchAsk }
  | { readonly kind: "image"; readonly ask: ImageAsk; readonly rate: number };

/** The asks of a request that the gateway has a way to run. */
function runnable(request: ClientRequest, constraints: Constraints, services: AskServices): readonly KindAsk[] {
  const { searchAsk, fetchAsk, imageAsk } = request;
  const { search = null, fetch = null } = mustStay(request, constraints) ? {} : services.webTools;
  const asks: KindAsk[] = [];
  if (searchAsk !== undefined && search !== null) asks.push({ kind: "search", ask: searchAsk });
  if (fetchAsk !== undefined && fetch !== null) asks.push({ kind: "fetch", ask: fetchAsk });
  if (imageAsk === undefined || imageAsk.isNativeOnly) return asks;
  const { catalog } = services;
  const plan = planPictures(request, imageAsk, { constraints, catalog });
  return plan === null ? asks : [...asks, { kind: "image", ask: imageAsk, rate: plan.rate }];
}

/** Adds the pictures that the hold has to cover, made here or by the provider. */
function withPictures(request: ClientRequest, asks: readonly KindAsk[], { catalog }: AskServices): ClientRequest {
  const { imageAsk: ask, chat } = request;
  if (ask === undefined) return request;
  const own = asks.reduce((rate, each) => (each.kind === "image" ? each.rate : rate), 0);
  return {
    ...request,
    chat: { ...chat, pictures: { count: ask.usesMax, rate: Math.max(own, nativePictureRate(ask, catalog)) } },
  };
}

function boundsOf(asks: readonly KindAsk[], { webTools }: AskServices): SearchBounds {
  const heldFor = (asked: KindAsk): Omit<UseBounds, "uses"> => {
    if (asked.kind === "search")
      return { perRound: SEARCHES_PER_ROUND, bytes: RESULT_BYTES_MAX, rate: webTools.search?.rate ?? 0 };
    if (asked.kind === "fetch")
      return { perRound: FETCHES_PER_ROUND, bytes: asked.ask.bytesMax, rate: webTools.fetch?.rate ?? 0 };
    return { perRound: asked.ask.usesMax, bytes: PICTURE_TOLD_BYTES, rate: asked.rate };
  };
  const bounds: SearchBounds = { rounds: webTools.maxRounds, search: null, fetch: null, image: null };
  const held = asks.map((asked) => [asked.kind, { uses: asked.ask.usesMax, ...heldFor(asked) }] as const);
  return { ...bounds, ...Object.fromEntries(held) };
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

/** An error of routing, with what the operator can do where a search, a page or a picture is all that no model has. */
export function withSearchAdvice(
  error: unknown,
  request: ClientRequest,
  constraints: Constraints,
  { webTools }: Pick<Services, "webTools">,
): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { searchAsk, fetchAsk, imageAsk, nativeNeeds = [] } = request;
  const { search, fetch } = webTools;
  const isNeeded = (ask?: Pick<SearchAsk, "reasons">): boolean =>
    ask?.reasons.some((each) => nativeNeeds.includes(each)) === true;
  const isHeldBack = (isNeeded(searchAsk) || isNeeded(fetchAsk)) && mustStay(request, constraints);
  const advice = [
    ...(isHeldBack ? [TEXT.searchesNowhere] : []),
    ...(isNeeded(searchAsk) && search === null ? [TEXT.configureSearch] : []),
    ...(isNeeded(fetchAsk) && fetch === null ? [TEXT.configureFetch] : []),
    ...(isNeeded(imageAsk) ? [TEXT.configurePictures] : []),
  ];
  if (advice.length === 0) return error;
  const { kind, message, details } = error;
  const operator = [details.operator, ...advice].filter((text) => text !== undefined).join(" ");
  return new GatewayError(kind, message, { ...details, operator });
}

/** Tells whether a host of the client's own format searches for less. Vendors read pages for nothing but their tokens. */
function isNativeCheaper(
  { format }: ClientRequest,
  all: readonly KindAsk[],
  { catalog, webTools }: AskServices,
): boolean {
  // A picture costs the same everywhere, as far as anybody knows.
  const asks = all.filter(({ kind }) => kind !== "image");
  if (asks.length === 0) return false;
  const hosts = [...catalog.models.values()].flatMap((model) => usableHosts(model, catalog));
  const native = hosts.filter((host) => runsTools(host, format, catalog));
  if (asks.every(({ kind }) => kind === "fetch")) return native.length > 0 && (webTools.fetch?.rate ?? 0) > 0;
  const fees = native.map(({ price }) => price?.own?.search ?? 0);
  return fees.some((fee) => fee > 0 && fee < (webTools.search?.rate ?? 0));
}
