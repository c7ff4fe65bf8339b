// WebSocket handshakes on the path of Responses. The key is checked before the protocol changes. A request that asks for
// any other protocol, or elsewhere, is answered as if it had not asked: HTTP allows that, and some clients ask everywhere.

import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import { HeldResponses } from "../../gateway/state/held.ts";
import type { CallContext, LifecycleContext } from "../context.ts";
import type { BodyRoom } from "../exchange/body.ts";
import { keyIdOf, requestInside } from "../exchange/inner-socket.ts";
import { newRequestId, pathOf } from "../exchange/request-head.ts";
import * as TEXT from "../text.ts";
import { SocketConnection } from "./connection.ts";
import { acceptValue, CLOSE } from "./frames.ts";
import { ResponsesSession, turnHeaders } from "./session.ts";

/** All that the connections of a process hold for their next turns. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const PING_MS = 30_000;
/** A key may have fewer where it may have fewer requests running. */
const CONNECTIONS_PER_KEY = 256;
/** A cheap request that needs a key. It is admitted, limited and refused as every other one. */
const CHECK_PATH = "/v1/models";
const KEY = /^[+/0-9A-Za-z]{22}==$/;

const SHUTTING_DOWN = "the gateway is shutting down";
const VERSION = "13";
/** The rest of a refusal that nobody reads is not waited for. */
const REFUSAL_MS = 2_000;

type SocketContext = Pick<CallContext, "settings" | "live" | "formats"> & Pick<LifecycleContext, "isClosing">;

export function serveSockets(server: FastifyInstance, edge: SocketContext, room: BodyRoom): void {
  const sessions = new Set<ResponsesSession>();
  const held = new HeldResponses({ bytes: HELD_BYTES_MAX, valueBytes: room.valueBytes });
  const paths = new Set(
    edge.formats.routes.flatMap(({ format, path }) =>
      format.endpoint === undefined && format.stored !== undefined ? [path] : [],
    ),
  );
  const open = createOpener({ server: server.server, edge, room, held, sessions });
  server.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const unanswered = unansweredOn(socket);
    if (unanswered !== null) {
      socket.on("error", () => undefined);
      unanswered.once("close", () => socket.destroySoon());
      return;
    }
    const [path = ""] = pathOf(request).split("?", 1);
    const isOurs = paths.has(path.replace(/\/{2,}/g, "/").replace(/\/$/, "")) && isWebSocket(request);
    if (isOurs) open({ request, socket, head });
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

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/** A connection whose client asks for another protocol. */
interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that were read behind the head of the request. */
  readonly head: Buffer;
}

interface Opener {
  readonly server: Server;
  readonly edge: SocketContext;
  readonly room: BodyRoom;
  readonly held: HeldResponses;
  readonly sessions: Set<ResponsesSession>;
}

/** Opens the session of a client whose key is valid. */
function createOpener(opener: Opener): (upgrading: Upgrading) => void {
  const { server, sessions, edge } = opener;
  const count = createCounter(() => Math.min(CONNECTIONS_PER_KEY, edge.live().limits.inFlightPerKey));
  return (upgrading) => {
    const { request, socket } = upgrading;
    const { "sec-websocket-key": key = "", "sec-websocket-version": version } = request.headers;
    socket.on("error", () => undefined);
    if (!KEY.test(key) || version !== VERSION) {
      refuse(socket, INVALID);
      return;
    }
    const origin = { ...addressOf(socket), holder: null };
    const headers = turnHeaders(request.headers);
    const check = requestInside(server, origin, { method: "GET", path: CHECK_PATH, headers });
    socket.once("close", () => check.destroy());
    check.on("error", () => socket.destroy());
    check.on("response", (response) => {
      const keyId = keyIdOf(check);
      const go = (body: string): void => {
        if (socket.destroyed) return;
        if (response.statusCode !== 200 || keyId === null) {
          refuse(socket, { status: response.statusCode ?? 500, headers: response.headers, body });
          return;
        }
        const problem = count(keyId, socket);
        if (problem !== null) {
          refuse(socket, problem);
          return;
        }
        socket.write(`${SWITCHING}${headLines({ "sec-websocket-accept": acceptValue(key) })}\r\n`);
        const session = openSession({ ...upgrading, keyId }, opener);
        sessions.add(session);
        socket.once("close", () => sessions.delete(session));
        // The others have been told already.
        if (edge.isClosing()) session.leave(CLOSE.goingAway, SHUTTING_DOWN);
      };
      text(response).then(go, () => socket.destroy());
    });
  };
}

const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n";
const INVALID: Refusal = { status: 400, headers: { "sec-websocket-version": VERSION }, body: TEXT.invalidHandshake };

/** Counts the connections of each key. */
function createCounter(limit: () => number): (keyId: string, socket: Socket) => Refusal | null {
  const open = new Map<string, number>();
  const add = (keyId: string, change: 1 | -1): void => {
    const count = (open.get(keyId) ?? 0) + change;
    if (count === 0) open.delete(keyId);
    else open.set(keyId, count);
  };
  return (keyId, socket) => {
    const most = limit();
    if ((open.get(keyId) ?? 0) >= most)
      return { status: 429, headers: { "retry-after": "1" }, body: TEXT.tooManyConnections(most) };
    add(keyId, 1);
    socket.once("close", () => add(keyId, -1));
    return null;
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

function addressOf(socket: Socket & { readonly encrypted?: boolean }) {
  const { remoteAddress, remotePort, encrypted = false } = socket;
  return { remoteAddress, remotePort, encrypted };
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** Answers a handshake with an error of HTTP. */
function refuse(socket: Socket, { status, headers, body }: Refusal): void {
  const { "transfer-encoding": _framing, "keep-alive": _time, ...told } = headers;
  const all = { ...told, connection: "close", "content-length": String(Buffer.byteLength(body)) };
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${headLines(all)}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}

function headLines(headers: Refusal["headers"]): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return lines.join("");
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
