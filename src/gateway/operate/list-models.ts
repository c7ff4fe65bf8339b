// Asks a provider for its own list of models. The call is free, and shows whether the provider can be reached, accepts
// the key and agrees with our clock.

import type { Provider, SignInState } from "../../core/model.ts";
import type { ListedModel } from "../../formats/listing.ts";
import type { Registry } from "../../providers/registry.ts";
import type { Reply, ReplyHeaders } from "../../providers/transport.ts";
import { readAll } from "../attempt/try-model.ts";
import type { Failure } from "../attempt/verdict.ts";
import * as TEXT from "../text.ts";
import { adviseOn } from "./probe-advice.ts";

export interface Listing {
  readonly provider: Provider;
  /** Models that the provider lists; null when there is no list, or when something is wrong. */
  readonly models: readonly ListedModel[] | null;
  readonly durationMs: number;
  /** A problem with its remedy; null when nothing is wrong. */
  readonly problem: string | null;
  readonly fix: string | null;
  /** The credentials of a cloud, and whom it sees; absent where none end. */
  readonly signIn?: SignInState | null;
  /** By how much our clock is ahead of the provider's, and how far off that may be; null when it told no time. */
  readonly clock: { readonly aheadMs: number; readonly uncertaintyMs: number } | null;
}

export interface ListServices {
  readonly registry: Registry;
  readonly now: () => number;
  readonly patienceMs?: number;
}

const PATIENCE_MS = 10_000;
const LIST_BYTES_MAX = 16 * 1024 * 1024;
/** A provider that always names another page is left after so many. */
const PAGES_MAX = 20;
/** Refused for another reason than that there is no such address. */
const TELLING_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);

/** With several keys, each one is tried. The problem names the first that is refused, and another one's list counts. */
export async function listModels(provider: Provider, services: ListServices): Promise<Listing> {
  const { apiKeys = [] } = provider;
  if (apiKeys.length === 0) return listWith(provider, services);
  const listings = await Promise.all(apiKeys.map(({ id }) => listWith(provider, services, id)));
  const failed = listings.findIndex(({ problem }) => problem !== null);
  const good = listings.find(({ problem }) => problem === null) ?? (listings[0] as Listing);
  if (failed < 0) return good;
  const { problem, fix } = listings[failed] as Listing;
  return { ...good, problem: TEXT.atKey(provider.id, apiKeys[failed]?.id, problem), fix };
}

async function listWith(provider: Provider, services: ListServices, keyId?: string): Promise<Listing> {
  const signal = AbortSignal.timeout(services.patienceMs ?? PATIENCE_MS);
  const first = await readPage(provider, services, { signal, keyId });
  if (first.next === null || first.listing.models === null) return first.listing;
  const models = [...first.listing.models];
  let next: string | null = first.next;
  for (let pages = 1; next !== null && pages < PAGES_MAX; pages += 1) {
    const page = await readPage(provider, services, { signal, keyId, page: next });
    if (page.listing.problem !== null) return page.listing;
    models.push(...(page.listing.models ?? []));
    next = page.next;
  }
  return { ...first.listing, models };
}

interface ListPage {
  readonly listing: Listing;
  /** The token of the page behind it. */
  readonly next: string | null;
}

interface PageRequest {
  readonly signal: AbortSignal;
  /** One of several keys. */
  readonly keyId: string | undefined;
  readonly page?: string;
}

async function readPage(
  provider: Provider,
  { registry, now, patienceMs = PATIENCE_MS }: ListServices,
  { signal, keyId, page }: PageRequest,
): Promise<ListPage> {
  const { transport, format, redact } = registry.connection(provider.id);
  const hasQuery = new URL(provider.baseUrl).search !== "";
  const { path, headers } = format.listing.request({ hasQuery, ...(page === undefined ? {} : { page }) });
  const sentAtMs = now();
  const request = { method: "GET", path, headers, body: NO_BODY, isStream: false, signal, keyId } as const;
  const reply = await transport.send(request);
  const receivedAtMs = now();
  const clock = reply.ok ? readClock(reply.headers, { sentAtMs, receivedAtMs }) : null;
  const bytes = reply.ok ? await readAll(reply.body, LIST_BYTES_MAX) : null;
  const told = { provider, clock, durationMs: now() - sentAtMs };
  const models = reply.ok && reply.status <= 299 && bytes !== null ? format.listing.read(bytes) : null;
  const fault = reply.ok && reply.status > 299 && bytes !== null ? format.readError(bytes) : null;
  const isRefused = fault?.isGatewayRefused === true;
  const terms = { hasList: models !== null, isRefused, isOutOfPatience: signal.aborted, patienceMs };
  const failure = failureOf(reply, terms);
  if (failure !== null) {
    const clean = fault === null ? null : { ...fault, message: redact(fault.message) };
    const advice = adviseOn({ ...failure, fault: clean }, { provider, model: null });
    return { listing: { ...told, models: null, ...advice }, next: null };
  }
  const next = bytes === null ? null : (format.listing.nextPage?.(bytes) ?? null);
  return {
    listing: { ...told, models: provider.hasDeployments === true ? null : models, problem: null, fix: null },
    next,
  };
}

const NO_BODY = Buffer.alloc(0);

interface ListReply {
  readonly hasList: boolean;
  readonly isRefused: boolean;
  readonly isOutOfPatience: boolean;
  readonly patienceMs: number;
}

/** The failure of a listing; null also where the provider only has no list. */
function failureOf(reply: Reply, { hasList, isRefused, isOutOfPatience, patienceMs }: ListReply): Failure | null {
  const nothing = { status: null, fault: null, retryAfterMs: null };
  const broken = reply.ok ? reply.body.failure : reply.failure;
  if (isOutOfPatience) return { ...nothing, kind: "timeout", message: TEXT.noAnswerWithin(patienceMs) };
  if (broken !== null) return { ...nothing, ...broken };
  if (!reply.ok) return null;
  const { status } = reply;
  if (TELLING_STATUSES.has(status) || isRefused || status >= 500) {
    return { ...nothing, kind: "status", status, message: TEXT.status(status) };
  }
  return status > 299 || hasList ? null : { ...nothing, kind: "unreadable", message: TEXT.noModelList };
}

interface Roundtrip {
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

/** The header tells whole seconds; a cache in between tells how old it is. */
function readClock({ date, age }: ReplyHeaders, { sentAtMs, receivedAtMs }: Roundtrip): Listing["clock"] {
  const toldMs = Date.parse(String(date));
  if (Number.isNaN(toldMs)) return null;
  const remoteMs = toldMs + 500 + (Number(age ?? 0) || 0) * 1000;
  return { aheadMs: (sentAtMs + receivedAtMs) / 2 - remoteMs, uncertaintyMs: (receivedAtMs - sentAtMs) / 2 + 500 };
}
