// The only file that calls a provider over the network. Built on undici's dispatch: the request is made from nothing
// (no client header passes), redirects are not followed, and a failure is a value.

import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { type Dispatcher, errors } from "undici";
import { hostKind } from "../config/network.ts";
import type { CancelSignal } from "../core/cancellation.ts";
import type { Provider } from "../core/model.ts";
import { writeBegins, writeEnded } from "../core/requests/body-memory.ts";
import { gatewaysIn, LOOP_HEADER } from "../core/requests/loops.ts";
import { BytePieces, inOnePiece } from "../formats/json/byte-pieces.ts";
import { FormBody } from "../formats/media/upload.ts";
import { type PathOf, pathsOf } from "./addresses.ts";
import type { Auth, AuthHeaders } from "./auth/auth.ts";
import { sendSigned } from "./auth/signing.ts";
import { ByteQueue, type ByteSource } from "./byte-queue.ts";
import { type Connections, openConnections, type Sent, upgradeToSocket } from "./connections.ts";
import { guardedLookup } from "./lookup.ts";
import { AttemptTimeout, AttemptTimer } from "./timer.ts";
import type { Reply, Transport, TransportRequest, Upgraded } from "./transport.ts";

/** Shorter than providers keep idle connections, so that we close first. */
const KEEP_ALIVE_MS = 30_000;
/** No provider sends more; a hostile one could. */
const RESPONSE_HEADERS_MAX_BYTES = 16 * 1024;
/** Many times the longest answer of any model, in its wordiest form. */
const RESPONSE_BODY_MAX_BYTES = 256 * 1024 * 1024;

/** More than the end of a stream and its usage. */
const LINGER_BYTES_MAX = 64 * 1024;
/** A reused connection that the provider closed while it was idle breaks within a round trip. */
const STALE_WITHIN_MS = 1_000;

export interface UpstreamOptions {
  readonly auth: Auth;
  /** The content type of its streams. */
  readonly streamType: string;
  /** The name of this gateway in the header that ends loops; none is sent if left out. */
  readonly loopName?: string | undefined;
  /** A reused connection was closed, and its request is sent again on a new one. */
  readonly onStale: () => void;
  readonly now: () => number;
}

/** The connections to one provider. */
export function createUpstream(
  provider: Provider,
  { auth, streamType, loopName, onStale, now }: UpstreamOptions,
): Transport {
  const base = new URL(provider.baseUrl);
  if (hostKind(base.hostname) === "forbidden") throw new Error(`${base.hostname} is never called`);
  const connections = openConnections(base.origin, {
    connect: { timeout: provider.timeouts.connectMs, lookup: guardedLookup(provider.allowsPrivate !== false) },
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: RESPONSE_HEADERS_MAX_BYTES,
  });
  const fixed = auth.form === "fixed" ? auth.headers : {};
  const headersOf = (request: Pick<TransportRequest, "headers" | "isStream">): AuthHeaders => ({
    ...plainHeaders(provider, request, streamType),
    ...loopHeaders(provider, request, loopName),
  });
  const connection: ProviderConnection = {
    provider,
    connections,
    onStale,
    now,
    inFlight: 0,
    pathOf: pathsOf(provider),
    headersOf: (request) => ({ ...headersOf(request), ...fixed }),
    wholeHeaders: Object.entries({ ...headersOf({ isStream: false }), ...fixed }).flat(),
    streamHeaders: Object.entries({ ...headersOf({ isStream: true }), ...fixed }).flat(),
  };
  return {
    send:
      auth.form === "fixed"
        ? (request) => send(connection, request, headerList(connection, request))
        : (request) => sendSigned(request, signingOf(connection, request, auth)),
    openSocket: (request) => openSocket(connection, auth, request),
    inFlight: () => connection.inFlight,
    async close() {
      await Promise.all([connections.reused.destroy(), connections.fresh.destroy()]);
    },
    async retire() {
      await Promise.all([connections.reused.close(), connections.fresh.close()]);
    },
  };
}

/** A connection of its own, which answers nothing else. */
function openSocket(
  { provider, connections, pathOf, headersOf }: ProviderConnection,
  auth: Auth,
  { path, model }: Pick<TransportRequest, "path" | "model">,
): Promise<Upgraded> {
  const asked = pathOf(path, model);
  const url = `${new URL(provider.baseUrl).origin}${asked}`;
  const headers = headersOf({ isStream: false });
  const { connectMs, firstByteMs } = provider.timeouts;
  const unsigned = { method: "GET", url, headers, body: null };
  return Promise.resolve(auth.form === "fixed" ? {} : auth.headersFor(unsigned, null))
    .then((signed) => ({ path: asked, headers: { ...headers, ...signed }, timeoutMs: connectMs + firstByteMs }))
    .then((handshake) => upgradeToSocket(connections.fresh, handshake))
    .catch((cause: Error) => ({ ok: false, failure: { kind: failureKind(cause), message: cause.message } }));
}

