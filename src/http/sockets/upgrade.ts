// WebSocket handshakes, on the path of Responses and those of others. The key is checked before the protocol changes. A
// request that asks for any other protocol, or elsewhere, is answered as if it had not asked: HTTP allows that, and some
// clients ask everywhere.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { HeldResponses } from "../../gateway/state/held.ts";
import type { CallContext, LifecycleContext } from "../context.ts";
import type { BodyRoom } from "../exchange/body.ts";
import { requestInside } from "../exchange/inner-socket.ts";
import { newRequestId, pathOf } from "../exchange/request-head.ts";
import { SocketConnection } from "./connection.ts";
import { CLOSE } from "./frames.ts";
import { accept, createCounter, handshakeProblem, isWebSocket, refuse, type Upgrading } from "./handshake.ts";
import { addressOf, checkKey } from "./key-check.ts";
import { ResponsesSession, turnHeaders } from "./session.ts";

/** All that the connections of a process hold for their next turns. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const PING_MS = 30_000;
/** A key may have fewer where it may have fewer requests running. */
const CONNECTIONS_PER_KEY = 256;
const SHUTTING_DOWN = "the gateway is shutting down";

type SocketContext = Pick<CallContext, "settings" | "live" | "formats"> & Pick<LifecycleContext, "isClosing">;

export interface ServedSockets {
  readonly edge: SocketContext;
  readonly room: BodyRoom;
  /** Opens the connections on other paths. */
  readonly others: (opener: Omit<Opener, "held" | "edge">) => ReadonlyMap<string, (upgrading: Upgrading) => void>;
}

export function serveSockets(server: FastifyInstance, { edge, room, others }: ServedSockets): void {
  const sessions = new Set<LeavingSession>();
  const count = createCounter(() => Math.min(CONNECTIONS_PER_KEY, edge.live().limits.inFlightPerKey));
  const held = new HeldResponses({ bytes: HELD_BYTES_MAX, valueBytes: room.valueBytes });
  const paths = new Set(
    edge.formats.routes.flatMap(({ format, path }) =>
      format.endpoint === undefined && format.stored !== undefined ? [path] : [],
    ),
  );
  const opener = { server: server.server, edge, room, held, sessions, count };
  const open = createOpener(opener);
  const openers = others(opener);
  server.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const unanswered = unansweredOn(socket);
    if (unanswered !== null) {
      socket.on("error", () => undefined);
      unanswered.once("close", () => socket.destroySoon());
      return;
    }
    const [path = ""] = pathOf(request).split("?", 1);
    const plain = path.replace(/\/{2,}/g, "/").replace(/\/$/, "");
    const opens = paths.has(plain) ? open : openers.get(plain);
    if (opens !== undefined && isWebSocket(request)) opens({ request, socket, head });
    else readAsPlain(server.server, { request, socket, head });
  });
  server.addHook("preClose", async () => {
    for (const session of sessions) session.leave(CLOSE.goingAway, SHUTTING_DOWN);
  });
}

/**
 * The response that is being written, or null. A client that asks for another protocol before it has one gets this one, and
 * nothing more: answers would mix, and a thousand such requests in one piece would begin inside of one another.
 */
function unansweredOn(socket: Socket): ServerResponse | null {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

interface Opener {
  readonly server: Server;
  readonly edge: SocketContext;
  readonly room: BodyRoom;
  readonly held: HeldResponses;
  readonly sessions: Set<LeavingSession>;
  readonly count: ReturnType<typeof createCounter>;
}

type LeavingSession = Pick<ResponsesSession, "leave">;

/** Opens the session of a client whose key is valid. */
function createOpener(opener: Opener): (upgrading: Upgrading) => void {
  const { server, sessions, edge, count } = opener;
  return (upgrading) => {
    const { request, socket } = upgrading;
    socket.on("error", () => undefined);
    const invalid = handshakeProblem(request);
    if (invalid !== null) {
      refuse(socket, invalid);
      return;
    }
    void checkKey(server, { socket, headers: turnHeaders(request.headers) }).then((checked) => {
      if (checked === null) return;
      const problem = "refusal" in checked ? checked.refusal : count(checked.keyId, socket);
      if (problem !== null || "refusal" in checked) {
        if (problem !== null) refuse(socket, problem);
        return;
      }
      accept(upgrading);
      const session = openSession({ ...upgrading, keyId: checked.keyId }, opener);
      sessions.add(session);
      socket.once("close", () => sessions.delete(session));
      // The others have been told already.
      if (edge.isClosing()) session.leave(CLOSE.goingAway, SHUTTING_DOWN);
    });
  };
}

interface AdmittedUpgrade extends Upgrading {
  readonly keyId: string;
}

function openSession(
  { request, socket, head, keyId }: AdmittedUpgrade,
  { server, edge, room, held }: Opener,
): ResponsesSession {
  const { bodyLimitBytes, bodyGraceMs, writeStallMs, socketAgeMs, socketIdleMs } = edge.settings.server;
  const holder = held.open();
  const origin = { ...addressOf(socket), holder };
  const headers = { ...turnHeaders(request.headers), "content-type": "application/json" };
  const path = request.url ?? "/";
  const connection = new SocketConnection(socket, {
    limits: { messageBytes: bodyLimitBytes, stallMs: writeStallMs, pingMs: PING_MS, graceMs: bodyGraceMs },
    charge: (bytes) => room.tryTake(keyId, bytes),
    events: {
      message: (bytes, charge) => session.take(bytes, charge),
      closed() {
        session.over();
        held.close(holder);
      },
    },
  });
  const session = new ResponsesSession({
    connection,
    holder,
    begin: (body) => {
      const length = { "content-length": String(body.length) };
      return requestInside(server, origin, { method: "POST", path, headers: { ...headers, ...length }, body });
    },
    ageMs: socketAgeMs,
    idleMs: socketIdleMs,
    writeError: (error) => edge.formats.of({ url: path, headers: request.headers }).writeError(error, newRequestId()),
  });
  connection.begin(head);
  return session;
}

/** Gives the connection back to the server, with the head of the request as if no other protocol was asked for. */
function readAsPlain(server: Server, { request, socket, head }: Upgrading): void {
  const { method, url, httpVersion, rawHeaders } = request;
  let lines = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (/^(?:upgrade|connection|http2-settings)$/i.test(name)) continue;
    lines += `${name}: ${rawHeaders[index + 1]}\r\n`;
  }
  if (/(?:^|,)\s*close\s*(?:,|$)/i.test(request.headers.connection ?? "")) lines += "connection: close\r\n";
  server.emit("connection", socket);
  socket.unshift(Buffer.concat([Buffer.from(`${lines}\r\n`, "latin1"), head]));
}
