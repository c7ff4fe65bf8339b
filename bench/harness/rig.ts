// The rig that several benchmarks measure: a provider, a bare proxy and the gateway in front of it, and the load generator.
// Each runs in a process of its own on a free loopback port.

import type { LoadWork } from "../clients/load.ts";
import type { GatewayReady, GatewayWork } from "../servers/gateway.ts";
import type { ProviderWork } from "../servers/provider.ts";
import type { ServerWork } from "./child.ts";
import { type OtherServer, startGateway } from "./gateway.ts";
import { NO_OTHERS, type OthersWanted, startOthers } from "./others.ts";
import { type Child, openProcesses } from "./processes.ts";
import type { Server } from "./server.ts";

export interface Rig {
  readonly load: Child<LoadWork>;
  readonly provider: Child<ProviderWork>;
  readonly direct: Server;
  readonly proxy: Server;
  readonly gateway: Server;
  /** The same process, called by clients of the Responses API. */
  readonly responses: Server;
  /** The same process, called by clients of the Messages API. */
  readonly messages: Server;
  /** The gateway without ledger and request log. */
  readonly withoutLedger: Server;
  /** Gateways with several workers, another version, and peers: those of them that were asked for and are there. */
  readonly others: readonly OtherServer[];
  /** A fresh rig with the same servers. */
  again(): Promise<Rig>;
  close(): Promise<void>;
}

/** Everything is stopped again when one of them cannot start. */
export async function startRig(wanted: OthersWanted = NO_OTHERS): Promise<Rig> {
  const processes = openProcesses();
  const commanded: OtherServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all([...commanded.map(({ stop }) => stop()), processes.close()]);
  };
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const providerPort = provider.ready as number;
    const around = { providerPort, newFolder: processes.folder };
    const gateway = await startGateway({ name: "gateway" }, around);
    commanded.push(gateway);
    await startOthers(wanted, { ...around, others: commanded });
    const [load, proxy, withoutLedger] = await Promise.all([
      processes.start<LoadWork>("clients/load"),
      processes.start<ServerWork>("servers/proxy", { providerPort }),
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
      gateway,
      responses: {
        name: "gateway, Responses",
        target: { ...gateway.target, path: "/v1/responses" },
        process: gateway.process,
      },
      messages: {
        name: "gateway, Messages",
        target: { ...gateway.target, path: "/v1/messages" },
        process: gateway.process,
      },
      withoutLedger: { name: "without ledger", target: withoutLedger.ready as GatewayReady, process: withoutLedger },
      others: commanded.filter((server) => server !== gateway),
      again: () => startRig(wanted),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