interface ProviderConnection {
  readonly provider: Provider;
  readonly connections: Connections;
  readonly onStale: () => void;
  readonly now: () => number;
  inFlight: number;
  readonly pathOf: PathOf;
  headersOf(request: Pick<TransportRequest, "headers" | "isStream">): AuthHeaders;
  /** Headers of requests that bring none of their own: written once. */
  readonly wholeHeaders: string[];
  readonly streamHeaders: string[];
}

function send(connection: ProviderConnection, request: TransportRequest, headers: string[]): Promise<Reply> {
  return new Promise((resolve) => {
    if (request.signal.aborted) {
      resolve({ ok: false, failure: { kind: "client-gone", message: CLIENT_GONE.message } });
      return;
    }
    const { method = "POST" } = request;
    const path = connection.pathOf(request.path, request.model);
    const sent: Sent = { path, method, ...contentOf(request, headers), carrier: null };
    dispatch(connection.connections.reused, sent, new Exchange(connection, request, { sent, resolve }));
  });
}

/** Describes the body. undici does not know the length of a body in pieces. */
function contentOf({ method, body }: TransportRequest, headers: string[]): Pick<Sent, "headers" | "body"> {
  if (method === "GET") return { headers, body: null };
  if (Buffer.isBuffer(body)) return { headers, body };
  // The client takes any iterable, which its types leave out.
  const pieces = (body instanceof BytePieces ? body.pieces : body) as unknown as Readable;
  return { headers: [...headers, "content-length", String(body.length)], body: pieces };
}

function signingOf(
  connection: ProviderConnection,
  request: TransportRequest,
  auth: Extract<Auth, { form: "each" }>,
): Parameters<typeof sendSigned>[1] {
  const { method = "POST", path, model, body, beginsWithinMs = Number.POSITIVE_INFINITY } = request;
  const { baseUrl, timeouts } = connection.provider;
  const url = `${new URL(baseUrl).origin}${connection.pathOf(path, model)}`;
  return {
    auth,
    unsigned: {
      method,
      url,
      headers: connection.headersOf(request),
      body: method === "GET" || body instanceof FormBody ? null : inOnePiece(body),
    },
    withinMs: Math.min(timeouts.firstByteMs, beginsWithinMs),
    send: (timed, headers) => send(connection, timed, Object.entries(headers).flat()),
  };
}

function dispatch(pool: Connections["reused" | "fresh"], sent: Sent, exchange: Exchange): void {
  try {
    pool.dispatch(sent, exchange);
  } catch (error) {
    exchange.fail(error as Error);
  }
}

/** Names and values in turn, as undici takes them. */
function headerList(connection: ProviderConnection, request: TransportRequest): string[] {
  if (request.headers !== undefined) return Object.entries(connection.headersOf(request)).flat();
  return request.isStream ? connection.streamHeaders : connection.wholeHeaders;
}

/** All but those of the sign-in. */
function plainHeaders(
  provider: Provider,
  request: Pick<TransportRequest, "headers" | "isStream">,
  streamType: string,
): AuthHeaders {
  return {
    "content-type": "application/json",
    accept: request.isStream ? streamType : "application/json",
    "accept-encoding": "identity",
    "user-agent": "switchyard",
    ...request.headers,
    ...provider.headers,
  };
}

/** A vendor's own address leads to no gateway, so it hears of none. */
function loopHeaders(
  { allowsPrivate }: Provider,
  { headers }: Pick<TransportRequest, "headers">,
  loopName: string | undefined,
): AuthHeaders {
  if (loopName === undefined || allowsPrivate === false) return {};
  return { [LOOP_HEADER]: [...gatewaysIn(headers?.[LOOP_HEADER]), loopName].join(", ") };
}

interface Dispatched {
  readonly sent: Sent;
  readonly resolve: (reply: Reply) => void;
}

/** One request to a provider from dispatch to the last byte. */
class Exchange implements Dispatcher.DispatchHandler, ByteSource {
  readonly #connection: ProviderConnection;
  readonly #sent: Sent;
  readonly #resolve: (reply: Reply) => void;
  readonly #signal: CancelSignal;
  readonly #timer: AttemptTimer;
  readonly #body: ByteQueue;
  readonly #onClientGone = (): void => (this.#isEndInSight ? this.#linger() : this.cancel());
  #controller: Dispatcher.DispatchController | null = null;
  /** The socket that carries the request, what it had read before, and when the request went out. */
  #socket: Socket | null = null;
  #bytesReadBefore = 0;
  #sentAtMs = 0;
  #length = 0;
  #lengthMax = RESPONSE_BODY_MAX_BYTES;
  #isEndInSight = false;
  #isClientGone = false;
  #hasStarted = false;
  #isOver = false;

