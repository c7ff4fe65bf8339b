// The one way to the server: errors carry the request id, reads keep the last good answer, and losing the session shows
// the sign-in page.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { place } from "./router.ts";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
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
export const isSignedOut = signal(false);

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** A question in the form of a POST: nothing on the page is out of date after it. */
  readonly isQuestion?: boolean;
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw toError(response, body);
  if (method !== "GET" && options.isQuestion !== true) writes.value += 1;
  return body as T;
}

export async function send(method: string, path: string, { body, headers, signal }: CallOptions): Promise<Response> {
  const response = await fetch(withAccount(path), {
    method,
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      // A page of another site cannot set this without asking first.
      "x-switchyard-dashboard": "1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("The gateway does not answer.", { status: 0 });
  });
  if (response.status === 401 && !path.startsWith("/api/session")) isSignedOut.value = true;
  return response;
}

export function withAccount(path: string): string {
  const account = place.value.query.get("account");
  if (account === null || path.startsWith("/api/session") || path.startsWith("/api/accounts")) return path;
  return `${path}${path.includes("?") ? "&" : "?"}account=${encodeURIComponent(account)}`;
}

export function toError(response: Response, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: { message?: string; code?: string | null } };
  const message = error?.message ?? `The gateway answered ${response.status}.`;
  return new ApiError(message, {
    status: response.status,
    code: error?.code ?? null,
    requestId: response.headers.get("x-request-id"),
  });
}

export interface Load<T> {
  readonly data: T | null;
  readonly error: ApiError | null;
  /** The data shown is of an earlier question or from before the connection was lost. */
  readonly isStale: boolean;
  readonly loadedAtMs: number | null;
  reload(): void;
}

interface Loaded {
  readonly path: string | null;
  readonly data: unknown;
  readonly error: ApiError | null;
  readonly loadedAtMs: number | null;
}

const NOTHING: Loaded = { path: null, data: null, error: null, loadedAtMs: null };
const RETRY_MS = 4_000;
const REMEMBERED_MAX = 40;
/** Responses by address, so that Back shows at once what was there. */
const remembered = new Map<string, Loaded>();

/** Reads an address; null reads nothing. `everyMs` reads again while the page can be seen. */
export function useLoad<T>(path: string | null, { everyMs = 0 } = {}): Load<T> {
  const full = path === null ? null : withAccount(path);
  const [loaded, setLoaded] = useState<Loaded>(() => remembered.get(full ?? "") ?? NOTHING);
  const [turn, setTurn] = useState(0);
  const latest = useRef(loaded);
  latest.current = loaded;
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

function remember(path: string, loaded: Loaded): void {
  remembered.delete(path);
  remembered.set(path, loaded);
  const [oldest] = remembered.keys();
  if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
}

export function forgetResponses(): void {
  remembered.clear();
}

function isTemporary({ status }: ApiError): boolean {
  return status === 0 || status >= 500;
}

/** Calls again and again, but not while the page is hidden. */
export function useRepeat(everyMs: number, act: () => void): void {
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
