// Overload: how fast accepted requests are served, how soon others are rejected, and how long the effects last. Each load
// is compared with 64 clients just before it, which is as much as the gateway can serve without a queue.

import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf } from "./clients/bodies.ts";
import type { LoadOutcome, OverloadWork } from "./clients/overload.ts";
import { type Child, openProcesses } from "./harness/processes.ts";
import { show, showRatio, type Table } from "./harness/table.ts";
import type { GatewayReady, GatewayWork } from "./servers/gateway.ts";
import type { ProviderWork } from "./servers/provider.ts";
import type { ResponseTimes } from "./servers/response-times.ts";

/** How long each load lasts, and how many streams are opened. */
export interface OverloadPlan {
  readonly warmUpMs: number;
  readonly forMs: number;
  readonly openStreams: number;
}

/** Clients at once that keep the gateway busy without a queue. */
const AT_CAPACITY = 64;
const REFERENCE_MS = 3_000;
const OPEN_LOOP_CONNECTIONS = 2_000;
/** Flood detection needs this long to tell a flood from a burst. */
const SETTLED_MS = 2_000;
/** A small load after each one, to see how long rejections go on. */
const AFTERWARDS = { connections: 32, forMs: 5_000 };
/** Streams that stay open for the whole measurement. */
const SLOW = { chunks: 600, everyMs: 1_000 };

/** Smaller than the common rig: no proxy, and clients of their own. */
interface OverloadRig {
  readonly clients: Child<OverloadWork>;
  readonly gateway: Child<GatewayWork>;
  readonly target: GatewayReady;
}

/** One kind of overload. */
interface Load {
  readonly name: string;
  readonly begin: (rig: OverloadRig, capacity: number, forMs: number) => Promise<LoadOutcome>;
}

/** From a little more than fits to far more. */
const LOADS: readonly Load[] = [
  clients(256, { obeysRetryAfter: false }),
  ...[2, 4, 10].map(
    (factor): Load => ({
      name: `${factor} times the capacity`,
      begin: ({ clients, target }, capacity, forMs) =>
        clients.ask("runOpenLoop", {
          ...request(target),
          connections: OPEN_LOOP_CONNECTIONS,
          perSecond: factor * capacity,
          forMs,
        }),
    }),
  ),
  clients(4_000, { obeysRetryAfter: true }),
  clients(4_000, { obeysRetryAfter: false }),
];

export async function measureOverload(plan: OverloadPlan): Promise<readonly Table[]> {
  const processes = openProcesses();
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const clients = await processes.start<OverloadWork>("clients/overload");
    const argument = { folder: processes.folder(), providerPort: provider.ready as number };
    const gateway = await processes.start<GatewayWork>("servers/gateway", argument);
    const rig: OverloadRig = { clients, gateway, target: gateway.ready as GatewayReady };
    await runClosedLoop(rig, { connections: AT_CAPACITY, forMs: plan.warmUpMs, obeysRetryAfter: false });
    const rows: (readonly string[])[] = [];
    for (const load of LOADS) rows.push(...(await measureLoad(rig, load, plan.forMs)));
    await provider.ask("pace", SLOW);
    return [tableOf(rows), await measureStreams(rig, plan.openStreams)];
  } finally {
    await processes.close();
  }
}

/** Two rows: the reference just before, and the load. */
async function measureLoad(rig: OverloadRig, load: Load, forMs: number): Promise<readonly (readonly string[])[]> {
  await rig.gateway.ask("takeResponseTimes", null);
  const reference = await runClosedLoop(rig, { connections: AT_CAPACITY, forMs: REFERENCE_MS, obeysRetryAfter: false });
  const { p50, p99 } = reference.accepted;
  const capacity = reference.accepted.count / reference.seconds;
  const idle = await rig.gateway.ask("takeResponseTimes", null);
  const [outcome] = await Promise.all([load.begin(rig, capacity, forMs), dropFirst(rig)]);
  const seen = await rig.gateway.ask("takeResponseTimes", null);
  const after = await runClosedLoop(rig, { ...AFTERWARDS, obeysRetryAfter: false });
  return [
    ["just before", show(capacity), show(p50), show(p99), "", show(idle.accepted.p99)],
    rowOf(load.name, { reference, outcome, seen, after }),
  ];
}

/** Drops the times the server saw before flood detection settled. */
async function dropFirst({ gateway }: OverloadRig): Promise<void> {
  await sleep(SETTLED_MS);
  await gateway.ask("takeResponseTimes", null);
}

/** The four measurements behind one row. */
interface Measured {
  readonly reference: LoadOutcome;
  readonly outcome: LoadOutcome;
  readonly seen: ResponseTimes;
  readonly after: LoadOutcome;
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

/** Slow streams are no load: all of them begin, and whole responses beside them stay as fast. */
async function measureStreams(rig: OverloadRig, count: number): Promise<Table> {
  const input = { connections: AT_CAPACITY, forMs: REFERENCE_MS, obeysRetryAfter: false };
  const before = await runClosedLoop(rig, input);
  const { target } = rig;
  const opened = await rig.clients.ask("openStreams", { target, body: bodyOf("small", true), connections: count });
  const during = await runClosedLoop(rig, input);
  await rig.clients.ask("closeStreams", null);
  const cells = ({ accepted, shed }: LoadOutcome) => [show(accepted.p50), show(accepted.p99), String(shed.count)];
  return {
    title: `overload: ${count} slow streams opened at once, and whole answers beside them, times in ms`,
    columns: ["", "streams begun", "within s", "p50", "p99", "refused"],
    rows: [
      ["before", "", "", ...cells(before)],
      ["while open", String(opened.begun), show(opened.seconds), ...cells(during)],
    ],
  };
}

/** A closed loop of so many clients. */
function clients(connections: number, { obeysRetryAfter }: { readonly obeysRetryAfter: boolean }): Load {
  const name =
    connections > 256 ? `${connections} ${obeysRetryAfter ? "" : "im"}patient clients` : `${connections} clients`;
  return { name, begin: (rig, _capacity, forMs) => runClosedLoop(rig, { connections, forMs, obeysRetryAfter }) };
}

function runClosedLoop(
  { clients, target }: OverloadRig,
  size: { connections: number; forMs: number; obeysRetryAfter: boolean },
) {
  return clients.ask("runClosedLoop", { ...request(target), ...size });
}

function request(target: GatewayReady) {
  return { target, body: bodyOf("small"), settledAfterMs: SETTLED_MS };
}
