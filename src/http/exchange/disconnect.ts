// Client disconnects. Whatever is held for a request (a place, a hold, a provider's work) is released with it.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Functions to run when the exchange is over. Half a dozen listeners cost more than one that runs a list. */
const ENDS = Symbol("ends");
type WatchedResponse = ServerResponse & { [ENDS]?: (() => void)[] };

/** Runs `end` when the exchange is over, or at once if it is over already: `close` is emitted only once. */
export function whenOver(response: ServerResponse, end: () => void): void {
  const watched = response as WatchedResponse;
  if (watched.destroyed) end();
  else if (watched[ENDS] !== undefined) watched[ENDS].push(end);
  else {
    watched[ENDS] = [end];
    watched.on("close", runEnds);
  }
}

function runEnds(this: WatchedResponse): void {
  const ends = this[ENDS] ?? [];
  // The event of a response that never had its turn may come twice.
  this[ENDS] = [];
  for (const end of ends) end();
}

/** Runs a function like `whenOver`, but not before the work that goes on without the client is done. */
export function whenDone(request: FastifyRequest, { raw }: FastifyReply, end: () => void): void {
  whenOver(raw, () => {
    if (request.outlives === null) end();
    else request.outlives.then(end);
  });
}

/** The time that a client that is still sending may take to read the response that refuses its body. */
const LINGER_MS = 2_000;

/**
 * Ends a connection after its response, though the client may still be sending. Closing it at once would reset it, and the
 * client could lose the response. So what still arrives is discarded until the client closes, for a moment at most.
 */
export function closeGently(socket: Socket): void {
  // Node calls this once the response is written.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  };
}

/**
 * A client may send further requests before the first one is answered. When its connection closes, Node tells only the
 * response that was being written. The responses behind it would wait for ever.
 */
export function endWaitingResponses(server: Server): void {
  const waitingOn = new WeakMap<Socket, Set<ServerResponse>>();
  server.on("request", ({ socket }, response) => {
    if (response.socket !== null) return;
    let waiting = waitingOn.get(socket);
    if (waiting === undefined) {
      waiting = new Set();
      waitingOn.set(socket, waiting);
      const waitingHere = waiting;
      socket.once("close", () => endAll(waitingHere));
    }
    const others = waiting.add(response);
    response.once("socket", () => others.delete(response));
  });
}

function endAll(responses: Iterable<ServerResponse>): void {
  for (const response of responses) {
    response.destroy();
    response.emit("close");
  }
}
