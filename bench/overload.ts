// Overload: how fast accepted requests are served, how soon others are rejected, and what a client notices that sends
// little. Each load is compared with the capacity just before it: 64 clients, as many as are served without a queue.

import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf } from "./clients/bodies.ts";
import type { LoadOutcome, OverloadWork, StreamsOutcome } from "./clients/overload.ts";
import { type Child, openProcesses, type Processes } from "./harness/processes.ts";
import { summarize } from "./harness/statistics.ts";
import { show, showRatio, type Table } from "./harness/table.ts";
import type { GatewayReady, GatewayWork } from "./servers/gateway.ts";
import type { ProviderWork } from "./servers/provider.ts";
import type { ResponseTimes } from "./servers/response-times.ts";

/** Duration of each load, and number of streams. */
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
/** The client that sends little, with a key of its own. */
const MODEST = { connections: 20, perSecond: 20 };
/** Streams are opened within this time and stay open for the whole measurement. */
const STREAMS = { overMs: 1_800, chunks: 600, everyMs: 1_000 };
/** Uses the cores that gateway and provider leave free. At least two clients: one key may not open all streams. */
const GENERATORS = Math.max(2, Math.min(4, availableParallelism() - 4));

/** Smaller than the common rig: no proxy, and clients of their own. */
interface OverloadRig {
  readonly generators: readonly Child<OverloadWork>[];
  readonly modest: Child<OverloadWork>;
  readonly gateway: Child<GatewayWork>;
  /** With one key for each generator. */
  readonly targets: readonly GatewayReady[];
  readonly modestTarget: GatewayReady;
}

/** One kind of overload. */
interface Load {
  readonly name: string;
  readonly begin: (rig: OverloadRig, capacity: number, forMs: number) => Promise<LoadOutcome>;
}

/** From a little more than fits to far more. */
const LOADS: readonly Load[] = [
  openLoop(2),
  openLoop(4),
  clients(4_000, { obeysRetryAfter: true }),
  clients(4_000, { obeysRetryAfter: false }),
];

export async function measureOverload(plan: OverloadPlan): Promise<readonly Table[]> {
  const processes = openProcesses();
  try {
    const provider = await processes.start<ProviderWork>("servers/provider");
    const rig = await startOverloadRig(processes, provider.ready as number);
    await runClosedLoop(rig, { connections: AT_CAPACITY, forMs: plan.warmUpMs, obeysRetryAfter: false });
    const rows: (readonly string[])[] = [];
    for (const load of LOADS) rows.push(...(await measureLoad(rig, load, plan.forMs)));
    await provider.ask("pace", STREAMS);
    return [tableOf(rows), await measureStreams(rig, plan.openStreams)];
  } finally {
    await processes.close();
  }
}

async function startOverloadRig(processes: Processes, providerPort: number): Promise<OverloadRig> {
  const start = (): Promise<Child<OverloadWork>> => processes.start<OverloadWork>("clients/overload");
  const gateway = await processes.start<GatewayWork>("servers/gateway", { folder: processes.folder(), providerPort });
  const ready = gateway.ready as GatewayReady;
  const names = Array.from({ length: GENERATORS }, (_, index) => `generator ${index + 1}`);
  return {
    gateway,
    generators: await Promise.all(names.map(start)),
    modest: await start(),
    targets: await Promise.all(names.map(async (name) => ({ ...ready, key: await gateway.ask("createKey", name) }))),
    modestTarget: ready,
  };
}

