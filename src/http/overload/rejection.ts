// Rejection of a request by overload: 503 at once, in the client's format. Rejected connections are read again a few at a
// time, so that clients that retry without waiting cannot keep the process busy with rejecting.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../core/errors.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import { requestIdHeaders, requestIdOf } from "../exchange/request-head.ts";
import { OVERLOAD_POLICY } from "./policy.ts";
import type { PressureReason } from "./pressure.ts";

const policy = OVERLOAD_POLICY.rejection;

export type RejectionReason = "in_flight" | "queue" | PressureReason;

/** Made once: creating an error for each of thousands of rejections costs more than the rest of them. */
const ERRORS: Readonly<Record<RejectionReason, GatewayError>> = {
  in_flight: overloaded("The gateway serves as many requests as it can. Try again in a moment."),
  queue: overloaded("The gateway is overloaded. Try again in a moment."),
  event_loop: overloaded("The gateway is overloaded. Try again in a moment."),
  memory: overloaded("The gateway is short of memory. Try again in a moment."),
};

function overloaded(message: string): GatewayError {
  return new GatewayError("unavailable", message, { code: "overloaded" });
}

interface RejectedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reason: RejectionReason;
}

/**
 * Writes rejections at the end of a turn, and reads only a few of their connections again in the next. Otherwise clients
 * that retry at once would be read again and again within one poll of the sockets. That poll would not end: no timer would
 * run, and accepted requests would not get on.
 */
export function createRejector(formats: RequestFormats): (rejected: RejectedRequest) => void {
  const unread: Socket[] = [];
  const pending: RejectedRequest[] = [];
  let isTurnScheduled = false;
  const scheduleTurn = (): void => {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(turn);
  };
  function turn(): void {
    isTurnScheduled = false;
    for (const socket of unread.splice(0, policy.connectionsReadPerTurn)) socket.resume();
    for (const [index, rejected] of pending.splice(0, policy.responsesPerTurn).entries()) {
      const isKept = respond(rejected, formats);
      if (isKept && index >= policy.connectionsReadPerTurn) unread.push(rejected.request.socket.pause());
    }
    if (unread.length > 0 || pending.length > 0) scheduleTurn();
  }
  return (rejected) => {
    // Discards the body as it arrives.
    rejected.request.resume();
    pending.push(rejected);
    scheduleTurn();
  };
}

/** True when the connection can bring another request. */
function respond({ request, response, reason }: RejectedRequest, formats: RequestFormats): boolean {
  const { headers, url = "" } = request;
  const isClosing = hasLargeBody(request);
  const error = ERRORS[reason];
  const id = requestIdOf(request);
  const format = formats.of({ url, headers });
  const body = JSON.stringify(format.writeError(error, id));
  response.writeHead(error.status, {
    ...requestIdHeaders(id, format),
    "retry-after": String(randomRetryAfterSeconds()),
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...(isClosing ? { connection: "close" } : {}),
  });
  response.end(body);
  return !isClosing;
}

/** Random, so that clients do not all come back in the same second. */
export function randomRetryAfterSeconds(): number {
  const { retryAfterMinSeconds: min, retryAfterMaxSeconds: max } = policy;
  return min + Math.floor(Math.random() * (max - min + 1));
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > policy.discardMaxBytes;
}
