// The rig that several benchmarks measure: a provider, a bare proxy and the gateway in front of it, and the load generator.
// Each runs in a process of its own on a free loopback port.

import type { LoadWork } from "../clients/load.ts";
import type { GatewayReady, GatewayWork } from "../servers/gateway.ts";
import type { ProviderWork } from "../servers/provider.ts";
import type { ServerWork } from "./child.ts";
import { NO_OTHERS, type OtherServer, type OthersWanted, startOthers } from "./others.ts";
import { type Child, openProcesses } from "./processes.ts";
import type { Server } from "./server.ts";

export interface Rig {
  readonly load: Child<LoadWork>;
  readonly provider: Child<ProviderWork>;
  readonly direct: Server;
  readonly proxy: Server;
  readonly gateway: Server<GatewayWork>;
  /** The same process, called by clients of the Responses API. */
  readonly responses: Server<GatewayWork>;
  /** The gateway without ledger and request log. */
  readonly withoutLedger: Server<GatewayWork>;
  /** Gateways with several workers, and peers: those of them that were asked for and are there. */
  readonly others: readonly OtherServer[];
  /** A fresh rig with the same servers. */
  again(): Promise<Rig>;
  close(): Promise<void>;
}

/** Everything is stopped again when one of them cannot start. */
export async function startRig(wanted: OthersWanted = NO_OTHERS): Promise<Rig> {
  const processes = openProcesses();
  const others: OtherServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all([...others.map(({ stop }) => stop()), processes.close()]);
  };
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const providerPort = provider.ready as number;
    await startOthers(wanted, { providerPort, newFolder: processes.folder, others });
    const [load, proxy, gateway, withoutLedger] = await Promise.all([
      processes.start<LoadWork>("clients/load"),
      processes.start<ServerWork>("servers/proxy", { providerPort }),
      processes.start<GatewayWork>("servers/gateway", { folder: processes.folder(), providerPort }),
      processes.start<GatewayWork>("servers/gateway", {
        folder: processes.folder(),
        providerPort,
        isWithoutLedger: true,
      }),
    ]);
    return {
      load,
      provider,
      direct: { name: "direct", target: { port: providerPort, key: null }, process: provider },
      proxy: { name: "bare proxy", target: { port: proxy.ready as number, key: null }, process: proxy },
      gateway: { name: "gateway", target: gateway.ready as GatewayReady, process: gateway },
      responses: {
        name: "gateway, Responses",
        target: { ...(gateway.ready as GatewayReady), path: "/v1/responses" },
        process: gateway,
      },
      withoutLedger: { name: "without ledger", target: withoutLedger.ready as GatewayReady, process: withoutLedger },
      others,
      again: () => startRig(wanted),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