/** Two rows: the reference just before, and the load. */
async function measureLoad(rig: OverloadRig, load: Load, forMs: number): Promise<readonly (readonly string[])[]> {
  await rig.gateway.ask("takeResponseTimes", null);
  const reference = await runClosedLoop(rig, { connections: AT_CAPACITY, forMs: REFERENCE_MS, obeysRetryAfter: false });
  const capacity = reference.acceptedMs.length / reference.seconds;
  const idle = await rig.gateway.ask("takeResponseTimes", null);
  const [outcome, modest] = await Promise.all([
    load.begin(rig, capacity, forMs),
    runModest(rig, forMs),
    dropFirst(rig),
  ]);
  const seen = await rig.gateway.ask("takeResponseTimes", null);
  const after = await runClosedLoop(rig, { ...AFTERWARDS, obeysRetryAfter: false });
  const { p50, p99 } = summarize(reference.acceptedMs);
  return [
    ["just before", show(capacity), "", show(p50), show(p99), "", show(idle.accepted.p99)],
    rowOf(load.name, { capacity, outcome, modest, seen, after }, forMs),
  ];
}

/** Drops the times the server saw before flood detection settled. */
async function dropFirst({ gateway }: OverloadRig): Promise<void> {
  await sleep(SETTLED_MS);
  await gateway.ask("takeResponseTimes", null);
}

function runModest({ modest, modestTarget }: OverloadRig, forMs: number): Promise<LoadOutcome> {
  return modest.ask("runOpenLoop", { ...request(modestTarget), ...MODEST, forMs });
}

/** The measurements behind one row. */
interface Measured {
  readonly capacity: number;
  readonly outcome: LoadOutcome;
  readonly modest: LoadOutcome;
  readonly seen: ResponseTimes;
  readonly after: LoadOutcome;
}

function rowOf(name: string, { capacity, outcome, modest, seen, after }: Measured, forMs: number): readonly string[] {
  const { acceptedMs, shedMs, settledMs } = outcome;
  const accepted = summarize(acceptedMs);
  const shed = summarize(shedMs);
  const own = summarize(modest.acceptedMs);
  const perSecond = (count: number): number => count / outcome.seconds;
  return [
    name,
    show(perSecond(accepted.count)),
    showRatio(perSecond(accepted.count), capacity),
    show(accepted.p50),
    show(accepted.p99),
    show(summarize(settledMs).p99),
    show(seen.accepted.p99),
    show(perSecond(shed.count)),
    show(shed.p50),
    show(shed.p99),
    show(seen.longestTurnMs),
    show(own.p50),
    show(own.p99),
    `${own.count}/${Math.round((MODEST.perSecond * forMs) / 1000)}`,
    show(after.lastShedSeconds ?? 0),
    String(outcome.others + outcome.unanswered),
    String(outcome.late),
  ];
}

function tableOf(rows: readonly (readonly string[])[]): Table {
  return {
    title: `overload: whole answers, times in ms, ${GENERATORS} load generators`,
    columns: [
      "",
      "accepted/s",
      "of before",
      "p50",
      "p99",
      "p99 settled",
      "in server",
      "refused/s",
      "503 p50",
      "503 p99",
      "longest turn",
      "modest p50",
      "modest p99",
      "accepted",
      "over after s",
      "lost",
      "late",
    ],
    rows,
    notes: [
      `Just before: ${AT_CAPACITY} clients, each sending when it was answered. Settled: without the first two seconds.`,
      "Times are the clients', on the same machine; 'in server' is the p99 from the headers read to the end of the answer.",
      `Modest: a client with its own key that sends ${MODEST.perSecond} requests a second at the same time.`,
      "Patient clients come back when Retry-After says, the others at once. Over: the last refusal afterwards.",
      "Late: how often the generator found no free connection. Those requests waited in the generator.",
    ],
  };
}

/** Slow streams are no load: all of them begin, and whole responses beside them stay as fast. */
async function measureStreams(rig: OverloadRig, count: number): Promise<Table> {
  const input = { connections: AT_CAPACITY, forMs: REFERENCE_MS, obeysRetryAfter: false };
  const before = await runClosedLoop(rig, input);
  const opened = await Promise.all(
    rig.generators.map((generator, index) => {
      const target = rig.targets[index] as GatewayReady;
      const connections = shareOf(count, index);
      return generator.ask("openStreams", {
        target,
        body: bodyOf("small", true),
        connections,
        overMs: STREAMS.overMs,
      });
    }),
  );
  const during = await runClosedLoop(rig, input);
  await Promise.all(rig.generators.map((generator) => generator.ask("closeStreams", null)));
  return {
    title: `overload: ${count} slow streams within ${STREAMS.overMs / 1000} s, and whole answers beside them, times in ms`,
    columns: ["", "begun", "refused", "lost", "last after s", "first p50", "first p99", "p50", "p99", "refused"],
    rows: [
      ["before", "", "", "", "", "", "", ...wholeCells(before)],
      ["while open", ...streamCells(opened), ...wholeCells(during)],
    ],
  };
}