  constructor(connection: ProviderConnection, request: TransportRequest, { sent, resolve }: Dispatched) {
    this.#connection = connection;
    connection.inFlight += 1;
    this.#sent = sent;
    this.#resolve = resolve;
    this.#signal = request.signal;
    this.#timer = new AttemptTimer(connection.provider.timeouts, request, (error) => this.#abort(error));
    this.#body = new ByteQueue(this);
    this.#signal.addEventListener("abort", this.#onClientGone);
    for (const piece of piecesOf(sent)) writeBegins(piece);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#socket = this.#sent.carrier?.socket ?? null;
    this.#bytesReadBefore = this.#socket?.bytesRead ?? 0;
    this.#sentAtMs = this.#connection.now();
    if (this.#isOver) controller.abort(CLIENT_GONE);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // The headers as bytes. Nobody reads them, and an open stream would keep them: 1.6 KB.
    controller.rawHeaders = null;
    if (status < 200) return;
    this.#hasStarted = true;
    this.#timer.headersSeen();
    this.#resolve({ ok: true, status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#timer.bytesSeen();
    this.#length += chunk.length;
    if (this.#length > this.#lengthMax) this.#abort(new Error("the answer is longer than the gateway accepts"));
    else this.#body.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    this.#body.end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  // While the reader is slow the silence is ours, not the provider's.
  pause(): void {
    this.#controller?.pause();
    this.#timer.suspend();
  }

  resume(): void {
    this.#timer.resume();
    this.#controller?.resume();
  }

  cancel(): void {
    this.#abort(CLIENT_GONE);
  }

  release(): void {
    this.#timer.release();
  }

  eventSeen(): void {
    this.#timer.eventSeen();
  }

  lingers(isEndInSight: boolean): void {
    this.#isEndInSight = isEndInSight;
  }

  /** The client has gone, but its answer was about to end: that end may say what the answer cost. */
  #linger(): void {
    this.#isClientGone = true;
    this.#lengthMax = this.#length + LINGER_BYTES_MAX;
    this.#timer.release();
  }

  #abort(error: Error): void {
    if (this.#isOver) return;
    this.fail(error);
    this.#controller?.abort(error);
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    const cause = this.#isClientGone ? CLIENT_GONE : error;
    const failure = { kind: failureKind(cause), message: cause.message };
    if (failure.kind === "broken" && (this.#isUnsent(error) || this.#isStale())) {
      this.#sendAgain();
      return;
    }
    this.#finish();
    if (this.#hasStarted) this.#body.end(failure);
    else this.#resolve({ ok: false, failure });
  }

  /** True if the connection was reset just as the request was given to it: undici gives up a request that waits. */
  #isUnsent({ code = "" }: Error & { code?: string }): boolean {
    return this.#controller === null && this.#sent.carrier?.wasOpen === true && RESET_CODES.has(code);
  }

  /** True if a connection that had been idle ended without a byte of an answer: then nobody has failed. */
  #isStale(): boolean {
    if (this.#socket === null || this.#hasStarted) return false;
    const hasIdled = this.#bytesReadBefore > 0;
    const isSilent = this.#socket.bytesRead === this.#bytesReadBefore;
    return hasIdled && isSilent && this.#connection.now() - this.#sentAtMs < STALE_WITHIN_MS;
  }

  // The provider may have begun with the request, as before any retry. Its first answer is lost, and never charged.
  #sendAgain(): void {
    this.#sent.carrier = null;
    this.#socket = null;
    this.#controller = null;
    this.#connection.onStale();
    dispatch(this.#connection.connections.fresh, this.#sent, this);
  }

  #over(): void {
    this.#connection.inFlight -= 1;
    // On another connection, or with something left to write, its memory may still be read.
    if (this.#socket?.writableLength === 0) for (const piece of piecesOf(this.#sent)) writeEnded(piece);
  }

  #finish(): void {
    if (!this.#isOver) this.#over();
    this.#isOver = true;
    this.#timer.stop();
    this.#signal.removeEventListener("abort", this.#onClientGone);
  }
}

function piecesOf({ body }: Sent): readonly Buffer[] {
  if (Array.isArray(body)) return body as readonly Buffer[];
  return Buffer.isBuffer(body) ? [body] : [];
}

/** Made once: clients leave by the thousand, and its stack trace says nothing. */
const CLIENT_GONE = new Error("the client has gone");

function failureKind(error: Error & { code?: string }): TransportFailureKind {
  if (error === CLIENT_GONE) return "client-gone";
  if (error instanceof errors.ConnectTimeoutError) return "connect";
  if (error instanceof AttemptTimeout) return "timeout";
  return CONNECT_CODES.has(error.code ?? "") ? "connect" : "broken";
}

type TransportFailureKind = Extract<Reply, { ok: false }>["failure"]["kind"];

const RESET_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

const CONNECT_CODES: ReadonlySet<string> = new Set([
  "EADDRFORBIDDEN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "EPROTO",
]);
