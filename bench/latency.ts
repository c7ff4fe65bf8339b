// Latency: what a server in between adds to a whole response, at a rate that leaves the machine mostly idle. CPU time per
// request is higher than at full load, where many requests share one wake-up of the process.

import { bodyOf, type Size } from "./clients/bodies.ts";
import type { Rig } from "./harness/rig.ts";
import type { Server } from "./harness/server.ts";
import { percentile } from "./harness/statistics.ts";
import { show, showRange, type Table } from "./harness/table.ts";
import { warmUp } from "./harness/warm-up.ts";

/** Number of rounds, and the length of each. */
export interface LatencyPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

/** A rate that even a small machine serves with ease. */
const PER_SECOND = 200;
/** Length of the warm-up, at full load: at the measured rate, minutes pass until all code is compiled. */
const WARM_UP_CONNECTIONS = 32;
const MEASURED: readonly Size[] = ["small", "100 KB"];

export async function measureLatency(rig: Rig, plan: LatencyPlan): Promise<Table> {
  const rows: string[][] = [];
  const warmed: string[] = [];
  for (const size of MEASURED) {
    const measured = await measureSize(rig, size, plan);
    rows.push(...measured.rows);
    warmed.push(`${measured.warmUpRequests} ${size}`);
  }
  return {
    title: `latency: whole answers at ${PER_SECOND} requests/s, times in µs`,
    columns: ["", "body", "p50", "p99", "added p50", "added p99", "CPU/request"],
    rows,
    notes: [
      `${plan.rounds} rounds after ${plan.warmUpMs / 1000} s at full load for each row; in brackets the lowest and the highest round.`,
      `In that time the gateway of one process served ${warmed.join(" and ")} requests. Each worker got as many.`,
    ],
  };
}

/** The samples of one server. */
interface Measured {
  readonly server: Server;
  readonly rounds: (readonly number[])[];
  readonly cpuUs: number[];
}

/** Servers take turns in rounds; a row is compared with the direct way to the provider. */
async function measureSize(rig: Rig, size: Size, { rounds, warmUpMs, roundMs }: LatencyPlan) {
  const all: readonly Measured[] = [rig.direct, rig.proxy, rig.gateway, ...rig.others].map((server) => ({
    server,
    rounds: [],
    cpuUs: [],
  }));
  const { load, gateway } = rig;
  const servers = all.map(({ server }) => server);
  const warming = { bodyOf: () => bodyOf(size), connections: WARM_UP_CONNECTIONS, forMs: warmUpMs };
  const warmUpRequests = await warmUp({ load, servers, gateway, ...warming });
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      const { timesUs, cpuUs } = await runRound(rig, { server: one.server, size, forMs: roundMs });
      one.rounds.push(timesUs);
      one.cpuUs.push(cpuUs);
    }
  }
  const direct = all[0] as Measured;
  const rows = all.map(({ server, rounds: measured, cpuUs }) => {
    const quantiles = [0.5, 0.99].map((share) => show(percentile(measured.flat(), share)));
    const added = [0.5, 0.99].map((share) => {
      const base = percentile(direct.rounds.flat(), share);
      return server === rig.direct ? "" : showRange(measured.map((timesUs) => percentile(timesUs, share) - base));
    });
    return [server.name, size, ...quantiles, ...added, showRange(cpuUs)];
  });
  return { rows, warmUpRequests };
}

async function runRound({ load }: Rig, { server, size, forMs }: { server: Server; size: Size; forMs: number }) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyOf(size), perSecond: PER_SECOND, forMs };
  const timesUs = await load.ask("holdRate", input);
  const after = await server.process.ask("resources", null);
  return { timesUs, cpuUs: (after.cpuUs - before.cpuUs) / timesUs.length };
}
