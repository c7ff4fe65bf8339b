// What the benchmarks measure: a provider, a bare proxy in front of it, the gateway in front of it, and the load generator,
// each in a process of its own on a free loopback port.

import type { ServerWork } from "./child.ts";
import type { Target } from "./connection.ts";
import type { LoadWork } from "./load.ts";
import { type Child, openWorkshop } from "./processes.ts";
import type { GatewayReady, GatewayWork } from "./servers/gateway.ts";
import type { ProviderWork } from "./servers/provider.ts";

export interface Server<W extends ServerWork = ServerWork> {
  readonly name: "direct" | "bare proxy" | "gateway" | "without books";
  readonly target: Target;
  readonly process: Child<W>;
}

export interface Rig {
  readonly load: Child<LoadWork>;
  readonly provider: Child<ProviderWork>;
  readonly direct: Server;
  readonly proxy: Server;
  readonly gateway: Server<GatewayWork>;
  /** The gateway without ledger and request log. */
  readonly withoutBooks: Server<GatewayWork>;
  close(): Promise<void>;
}

export async function startRig(): Promise<Rig> {
  const workshop = openWorkshop();
  try {
    const provider = await workshop.start<ProviderWork>("servers/provider");
    const providerPort = provider.ready as number;
    const [load, proxy, gateway, withoutBooks] = await Promise.all([
      workshop.start<LoadWork>("load"),
      workshop.start<ServerWork>("servers/proxy", { providerPort }),
      workshop.start<GatewayWork>("servers/gateway", { folder: workshop.folder(), providerPort }),
      workshop.start<GatewayWork>("servers/gateway", {
        folder: workshop.folder(),
        providerPort,
        isWithoutBooks: true,
      }),
    ]);
    return {
      load,
      provider,
      direct: { name: "direct", target: { port: providerPort, key: null }, process: provider },
      proxy: { name: "bare proxy", target: { port: proxy.ready as number, key: null }, process: proxy },
      gateway: { name: "gateway", target: gateway.ready as GatewayReady, process: gateway },
      withoutBooks: { name: "without books", target: withoutBooks.ready as GatewayReady, process: withoutBooks },
      close: workshop.close,
    };
  } catch (error) {
    await workshop.close();
    throw error;
  }
}
