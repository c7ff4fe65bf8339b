// Client disconnects. Whatever is held for a request (a place, a hold, a provider's work) is released with it.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Runs `end` when the exchange is over, or at once if it is over already: `close` is emitted only once. */
export function whenOver(response: ServerResponse, end: () => void): void {
  if (response.destroyed) end();
  else response.once("close", end);
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
