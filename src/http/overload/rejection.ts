// The answer to a request that is too many: 503 at once, in the client's format. Its connection is heard again in a later
// turn of the event loop, a few at a time: who comes back without waiting must not keep the process busy with refusing.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../core/errors.ts";
import type { PressureReason } from "../../telemetry/pressure.ts";
import { formatOf } from "../exchange/request-format.ts";
import { requestIdHeaders, requestIdOf } from "../exchange/request-id.ts";

export type ShedReason = "in_flight" | "queue" | PressureReason;

/** A larger body than this is not read to the end to keep its connection. */
const DISCARD_MAX_BYTES = 64 * 1024;
/** As much work as a few requests that are served. */
const HEARD_PER_TURN = 64;
/** A wave that comes in one poll of the system is answered in a few turns, with room for other work between them. */
const ANSWERED_PER_TURN = 256;

/** Made once: an error that is made for each of thousands of refusals costs more than all else of them. */
const ERRORS: Readonly<Record<ShedReason, GatewayError>> = {
  in_flight: overloaded("The gateway serves as many requests as it can. Try again in a moment."),
  queue: overloaded("The gateway is overloaded. Try again in a moment."),
  event_loop: overloaded("The gateway is overloaded. Try again in a moment."),
  memory: overloaded("The gateway is short of memory. Try again in a moment."),
};

function overloaded(message: string): GatewayError {
  return new GatewayError("unavailable", message, { code: "overloaded" });
}

interface Refused {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly reason: ShedReason;
}

/**
 * Refusals are written at the end of a turn, and of their connections only a few are read again in the next. Else who
 * comes back at once would be read again and again in one and the same poll of the system, which then has no end: no
 * timer runs, and nothing that was accepted gets on.
 */
export function createRefusal(): (refused: Refused) => void {
  const resting: Socket[] = [];
  const refusals: Refused[] = [];
  let isTurnDue = false;
  const awaitTurn = (): void => {
    if (isTurnDue) return;
    isTurnDue = true;
    setImmediate(turn);
  };
  function turn(): void {
    isTurnDue = false;
    for (const socket of resting.splice(0, HEARD_PER_TURN)) socket.resume();
    for (const [index, refused] of refusals.splice(0, ANSWERED_PER_TURN).entries()) {
      const isKept = answer(refused);
      if (isKept && index >= HEARD_PER_TURN) resting.push(refused.request.socket.pause());
    }
    if (resting.length > 0 || refusals.length > 0) awaitTurn();
  }
  return (refused) => {
    // Its body is thrown away as it comes.
    refused.request.resume();
    refusals.push(refused);
    awaitTurn();
  };
}

/** True when the connection can bring another request. */
function answer({ request, response, reason }: Refused): boolean {
  const { headers, url = "" } = request;
  const isClosing = hasLargeBody(request);
  // Not the same second for everybody, or all come back together.
  const retryAfterSeconds = 1 + Math.floor(Math.random() * 3);
  const error = ERRORS[reason];
  const id = requestIdOf(request);
  const body = JSON.stringify(formatOf({ url, headers }).writeError(error, id));
  response.writeHead(error.status, {
    ...requestIdHeaders({ id, url, headers }),
    "retry-after": String(retryAfterSeconds),
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...(isClosing ? { connection: "close" } : {}),
  });
  response.end(body);
  return !isClosing;
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > DISCARD_MAX_BYTES;
}
