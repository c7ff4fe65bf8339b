// Warm-up at full load. Each worker of a gateway compiles its code for itself, so each gets as many requests as a gateway of
// one process. With fewer, its row would be that of cold code.

import type { LoadWork } from "../clients/load.ts";
import type { Child } from "./processes.ts";
import type { Server } from "./server.ts";

interface WarmUp {
  readonly load: Pick<Child<LoadWork>, "ask">;
  /** The one that workers are compared with comes before them. */
  readonly servers: readonly Server[];
  readonly gateway: Server;
  readonly bodyOf: (server: Server) => object;
  readonly connections: number;
  readonly forMs: number;
}

/** Returns how many requests the gateway of one process, or each of its workers, has served. */
export async function warmUp({ load, servers, gateway, bodyOf, connections, forMs }: WarmUp): Promise<number> {
  let ofGateway = 0;
  for (const server of servers) {
    const { target, workers = 1 } = server;
    let served = 0;
    do {
      const saturation = { target, body: bodyOf(server), connections, forMs };
      served += (await load.ask("saturate", saturation)).requests;
    } while (workers > 1 && served < ofGateway * workers);
    if (server === gateway) ofGateway = served;
  }
  return ofGateway;
}
