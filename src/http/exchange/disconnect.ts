// How the edge hears that a client has gone: whatever stands for a request (a place, a hold, a provider's work) is let go
// with it.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Runs when the exchange is over, and at once when it is over already: `close` is told only once. */
export function whenOver(response: ServerResponse, end: () => void): void {
  if (response.destroyed) end();
  else response.once("close", end);
}

/**
 * A client may send further requests before the first is answered. When its connection closes, Node tells only the
 * response that was being written; those that wait behind it would wait for ever.
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
