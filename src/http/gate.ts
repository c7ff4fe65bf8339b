// The door in front of the framework: when the process has enough to do, a /v1 request is answered with 503 at once,
// before its key is looked up or its body is read. Health, metrics and the dashboard stay open.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../core/errors.ts";
import type { PressureReason } from "../telemetry/pressure.ts";
import type { Edge } from "./edge.ts";
import { answerMalformedHttp } from "./errors.ts";
import { requestIdHeaders, requestIdOf } from "./request-id.ts";
import { pathOf } from "./strictness.ts";
import type { Queue } from "./v1/queue.ts";
import { formatOf } from "./wire.ts";

/** Room for a header with a key of 100 KB: that is answered with 401 like every other bad key. */
const HEADERS_MAX_BYTES = 128 * 1024;
/** Node looks for connections that took too long this often; its own default is half a minute. */
const CONNECTIONS_CHECK_MS = 1_000;
/** A larger body than this is not read to the end to keep its connection. */
const DISCARD_MAX_BYTES = 64 * 1024;
const QUIET_MS = 10_000;

type GateEdge = Pick<Edge, "settings" | "pressure" | "metrics" | "log" | "now">;
type Line = Pick<Queue, "isFull">;
type ShedReason = "in_flight" | "queue" | PressureReason;

/** Node's server with our limits; what passes the door goes on to `handle`. */
export function createGatedServer(edge: GateEdge, queue: Line, handle: RequestListener): Server {
  const { timeouts } = edge.settings.server;
  const options = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    maxHeaderSize: HEADERS_MAX_BYTES,
    requireHostHeader: false,
  };
  const shed = createGate(edge, queue);
  const newest = new WeakMap<Socket, ServerResponse>();
  const server = createServer(options, (request, response) => {
    newest.set(request.socket, response);
    request.url = pathOf(request);
    if (!shed(request, response)) handle(request, response);
  });
  server.on("clientError", (error, socket) => {
    const response = newest.get(socket as Socket);
    // The rest of a request that was answered already: a second answer would be taken for that to the next request.
    if (response?.headersSent === true && !response.req.complete) socket.destroy();
    else answerMalformedHttp(error, socket as Socket);
  });
  server.maxConnections = edge.settings.limits.connections;
  server.on("drop", () => edge.metrics.connectionDropped());
  return server;
}

/** True when the request was answered here. */
export function createGate(
  edge: GateEdge,
  queue: Line,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { metrics } = edge;
  const note = createNote(edge);
  let inFlight = 0;
  return (request, response) => {
    if (!isV1(request.url ?? "")) return false;
    const reason = whyNot(inFlight, edge, queue);
    if (reason !== null) {
      metrics.shed(reason);
      note(reason);
      refuse(request, response, reason);
      return true;
    }
    inFlight += 1;
    response.once("close", () => {
      inFlight -= 1;
    });
    return false;
  };
}

function whyNot(inFlight: number, { settings, pressure }: GateEdge, queue: Line): ShedReason | null {
  if (inFlight >= settings.limits.inFlight) return "in_flight";
  return pressure.reason() ?? (queue.isFull() ? "queue" : null);
}

function isV1(url: string): boolean {
  return /^\/+v1(?:[/?]|$)/.test(url);
}

const MESSAGES: Readonly<Record<ShedReason, string>> = {
  in_flight: "The gateway serves as many requests as it can. Try again in a moment.",
  queue: "The gateway is overloaded. Try again in a moment.",
  event_loop: "The gateway is overloaded. Try again in a moment.",
  memory: "The gateway is short of memory. Try again in a moment.",
};

function refuse(request: IncomingMessage, response: ServerResponse, reason: ShedReason): void {
  const { headers, url = "" } = request;
  // Not the same second for everybody, or all come back together.
  const retryAfterSeconds = 1 + Math.floor(Math.random() * 3);
  const error = new GatewayError("unavailable", MESSAGES[reason], { code: "overloaded", retryAfterSeconds });
  const id = requestIdOf(request);
  const body = JSON.stringify(formatOf({ url, headers }).writeError(error, id));
  response.writeHead(error.status, {
    ...requestIdHeaders({ id, url, headers }),
    "retry-after": String(retryAfterSeconds),
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...(hasLargeBody(request) ? { connection: "close" } : {}),
  });
  response.end(body);
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > DISCARD_MAX_BYTES;
}

/** One line when refusing begins, not one for each refusal. */
function createNote({ log, now }: GateEdge): (reason: ShedReason) => void {
  let quietUntilMs = 0;
  return (reason) => {
    const atMs = now();
    if (atMs >= quietUntilMs) log.warn({ reason }, "overloaded: new requests get 503");
    quietUntilMs = atMs + QUIET_MS;
  };
}
