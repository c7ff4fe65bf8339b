// Cached contents of Gemini's clients, under /v1beta/cachedContents: kept by the gateway, sealed, until their own end.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import type { StoredCache } from "../../core/responses/caches.ts";
import { isId, type OwnedId } from "../../core/responses/stored.ts";
import type { ClientFormat } from "../../formats/format.ts";
import { invalid, type JsonObject, readString } from "../../formats/json/fields.ts";
import type { CachedForm } from "../../formats/stored-form.ts";
import { cacheNotFound } from "../../gateway/state/cached.ts";
import { countStored, requireStoringCredits } from "../../gateway/state/storing.ts";
import { estimateInputTokens } from "../../routing/cost.ts";
import type { CallContext } from "../context.ts";
import { parsedBodyOf } from "../exchange/body.ts";
import * as TEXT from "../text.ts";
import { callerOf } from "./key-admission.ts";
import { newAnswerId } from "./responses/create.ts";
import { type IdRequest, nameOf, type QueryTexts, readWhole, single } from "./responses/paging.ts";

const PATH = "/v1beta/cachedContents";
/** Kept prompts are read and deleted even while other requests hold all slots of the key. */
const NO_SLOT = { config: { needsNoSlot: true } };
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const CACHES_AT_ONCE = 1_000;
const CACHES_USUAL = 100;
const DISPLAY_NAME_MAX = 512;

type CachesContext = Pick<CallContext, "state" | "formats" | "services" | "now">;
type CachesRequest = FastifyRequest<{ Querystring: QueryTexts }>;
/** A format whose clients keep prompts. */
type CachingFormat = ClientFormat & { readonly cached: CachedForm };

export function registerCaches(server: FastifyInstance, edge: CachesContext): void {
  const format = edge.formats.routes.map((route) => route.format).find(isCaching);
  if (format === undefined) return;
  const form = format.cached;
  const { state } = edge;
  const missing = (name: OwnedId): never => {
    throw cacheNotFound(name, form);
  };
  const named = (request: IdRequest): OwnedId =>
    nameOf(request, (id) => cacheNotFound({ accountId: "", id: id.toWellFormed() }, form));

  server.post(PATH, async (request) => shown(await create(request, format, edge), form));
  server.get(PATH, NO_SLOT, async (request: CachesRequest) => {
    const { query } = request;
    const limit = readWhole(query, "pageSize", { min: 0, max: CACHES_AT_ONCE }) || CACHES_USUAL;
    const after = single(query, "pageToken") || null;
    if (after !== null && !isId(after)) throw invalid("pageToken", TEXT.unknownFilter("pageToken"));
    const found = await state.caches.list(callerOf(request).key.accountId, { after, limit: limit + 1 });
    const page = found.slice(0, limit);
    const next = found.length > limit ? { nextPageToken: page.at(-1)?.id } : {};
    return { cachedContents: page.map((cache) => shown(cache, form)), ...next };
  });
  server.get(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const name = named(request);
    return shown((await state.caches.find(name)) ?? missing(name), form);
  });
  server.patch(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const { body } = await parsedBodyOf(request);
    const name = named(request);
    const expiresAtMs = readEnd(body, edge.now(), edge);
    if (expiresAtMs === null) throw invalid("ttl", TEXT.onlyTheEnd);
    if (!(await state.caches.extend(name, expiresAtMs))) missing(name);
    return shown((await state.caches.find(name)) ?? missing(name), form);
  });
  server.delete(`${PATH}/:id`, NO_SLOT, async (request: IdRequest) => {
    const name = named(request);
    if (!(await state.caches.remove(name))) missing(name);
    return {};
  });
}

function isCaching(format: { readonly endpoint?: unknown; readonly cached?: CachedForm }): format is CachingFormat {
  return format.cached !== undefined;
}

async function create(request: FastifyRequest, format: CachingFormat, edge: CachesContext): Promise<StoredCache> {
  const caller = callerOf(request);
  await requireStoringCredits(caller, edge.services());
  const { body } = await parsedBodyOf(request);
  const prompt = format.cached.promptIn(body);
  const bytesMax = edge.state.conversationBytes();
  if (Buffer.byteLength(JSON.stringify(prompt)) > bytesMax) {
    throw new GatewayError("badRequest", TEXT.cacheTooLarge(bytesMax), { code: "cached_content_too_large" });
  }
  const createdAtMs = edge.now();
  const cache: StoredCache = {
    accountId: caller.key.accountId,
    id: format.cached.idOf(newAnswerId(createdAtMs)),
    model: readModel(body),
    displayName: readDisplayName(body),
    tokens: tokensOf(format.cached.laidUnder(prompt, ANY_REQUEST), format),
    createdAtMs,
    updatedAtMs: createdAtMs,
    expiresAtMs: readEnd(body, createdAtMs, edge) ?? Math.min(createdAtMs + HOUR_MS, latestEnd(createdAtMs, edge)),
  };
  await countStored(caller, [prompt], edge.state);
  await edge.state.caches.insert(cache, prompt);
  return cache;
}

/** The name lies beside the prompt as it is, and in a list again. PostgreSQL fails on some texts. */
function readModel(body: JsonObject): string {
  const model = readString(body, "model") ?? "models/auto";
  if (!isId(model)) throw invalid("model", TEXT.invalidModelName);
  return model;
}

function readDisplayName(body: JsonObject): string | null {
  const name = readString(body, "displayName");
  if (name !== null && name.length > DISPLAY_NAME_MAX)
    throw invalid("displayName", TEXT.displayNameTooLong(DISPLAY_NAME_MAX));
  return name;
}

/** A request for counting. What is kept may be instructions alone, and a request has contents. */
const ANY_REQUEST = { contents: [{ role: "user", parts: [{ text: "?" }] }] };

/** An estimate, which also checks what a request will read. */
function tokensOf(request: JsonObject, { counting }: ClientFormat): number {
  return counting === undefined ? 0 : estimateInputTokens(counting.readRequest(request));
}

function latestEnd(nowMs: number, { state }: CachesContext): number {
  return nowMs + state.retentionDays() * DAY_MS;
}

/** The end that the client asks for, no later than anything is kept; null where it asks for none. */
function readEnd(body: JsonObject, nowMs: number, edge: CachesContext): number | null {
  const ttl = readString(body, "ttl");
  const time = readString(body, "expireTime");
  if (ttl !== null && time !== null) throw invalid("ttl", TEXT.oneEnd);
  if (ttl !== null) {
    const seconds = /^\d{1,9}(?:\.\d{1,9})?s$/.test(ttl) ? Number.parseFloat(ttl) : Number.NaN;
    if (!(seconds > 0)) throw invalid("ttl", TEXT.invalidTtl);
    return Math.min(nowMs + Math.ceil(seconds * 1000), latestEnd(nowMs, edge));
  }
  if (time === null) return null;
  const atMs = Date.parse(time);
  if (!(atMs > nowMs)) throw invalid("expireTime", TEXT.invalidEnd);
  return Math.min(atMs, latestEnd(nowMs, edge));
}

function shown(cache: StoredCache, { nameOf: nameFor }: CachedForm): JsonObject {
  const { id, model, displayName, tokens, createdAtMs, updatedAtMs, expiresAtMs } = cache;
  const time = (atMs: number): string => new Date(atMs).toISOString();
  return {
    name: nameFor(id),
    ...(displayName === null ? {} : { displayName }),
    model,
    createTime: time(createdAtMs),
    updateTime: time(updatedAtMs),
    expireTime: time(expiresAtMs),
    usageMetadata: { totalTokenCount: tokens },
  };
}
