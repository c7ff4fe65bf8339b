// Latency: what a server in between adds to a whole response, at a rate that leaves the machine mostly idle. CPU time per
// request is higher than at full load, where many requests share one wake-up of the process.

import { bodyOf, type Size } from "./clients/bodies.ts";
import type { Rig, Server } from "./harness/rig.ts";
import { median, percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

/** How many rounds, and how long each is. */
export interface LatencyPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

/** A rate that even a small machine serves with ease. */
const PER_SECOND = 200;
const MEASURED: readonly Size[] = ["small", "100 KB"];

export async function measureLatency(rig: Rig, plan: LatencyPlan): Promise<Table> {
  const rows: string[][] = [];
  for (const size of MEASURED) rows.push(...(await measureSize(rig, size, plan)));
  return {
    title: `latency: whole answers at ${PER_SECOND} requests/s, times in µs`,
    columns: ["", "body", "p50", "p99", "added p50", "added p99", "CPU/request"],
    rows,
  };
}

/** The samples of one server. */
interface Measured {
  readonly server: Server;
  readonly timesUs: number[];
  readonly cpuUs: number[];
}

/** Servers take turns in rounds; a row is compared with the direct way to the provider. */
async function measureSize(rig: Rig, size: Size, { rounds, warmUpMs, roundMs }: LatencyPlan): Promise<string[][]> {
  const all: readonly Measured[] = [rig.direct, rig.proxy, rig.gateway].map((server) => ({
    server,
    timesUs: [],
    cpuUs: [],
  }));
  for (const { server } of all) await runRound(rig, { server, size, forMs: warmUpMs });
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      const { timesUs, cpuUs } = await runRound(rig, { server: one.server, size, forMs: roundMs });
      one.timesUs.push(...timesUs);
      one.cpuUs.push(cpuUs);
    }
  }
  const direct = all[0] as Measured;
  return all.map(({ server, timesUs, cpuUs }) => {
    const quantiles = [0.5, 0.99].map((share) => percentile(timesUs, share));
    const added = [0.5, 0.99].map((share) => percentile(timesUs, share) - percentile(direct.timesUs, share));
    const shownAdded = added.map((value) => (server === rig.direct ? "" : show(value)));
    return [server.name, size, ...quantiles.map(show), ...shownAdded, show(median(cpuUs))];
  });
}

async function runRound({ load }: Rig, { server, size, forMs }: { server: Server; size: Size; forMs: number }) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyOf(size), perSecond: PER_SECOND, forMs };
  const timesUs = await load.ask("holdRate", input);
  const after = await server.process.ask("resources", null);
  return { timesUs, cpuUs: (after.cpuUs - before.cpuUs) / timesUs.length };
}
