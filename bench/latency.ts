// Latency: what a server in between adds to a whole response, at a rate that leaves the machine mostly idle. CPU time per
// request is higher than at full load, where many requests share one wake-up of the process.

import { bodyOf, type Size } from "./clients/bodies.ts";
import { type OwnTimes, readOwnTimes, showOwn } from "./harness/own-times.ts";
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
  readonly sizes: readonly Size[];
}

/** A rate that even a small machine serves with ease. */
const PER_SECOND = 200;
/** Length of the warm-up, at full load: at the measured rate, minutes pass until all code is compiled. */
const WARM_UP_CONNECTIONS = 32;

export async function measureLatency(rig: Rig, plan: LatencyPlan): Promise<Table> {
  const rows: string[][] = [];
  const warmed: string[] = [];
  for (const size of plan.sizes) {
    const measured = await measureSize(rig, size, plan);
    rows.push(...measured.rows);
    warmed.push(`${measured.warmUpRequests} ${size}`);
  }
  return {
    title: `latency: whole answers at ${PER_SECOND} requests/s, times in µs`,
    columns: ["", "body", "p50", "p99", "added p50", "added p99", "CPU/request", "to provider", "to client"],
    rows,
    notes: [
      `${plan.rounds} rounds after ${plan.warmUpMs / 1000} s at full load for each row; in brackets the lowest and the highest round.`,
      "To provider, to client: p50 / p99 of the gateway's own clocks, from bytes in to bytes out.",
      `In that time the gateway of one process served ${warmed.join(" and ")} requests. Each worker got as many.`,
    ],
  };
}

/** The samples of one server. */
interface Measured {
  readonly server: Server;
  readonly rounds: (readonly number[])[];
  readonly cpuUs: number[];
  /** Before the first round. */
  readonly ownBefore: OwnTimes;
}

/** Servers take turns in rounds; a row is compared with the direct way to the provider. */
async function measureSize(rig: Rig, size: Size, { rounds, warmUpMs, roundMs }: LatencyPlan) {
  const { load, gateway } = rig;
  const servers: readonly Server[] = [rig.direct, rig.proxy, rig.gateway, ...rig.others];
  const warming = { bodyOf: () => bodyOf(size), connections: WARM_UP_CONNECTIONS, forMs: warmUpMs };
  const warmUpRequests = await warmUp({ load, servers, gateway, ...warming });
  const all: Measured[] = [];
  for (const server of servers) all.push({ server, rounds: [], cpuUs: [], ownBefore: await readOwnTimes(server) });
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      const { timesUs, cpuUs } = await runRound(rig, { server: one.server, size, forMs: roundMs });
      one.rounds.push(timesUs);
      one.cpuUs.push(cpuUs);
    }
  }
  const direct = all[0] as Measured;
  const ownAfter = await Promise.all(servers.map(readOwnTimes));
  const rows = all.map(({ server, rounds: measured, cpuUs, ownBefore }, index) => {
    const quantiles = [0.5, 0.99].map((share) => show(percentile(measured.flat(), share)));
    const added = [0.5, 0.99].map((share) => {
      const base = percentile(direct.rounds.flat(), share);
      return server === rig.direct ? "" : showRange(measured.map((timesUs) => percentile(timesUs, share) - base));
    });
    const own = (["to provider", "to client"] as const).map((part) =>
      showOwn(ownBefore, ownAfter[index] ?? null, part),
    );
    return [server.name, size, ...quantiles, ...added, showRange(cpuUs), ...own];
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
