// More than the gateway can do: what becomes of those it accepts, how soon the others are told, and when it is over. Each
// load is compared with 64 clients at a time just before it, which is as much as it can do without a line.

import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf } from "./bodies.ts";
import type { CrowdWork, Outcome } from "./crowd.ts";
import { type Child, openWorkshop } from "./processes.ts";
import type { AnswerTimes } from "./servers/answer-times.ts";
import type { GatewayReady, GatewayWork } from "./servers/gateway.ts";
import type { ProviderWork } from "./servers/provider.ts";
import { show, showRatio, type Table } from "./table.ts";

export interface OverloadPlan {
  readonly warmUpMs: number;
  readonly forMs: number;
  readonly openStreams: number;
}

const AT_CAPACITY = 64;
const REFERENCE_MS = 3_000;
const OFFER_CONNECTIONS = 2_000;
/** At first nobody can tell a flood from a burst. */
const SETTLED_MS = 2_000;
const AFTERWARDS = { connections: 32, forMs: 5_000 };
const SLOW = { chunks: 600, everyMs: 1_000 };

interface Rig {
  readonly crowd: Child<CrowdWork>;
  readonly gateway: Child<GatewayWork>;
  readonly target: GatewayReady;
}

interface Load {
  readonly name: string;
  readonly begin: (rig: Rig, capacity: number, forMs: number) => Promise<Outcome>;
}

const LOADS: readonly Load[] = [
  clients(256, { isPatient: false }),
  ...[2, 4, 10].map(
    (factor): Load => ({
      name: `${factor} times the capacity`,
      begin: ({ crowd, target }, capacity, forMs) =>
        crowd.ask("offer", { ...request(target), connections: OFFER_CONNECTIONS, perSecond: factor * capacity, forMs }),
    }),
  ),
  clients(4_000, { isPatient: true }),
  clients(4_000, { isPatient: false }),
];

export async function measureOverload(plan: OverloadPlan): Promise<readonly Table[]> {
  const workshop = openWorkshop();
  try {
    const provider = await workshop.start<ProviderWork>("servers/provider");
    const crowd = await workshop.start<CrowdWork>("crowd");
    const argument = { folder: workshop.folder(), providerPort: provider.ready as number };
    const gateway = await workshop.start<GatewayWork>("servers/gateway", argument);
    const rig: Rig = { crowd, gateway, target: gateway.ready as GatewayReady };
    await gather(rig, { connections: AT_CAPACITY, forMs: plan.warmUpMs, isPatient: false });
    const rows: (readonly string[])[] = [];
    for (const load of LOADS) rows.push(...(await measureLoad(rig, load, plan.forMs)));
    await provider.ask("pace", SLOW);
    return [tableOf(rows), await measureStreams(rig, plan.openStreams)];
  } finally {
    await workshop.close();
  }
}

async function measureLoad(rig: Rig, load: Load, forMs: number): Promise<readonly (readonly string[])[]> {
  await rig.gateway.ask("takeAnswerTimes", null);
  const reference = await gather(rig, { connections: AT_CAPACITY, forMs: REFERENCE_MS, isPatient: false });
  const { p50, p99 } = reference.accepted;
  const capacity = reference.accepted.count / reference.seconds;
  const idle = await rig.gateway.ask("takeAnswerTimes", null);
  const [outcome] = await Promise.all([load.begin(rig, capacity, forMs), forgetFirst(rig)]);
  const seen = await rig.gateway.ask("takeAnswerTimes", null);
  const after = await gather(rig, { ...AFTERWARDS, isPatient: false });
  return [
    ["just before", show(capacity), show(p50), show(p99), "", show(idle.accepted.p99)],
    rowOf(load.name, { reference, outcome, seen, after }),
  ];
}

/** What the server saw before things had settled. */
async function forgetFirst({ gateway }: Rig): Promise<void> {
  await sleep(SETTLED_MS);
  await gateway.ask("takeAnswerTimes", null);
}

interface Measured {
  readonly reference: Outcome;
  readonly outcome: Outcome;
  readonly seen: AnswerTimes;
  readonly after: Outcome;
}

function rowOf(name: string, { reference, outcome, seen, after }: Measured): readonly string[] {
  const { accepted, settled, shed, seconds } = outcome;
  return [
    name,
    show(accepted.count / seconds),
    show(accepted.p50),
    show(accepted.p99),
    show(settled.p99),
    show(seen.accepted.p99),
    showRatio(settled.p99, reference.accepted.p99),
    `${show((100 * shed.count) / (accepted.count + shed.count))} %`,
    show(shed.p50),
    show(shed.p99),
    show(seen.shed.p99),
    show(seen.longestTurnMs),
    show(after.lastShedSeconds ?? 0),
    String(outcome.others + outcome.unanswered),
  ];
}

function tableOf(rows: readonly (readonly string[])[]): Table {
  return {
    title: "overload: whole answers, times in ms",
    columns: [
      "",
      "accepted/s",
      "p50",
      "p99",
      "p99 settled",
      "in server",
      "against before",
      "refused",
      "503 p50",
      "503 p99",
      "in server",
      "longest turn",
      "over after s",
      "lost",
    ],
    rows,
    notes: [
      `Just before: ${AT_CAPACITY} clients, each sending when it was answered. Settled: without the first two seconds.`,
      "Times are the clients', on the same machine; 'in server' is the p99 from the headers read to the end of the answer.",
      "Patient clients come back when Retry-After says, the others at once. Over: the last refusal afterwards.",
    ],
  };
}

/** Slow streams are no load: all begin, and whole answers beside them are as quick as without. */
async function measureStreams(rig: Rig, count: number): Promise<Table> {
  const input = { connections: AT_CAPACITY, forMs: REFERENCE_MS, isPatient: false };
  const before = await gather(rig, input);
  const { target } = rig;
  const opened = await rig.crowd.ask("openStreams", { target, body: bodyOf("small", true), connections: count });
  const during = await gather(rig, input);
  await rig.crowd.ask("closeStreams", null);
  const cells = ({ accepted, shed }: Outcome) => [show(accepted.p50), show(accepted.p99), String(shed.count)];
  return {
    title: `overload: ${count} slow streams opened at once, and whole answers beside them, times in ms`,
    columns: ["", "streams begun", "within s", "p50", "p99", "refused"],
    rows: [
      ["before", "", "", ...cells(before)],
      ["while open", String(opened.begun), show(opened.seconds), ...cells(during)],
    ],
  };
}

function clients(connections: number, { isPatient }: { readonly isPatient: boolean }): Load {
  const name = connections > 256 ? `${connections} ${isPatient ? "" : "im"}patient clients` : `${connections} clients`;
  return { name, begin: (rig, _capacity, forMs) => gather(rig, { connections, forMs, isPatient }) };
}

function gather({ crowd, target }: Rig, size: { connections: number; forMs: number; isPatient: boolean }) {
  return crowd.ask("gather", { ...request(target), ...size });
}

function request(target: GatewayReady) {
  return { target, body: bodyOf("small"), settledAfterMs: SETTLED_MS };
}
