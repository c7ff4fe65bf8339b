// Throughput: requests a second and CPU time a request, with whole responses. Servers take turns in short rounds, so that
// a busy moment of the machine affects all of them; the median round counts. Small bodies come first, because large ones
// leave a grown heap behind.

import { bodyOf, messagesBodyOf, responsesBodyOf, type Size } from "./clients/bodies.ts";
import type { Rig } from "./harness/rig.ts";
import type { Server } from "./harness/server.ts";
import { showRange, showRatios, type Table } from "./harness/table.ts";
import { warmUp } from "./harness/warm-up.ts";

/** Number of rounds, and the length of each. */
export interface RequestsPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
  readonly sizes: readonly Size[];
  /** Rows of our gateway without ledger, and with requests in other formats. */
  readonly hasVariants: boolean;
}

/** Enough to keep every server busy. */
const CONNECTIONS = 32;

/** One row of the table, with a sample from each round. */
interface Case {
  readonly server: Server;
  readonly size: Size;
  readonly perSecond: number[];
  readonly cpuUs: number[];
}

export async function measureRequests(rig: Rig, plan: RequestsPlan): Promise<Table> {
  const servers = plan.hasVariants
    ? [rig.proxy, rig.withoutLedger, rig.gateway, rig.responses, rig.messages, ...rig.others]
    : [rig.proxy, rig.gateway, ...rig.others];
  const cases: readonly Case[] = [
    newCase(rig.direct, "small"),
    ...plan.sizes.flatMap((size) => servers.map((server) => newCase(server, size))),
  ];
  for (const size of plan.sizes) {
    await measureSize(
      rig,
      cases.filter((one) => one.size === size),
      plan,
    );
  }
  return {
    title: `requests: whole answers, ${CONNECTIONS} at a time`,
    columns: ["", "body", "requests/s", "CPU µs/request", "x bare proxy", "x chat"],
    rows: cases.map((one) => {
      const against = (other: Server): string => {
        const { cpuUs } = cases.find(({ server, size }) => server === other && size === one.size) as Case;
        return showRatios(one.cpuUs, cpuUs);
      };
      const ratio = one.server !== rig.direct && one.server !== rig.proxy ? against(rig.proxy) : "";
      const ofChat = one.server === rig.responses || one.server === rig.messages ? against(rig.gateway) : "";
      return [one.server.name, one.size, showRange(one.perSecond), showRange(one.cpuUs), ratio, ofChat];
    }),
    notes: [
      `Median (lowest-highest) of ${plan.rounds} rounds, after ${plan.warmUpMs / 1000} s of warm-up for each row, or until each worker had as many requests as the one process.`,
      "The last two columns compare the CPU of the same round.",
    ],
  };
}

async function measureSize(rig: Rig, cases: readonly Case[], plan: RequestsPlan): Promise<void> {
  const { load, gateway } = rig;
  const servers = cases.map(({ server }) => server);
  const [{ size }] = cases as readonly [Case];
  const warming = { bodyOf: (server: Server) => bodyFor(server, size), connections: CONNECTIONS, forMs: plan.warmUpMs };
  await warmUp({ load, servers, gateway, ...warming });
  for (let round = 0; round < plan.rounds; round++) {
    for (const one of cases) {
      const { perSecond, cpuUs } = await runRound(rig, one, plan.roundMs);
      one.perSecond.push(perSecond);
      one.cpuUs.push(cpuUs);
    }
  }
}

function newCase(server: Server, size: Size): Case {
  return { server, size, perSecond: [], cpuUs: [] };
}

/** CPU time is that of the server alone, all its threads included. */
async function runRound({ load }: Rig, { server, size }: Case, forMs: number) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyFor(server, size), connections: CONNECTIONS, forMs };
  const { requests, seconds } = await load.ask("saturate", input);
  const after = await server.process.ask("resources", null);
  return { perSecond: requests / seconds, cpuUs: (after.cpuUs - before.cpuUs) / requests };
}

function bodyFor({ target }: Server, size: Size): object {
  if (target.path === undefined) return bodyOf(size);
  return target.path === "/v1/messages" ? messagesBodyOf(size) : responsesBodyOf(size);
}
