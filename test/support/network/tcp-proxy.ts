// A TCP proxy that does harm on command: between the gateway and a provider, PostgreSQL or Redis. It can refuse, swallow,
// hold back, delay, slice, throttle, cut and reset, for the connections that are open and for those to come.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "./ports.ts";
import { createPipe, type Harm, type Pipe } from "./tcp-pipe.ts";

export type { Harm } from "./tcp-pipe.ts";

/**
 * What a connection meets while the other side is away. `refuse`: nobody listens, and open connections end. `close`: it
 * is accepted and closed at once. `reset`: the same, with RST. `swallow`: it is accepted and nothing ever comes back,
 * on open connections either.
 */
type Absence = "refuse" | "close" | "reset" | "swallow";

export interface TcpProxy {
  readonly port: number;
  /** The target's address, or another one of it, by way of this proxy. */
  readonly url: string;
  /** Connections that are open now, and how many there have been. */
  readonly open: number;
  readonly accepted: number;
  /** Bytes that were let through so far. */
  readonly toServerBytes: number;
  readonly toClientBytes: number;
  /** The target is away from now on. */
  goAway(how?: Absence): Promise<void>;
  /** It is back; connections that were swallowed are reset, as a restarted host would. */
  comeBack(): Promise<void>;
  /** Ends every open connection; new ones are welcome. */
  cut(how?: "close" | "reset"): void;
  /** Holds back every byte until `resume`; nothing is lost. */
  pause(): void;
  resume(): void;
  /** What is done to bytes from now on, on open connections too; `{}` for nothing. */
  harm(toClient: Harm, toServer?: Harm): void;
  /** Called with every piece before it is passed on, so that the trouble can begin at an exact moment. Null for nobody. */
  listen(listener: ((bytes: Buffer, direction: "toServer" | "toClient") => void) | null): void;
  close(): Promise<void>;
}

interface Connection {
  readonly sockets: readonly Socket[];
  readonly pipes: readonly [toServer: Pipe, toClient: Pipe];
}

interface State {
  readonly target: URL;
  readonly connections: Set<Connection>;
  absence: Absence | null;
  isPaused: boolean;
  harms: { toServer: Harm; toClient: Harm };
  accepted: number;
  readonly bytes: { toServer: number; toClient: number };
  listener: Parameters<TcpProxy["listen"]>[0];
}

/** `target` is an address of any scheme with a host and a port. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const state: State = {
    target: new URL(target),
    connections: new Set(),
    absence: null,
    isPaused: false,
    harms: { toServer: {}, toClient: {} },
    accepted: 0,
    bytes: { toServer: 0, toClient: 0 },
    listener: null,
  };
  const server = createServer({ allowHalfOpen: true }, (client) => accept(state, client));
  const port = await freePort();
  await listen(server, port);
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    port,
    url: url.href,
    get open() {
      return state.connections.size;
    },
    get accepted() {
      return state.accepted;
    },
    get toServerBytes() {
      return state.bytes.toServer;
    },
    get toClientBytes() {
      return state.bytes.toClient;
    },
    async goAway(how = "close") {
      state.absence = how;
      if (how === "refuse") await stopListening(server, state);
      else if (how === "swallow") applyHarms(state);
      else endAll(state, how);
    },
    async comeBack() {
      const { absence } = state;
      state.absence = null;
      if (absence === "swallow") endAll(state, "reset");
      if (absence === "refuse") await listen(server, port);
    },
    cut: (how = "close") => endAll(state, how),
    pause: () => setPaused(state, true),
    resume: () => setPaused(state, false),
    harm(toClient, toServer = {}) {
      state.harms = { toClient, toServer };
      applyHarms(state);
    },
    listen(listener) {
      state.listener = listener;
    },
    async close() {
      endAll(state, "close");
      if (server.listening) await stopListening(server, state);
    },
  };
}

function accept(state: State, client: Socket): void {
  state.accepted += 1;
  if (state.absence === "close") return void client.destroy();
  if (state.absence === "reset") return void client.resetAndDestroy();
  const { hostname, port } = state.target;
  const server = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  for (const socket of [client, server]) socket.setNoDelay(true);
  const note = (direction: "toServer" | "toClient") => (piece: Buffer) => {
    state.listener?.(piece, direction);
    state.bytes[direction] += piece.length;
  };
  const pipes = [createPipe(client, server, note("toServer")), createPipe(server, client, note("toClient"))] as const;
  const connection: Connection = { sockets: [client, server], pipes };
  state.connections.add(connection);
  const [toServer, toClient] = pipes;
  for (const { one, other, outgoing, incoming } of [
    { one: client, other: server, outgoing: toServer, incoming: toClient },
    { one: server, other: client, outgoing: toClient, incoming: toServer },
  ]) {
    // A connection that breaks on one side breaks on the other.
    one.on("error", () => other.resetAndDestroy());
    one.on("close", () => {
      incoming.stop();
      outgoing.finish();
      if (other.destroyed) state.connections.delete(connection);
    });
  }
  applyHarms(state);
  for (const pipe of pipes) pipe.setPaused(state.isPaused);
}

function applyHarms({ connections, harms, absence }: State): void {
  const swallow: Harm = { swallowAfterBytes: 0 };
  for (const { pipes } of connections) {
    pipes[0].setHarm(absence === "swallow" ? swallow : harms.toServer);
    pipes[1].setHarm(absence === "swallow" ? swallow : harms.toClient);
  }
}

function setPaused(state: State, isPaused: boolean): void {
  state.isPaused = isPaused;
  for (const { pipes } of state.connections) for (const pipe of pipes) pipe.setPaused(isPaused);
}

function endAll({ connections }: State, how: "close" | "reset"): void {
  for (const { sockets } of connections) {
    for (const socket of sockets) {
      if (how === "reset") socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  connections.clear();
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}

async function stopListening(server: Server, state: State): Promise<void> {
  const closed = once(server, "close");
  server.close();
  endAll(state, "close");
  await closed;
}
