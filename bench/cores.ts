// Cores: whole answers of one gateway with more and more workers, as many a second as it can. Provider and load are
// several processes each, so that neither is the limit.

import type { Crew } from "../src/workers/count.ts";
import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { bodyOf } from "./clients/bodies.ts";
import type { Target } from "./clients/connection.ts";
import type { LoadWork } from "./clients/load.ts";
import type { ServerWork } from "./harness/child.ts";
import { type GatewayServer, startWorkers } from "./harness/gateway.ts";
import { type Child, openProcesses, type Processes } from "./harness/processes.ts";
import { percentile } from "./harness/statistics.ts";
import { show, showRange, type Table } from "./harness/table.ts";
import type { ProviderWork } from "./servers/provider.ts";

export interface CoresPlan {
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
  readonly proxyMs: number;
}

const LOADS = 4;
const PROVIDER_PROCESSES = 4;
const CONNECTIONS_PER_WORKER = 32;
/** One worker is busy with these. */
const CONNECTIONS_MIN = 64;

/** One row of the table, with a sample from each round. */
interface Case {
  readonly workers: number;
  readonly perSecond: number[];
  readonly cpuUs: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
  rssBytes: number;
  /** Requests per second of as many bare proxies. */
  proxiesPerSecond: number;
}

interface CoresWanted extends CoresPlan {
  /** Workers of each gateway. */
  readonly workers: readonly Crew[];
}

export async function measureCores(plan: CoresWanted, store: "SQLite" | "PostgreSQL"): Promise<Table> {
  const processes = openProcesses();
  try {
    const provider = await processes.start<ProviderWork>("servers/provider", { processes: PROVIDER_PROCESSES });
    const loads = await startLoads(processes);
    const cases: Case[] = [];
    for (const crew of plan.workers) {
      const workers = crew.most;
      const postgres = store === "SQLite" ? null : await startPostgres({ settings: ["fsync=on"] });
      const around = { providerPort: provider.ready as number, newFolder: processes.folder };
      const gateway = await startWorkers(crew, around, postgres?.url);
      try {
        const keys = await Promise.all(loads.map(() => gateway.newKey()));
        cases.push(await measureGateway({ gateway, loads, keys, workers }, plan));
      } finally {
        await gateway.stop();
        await postgres?.stop();
      }
      (cases.at(-1) as Case).proxiesPerSecond = await measureProxies(workers, { ...around, loads }, plan);
    }
    return tableOf(cases, store, (plan.warmUpRounds * plan.warmUpMs) / 1000);
  } finally {
    await processes.close();
  }
}

function startLoads(processes: Processes): Promise<readonly Child<LoadWork>[]> {
  return Promise.all(Array.from({ length: LOADS }, () => processes.start<LoadWork>("clients/load")));
}

interface Loaded {
  readonly gateway: GatewayServer;
  readonly loads: readonly Child<LoadWork>[];
  /** One for each load. */
  readonly keys: readonly string[];
  readonly workers: number;
}

async function measureGateway(loaded: Loaded, plan: CoresPlan): Promise<Case> {
  const one: Case = {
    workers: loaded.workers,
    perSecond: [],
    cpuUs: [],
    p50Ms: [],
    p99Ms: [],
    rssBytes: 0,
    proxiesPerSecond: 0,
  };
  for (let round = 0; round < plan.warmUpRounds; round += 1) await runRound(loaded, plan.warmUpMs);
  for (let round = 0; round < plan.rounds; round += 1) {
    const measured = await runRound(loaded, plan.roundMs);
    one.perSecond.push(measured.perSecond);
    one.cpuUs.push(measured.cpuUs);
    one.p50Ms.push(measured.p50Ms);
    one.p99Ms.push(measured.p99Ms);
  }
  one.rssBytes = (await loaded.gateway.process.ask("resources", null)).rssBytes;
  return one;
}

async function runRound({ gateway, loads, keys, workers }: Loaded, forMs: number) {
  const targets = keys.map((key) => ({ ...gateway.target, key }));
  const before = await gateway.process.ask("resources", null);
  const { requests, perSecond, timesUs } = await saturate({ loads, targets, workers }, forMs);
  const after = await gateway.process.ask("resources", null);
  return {
    perSecond,
    cpuUs: (after.cpuUs - before.cpuUs) / requests,
    p50Ms: percentile(timesUs, 0.5) / 1000,
    p99Ms: percentile(timesUs, 0.99) / 1000,
  };
}

interface Saturating {
  readonly loads: readonly Child<LoadWork>[];
  /** One for each load. */
  readonly targets: readonly Target[];
  readonly workers: number;
}

async function saturate({ loads, targets, workers }: Saturating, forMs: number) {
  const connections = Math.max(CONNECTIONS_MIN, CONNECTIONS_PER_WORKER * workers) / loads.length;
  const request = { body: bodyOf("small"), connections, forMs };
  const results = await Promise.all(
    loads.map((load, index) => load.ask("saturate", { ...request, target: targets[index] as Target })),
  );
  const requests = results.reduce((sum, each) => sum + each.requests, 0);
  const timesUs = results.flatMap((each) => [...each.timesUs]);
  return { requests, perSecond: requests / Math.max(...results.map(({ seconds }) => seconds)), timesUs };
}

interface ProxyLoad {
  readonly providerPort: number;
  readonly loads: readonly Child<LoadWork>[];
}

/** Loss of the machine itself when many cores are busy: they share caches, memory and clock, and the load takes its part. */
async function measureProxies(count: number, { providerPort, loads }: ProxyLoad, { proxyMs }: CoresPlan) {
  const processes = openProcesses();
  try {
    const proxies = await processes.start<ServerWork>("servers/proxy", { providerPort, processes: count });
    const target = { port: proxies.ready as number, key: "" };
    const saturating = { loads, targets: loads.map(() => target), workers: count };
    await saturate(saturating, proxyMs);
    return (await saturate(saturating, proxyMs)).perSecond;
  } finally {
    await processes.close();
  }
}

/** One row for each number of workers; the shares of linear compare with the first row. */
function tableOf(cases: readonly Case[], store: string, warmUpSeconds: number): Table {
  const worst = (one: Case): number => Math.min(...one.perSecond);
  const [first] = cases;
  return {
    title: `cores: short questions on ${store}, ${CONNECTIONS_PER_WORKER} connections per worker, at least ${CONNECTIONS_MIN}`,
    columns: [
      "workers",
      "requests/s, worst",
      "all rounds",
      "of linear",
      "bare proxies",
      "p50 ms",
      "p99 ms",
      "CPU µs/request",
      "RSS MB",
    ],
    rows: cases.map((one) => [
      String(one.workers),
      show(worst(one)),
      showRange(one.perSecond),
      first === undefined ? "-" : show(worst(one) / one.workers / (worst(first) / first.workers)),
      first === undefined ? "-" : show(one.proxiesPerSecond / one.workers / (first.proxiesPerSecond / first.workers)),
      showRange(one.p50Ms),
      showRange(one.p99Ms),
      showRange(one.cpuUs),
      show(one.rssBytes / 1e6),
    ]),
    notes: [
      `After ${warmUpSeconds} s of warm-up for each row.`,
      "Bare proxies: the same share for as many of those, under the same load.",
      `The provider (${PROVIDER_PROCESSES} processes) and the load (${LOADS}) run on the same machine and take their part of it.`,
    ],
  };
}
