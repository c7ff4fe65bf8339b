// Whole answers, as many as the server can give: requests a second and CPU time a request. Servers take turns in short
// rounds, so that a busy moment of the machine falls on all of them; the median round counts. Sizes come one after the
// other, the small ones first: a row tells what requests of its size cost, not what larger ones before left in the heap.

import { bodyOf, SIZES, type Size } from "./bodies.ts";
import type { Rig, Server } from "./rig.ts";
import { median } from "./statistics.ts";
import { show, showRatio, type Table } from "./table.ts";

export interface RequestsPlan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly roundMs: number;
}

const CONNECTIONS = 32;

interface Case {
  readonly server: Server;
  readonly size: Size;
  readonly perSecond: number[];
  readonly cpuUs: number[];
}

export async function measureRequests(rig: Rig, plan: RequestsPlan): Promise<Table> {
  const cases: readonly Case[] = [
    newCase(rig.direct, "small"),
    ...SIZES.flatMap((size) => [rig.proxy, rig.withoutBooks, rig.gateway].map((server) => newCase(server, size))),
  ];
  for (const size of SIZES) {
    await measureSize(
      rig,
      cases.filter((one) => one.size === size),
      plan,
    );
  }
  return {
    title: `requests: whole answers, ${CONNECTIONS} at a time`,
    columns: ["", "body", "requests/s", "CPU µs/request", "CPU of bare proxy"],
    rows: cases.map((one) => {
      const proxy = cases.find(({ server, size }) => server === rig.proxy && size === one.size) as Case;
      const ratio = one.server !== rig.direct && one !== proxy ? showRatio(median(one.cpuUs), median(proxy.cpuUs)) : "";
      return [one.server.name, one.size, show(median(one.perSecond)), show(median(one.cpuUs)), ratio];
    }),
  };
}

async function measureSize(rig: Rig, cases: readonly Case[], plan: RequestsPlan): Promise<void> {
  for (const one of cases) await runRound(rig, one, plan.warmUpMs);
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

async function runRound({ load }: Rig, { server, size }: Case, forMs: number) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyOf(size), connections: CONNECTIONS, forMs };
  const { requests, seconds } = await load.ask("saturate", input);
  const after = await server.process.ask("resources", null);
  return { perSecond: requests / seconds, cpuUs: (after.cpuUs - before.cpuUs) / requests };
}
