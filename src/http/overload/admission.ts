// Admission, in front of the framework. A /v1 request starts, waits in the queue, or is rejected with 503 before its key is
// looked up or its body is read. Health checks, metrics and the dashboard are always admitted.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Settings } from "../../config/settings.ts";
import type { Log } from "../../core/log.ts";
import type { ClientSemaphores, Release } from "../../core/processes/semaphores.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { whenOver } from "../exchange/disconnect.ts";
import { respondToMalformedHttp } from "../exchange/errors.ts";
import { InnerSocket } from "../exchange/inner-socket.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import { normaliseGoogleUrl, pathOf } from "../exchange/request-head.ts";
import { OVERLOAD_POLICY } from "./policy.ts";
import type { Pressure } from "./pressure.ts";
import type { RequestQueue } from "./queue.ts";
import { createRejector, type RejectionReason } from "./rejection.ts";

const policy = OVERLOAD_POLICY.admission;

export interface AdmissionContext {
  readonly settings: Pick<Settings, "server" | "limits">;
  readonly formats: RequestFormats;
  readonly pressure: Pick<Pressure, "reason">;
  readonly semaphores: ClientSemaphores;
  readonly metrics: Pick<Metrics, "shed" | "connectionDropped">;
  readonly log: Log;
  readonly now: () => number;
}

/** Node's server with our limits. Admitted requests go on to `handle`. */
export function createAdmissionServer(context: AdmissionContext, queue: RequestQueue, handle: RequestListener): Server {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveMs } = context.settings.server;
  const options = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: policy.connectionCheckMs,
    maxHeaderSize: policy.headersMaxBytes,
    requireHostHeader: false,
  };
  const admit = createAdmission(context, queue, handle);
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    (socket as AnsweredSocket)[NEWEST_RESPONSE] = response;
    request.url = pathOf(request);
    normaliseGoogleUrl(request);
    const kept = undecided.get(socket);
    if (kept === undefined) admit(request, response);
    else void kept.then(() => socket.destroyed || admit(request, response));
  });
  server.on("clientError", (error, socket) => {
    const { _httpMessage: written, [NEWEST_RESPONSE]: newest } = socket as AnsweredSocket;
    // Another response would end up inside the one being written, or be read as that to the next request.
    const isInside = written?.headersSent === true && !written.writableEnded;
    const isSecond = newest?.headersSent === true && !newest.req.complete;
    if (isInside || isSecond) socket.destroy();
    else respondToMalformedHttp(error, socket as Socket, policy.headersMaxBytes);
  });
  const undecided = limitConnections(server, context);
  return server;
}

/** Kept on the socket: a WeakMap would keep it, and the whole request, alive through young garbage collections. */
const NEWEST_RESPONSE = Symbol("newestResponse");

interface AnsweredSocket extends Duplex {
  [NEWEST_RESPONSE]?: ServerResponse;
  /** Node's own mark: the response that is being written. */
  _httpMessage?: ServerResponse | null;
}

/**
 * Node's own limit does not serve here: the primary process hands a refused connection out again, without end where all
 * workers are full. Returns the connections that the primary has not decided on: their requests wait.
 */
function limitConnections(server: Server, { semaphores, metrics }: AdmissionContext): WeakMap<Socket, Promise<void>> {
  const undecided = new WeakMap<Socket, Promise<void>>();
  const counted = new WeakSet<Socket>();
  const keep = (release: Release | null, socket: Socket): void => {
    if (release === null) {
      metrics.connectionDropped();
      socket.destroy();
    } else if (socket.destroyed) release();
    else socket.once("close", release);
  };
  // Before Node's listener, which makes it ready for requests.
  server.prependListener("connection", (socket: Socket) => {
    // The connection that a request inside the process comes from has a slot, and so has one that is read again.
    if (socket instanceof InnerSocket || counted.has(socket)) return;
    counted.add(socket);
    const slot = semaphores.connections.tryAcquire("");
    if (slot !== undefined) return keep(slot, socket);
    const acquired = semaphores.connections.acquire("").catch(() => unlimited);
    const decided = acquired.then((release) => keep(release, socket));
    undecided.set(socket, decided);
    void decided.then(() => undecided.delete(socket));
  });
  return undecided;
}

/** Keeps a connection where the primary does not answer: that is better than losing it. */
const unlimited: Release = () => undefined;

/** Passes a request to `handle`, has it wait, or rejects it. */
export function createAdmission(
  context: AdmissionContext,
  queue: RequestQueue,
  handle: RequestListener,
): RequestListener {
  const sendRejection = createRejector(context.formats);
  const logRejecting = createRejectionLog(context);
  let inFlight = 0;
  const reject = (request: IncomingMessage, response: ServerResponse, reason: RejectionReason): void => {
    context.metrics.shed(reason);
    logRejecting(reason);
    sendRejection({ request, response, reason });
  };
  const admitAt = (release: Release | null, request: IncomingMessage, response: ServerResponse) => {
    if (response.destroyed) return release?.();
    if (release === null) return reject(request, response, "in_flight");
    const reason = pressureOn(inFlight, context);
    // A late event loop rejects what a key sends beyond its fair share, so that others are still served.
    const isLate = reason === "event_loop";
    if (reason !== null && !isLate) {
      release();
      return reject(request, response, reason);
    }
    inFlight += 1;
    whenOver(response, () => {
      inFlight -= 1;
      release();
    });
    if (!isLate && queue.tryStart()) return handle(request, response);
    const waiting = {
      client: clientOf(request, context.formats),
      isDisconnected: () => response.destroyed,
      start: (waitedMs: number) => {
        (request as QueuedMessage)[QUEUE_WAIT_MS] = waitedMs;
        handle(request, response);
      },
      reject: () => reject(request, response, reason ?? "queue"),
    };
    queue.add(waiting, isLate);
  };
  return (request, response) => {
    if (!context.formats.isClientPath(request.url ?? "")) return handle(request, response);
    const { requests } = context.semaphores;
    const slot = requests.tryAcquire("");
    if (slot !== undefined) return admitAt(slot, request, response);
    const acquired = requests.acquire("").catch(() => null);
    void acquired.then((release) => admitAt(release, request, response));
  };
}

/** The key as it was sent. A wrong one is a client as well, until it is verified. */
function clientOf({ url = "", headers }: IncomingMessage, formats: RequestFormats): string {
  if (headers.authorization !== undefined) return headers.authorization;
  const { keyHeader } = formats.of({ url, headers }).habits;
  return keyHeader === null ? "" : String(headers[keyHeader] ?? "");
}

/** The wait travels on the request itself: the framework hands over nothing else. */
const QUEUE_WAIT_MS = Symbol("queueWaitMs");
type QueuedMessage = IncomingMessage & { [QUEUE_WAIT_MS]?: number };

/** The time that a request waited in the queue before it was read. */
export function queueWaitMsOf(request: IncomingMessage): number {
  return (request as QueuedMessage)[QUEUE_WAIT_MS] ?? 0;
}

function pressureOn(inFlight: number, { pressure }: AdmissionContext): RejectionReason | null {
  const reason = pressure.reason();
  return reason === "event_loop" && inFlight < policy.lateLoopMinRequests ? null : reason;
}

/** One log line when rejecting begins, not one for each rejection. */
function createRejectionLog({ log, now }: AdmissionContext): (reason: RejectionReason) => void {
  let quietUntilMs = 0;
  return (reason) => {
    const atMs = now();
    if (atMs >= quietUntilMs) log.warn({ event: "overload.started", reason }, "overloaded: new requests get 503");
    quietUntilMs = atMs + policy.logQuietMs;
  };
}
