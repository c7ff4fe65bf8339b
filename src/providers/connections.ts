// The connections to one provider, of two sorts: those of the first stay open between requests, those of the second
// carry one request. A request of the first can tell whether its connection was reused, and how much it has read. WebSockets
// have connections of their own.

import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { buildConnector, Client, type Dispatcher, errors, Pool } from "undici";
import { AttemptTimeout } from "./timer.ts";
import type { Upgraded } from "./transport.ts";

export interface Connections {
  readonly reused: ReusedConnections;
  readonly fresh: Pool;
}

/** A request as it is dispatched. Connections that are kept note which of them carries it. */
export interface Sent extends Dispatcher.DispatchOptions {
  carrier: { readonly socket: Socket | null; readonly wasOpen: boolean } | null;
}

type Options = Omit<Pool.Options, "connect"> & { readonly connect: buildConnector.BuildOptions };

export function openConnections(origin: string, { connect, ...options }: Options): Connections {
  const connector = buildConnector(connect);
  // Parsed once, not for each connection.
  const url = new URL(origin);
  return {
    reused: new ReusedConnections(() => new ReusedClient(url, options, connector)),
    // Without pipelining, undici closes a connection after its request.
    fresh: new Pool(origin, { ...options, connect: connector, pipelining: 0 }),
  };
}

/**
 * Knows which connections are free. A pool of undici looks through all of them for each request, so opening a stream
 * would take longer the more are open; and it never forgets one.
 */
class ReusedConnections {
  readonly #newClient: () => ReusedClient;
  readonly #clients = new Set<ReusedClient>();
  /** The last one is taken first, so that those that are not needed time out. */
  readonly #free: ReusedClient[] = [];
  #refusal: Error | null = null;

  constructor(newClient: () => ReusedClient) {
    this.#newClient = newClient;
  }

  dispatch(sent: Sent, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#refusal !== null) throw this.#refusal;
    const client = this.#free.pop() ?? this.#open();
    try {
      return client.dispatch(sent, handler);
    } finally {
      // A request that cannot be sent, such as one with a bad header, has failed by now and left the client free.
      if (client.stats.size === 0) this.#requestEnded(client);
    }
  }

  /** Takes no new requests, and resolves once those under way have ended. */
  async close(): Promise<void> {
    this.#refusal ??= new errors.ClientClosedError();
    await Promise.all(Array.from(this.#clients, (client) => client.close()));
  }

  /** Ends what is under way. */
  async destroy(): Promise<void> {
    this.#refusal = new errors.ClientDestroyedError();
    await Promise.all(Array.from(this.#clients, (client) => client.destroy()));
  }

  #open(): ReusedClient {
    const client = this.#newClient();
    this.#clients.add(client);
    client.on("drain", () => this.#requestEnded(client));
    client.on("disconnect", () => this.#disconnected(client));
    client.on("connectionError", () => this.#notConnected(client));
    return client;
  }

  #requestEnded(client: ReusedClient): void {
    if (client.socket === null) this.#clients.delete(client);
    else if (!client.isFree) {
      client.isFree = true;
      this.#free.push(client);
    }
  }

  /** After some errors it counts a request that failed as under way for good: it never drains, and cannot be closed. */
  #notConnected(client: ReusedClient): void {
    // The client connects again for a request that still waits.
    if (client.stats.pending === 0) this.#clients.delete(client);
  }

  /**
   * A client that was just given a request connects again for it. One whose request was given up does so too, and is then
   * free: the next request need not wait until it is connected.
   */
  #disconnected(client: ReusedClient): void {
    client.socket = null;
    if (!client.isFree) return;
    this.#free.splice(this.#free.indexOf(client), 1);
    this.#clients.delete(client);
  }
}

/** One connection. */
class ReusedClient extends Client {
  /** The socket; null before the connection is open. */
  socket: Socket | null = null;
  isFree = false;
  /** True if the connection was open when its request was dispatched. */
  wasOpen = false;

  constructor(url: URL, options: Client.Options, connector: buildConnector.connector) {
    super(url, {
      ...options,
      connect: (target, done) =>
        connector(target, (...result) => {
          this.socket = result[1] ?? null;
          done(...result);
        }),
    });
  }

  override dispatch(sent: Sent, handler: Dispatcher.DispatchHandler): boolean {
    this.isFree = false;
    this.wasOpen = this.socket !== null;
    sent.carrier = this;
    return super.dispatch(sent, handler);
  }
}

/** More than the error of a refusal. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const KEY_BYTES = 16;
/** Fields of the handshake, which the headers of other requests do not have. */
const NO_BODY: ReadonlySet<string> = new Set(["content-type", "accept", "accept-encoding"]);

interface Handshake {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time in which the provider has to answer. */
  readonly timeoutMs: number;
}

/** Rejects where no answer came. */
export function upgradeToSocket(pool: Pool, { path, headers, timeoutMs }: Handshake): Promise<Upgraded> {
  const key = randomBytes(KEY_BYTES).toString("base64");
  const sent = Object.entries(headers).filter(([name]) => !NO_BODY.has(name.toLowerCase()));
  const all = { ...Object.fromEntries(sent), "sec-websocket-key": key, "sec-websocket-version": "13" };
  return new Promise((resolve, reject) => {
    const options = { path, method: "GET" as const, headers: all, upgrade: "websocket", headersTimeout: timeoutMs };
    pool.dispatch(options, new HandshakeHandler(acceptValue(key), timeoutMs, { resolve, reject }));
  });
}

/** The value that proves that the handshake was understood. */
export function acceptValue(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

interface Settling {
  readonly resolve: (upgraded: Upgraded) => void;
  readonly reject: (error: Error) => void;
}

class HandshakeHandler implements Dispatcher.DispatchHandler {
  readonly #accept: string;
  readonly #timeoutMs: number;
  readonly #settling: Settling;
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #refusal: { readonly status: number; readonly headers: Record<string, string | string[] | undefined> } | null = null;

  constructor(accept: string, timeoutMs: number, settling: Settling) {
    this.#accept = accept;
    this.#timeoutMs = timeoutMs;
    this.#settling = settling;
  }

  /** By this method undici knows handlers of this sort. */
  onRequestStart(): void {
    this.#refusal = null;
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    socket: Duplex,
  ): void {
    if (status === 101 && headers["sec-websocket-accept"] === this.#accept) {
      this.#settling.resolve({ ok: true, socket: socket as Socket });
      return;
    }
    socket.destroy();
    this.#settling.reject(new Error("the provider does not speak WebSocket"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#refusal = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    this.#pieces.push(chunk);
    if (this.#length <= REFUSAL_BYTES_MAX) return;
    this.onResponseEnd();
    controller.abort(new Error("the refusal is too long"));
  }

  onResponseEnd(): void {
    if (this.#refusal === null) this.#settling.reject(new Error("the provider sent no answer"));
    else this.#settling.resolve({ ok: false, ...this.#refusal, body: Buffer.concat(this.#pieces) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isLate = (error as { readonly code?: string }).code === "UND_ERR_HEADERS_TIMEOUT";
    this.#settling.reject(isLate ? new AttemptTimeout("no answer", this.#timeoutMs) : error);
  }
}
