// Admission, in front of the framework. A /v1 request starts, waits in the queue, or is rejected with 503 before its key is
// looked up or its body is read. Health checks, metrics and the dashboard are always admitted.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Settings } from "../../config/settings.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { respondToMalformedHttp } from "../exchange/errors.ts";
import { normaliseGoogleUrl } from "../exchange/google-url.ts";
import { isV1, type RequestFormats } from "../exchange/request-format.ts";
import { pathOf } from "../exchange/request-head.ts";
import { OVERLOAD_POLICY } from "./policy.ts";
import type { Pressure } from "./pressure.ts";
import type { RequestQueue } from "./queue.ts";
import { createRejector, type RejectionReason } from "./rejection.ts";

const policy = OVERLOAD_POLICY.admission;

export interface AdmissionContext {
  readonly settings: Pick<Settings, "server" | "limits">;
  readonly formats: RequestFormats;
  readonly pressure: Pick<Pressure, "reason">;
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
  const newestResponse = new WeakMap<Socket, ServerResponse>();
  const server = createServer(options, (request, response) => {
    newestResponse.set(request.socket, response);
    request.url = pathOf(request);
    normaliseGoogleUrl(request);
    admit(request, response);
  });
  server.on("clientError", (error, socket) => {
    const response = newestResponse.get(socket as Socket);
    // The rest of a request that has its response already: a second one would be taken for that to the next request.
    if (response?.headersSent === true && !response.req.complete) socket.destroy();
    else respondToMalformedHttp(error, socket as Socket);
  });
  server.maxConnections = context.settings.limits.connections;
  server.on("drop", () => context.metrics.connectionDropped());
  return server;
}

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
  return (request, response) => {
    if (!isV1(request.url ?? "")) return handle(request, response);
    const reason = rejectionReason(inFlight, context);
    // A late event loop rejects what a key sends beyond its fair place, so that others are still served.
    const isLate = reason === "event_loop";
    if (reason !== null && !isLate) return reject(request, response, reason);
    inFlight += 1;
    response.once("close", () => {
      inFlight -= 1;
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

/** How long a request waited in the queue before it was read. */
export function queueWaitMsOf(request: IncomingMessage): number {
  return (request as QueuedMessage)[QUEUE_WAIT_MS] ?? 0;
}

function rejectionReason(inFlight: number, { settings, pressure }: AdmissionContext): RejectionReason | null {
  if (inFlight >= settings.limits.inFlight) return "in_flight";
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
