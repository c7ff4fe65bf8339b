// Budgets: what three of them cost a request. Two gateways of one process take turns with the same requests: one without
// budgets, and one that checks budgets of the account, the key and a tag.

import { bodyOf } from "./clients/bodies.ts";
import type { LoadWork } from "./clients/load.ts";
import { type GatewayServer, type GatewaySurroundings, startGateway } from "./harness/gateway.ts";
import { openProcesses } from "./harness/processes.ts";
import { ADMIN_TOKEN } from "./harness/settings.ts";
import { showRange, showRatios, type Table } from "./harness/table.ts";
import type { ProviderWork } from "./servers/provider.ts";

/** Number of rounds, and the length of each. */
export interface BudgetsPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

const CONNECTIONS = 32;
/** Both gateways get the tag, so that only the budgets differ. */
const TAG = { "x-tag-team": "search" };
/** Each holds for every request. */
const SCOPES = [{ scope: "account" }, { scope: "key" }, { scope: "tag", value: "team=search" }];

interface Case {
  readonly server: GatewayServer;
  readonly perSecond: number[];
  readonly cpuUs: number[];
}

export async function measureBudgets({ rounds, warmUpMs, roundMs }: BudgetsPlan): Promise<Table> {
  const processes = openProcesses();
  const servers: GatewayServer[] = [];
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const load = await processes.start<LoadWork>("clients/load");
    const around = { providerPort: provider.ready as number, newFolder: processes.folder };
    servers.push(await startGateway({ name: "without budgets" }, around));
    servers.push(await startWithBudgets(around));
    const run = (server: GatewayServer, forMs: number) => {
      const target = { ...server.target, headers: TAG };
      return load.ask("saturate", { target, body: bodyOf("small"), connections: CONNECTIONS, forMs });
    };
    for (const server of servers) await run(server, warmUpMs);
    const cases = servers.map((server): Case => ({ server, perSecond: [], cpuUs: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const { server, perSecond, cpuUs } of cases) {
        const before = await server.process.ask("resources", null);
        const { requests, seconds } = await run(server, roundMs);
        const after = await server.process.ask("resources", null);
        perSecond.push(requests / seconds);
        cpuUs.push((after.cpuUs - before.cpuUs) / requests);
      }
    }
    return tableOf(cases, { rounds, warmUpMs });
  } finally {
    await Promise.all([...servers.map(({ stop }) => stop()), processes.close()]);
  }
}

async function startWithBudgets(around: GatewaySurroundings): Promise<GatewayServer> {
  const server = await startGateway({ name: "three budgets" }, around);
  for (const { scope, ...value } of SCOPES) {
    const response = await fetch(`http://127.0.0.1:${server.target.port}/api/budgets`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ name: scope, scope, ...value, amountUsd: "90000", period: "month" }),
    });
    if (!response.ok) throw new Error(`the budget of the ${scope} was not set: ${await response.text()}`);
  }
  return server;
}

function tableOf(cases: readonly Case[], { rounds, warmUpMs }: Pick<BudgetsPlan, "rounds" | "warmUpMs">): Table {
  const [without] = cases as readonly [Case];
  return {
    title: `budgets: short questions, ${CONNECTIONS} at a time, with budgets of the account, the key and a tag`,
    columns: ["", "requests/s", "CPU µs/request", "x without"],
    rows: cases.map((one) => [
      one.server.name,
      showRange(one.perSecond),
      showRange(one.cpuUs),
      one === without ? "" : showRatios(one.cpuUs, without.cpuUs),
    ]),
    notes: [`Median (lowest-highest) of ${rounds} rounds, after ${warmUpMs / 1000} s of warm-up for each row.`],
  };
}
