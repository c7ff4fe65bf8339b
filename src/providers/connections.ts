// The connections to one provider, of two sorts: those of the first stay open between requests, those of the second
// carry one request. A request of the first can tell whether its connection was reused, and how much it has read.

import type { Socket } from "node:net";
import { buildConnector, Client, type Dispatcher, errors, Pool } from "undici";

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
