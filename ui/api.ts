// The one way to the server. Errors carry the request id, and losing the session shows the sign-in page. What is read
// belongs to its address: data of another address is never handed out as data of this one.

import { useEffect, useRef, useState } from "preact/hooks";
import { noteServerTime } from "./clock.ts";
import { withTimes } from "./range.ts";
import { place } from "./router.ts";
import { signal } from "./signal.ts";
import * as TEXT from "./text.ts";

/** Carries the error of a call, in the gateway's own words. Status 0 means that no response came at all. */
export class ApiError extends Error {
  readonly status: number;
  /** The machine-readable code of the error body, where there is one. */
  readonly code: string | null;
  /** Id of the request, shown beside the message so that a report can be matched with the request log. */
  readonly requestId: string | null;

  constructor(message: string, about: { status: number; code?: string | null; requestId?: string | null }) {
    super(message);
    this.status = about.status;
    this.code = about.code ?? null;
    this.requestId = about.requestId ?? null;
  }
}

/** Counts up whenever something was written, so that every list on the page reads again. */
const writes = signal(0);
/** Becomes true with any 401: the session ended while the page was open. */
export const isSignedOut = signal(false);
/** Stays true while no response comes at all. One strip says so for the whole page. */
export const isOffline = signal(false);
/** Reads that failed, by address. */
export const failing = signal<ReadonlyMap<string, ApiError>>(new Map());
/** Time of the gateway's last response. */
export let heardAtMs = Date.now();

/** Channel to the other tabs of this browser, once the dashboard listens to them. */
let tabs: BroadcastChannel | null = null;

/** Reads the page again whenever another tab of this browser has written something. */
export function hearTabs(): () => void {
  const channel = new BroadcastChannel("switchyard");
  channel.onmessage = refresh;
  tabs = channel;
  // A user who signs in again on this page writes before the dashboard listens to tabs.
  return () => {
    tabs = null;
    channel.close();
  };
}

/** Reads everything on the page again. */
export function refresh(): void {
  writes.value += 1;
}

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Marks a POST that only asks: the call changes nothing, so the page need not read again. */
  readonly isQuestion?: boolean;
}

/** Calls the JSON API. Resolves with the body and rejects with an ApiError, also where the call was aborted. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => undefined);
  if (!response.ok) throw toError(response, body);
  if (method !== "GET" && options.isQuestion !== true) {
    refresh();
    tabs?.postMessage(path);
  }
  // A body that broke off, or that is no JSON, must not replace what is shown. The write itself was accepted.
  if (body === undefined) throw new ApiError(TEXT.unreachable, { status: 502 });
  return body as T;
}

/** The call itself, for a caller who reads the response as a stream. An error status does not reject. */
export async function send(method: string, path: string, { body, headers, signal }: CallOptions): Promise<Response> {
  const response = await fetch(withAccount(path), {
    method,
    headers: {
      accept: "application/json",
      // Another site cannot set this header without a preflight request, so the server takes it as proof of origin.
      "x-switchyard-dashboard": "1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    // An aborted call is no failure: its caller ended it.
    if (signal?.aborted === true) throw error;
    isOffline.value = true;
    throw new ApiError(TEXT.unreachable, { status: 0 });
  });
  heard(response);
  // A wrong password answers 401 too, and is not the loss of a session.
  if (response.status === 401 && !path.startsWith("/api/session")) isSignedOut.value = true;
  return response;
}

/** Notes a response. The first one after a lost connection reads the page again, since all of its data is old. */
function heard({ headers }: Response): void {
  heardAtMs = Date.now();
  noteServerTime(headers.get("date"));
  if (!isOffline.value) return;
  isOffline.value = false;
  refresh();
}

/** The address as it is sent: with the times of its range, and the account that the operator looks at. */
export function withAccount(path: string): string {
  return accounted(withTimes(path));
}

/** Sessions and accounts themselves belong to no account. */
function accounted(path: string): string {
  const account = place.value.query.get("account");
  if (account === null || path.startsWith("/api/session") || path.startsWith("/api/accounts")) return path;
  return `${path}${path.includes("?") ? "&" : "?"}account=${encodeURIComponent(account)}`;
}

/** An error body as an ApiError. A proxy in between may answer without one, so the status alone must do. */
export function toError(response: Response, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: { message?: string; code?: string | null } };
  const message = error?.message ?? TEXT.returnedStatus(response.status);
  return new ApiError(message, {
    status: response.status,
    code: error?.code ?? null,
    requestId: response.headers.get("x-request-id"),
  });
}

