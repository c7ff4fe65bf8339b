// Scaling: one, two and four gateways on one PostgreSQL, with requests a second of all together and CPU time a request.
// Either all requests belong to one account, whose wallet every process writes, or each process has its own account.

import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { bodyOf } from "./clients/bodies.ts";
import type { LoadWork } from "./clients/load.ts";
import { openPostgresCpu } from "./harness/process-cpu.ts";
import { type Child, openProcesses, type Processes } from "./harness/processes.ts";
import { ADMIN_TOKEN } from "./harness/settings.ts";
import { median } from "./harness/statistics.ts";
import { show, showRatio, type Table } from "./harness/table.ts";
import type { GatewayReady, GatewayWork } from "./servers/gateway.ts";
import type { ProviderWork } from "./servers/provider.ts";

/** Number of rounds, and the length of each. */
export interface ScalingPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

const PROCESSES = [1, 2, 4];
/** Shared among the gateways, so that the load is the same in every row. */
const CONNECTIONS = 64;

interface Gateway {
  readonly process: Child<GatewayWork>;
  readonly port: number;
  /** Keys of the shared account and of the process's own. */
  readonly keys: { readonly shared: string; readonly own: string };
}

/** Gateways on one database, and one load generator for all. */
interface ScalingRig {
  readonly load: Child<LoadWork>;
  readonly gateways: readonly Gateway[];
  /** CPU time of PostgreSQL so far; NaN where it cannot be known. */
  readonly postgresUs: () => number;
}

/** One row of the table, with a sample from each round. */
interface Case {
  readonly count: number;
  readonly key: "shared" | "own";
  readonly perSecond: number[];
  readonly cpuUs: number[];
  readonly postgresUs: number[];
}

export async function measureScaling(plan: ScalingPlan): Promise<Table> {
  const processes = openProcesses();
  const postgres = await startPostgres({ settings: ["fsync=on"] });
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const load = await processes.start<LoadWork>("clients/load");
    const postgresUs = (await openPostgresCpu(postgres.url)) ?? (() => Number.NaN);
    const gateways = await startGateways(processes, provider.ready as number, postgres.url);
    const cases = (["shared", "own"] as const).flatMap((key) =>
      PROCESSES.map((count): Case => ({ count, key, perSecond: [], cpuUs: [], postgresUs: [] })),
    );
    const rig: ScalingRig = { load, gateways, postgresUs };
    // Each one alone: otherwise the gateways that are used least would be measured cold.
    for (const gateway of gateways) {
      await runRound({ ...rig, gateways: [gateway] }, { count: 1, key: "own", forMs: plan.warmUpMs });
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const one of cases) {
        const measured = await runRound(rig, { ...one, forMs: plan.roundMs });
        one.perSecond.push(measured.perSecond);
        one.cpuUs.push(measured.cpuUs);
        one.postgresUs.push(measured.postgresUs);
      }
    }
    return tableOf(cases);
  } finally {
    await processes.close();
    await postgres.stop();
  }
}

/** The first one makes the shared key, the others use it. */
async function startGateways(
  processes: Processes,
  providerPort: number,
  database: string,
): Promise<readonly Gateway[]> {
  const gateways: Gateway[] = [];
  let shared: string | null = null;
  for (let index = 0; index < Math.max(...PROCESSES); index++) {
    const argument = { folder: processes.folder(), providerPort, database, key: shared };
    const process = await processes.start<GatewayWork>("servers/gateway", argument);
    const { port, key } = process.ready as GatewayReady;
    shared ??= key;
    gateways.push({ process, port, keys: { shared, own: await makeAccount(port, `account ${index}`) } });
  }
  return gateways;
}

/** Creates an account with credits. Its key. */
async function makeAccount(port: number, name: string): Promise<string> {
  const call = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const { id } = await call("/api/accounts", { name });
  await call(`/api/credits/topups?account=${id}`, { amountUsd: "100000" });
  return (await call(`/api/keys?account=${id}`, { name })).key as string;
}

async function runRound(
  { load, gateways, postgresUs }: ScalingRig,
  { count, key, forMs }: Pick<Case, "count" | "key"> & { readonly forMs: number },
) {
  const used = gateways.slice(0, count);
  const cpuUs = async (): Promise<number> => {
    const resources = await Promise.all(used.map(({ process }) => process.ask("resources", null)));
    return resources.reduce((sum, each) => sum + each.cpuUs, 0);
  };
  const before = { cpuUs: await cpuUs(), postgresUs: postgresUs() };
  const loads = await Promise.all(
    used.map(({ port, keys }) =>
      load.ask("saturate", {
        target: { port, key: keys[key] },
        body: bodyOf("small"),
        connections: CONNECTIONS / count,
        forMs,
      }),
    ),
  );
  const requests = loads.reduce((sum, each) => sum + each.requests, 0);
  const seconds = Math.max(...loads.map((each) => each.seconds));
  return {
    perSecond: requests / seconds,
    cpuUs: ((await cpuUs()) - before.cpuUs) / requests,
    postgresUs: (postgresUs() - before.postgresUs) / requests,
  };
}

/** One row for each number of gateways and kind of account. */
function tableOf(cases: readonly Case[]): Table {
  return {
    title: `processes: whole answers on one PostgreSQL, ${CONNECTIONS} at a time over all processes`,
    columns: [
      "gateways",
      "accounts",
      "requests/s",
      "against one",
      "gateway CPU µs/request",
      "PostgreSQL CPU µs/request",
    ],
    rows: cases.map(({ count, key, perSecond, cpuUs, postgresUs }) => {
      const alone = cases.find((one) => one.key === key && one.count === 1) as Case;
      const accounts = key === "shared" ? "one for all" : "one each";
      const ratio = showRatio(median(perSecond), median(alone.perSecond));
      return [String(count), accounts, show(median(perSecond)), ratio, show(median(cpuUs)), showOr(median(postgresUs))];
    }),
    notes: ["PostgreSQL (fsync=on), the provider and the load run on the same machine and take their part of it."],
  };
}

function showOr(value: number): string {
  return Number.isNaN(value) ? "unknown" : show(value);
}
