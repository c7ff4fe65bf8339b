// Cores: whole answers of one gateway with more and more workers, as many a second as it can. Another version and peers
// take the same load where they are wanted. Provider and load are several processes each, so that neither is the limit.

import type { Crew } from "../src/workers/count.ts";
import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { bodyOf } from "./clients/bodies.ts";
import type { Target } from "./clients/connection.ts";
import type { LoadWork } from "./clients/load.ts";
import type { ServerWork } from "./harness/child.ts";
import {
  type GatewayServer,
  type GatewaySurroundings,
  type OtherServer,
  startWorkers,
  startWorkersBefore,
} from "./harness/gateway.ts";
import { type OthersWanted, peersToStart } from "./harness/others.ts";
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
  readonly name: string;
  readonly workers: number;
  readonly readySeconds: number;
  readonly idleBytes: number;
  readonly perSecond: number[];
  readonly cpuUs: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
  rssBytes: number;
  /** Requests per second of as many bare proxies; null where they do not compare. */
  proxiesPerSecond: number | null;
}

/** A row's server. */
interface Start {
  /** Sets the connections. */
  readonly workers: number;
  readonly isOurs: boolean;
  /** Null for a peer that does not start. */
  start(): Promise<OtherServer | GatewayServer | null>;
}

type Store = "SQLite" | "PostgreSQL";

export async function measureCores(plan: CoresPlan, wanted: OthersWanted, store: Store): Promise<Table> {
  const processes = openProcesses();
  try {
    const provider = await processes.start<ProviderWork>("servers/provider", { processes: PROVIDER_PROCESSES });
    const loads = await startLoads(processes);
    const around = { providerPort: provider.ready as number, newFolder: processes.folder };
    const cases: Case[] = [];
    for (const one of startsOf(wanted, around, store)) {
      const measured = await measureServer(one, loads, plan);
      if (measured === null) continue;
      cases.push(measured);
      if (one.isOurs) measured.proxiesPerSecond = await measureProxies(one.workers, { ...around, loads }, plan);
    }
    return tableOf(cases, store, (plan.warmUpRounds * plan.warmUpMs) / 1000);
  } finally {
    await processes.close();
  }
}

/** In the order of the rows. Each server has the machine to itself. */
function startsOf(
  { workers, before, peersIn }: OthersWanted,
  around: GatewaySurroundings,
  store: Store,
): readonly Start[] {
  const ours = workers.flatMap((crew): readonly Start[] => [
    {
      workers: crew.most,
      isOurs: true,
      start: () => (store === "SQLite" ? startWorkers(crew, around) : onPostgres(crew, around)),
    },
    ...(before === null
      ? []
      : [{ workers: crew.most, isOurs: false, start: () => startWorkersBefore(crew, around, before) }]),
  ]);
  const most = Math.max(...workers.map((crew) => crew.most));
  return [...ours, ...peersToStart(peersIn, around).map((start) => ({ workers: most, isOurs: false, start }))];
}

/** On a server of its own, which stops with it. */
async function onPostgres(crew: Crew, around: GatewaySurroundings): Promise<GatewayServer> {
  const postgres = await startPostgres({ settings: ["fsync=on"] });
  const gateway = await startWorkers(crew, around, postgres.url);
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await postgres.stop();
  };
  return { ...gateway, stop };
}

function startLoads(processes: Processes): Promise<readonly Child<LoadWork>[]> {
  return Promise.all(Array.from({ length: LOADS }, () => processes.start<LoadWork>("clients/load")));
}

interface Loaded {
  readonly server: OtherServer;
  readonly loads: readonly Child<LoadWork>[];
  /** One for each load. */
  readonly targets: readonly Target[];
  readonly workers: number;
}

async function measureServer(
  { start, workers }: Start,
  loads: readonly Child<LoadWork>[],
  plan: CoresPlan,
): Promise<Case | null> {
  const startedAt = performance.now();
  const server = await start();
  if (server === null) return null;
  const readySeconds = (performance.now() - startedAt) / 1000;
  try {
    const targets = await Promise.all(
      loads.map(async () => ("newKey" in server ? { ...server.target, key: await server.newKey() } : server.target)),
    );
    const { rssBytes: idleBytes } = await server.process.ask("resources", null);
    return await measureRounds({ server, loads, targets, workers }, plan, { readySeconds, idleBytes });
  } finally {
    await server.stop();
  }
}

async function measureRounds(
  loaded: Loaded,
  plan: CoresPlan,
  fresh: Pick<Case, "readySeconds" | "idleBytes">,
): Promise<Case> {
  const one: Case = {
    ...fresh,
    name: loaded.server.name,
    workers: loaded.workers,
    perSecond: [],
    cpuUs: [],
    p50Ms: [],
    p99Ms: [],
    rssBytes: 0,
    proxiesPerSecond: null,
  };
  for (let round = 0; round < plan.warmUpRounds; round += 1) await runRound(loaded, plan.warmUpMs);
  for (let round = 0; round < plan.rounds; round += 1) {
    const measured = await runRound(loaded, plan.roundMs);
    one.perSecond.push(measured.perSecond);
    one.cpuUs.push(measured.cpuUs);
    one.p50Ms.push(measured.p50Ms);
    one.p99Ms.push(measured.p99Ms);
  }
  one.rssBytes = (await loaded.server.process.ask("resources", null)).rssBytes;
  return one;
}

async function runRound({ server, loads, targets, workers }: Loaded, forMs: number) {
  const before = await server.process.ask("resources", null);
  const { requests, perSecond, timesUs } = await saturate({ loads, targets, workers }, forMs);
  const after = await server.process.ask("resources", null);
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
  const first = cases.find(({ proxiesPerSecond }) => proxiesPerSecond !== null);
  const linear = (one: Case, ofCase: (each: Case) => number): string =>
    one.proxiesPerSecond === null || first === undefined
      ? "-"
      : show(ofCase(one) / one.workers / (ofCase(first) / first.workers));
  return {
    title: `cores: short questions on ${store}, ${CONNECTIONS_PER_WORKER} connections per worker, at least ${CONNECTIONS_MIN}`,
    columns: [
      "",
      "requests/s, worst",
      "all rounds",
      "of linear",
      "bare proxies",
      "p50 ms",
      "p99 ms",
      "CPU µs/request",
      "ready s",
      "RSS at first, MB",
      "RSS after it, MB",
    ],
    rows: cases.map((one) => [
      one.name,
      show(worst(one)),
      showRange(one.perSecond),
      linear(one, worst),
      linear(one, (each) => each.proxiesPerSecond ?? Number.NaN),
      showRange(one.p50Ms),
      showRange(one.p99Ms),
      showRange(one.cpuUs),
      show(one.readySeconds),
      show(one.idleBytes / 1e6),
      show(one.rssBytes / 1e6),
    ]),
    notes: [
      `After ${warmUpSeconds} s of warm-up for each row.`,
      "Bare proxies: the same share for as many of those, under the same load. Peers have the connections of the most workers.",
      `The provider (${PROVIDER_PROCESSES} processes) and the load (${LOADS}) run on the same machine and take their part of it.`,
    ],
  };
}
