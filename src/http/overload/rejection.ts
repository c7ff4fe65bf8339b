// Rejection of a request by overload: 503 at once, in the client's format. Rejected connections are read again a few at a
// time, so that clients that retry without waiting cannot keep the process busy with rejecting.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../core/errors.ts";
import type { ClientEnd } from "../../formats/format.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import { requestIdOf } from "../exchange/request-head.ts";
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
  const prepared = createPreparedBodies(formats);
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
      const isKept = respond(rejected, prepared);
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
function respond({ request, response, reason }: RejectedRequest, prepared: PreparedBodies): boolean {
  const isClosing = hasLargeBody(request);
  const id = requestIdOf(request);
  const { format, parts } = prepared(request, reason);
  const body = parts.join(id);
  const headers = ["x-request-id", id, "retry-after", String(randomRetryAfterSeconds())];
  headers.push("content-type", "application/json; charset=utf-8", "content-length", String(Buffer.byteLength(body)));
  const { requestIdHeader } = format.habits;
  if (requestIdHeader !== null) headers.push(requestIdHeader, id);
  if (isClosing) headers.push("connection", "close");
  response.writeHead(ERRORS[reason].status, headers);
  response.end(body);
  return !isClosing;
}

/** The body of a rejection, in parts between which the id of the request belongs. */
type PreparedBodies = (
  request: IncomingMessage,
  reason: RejectionReason,
) => { readonly format: ClientEnd; readonly parts: readonly string[] };

/** Stands for the id in a body that is prepared. Ids need no escaping in JSON. */
const ID_PLACE = "{id}";

/** Bodies are written once for each format and reason: a rejection must cost as little as possible. */
function createPreparedBodies(formats: RequestFormats): PreparedBodies {
  const prepared = new Map<ClientEnd, BodyParts>();
  return ({ url = "", headers }, reason) => {
    const format = formats.of({ url, headers });
    const bodies = prepared.get(format) ?? prepareBodies(format);
    prepared.set(format, bodies);
    return { format, parts: bodies[reason] };
  };
}

type BodyParts = Readonly<Record<RejectionReason, readonly string[]>>;

function prepareBodies(format: ClientEnd): BodyParts {
  const partsOf = (reason: RejectionReason): readonly string[] =>
    JSON.stringify(format.writeError(ERRORS[reason], ID_PLACE)).split(ID_PLACE);
  return {
    in_flight: partsOf("in_flight"),
    queue: partsOf("queue"),
    event_loop: partsOf("event_loop"),
    memory: partsOf("memory"),
  };
}

/** Random, so that clients do not all come back in the same second. */
export function randomRetryAfterSeconds(): number {
  const { retryAfterMinSeconds: min, retryAfterMaxSeconds: max } = policy;
  return min + Math.floor(Math.random() * (max - min + 1));
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > policy.discardMaxBytes;
}
