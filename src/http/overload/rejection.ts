// Rejection of a request by overload: 503 at once, in the client's format. Rejected connections are read again a few at a
// time, so that clients that retry without waiting cannot keep the process busy with rejecting.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../core/errors.ts";
import type { ClientEnd } from "../../formats/format.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import { requestIdOf } from "../exchange/request-head.ts";
import * as TEXT from "../text.ts";
import { OVERLOAD_POLICY } from "./policy.ts";
import type { PressureReason } from "./pressure.ts";

const policy = OVERLOAD_POLICY.rejection;

export type RejectionReason = "in_flight" | "queue" | PressureReason;

const MESSAGES: Readonly<Record<RejectionReason, string>> = {
  in_flight: TEXT.inFlightFull,
  queue: TEXT.overloaded,
  event_loop: TEXT.overloaded,
  memory: TEXT.shortOfMemory,
};

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
  const retryAfterSeconds = randomRetryAfterSeconds();
  const { format, status, parts } = prepared(request, { reason, retryAfterSeconds });
  const body = parts.join(id);
  const headers = ["x-request-id", id, "retry-after", String(retryAfterSeconds)];
  headers.push("content-type", "application/json; charset=utf-8", "content-length", String(Buffer.byteLength(body)));
  const { requestIdHeader } = format.habits;
  if (requestIdHeader !== null) headers.push(requestIdHeader, id);
  if (isClosing) headers.push("connection", "close");
  response.writeHead(status, headers);
  response.end(body);
  return !isClosing;
}

interface Rejection {
  readonly reason: RejectionReason;
  readonly retryAfterSeconds: number;
}

interface PreparedBody {
  readonly format: ClientEnd;
  readonly status: number;
  /** The id of the request belongs between them. */
  readonly parts: readonly string[];
}

type PreparedBodies = (request: IncomingMessage, rejection: Rejection) => PreparedBody;

/** Stands for the id in a body that is prepared. Ids need no escaping in JSON. */
const ID_PLACE = "{id}";

/** Each body is written once: creating an error for each of thousands of rejections costs more than the rest of them. */
function createPreparedBodies(formats: RequestFormats): PreparedBodies {
  const prepared = new Map<ClientEnd, Map<string, PreparedBody>>();
  return ({ url = "", headers }, rejection) => {
    const format = formats.of({ url, headers });
    const bodies = prepared.get(format) ?? new Map<string, PreparedBody>();
    prepared.set(format, bodies);
    const name = `${rejection.reason} ${rejection.retryAfterSeconds}`;
    const body = bodies.get(name) ?? prepareBody(format, rejection);
    bodies.set(name, body);
    return body;
  };
}

function prepareBody(format: ClientEnd, { reason, retryAfterSeconds }: Rejection): PreparedBody {
  const error = new GatewayError("unavailable", MESSAGES[reason], { code: "overloaded", retryAfterSeconds });
  return { format, status: error.status, parts: JSON.stringify(format.writeError(error, ID_PLACE)).split(ID_PLACE) };
}

/** Random, so that clients do not all come back in the same second. */
export function randomRetryAfterSeconds(): number {
  const { retryAfterMinSeconds: min, retryAfterMaxSeconds: max } = policy;
  return min + Math.floor(Math.random() * (max - min + 1));
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > policy.discardMaxBytes;
}
