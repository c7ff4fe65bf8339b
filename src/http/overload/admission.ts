// The door in front of the framework: when the process has enough to do, a /v1 request is answered with 503 at once,
// before its key is looked up or its body is read. Health, metrics and the dashboard stay open.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Edge } from "../context.ts";
import { answerMalformedHttp } from "../exchange/errors.ts";
import { isV1 } from "../exchange/request-format.ts";
import { pathOf } from "../exchange/strict-http.ts";
import type { Line } from "./queue.ts";
import { createRefusal, type ShedReason } from "./rejection.ts";

/** Room for a header with a key of 100 KB: that is answered with 401 like every other bad key. */
const HEADERS_MAX_BYTES = 128 * 1024;
/** Node looks for connections that took too long this often; its own default is half a minute. */
const CONNECTIONS_CHECK_MS = 1_000;
const QUIET_MS = 10_000;

type GateEdge = Pick<Edge, "settings" | "pressure" | "metrics" | "log" | "now">;

/** Node's server with our limits; what passes the door goes on to `handle`. */
export function createGatedServer(edge: GateEdge, line: Line, handle: RequestListener): Server {
  const { timeouts } = edge.settings.server;
  const options = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    maxHeaderSize: HEADERS_MAX_BYTES,
    requireHostHeader: false,
  };
  const enter = createGate(edge, line, handle);
  const newest = new WeakMap<Socket, ServerResponse>();
  const server = createServer(options, (request, response) => {
    newest.set(request.socket, response);
    request.url = pathOf(request);
    enter(request, response);
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

/** Lets a request through to `handle`, has it wait, or answers it. */
export function createGate(edge: GateEdge, line: Line, handle: RequestListener): RequestListener {
  const refuse = createRefusal();
  const note = createNote(edge);
  let inFlight = 0;
  const turnAway = (request: IncomingMessage, response: ServerResponse, reason: ShedReason): void => {
    edge.metrics.shed(reason);
    note(reason);
    refuse({ request, response, reason });
  };
  return (request, response) => {
    if (!isV1(request.url ?? "")) return handle(request, response);
    const reason = whyNot(inFlight, edge);
    if (reason !== null) return turnAway(request, response, reason);
    inFlight += 1;
    response.once("close", () => {
      inFlight -= 1;
    });
    if (line.passes()) return handle(request, response);
    line.wait({
      isGone: () => response.destroyed,
      begin: (waitedMs) => {
        waits.set(request, waitedMs);
        handle(request, response);
      },
      refuse: () => turnAway(request, response, "queue"),
    });
  };
}

const waits = new WeakMap<IncomingMessage, number>();

/** How long a request waited in line before anybody looked at it. */
export function waitedMsOf(request: IncomingMessage): number {
  return waits.get(request) ?? 0;
}

function whyNot(inFlight: number, { settings, pressure }: GateEdge): ShedReason | null {
  if (inFlight >= settings.limits.inFlight) return "in_flight";
  const reason = pressure.reason();
  return reason === "event_loop" && inFlight < FEW ? null : reason;
}

/** With so few of them it is the machine that is slow. Refusing somebody would make nothing quicker. */
const FEW = 32;

/** One line when refusing begins, not one for each refusal. */
function createNote({ log, now }: GateEdge): (reason: ShedReason) => void {
  let quietUntilMs = 0;
  return (reason) => {
    const atMs = now();
    if (atMs >= quietUntilMs) log.warn({ reason }, "overloaded: new requests get 503");
    quietUntilMs = atMs + QUIET_MS;
  };
}