function wholeCells({ acceptedMs, shedMs }: LoadOutcome): readonly string[] {
  const { p50, p99 } = summarize(acceptedMs);
  return [show(p50), show(p99), String(shedMs.length)];
}

function streamCells(opened: readonly StreamsOutcome[]): readonly string[] {
  const { count, p50, p99 } = summarize(opened.flatMap(({ begunMs }) => begunMs));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  return [
    String(count),
    String(total(opened.map(({ refused }) => refused))),
    String(total(opened.map(({ lost }) => lost))),
    show(Math.max(...opened.map(({ seconds }) => seconds))),
    show(p50),
    show(p99),
  ];
}

/** An open loop of so many times the capacity. */
function openLoop(factor: number): Load {
  return {
    name: `${factor} times the capacity`,
    begin: (rig, capacity, forMs) =>
      onAll(rig, (generator, target, index) =>
        generator.ask("runOpenLoop", {
          ...request(target),
          connections: shareOf(OPEN_LOOP_CONNECTIONS, index),
          perSecond: (factor * capacity) / GENERATORS,
          forMs,
        }),
      ),
  };
}

/** A closed loop of so many clients. */
function clients(connections: number, { obeysRetryAfter }: { readonly obeysRetryAfter: boolean }): Load {
  const name = `${connections} ${obeysRetryAfter ? "" : "im"}patient clients`;
  return { name, begin: (rig, _capacity, forMs) => runClosedLoop(rig, { connections, forMs, obeysRetryAfter }) };
}

function runClosedLoop(
  rig: OverloadRig,
  { connections, ...size }: { connections: number; forMs: number; obeysRetryAfter: boolean },
): Promise<LoadOutcome> {
  return onAll(rig, (generator, target, index) =>
    generator.ask("runClosedLoop", { ...request(target), ...size, connections: shareOf(connections, index) }),
  );
}

/** Runs a load on all generators at once and joins what they saw. */
async function onAll(
  { generators, targets }: OverloadRig,
  begin: (generator: Child<OverloadWork>, target: GatewayReady, index: number) => Promise<LoadOutcome>,
): Promise<LoadOutcome> {
  const outcomes = await Promise.all(
    generators.map((generator, index) => begin(generator, targets[index] as GatewayReady, index)),
  );
  const total = (read: (outcome: LoadOutcome) => number): number =>
    outcomes.reduce((sum, outcome) => sum + read(outcome), 0);
  const lastSheds = outcomes.flatMap(({ lastShedSeconds }) => lastShedSeconds ?? []);
  return {
    seconds: Math.max(...outcomes.map(({ seconds }) => seconds)),
    acceptedMs: outcomes.flatMap(({ acceptedMs }) => acceptedMs),
    settledMs: outcomes.flatMap(({ settledMs }) => settledMs),
    shedMs: outcomes.flatMap(({ shedMs }) => shedMs),
    others: total(({ others }) => others),
    unanswered: total(({ unanswered }) => unanswered),
    lastShedSeconds: lastSheds.length === 0 ? null : Math.max(...lastSheds),
    late: total(({ late }) => late),
  };
}

/** The part of a number that falls to one generator; the parts add up to it. */
function shareOf(count: number, index: number): number {
  return Math.floor(((index + 1) * count) / GENERATORS) - Math.floor((index * count) / GENERATORS);
}

function request(target: GatewayReady) {
  return { target, body: bodyOf("small"), settledAfterMs: SETTLED_MS };
}