/** State of an address that a component reads. `Shown` draws all of it. */
export interface Load<T> {
  readonly path: string | null;
  /** The newest data of this very address; null until its first response. */
  readonly data: T | null;
  /** Data of the address shown before, usually one with other filters; null once this address has its first response. */
  readonly previous: T | null;
  readonly error: ApiError | null;
  /** The data could not be read again. */
  readonly isStale: boolean;
  /** Time at which the data arrived, for "Last updated". */
  readonly loadedAtMs: number | null;
  /** Reads again now. */
  reload(): void;
}

/** One response with the address it belongs to. */
interface Loaded {
  readonly path: string | null;
  readonly data: unknown;
  readonly error: ApiError | null;
  readonly loadedAtMs: number | null;
}

const NOTHING: Loaded = { path: null, data: null, error: null, loadedAtMs: null };
/** Pause before a read is repeated that failed with a 5xx status or without a connection. */
export const RETRY_MS = 4_000;
/** Responses that are kept: enough for going back through a few pages. More would only use memory. */
const REMEMBERED_MAX = 40;
/** Responses by address, so that Back shows at once what was there. */
const remembered = new Map<string, Loaded>();

/** Reads an address; null reads nothing. `everyMs` reads again while the page can be seen. */
export function useLoad<T>(path: string | null, { everyMs = 0 } = {}): Load<T> {
  const full = path === null ? null : accounted(path);
  const known = remembered.get(full ?? "") ?? NOTHING;
  const [last, setLast] = useState<Loaded>(known);
  const [turn, setTurn] = useState(0);
  const { data, error, loadedAtMs } = last.path === full ? last : known;
  // Reading the signal here makes every write on the page read this address again.
  const written = writes.value;
  useEffect(() => {
    if (path === null || full === null) return;
    const abort = new AbortController();
    call<T>("GET", path, { signal: abort.signal }).then(
      (data) => {
        const loaded = { path: full, data, error: null, loadedAtMs: Date.now() };
        remember(full, loaded);
        setLast(loaded);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        // The data on screen stays, even if `remembered` has dropped it by now.
        setLast((before) => ({ ...(before.path === full ? before : known), path: full, error: error as ApiError }));
      },
    );
    return () => abort.abort();
  }, [full, turn, written]);
  useEffect(() => noteFailure(full, error), [full, error]);
  const reload = (): void => setTurn((count) => count + 1);
  // A fault on the other side is retried; an error of the caller would only repeat. Without a connection the strip asks.
  useRepeat(error !== null && error.status >= 500 ? RETRY_MS : everyMs, reload);
  return {
    path: full,
    data: data as T | null,
    previous: full === null || data !== null || error !== null ? null : (last.data as T | null),
    error,
    isStale: data !== null && error !== null,
    loadedAtMs,
    reload,
  };
}

/** Keeps the failure until the address is read or left. */
function noteFailure(path: string | null, error: ApiError | null): (() => void) | undefined {
  // Data that is forbidden or missing is no failure, and a lost connection has a strip of its own.
  if (path === null || error === null || (error.status < 500 && error.status !== 429)) return;
  failing.value = new Map(failing.value).set(path, error);
  return () => {
    failing.value = new Map([...failing.value].filter(([other]) => other !== path));
  };
}

/** Deleting before setting moves the entry to the end, so the first key is the oldest. */
function remember(path: string, loaded: Loaded): void {
  remembered.delete(path);
  remembered.set(path, loaded);
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
}

/** Forgets all responses at sign-out, so that the next user sees nothing of this one. */
export function forgetResponses(): void {
  remembered.clear();
}

/** Calls again and again, but not while the page is hidden. */
export function useRepeat(everyMs: number, act: () => void): void {
  // The timer keeps running while the callback changes with every render.
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (everyMs === 0) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
