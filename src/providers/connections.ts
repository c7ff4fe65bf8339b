// The connections to one provider, in two pools: one keeps them open between requests, the other opens a new one for
// each. A request of the first can tell whether its connection was reused, and how much it has read.

import type { Socket } from "node:net";
import { buildConnector, Client, type Dispatcher, Pool } from "undici";

export interface Connections {
  readonly reused: Pool;
  readonly fresh: Pool;
}

/** A request as it is dispatched; the pool that keeps connections notes which of them carries it. */
export interface Sent extends Dispatcher.DispatchOptions {
  carrier: Carrier | null;
}

interface Carrier {
  socket: Socket | null;
}

export function openConnections(
  origin: string,
  { connect, ...options }: Omit<Pool.Options, "connect"> & { readonly connect: buildConnector.BuildOptions },
): Connections {
  const connector = buildConnector(connect);
  return {
    reused: new Pool(origin, {
      ...options,
      connect: connector,
      factory: (url, given) => new NotingClient(url, given, connector),
    }),
    // Without pipelining, undici closes a connection after its request.
    fresh: new Pool(origin, { ...options, connect: connector, pipelining: 0 }),
  };
}

class NotingClient extends Client {
  readonly #carrier: Carrier;

  constructor(url: URL, options: Client.Options, connector: buildConnector.connector) {
    const carrier: Carrier = { socket: null };
    const connect: buildConnector.connector = (target, done) =>
      connector(target, (...result) => {
        carrier.socket = result[1];
        done(...result);
      });
    super(url, { ...options, connect });
    this.#carrier = carrier;
  }

  override dispatch(sent: Sent, handler: Dispatcher.DispatchHandler): boolean {
    sent.carrier = this.#carrier;
    return super.dispatch(sent, handler);
  }
}
