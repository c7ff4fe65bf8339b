// Streams: what a server in between adds to the first token and to each chunk, and the memory of an open stream.

import { setTimeout as pause } from "node:timers/promises";
import { bodyOf } from "./clients/bodies.ts";
import type { Resources } from "./harness/child.ts";
import { type OwnTimes, readOwnTimes, showOwn } from "./harness/own-times.ts";
import type { Rig } from "./harness/rig.ts";
import type { Server } from "./harness/server.ts";
import { median, percentile } from "./harness/statistics.ts";
import { show, showRange, type Table } from "./harness/table.ts";

/** Number of rounds, and chunks in each. */
export interface StreamPlan {
  readonly warmUpRounds: number;
  readonly rounds: number;
  readonly chunks: number;
  /** Streams held open for the memory; null leaves the memory out, which needs servers of its own. */
  readonly openStreams: number | null;
}

/** A few streams, where every chunk wakes the process, and many, where chunks share a wake-up. */
const STREAMS = [10, 200];
/** Connections of the warm-up, for each worker: each compiles its code for itself. */
const CONNECTIONS = 32;
const EVERY_MS = 10;
const WARM_UP_PACE = { chunks: 10, everyMs: 1 };
/** Slow enough that opening the last stream does not compete with feeding the first. */
const OPEN_EVERY_MS = 2_000;
const OPEN_CHUNKS = 1_000;
/** By the last time, most code is compiled. */
const OPENINGS = 4;
/** A server that still closes its streams would be busy with them in the next round. */
const CLOSING_MS = 1_000;

const OWN_PARTS = ["to provider", "first", "last"] as const;

/** The samples of one server. */
interface Measured {
  readonly server: Server;
  /** The median of each round. */
  readonly firstTokenUs: number[];
  readonly chunkUs: (readonly number[])[];
  readonly cpuUs: number[];
  /** Before the first round. */
  readonly ownBefore: OwnTimes;
}

export async function measureStream(rig: Rig, plan: StreamPlan): Promise<readonly Table[]> {
  await rig.provider.ask("pace", WARM_UP_PACE);
  const servers: Server[] = [];
  for (const server of serversOf(rig)) if (await warmsUp(rig, server, plan)) servers.push(server);
  const paces: Table[] = [];
  for (const count of STREAMS) paces.push(await measurePace(rig, { servers, streams: count }, plan));
  if (plan.openStreams === null) return paces;
  // Servers that have worked hold free memory, which open streams would use without a trace.
  const freshRig = await rig.again();
  try {
    const names = new Set(servers.map(({ name }) => name));
    const opened = serversOf(freshRig).filter((server) => server !== freshRig.direct && names.has(server.name));
    return [...paces, await measureOpen(freshRig, opened, plan.openStreams)];
  } finally {
    await freshRig.close();
  }
}

function serversOf({ direct, proxy, gateway, others }: Rig): readonly Server[] {
  return [direct, proxy, gateway, ...others];
}

/** False for a peer that does not stream what it is sent. */
async function warmsUp(rig: Rig, server: Server, { warmUpRounds }: StreamPlan): Promise<boolean> {
  try {
    for (let round = 0; round < warmUpRounds; round++)
      await readRound(rig, server, CONNECTIONS * (server.workers ?? 1));
    return true;
  } catch (error) {
    if (rig.others.every((other) => other !== server)) throw error;
    console.log(`${server.name}: no streams, ${(error as Error).message}\n`);
    return false;
  }
}

/** Servers take turns in rounds, so that a busy moment of the machine affects all of them. */
async function measurePace(
  rig: Rig,
  { servers, streams }: { readonly servers: readonly Server[]; readonly streams: number },
  { warmUpRounds, rounds, chunks }: StreamPlan,
): Promise<Table> {
  const all: Measured[] = [];
  for (const server of servers) {
    all.push({ server, firstTokenUs: [], chunkUs: [], cpuUs: [], ownBefore: await readOwnTimes(server) });
  }
  await rig.provider.ask("pace", { chunks, everyMs: EVERY_MS });
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      const { firstTokenUs, chunkUs, cpuUs } = await readRound(rig, one.server, streams);
      one.firstTokenUs.push(median(firstTokenUs));
      one.chunkUs.push(chunkUs);
      one.cpuUs.push(cpuUs / (chunks * streams));
    }
  }
  const { firstTokenUs: directUs } = all[0] as Measured;
  const ownAfter = await Promise.all(servers.map(readOwnTimes));
  return {
    title: `stream: ${streams} at a time, ${chunks} chunks each, one every ${EVERY_MS} ms, times in µs`,
    columns: ["", "first token p50", "added", "chunk p50", "chunk p99", "CPU/chunk", ...OWN_PARTS],
    rows: all.map(({ server, firstTokenUs, chunkUs, cpuUs, ownBefore }, index) => {
      const added = firstTokenUs.map((us) => us - median(directUs));
      const [half, most] = [0.5, 0.99].map((share) => show(percentile(chunkUs.flat(), share))) as [string, string];
      return [
        server.name,
        show(median(firstTokenUs)),
        server === rig.direct ? "" : showRange(added),
        half,
        most,
        showRange(cpuUs),
        ...OWN_PARTS.map((part) => showOwn(ownBefore, ownAfter[index] ?? null, part)),
      ];
    }),
    notes: [
      "To provider, first and last text: p50 / p99 of the gateway's own clocks, from bytes in to bytes out.",
      "A chunk is timed from the provider's write to the client's read. CPU is that of the named server, opening included.",
      `Median (lowest-highest) of ${rounds} rounds, after ${warmUpRounds} rounds of ${CONNECTIONS} short streams, for each worker.`,
    ],
  };
}

