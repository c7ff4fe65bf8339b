// The handshake of a WebSocket: what a client asks for, and both answers to it.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { acceptValue } from "../../providers/connections.ts";
import * as TEXT from "../text.ts";

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = "13";
/** The rest of a refusal that nobody reads is not waited for. */
const REFUSAL_MS = 2_000;

/** A connection whose client asks for another protocol. */
export interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that were read behind the head of the request. */
  readonly head: Buffer;
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

const INVALID: Refusal = { status: 400, headers: { "sec-websocket-version": VERSION }, body: TEXT.invalidHandshake };

export function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

/** Returns null where the handshake can be answered. */
export function handshakeProblem({ headers }: IncomingMessage): Refusal | null {
  const { "sec-websocket-key": key = "", "sec-websocket-version": version } = headers;
  return KEY.test(key) && version === VERSION ? null : INVALID;
}

/** From here on both ends speak WebSocket. */
export function accept({ request, socket }: Upgrading, headers: Refusal["headers"] = {}): void {
  const key = request.headers["sec-websocket-key"] ?? "";
  const all = { ...headers, "sec-websocket-accept": acceptValue(key) };
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n${headLines(all)}\r\n`,
  );
}

/** Answers a handshake with an error of HTTP. */
export function refuse(socket: Socket, { status, headers, body }: Refusal): void {
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

/** Counts the connections of each key. Returns what to answer where a key has too many. */
export function createCounter(limit: () => number): (keyId: string, socket: Socket) => Refusal | null {
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
