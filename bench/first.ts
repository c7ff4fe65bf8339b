// Fresh processes: the time until they serve, and the first, tenth and thousandth request of one client, one after another.

import { bodyOf } from "./clients/bodies.ts";
import type { LoadWork } from "./clients/load.ts";
import { type OtherServer, startGateway, startWorkers } from "./harness/gateway.ts";
import type { OthersWanted } from "./harness/others.ts";
import { openProcesses } from "./harness/processes.ts";
import { median } from "./harness/statistics.ts";
import { showRange, type Table } from "./harness/table.ts";
import type { ProviderWork } from "./servers/provider.ts";

/** Starts of each gateway, and requests after each start. */
export interface FirstPlan {
  readonly starts: number;
  readonly requests: number;
}

const WARM_UP = { connections: 1, forMs: 500 };
/** Below the time in which the load gives up. */
const FOR_MS = 25_000;

/** Counted from one. The median of the nine around it, where there are as many: one request alone may meet a collection. */
const NUMBERS = [1, 10, 1_000] as const;
const AROUND = 4;

interface Fresh {
  readonly name: string;
  readonly readyMs: number[];
  readonly timesUs: Readonly<Record<number, number[]>>;
}

/** Gateways take turns. */
export async function measureFirst({ starts, requests }: FirstPlan, { workers, before }: OthersWanted): Promise<Table> {
  const processes = openProcesses();
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const load = await processes.start<LoadWork>("clients/load");
    const around = { providerPort: provider.ready as number, newFolder: processes.folder };
    const all: readonly (readonly [fresh: Fresh, start: () => Promise<OtherServer>])[] = [
      [freshOf("gateway"), () => startGateway({ name: "gateway" }, around)],
      ...workers.map((count) => [freshOf(`gateway, ${count} workers`), () => startWorkers(count, around)] as const),
      ...(before === null
        ? []
        : [[freshOf("before"), () => startGateway({ name: "before", checkout: before }, around)] as const]),
    ];
    // The first gateway would wait for cold code of the provider and of the load.
    await load.ask("saturate", { ...WARM_UP, target: { port: around.providerPort, key: null }, body: bodyOf("small") });
    for (let round = 0; round < starts; round++) {
      for (const [fresh, start] of all) {
        const startedAt = performance.now();
        const server = await start();
        fresh.readyMs.push(performance.now() - startedAt);
        const asked = {
          target: server.target,
          body: bodyOf("small"),
          connections: 1,
          forMs: FOR_MS,
          requestsMax: requests,
        };
        const { timesUs } = await load.ask("saturate", asked).finally(server.stop);
        for (const number of NUMBERS) fresh.timesUs[number]?.push(timeOf(Array.from(timesUs), number));
      }
    }
    return tableOf(
      all.map(([fresh]) => fresh),
      starts,
    );
  } finally {
    await processes.close();
  }
}

function freshOf(name: string): Fresh {
  return { name, readyMs: [], timesUs: Object.fromEntries(NUMBERS.map((number) => [number, []])) };
}

function timeOf(timesUs: readonly number[], number: number): number {
  if (number <= 2 * AROUND) return timesUs[number - 1] ?? Number.NaN;
  return timesUs.length < number ? Number.NaN : median(timesUs.slice(number - 1 - AROUND, number + AROUND));
}

function tableOf(all: readonly Fresh[], starts: number): Table {
  return {
    title: "first: requests of a fresh process, one after another, times in µs",
    columns: ["", "ready ms", ...NUMBERS.map((number) => `request ${number}`)],
    rows: all.map(({ name, readyMs, timesUs }) => [
      name,
      showRange(readyMs),
      ...NUMBERS.map((number) => showRange((timesUs[number] ?? []).filter(Number.isFinite))),
    ]),
    notes: [
      `Median (lowest-highest) of ${starts} starts, in turns. Ready includes a top-up and a new key.`,
      "The tenth and the thousandth are medians of the nine around them.",
    ],
  };
}
