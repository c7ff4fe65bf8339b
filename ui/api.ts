// The one way to the server. Errors carry the request id, reads keep the last good response, and losing the session
// shows the sign-in page.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { place } from "./router.ts";
import * as TEXT from "./text.ts";

/** What went wrong with a call, as the gateway said it. Status 0 means that no response came at all. */
export class ApiError extends Error {
  readonly status: number;
  /** The machine-readable code of the error body, where there is one. */
  readonly code: string | null;
  /** Shown beside the message, so that a report can be matched with the request log. */
  readonly requestId: string | null;

  constructor(message: string, about: { status: number; code?: string | null; requestId?: string | null }) {
    super(message);
    this.status = about.status;
    this.code = about.code ?? null;
    this.requestId = about.requestId ?? null;
  }
}

/** Counts up whenever something was written, so that every list on the page reads again. */
export const writes = signal(0);
/** Set by any 401: the session ended while the page was open. */
export const isSignedOut = signal(false);

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** A question in the form of a POST: nothing on the page is out of date after it. */
  readonly isQuestion?: boolean;
}

/** A call to the JSON API. It resolves with the body and rejects with an ApiError, or with an AbortError. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw toError(response, body);
  if (method !== "GET" && options.isQuestion !== true) writes.value += 1;
  return body as T;
}

/** The call itself, for a caller who reads the response as a stream. An error status does not reject. */
export async function send(method: string, path: string, { body, headers, signal }: CallOptions): Promise<Response> {
  const response = await fetch(withAccount(path), {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      // Another site cannot set this header without a preflight request, so the server takes it as proof of origin.
      "x-switchyard-dashboard": "1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    // An aborted call is no failure: its caller ended it.
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(TEXT.unreachable, { status: 0 });
  });
  // A wrong password answers 401 too, and is not the loss of a session.
  if (response.status === 401 && !path.startsWith("/api/session")) isSignedOut.value = true;
  return response;
}

/** Adds the account that the operator looks at. Sessions and accounts themselves belong to no account. */
export function withAccount(path: string): string {
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

/** What a component knows about an address that it reads. */
export interface Load<T> {
  /** The newest data there is; null until the first response. */
  readonly data: T | null;
  readonly error: ApiError | null;
  /** The data shown is of an earlier question or from before the connection was lost. */
  readonly isStale: boolean;
  /** When the data arrived, for "Last updated". */
  readonly loadedAtMs: number | null;
  /** Reads again now. */
  reload(): void;
}

/** One response with the address it belongs to, so that data of another address is recognised as stale. */
interface Loaded {
  readonly path: string | null;
  readonly data: unknown;
  readonly error: ApiError | null;
  readonly loadedAtMs: number | null;
}

const NOTHING: Loaded = { path: null, data: null, error: null, loadedAtMs: null };
/** How soon a read is repeated while the gateway is away. */
const RETRY_MS = 4_000;
/** Enough for going back through a few pages; more would only use memory. */
const REMEMBERED_MAX = 40;
/** Responses by address, so that Back shows at once what was there. */
const remembered = new Map<string, Loaded>();

/** Reads an address; null reads nothing. `everyMs` reads again while the page can be seen. */
export function useLoad<T>(path: string | null, { everyMs = 0 } = {}): Load<T> {
  const full = path === null ? null : withAccount(path);
  const [loaded, setLoaded] = useState<Loaded>(() => remembered.get(full ?? "") ?? NOTHING);
  const [turn, setTurn] = useState(0);
  // The effect below must see the newest data without running again because of it.
  const latest = useRef(loaded);
  latest.current = loaded;
  // Reading the signal here makes every write on the page read this address again.
  const written = writes.value;
  useEffect(() => {
    if (path === null || full === null) return;
    const abort = new AbortController();
    const keep = (next: Loaded): void => {
      remember(full, next);
      setLoaded(next);
    };
    call<T>("GET", path, { signal: abort.signal }).then(
      (data) => keep({ path: full, data, error: null, loadedAtMs: Date.now() }),
      (error: unknown) => {
        if (!abort.signal.aborted) setLoaded({ ...(remembered.get(full) ?? latest.current), error: error as ApiError });
      },
    );
    return () => abort.abort();
  }, [full, turn, written]);
  // A lost connection is retried by itself; an error of the caller would only repeat.
  const isBroken = loaded.error !== null && isTemporary(loaded.error);
  useRepeat(isBroken ? RETRY_MS : everyMs, () => setTurn((count) => count + 1));
  return {
    data: full === null ? null : (loaded.data as T | null),
    error: loaded.error,
    isStale: loaded.data !== null && (loaded.path !== full || loaded.error !== null),
    loadedAtMs: loaded.loadedAtMs,
    reload: () => setTurn((count) => count + 1),
  };
}

/** Deleting before setting moves the entry to the end, so the first key is the oldest. */
function remember(path: string, loaded: Loaded): void {
  remembered.delete(path);
  remembered.set(path, loaded);
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
}

/** After signing out, nothing of this user may be shown to the next one. */
export function forgetResponses(): void {
  remembered.clear();
}

/** No connection, or a fault on the other side: worth trying again. */
function isTemporary({ status }: ApiError): boolean {
  return status === 0 || status >= 500;
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
