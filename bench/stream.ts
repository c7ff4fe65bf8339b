// Streams: what a server in between adds to the first token and to each chunk, and the memory of an open stream.

import { bodyOf } from "./clients/bodies.ts";
import type { Resources } from "./harness/child.ts";
import { type Rig, type Server, startRig } from "./harness/rig.ts";
import { median, percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

/** How many rounds, of how many chunks. */
export interface StreamPlan {
  readonly warmUpRounds: number;
  readonly rounds: number;
  readonly chunks: number;
  /** Null leaves the memory out: it needs servers of its own. */
  readonly openStreams: number | null;
}

const CONNECTIONS = 32;
const EVERY_MS = 10;
const WARM_UP_PACE = { chunks: 10, everyMs: 1 };
/** Slow enough that opening the last stream does not compete with feeding the first. */
const OPEN_EVERY_MS = 2_000;
const OPEN_CHUNKS = 1_000;

/** The samples of one server. */
interface Measured {
  readonly server: Server;
  readonly firstTokenUs: number[];
  readonly chunkUs: number[];
  readonly cpuUs: number[];
}

export async function measureStream(rig: Rig, plan: StreamPlan): Promise<readonly Table[]> {
  const pace = await measurePace(rig, plan);
  if (plan.openStreams === null) return [pace];
  // Servers that have worked hold free memory, which open streams would use without a trace.
  const freshRig = await startRig();
  try {
    return [pace, await measureOpen(freshRig, plan.openStreams)];
  } finally {
    await freshRig.close();
  }
}

/** Servers take turns in rounds, so that a busy moment of the machine affects all of them. */
async function measurePace(rig: Rig, { warmUpRounds, rounds, chunks }: StreamPlan): Promise<Table> {
  const all: readonly Measured[] = [rig.direct, rig.proxy, rig.gateway].map((server) => ({
    server,
    firstTokenUs: [],
    chunkUs: [],
    cpuUs: [],
  }));
  await rig.provider.ask("pace", WARM_UP_PACE);
  for (const { server } of all) for (let round = 0; round < warmUpRounds; round++) await readRound(rig, server);
  await rig.provider.ask("pace", { chunks, everyMs: EVERY_MS });
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      const { firstTokenUs, chunkUs, cpuUs } = await readRound(rig, one.server);
      one.firstTokenUs.push(...firstTokenUs);
      one.chunkUs.push(...chunkUs);
      one.cpuUs.push(cpuUs / (chunks * CONNECTIONS));
    }
  }
  const direct = all[0] as Measured;
  return {
    title: `stream: ${CONNECTIONS} at a time, ${chunks} chunks each, one every ${EVERY_MS} ms, times in µs`,
    columns: ["", "first token p50", "added", "chunk p50", "added", "chunk p99", "CPU/chunk"],
    rows: all.map(({ server, firstTokenUs, chunkUs, cpuUs }) => {
      const first = median(firstTokenUs);
      const chunk = median(chunkUs);
      const added = [first - median(direct.firstTokenUs), chunk - median(direct.chunkUs)].map((value) =>
        server === rig.direct ? "" : show(value),
      );
      const [addedFirst = "", addedChunk = ""] = added;
      return [
        server.name,
        show(first),
        addedFirst,
        show(chunk),
        addedChunk,
        show(percentile(chunkUs, 0.99)),
        show(median(cpuUs)),
      ];
    }),
    notes: ["A chunk is timed from the provider's write to the client's read. CPU is that of the named server."],
  };
}

/** All streams of one round, and the CPU time the server used for them. */
async function readRound({ load }: Rig, server: Server) {
  const before = await server.process.ask("resources", null);
  const input = { target: server.target, body: bodyOf("small", true), connections: CONNECTIONS };
  const times = await load.ask("readStreams", input);
  const after = await server.process.ask("resources", null);
  return { ...times, cpuUs: after.cpuUs - before.cpuUs };
}

/** The memory per stream is a difference, so each server is warmed up first. */
async function measureOpen(rig: Rig, openStreams: number): Promise<Table> {
  await rig.provider.ask("pace", { chunks: OPEN_CHUNKS, everyMs: OPEN_EVERY_MS });
  const rows: string[][] = [];
  for (const server of [rig.proxy, rig.gateway]) {
    // The first streams load code and grow the heap once; they are not what a further stream costs.
    await openAndClose(rig, server, Math.ceil(openStreams / 5));
    const before = await memoryOf(server);
    const open = await openAndClose(rig, server, openStreams);
    const mb = (bytes: number) => show(bytes / 1024 ** 2);
    const perStream = (open.liveBytes - before.liveBytes) / 1024 / openStreams;
    rows.push([server.name, show(perStream), mb(before.rssBytes), mb(open.rssBytes)]);
  }
  return {
    title: `stream: memory with ${openStreams} open streams`,
    columns: ["", "live KB/stream", "RSS before MB", "RSS open MB"],
    rows,
    notes: ["Live: objects and buffers in use after a collection. RSS also holds what the process keeps in reserve."],
  };
}

/** The memory in use while the streams are open. */
async function openAndClose({ load }: Rig, server: Server, count: number): Promise<Resources> {
  await load.ask("openStreams", { target: server.target, body: bodyOf("small", true), connections: count });
  const resources = await memoryOf(server);
  await load.ask("closeStreams", null);
  return resources;
}

/** After a collection, so that only live memory counts. */
async function memoryOf({ process }: Server): Promise<Resources> {
  await process.ask("collectGarbage", null);
  return process.ask("resources", null);
}