/** All streams of one round, and the CPU time the server used for them. */
async function readRound({ load }: Rig, server: Server, connections: number) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyOf("small", true), connections };
  const times = await load.ask("readStreams", input);
  const after = await server.process.ask("resources", null);
  return { ...times, cpuUs: after.cpuUs - before.cpuUs };
}

/** Servers take turns here too. */
async function measureOpen(rig: Rig, servers: readonly Server[], openStreams: number): Promise<Table> {
  await rig.provider.ask("pace", { chunks: OPEN_CHUNKS, everyMs: OPEN_EVERY_MS });
  // Provider and load are fresh too, and the first server would wait for them.
  await openAndClose(rig, rig.direct, openStreams);
  const all: { readonly server: Server; readonly opened: Opened[]; memory: HeldMemory | null }[] = [];
  for (const server of servers) {
    // The first streams load code once; they are not what a further stream costs.
    await openAndClose(rig, server, Math.ceil(openStreams / 5));
    all.push({ server, opened: [], memory: null });
  }
  for (let time = 0; time < OPENINGS; time++) {
    for (const { server, opened } of all) opened.push(await openAndClose(rig, server, openStreams));
  }
  // Last: where V8 is made to collect, it drops compiled code, and the next streams wait for it.
  for (const one of all) one.memory = await measureMemory(rig, one.server, openStreams);
  return {
    title: `stream: ${openStreams} opened at once`,
    columns: ["", "all open after s", "CPU ms/stream", "live KiB/stream", "RSS before MiB", "RSS open MiB"],
    rows: all.map(({ server, opened, memory }) => {
      const mb = (bytes: number) => show(bytes / 1024 ** 2);
      const [first, last] = [opened[0], opened.at(-1)] as [Opened, Opened];
      const { before, open } = memory as HeldMemory;
      const both = (read: (opening: Opened) => number) => `${show(read(first))} / ${show(read(last))}`;
      return [
        server.name,
        both(({ seconds }) => seconds),
        both(({ cpuUs }) => cpuUs / openStreams / 1000),
        show((open.liveBytes - before.liveBytes) / 1024 / openStreams),
        mb(before.rssBytes),
        mb(open.rssBytes),
      ];
    }),
    notes: [
      `Opened ${OPENINGS} times, in fresh servers that had opened ${Math.ceil(openStreams / 5)} before: the first and the last time.`,
      "Live: objects and buffers in use after a collection. RSS also holds what the process keeps in reserve.",
      "Of peers and of gateways with workers, only RSS is known, and it counts as live.",
    ],
  };
}

interface Opened {
  readonly seconds: number;
  readonly cpuUs: number;
}

/** Without open streams, and with them. */
interface HeldMemory {
  readonly before: Resources;
  readonly open: Resources;
}

async function openAndClose(rig: Rig, server: Server, count: number): Promise<Opened> {
  const before = await server.process.ask("resources", null);
  const startedAt = performance.now();
  await openStreamsOf(rig, server, count);
  const seconds = (performance.now() - startedAt) / 1000;
  const { cpuUs } = await server.process.ask("resources", null);
  await closeStreams(rig);
  return { seconds, cpuUs: cpuUs - before.cpuUs };
}

async function measureMemory(rig: Rig, server: Server, count: number): Promise<HeldMemory> {
  const before = await memoryOf(server);
  await openStreamsOf(rig, server, count);
  const open = await memoryOf(server);
  await closeStreams(rig);
  return { before, open };
}

function openStreamsOf({ load }: Rig, { target }: Server, connections: number): Promise<unknown> {
  return load.ask("openStreams", { target, body: bodyOf("small", true), connections });
}

async function closeStreams({ load }: Rig): Promise<void> {
  await load.ask("closeStreams", null);
  await pause(CLOSING_MS);
}

/** After a collection, so that only live memory counts. */
async function memoryOf({ process }: Server): Promise<Resources> {
  await process.ask("collectGarbage", null);
  return process.ask("resources", null);
}
