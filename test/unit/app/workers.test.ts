// Tests of what workers share, without processes: two workers over real links, with a primary in between that passes
// messages on. And of a transaction that a worker does not end.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, PassThrough } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { logVersionEvents } from "../../../src/app/configuration.ts";
import { openHealth } from "../../../src/app/health.ts";
import { lend } from "../../../src/app/lend.ts";
import { sharedWrongKeys } from "../../../src/app/people.ts";
import { shareSpeeds } from "../../../src/app/speeds.ts";
import {
  announceMemory,
  createLoadReports,
  HOST_SPEEDS,
  openGauges,
  openSemaphores,
  shareMetrics,
  WORKER_SERVICES,
  type WorkerSlot,
  workersCheck,
} from "../../../src/app/worker.ts";
import { load } from "../../../src/config/load.ts";
import { readMachine } from "../../../src/config/machine.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Model } from "../../../src/core/model.ts";
import { createSlotCounter, type Semaphore } from "../../../src/core/processes/semaphores.ts";
import type { SessionTurn } from "../../../src/core/session.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import type { Snapshot } from "../../../src/gateway/services.ts";
import { createTeller } from "../../../src/gateway/sessions/keeper.ts";
import { InnerSocket } from "../../../src/http/exchange/inner-socket.ts";
import { createSpeeds, type Speeds } from "../../../src/providers/speeds.ts";
import { bulkInsert, integer } from "../../../src/store/dialect.ts";
import { openThread, sqliteOver } from "../../../src/store/sqlite/sqlite.ts";
import { channelOver, type ForwardedAnswer, type ForwardedCall } from "../../../src/store/sqlite/thread.ts";
import { createMetrics, watchProcess } from "../../../src/telemetry/metrics.ts";
import { workersFor } from "../../../src/workers/count.ts";
import type { LoadReport } from "../../../src/workers/fill.ts";
import { createLink, type OpenLink } from "../../../src/workers/link.ts";

const LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Both ends of a pipe. */
function linked(): { readonly near: OpenLink; readonly far: OpenLink; readonly end: () => void } {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const pipes = [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
  const [near, far] = pipes.map(createLink) as [OpenLink, OpenLink];
  const end = (): void => pipes.forEach((pipe) => void pipe.destroy());
  ends.push(end);
  return { near, far, end };
}

/** Two workers of one gateway. */
function twoWorkers(): readonly [WorkerSlot, WorkerSlot] {
  const [first, second] = [linked(), linked()];
  first.far.onPublished(second.far.pass);
  second.far.onPublished(first.far.pass);
  const placeOf = ({ near }: typeof first, index: number): WorkerSlot => ({
    link: near,
    index,
    count: 2,
    isFilled: false,
    isFirstStart: false,
  });
  return [placeOf(first, 0), placeOf(second, 1)];
}

test("a worker's load counts clients' connections, each once, and none inside the process", async () => {
  const { near, far } = linked();
  const counted: unknown[] = [];
  far.serve(WORKER_SERVICES.load, async (told) => {
    counted.push((told as LoadReport).connections);
    return 0;
  });
  const slot = { link: near, index: 0, count: 1, isFilled: true, isFirstStart: false };
  const reports = createLoadReports(
    slot,
    () => ({ inFlight: 100, connections: 100 }),
    () => 0,
  );
  const server = createServer();
  ends.push(reports.close, () => void server.close());
  reports.watch(server);
  const client = new PassThrough();
  server.emit("connection", client);
  server.emit("connection", client);
  const origin = { remoteAddress: undefined, remotePort: undefined, encrypted: false, holder: null };
  for (const socket of InnerSocket.pair(origin)) server.emit("connection", socket);
  await vi.waitFor(() => expect(counted.at(-1)).toBe(1));
  expect(counted).not.toContain(4);
  client.destroy();
  await vi.waitFor(() => expect(counted.at(-1)).toBe(0));
});

test("a breaker that opens in one worker is open in the other", async () => {
  const loaded = load({ flags: {}, env: {}, cwd: tmpdir() });
  if (!loaded.ok) throw new Error("the defaults do not load");
  const { settings } = loaded;
  const current = (): Snapshot => ({ catalog: settings.catalog, registry: { calls: () => [] } }) as unknown as Snapshot;
  const [one, other] = twoWorkers().map((worker) =>
    openHealth(settings, { current, log: LOG, metrics: createMetrics(), worker }),
  ) as [ReturnType<typeof openHealth>, ReturnType<typeof openHealth>];
  const hostKey = one.overview()[0]?.models[0]?.id as string;
  expect([one.resting().size, other.resting().size]).toEqual([0, 0]);
  for (let count = 0; count < 50 && !one.resting().has(hostKey); count += 1) {
    const ticket = one.admit(hostKey);
    one.report(hostKey, ticket, { kind: "failing", waitMs: null, error: "it fails" });
  }
  expect(one.resting().has(hostKey)).toBe(true);
  await vi.waitFor(() => expect(other.resting().has(hostKey)).toBe(true), 120_000);
  expect(other.admit(hostKey)).toBe(0);
});

test("the memory of the primary process counts in each worker", async () => {
  const { near, far } = linked();
  const gauges = openGauges({ link: near, index: 0, count: 4, isFilled: false, isFirstStart: false });
  const machineBytes = readMachine().memoryBytes;
  vi.spyOn(process.memoryUsage, "rss").mockReturnValue(0.2 * machineBytes);
  expect(gauges.memoryPercent()).toBeCloseTo(80);
  ends.push(announceMemory(() => [far]));
  // Four workers and the primary, a fifth of the memory each.
  await vi.waitFor(() => expect(gauges.memoryPercent()).toBeCloseTo(100), { timeout: 120_000 });
});

test("an error that a worker tells the log about keeps its class, its cause and its fields", async () => {
  const { near, far } = linked();
  const told: unknown[] = [];
  far.serve(WORKER_SERVICES.versionEvents, (event) => void told.push((event as { error: unknown }).error));
  const tell = logVersionEvents({
    log: LOG,
    worker: { link: near, index: 0, count: 2, isFilled: false, isFirstStart: false },
  });
  const error = new StoreUnavailable(new Error("no route to host"));
  tell({ kind: "reloadFailed", error });
  // What cannot cross is told as text.
  tell({ kind: "reloadFailed", error: Object.assign(new Error("odd"), { big: 1n, call: () => undefined }) });
  tell({ kind: "reloadFailed", error: undefined });
  await vi.waitFor(() => expect(told).toHaveLength(3), 120_000);
  const message = `${error.message}: no route to host`;
  expect(told[0]).toMatchObject({ type: "StoreUnavailable", message, kind: "unavailable" });
  expect(told.slice(1)).toEqual([expect.stringContaining("odd"), null]);
});

test("the speed of a host that one worker saw is known in the other, unless its host key leads elsewhere there", async () => {
  const loaded = load({ flags: {}, env: {}, cwd: tmpdir() });
  if (!loaded.ok) throw new Error("the defaults do not load");
  const { catalog } = loaded.settings;
  const [model, moved] = [...catalog.models.values()] as [Model, Model];
  const elsewhere = new Map(catalog.models).set(moved.id, {
    ...moved,
    hosts: moved.hosts.map((host) => ({ ...host, upstream: "another" })),
  });
  const catalogs = [catalog, { ...catalog, models: elsewhere }];
  const known = twoWorkers().map(({ link }, index) => {
    const speeds: Speeds = createSpeeds(
      () => 0,
      (sample) => shared.share?.(sample),
    );
    const current = () => ({ catalog: catalogs[index] ?? catalog, speeds });
    const shared = shareSpeeds({ kind: "sqlite", query: async () => [] }, { worker: { link }, current, log: LOG });
    link.on(HOST_SPEEDS, (text) => shared.receive(text as string));
    return speeds;
  }) as [Speeds, Speeds];
  const [one, other] = known;
  const answer = { firstMs: 900, outputTokens: 100, outputMs: 1_000 };
  for (let count = 0; count < 5; count += 1) {
    one.note(moved.hostKey, answer);
    one.note(model.hostKey, answer);
    other.note(model.hostKey, { ...answer, firstMs: 300 });
  }
  await vi.waitFor(() => expect(one.current().get(model.hostKey)?.firstMs).toBeLessThan(850), 120_000);
  await vi.waitFor(() => expect(other.current().get(model.hostKey)?.firstMs).toBeGreaterThan(320), 120_000);
  expect(one.current().get(moved.hostKey)?.firstMs).toBeCloseTo(900);
  expect(other.current().has(moved.hostKey)).toBe(false);
});

test("a message about speeds counts once, by whichever way it comes", () => {
  const loaded = load({ flags: {}, env: {}, cwd: tmpdir() });
  if (!loaded.ok) throw new Error("the defaults do not load");
  const { catalog } = loaded.settings;
  const [model] = [...catalog.models.values()] as [Model];
  const sent: string[] = [];
  const query = async (_sql: string, params: readonly unknown[] = []) => {
    sent.push(String(params[1]));
    return [];
  };
  const learn = vi.fn();
  const speeds = { ...createSpeeds(() => 0), learn };
  const context = { worker: null, current: () => ({ catalog, speeds }), log: LOG };
  const near = shareSpeeds({ kind: "postgres", query }, context);
  near.share?.({ hostKey: model.hostKey, firstMs: 9.6, headMs: null, tokensPerSecond: null });
  const [text = ""] = sent;
  expect(JSON.parse(text).samples).toMatchObject([{ route: model.hostKey, firstMs: 10 }]);
  near.receive(text);
  expect(learn).not.toHaveBeenCalled();
  const far = shareSpeeds({ kind: "postgres", query }, context);
  far.receive(text);
  far.receive(text);
  expect(learn.mock.calls).toEqual([[{ hostKey: model.hostKey, firstMs: 10, headMs: null, tokensPerSecond: null }]]);
});

test("wrong keys that one worker sees count in the other", async () => {
  const [one, other] = twoWorkers().map((worker) => sharedWrongKeys("wrong-key", () => 4, worker)) as [
    ReturnType<typeof sharedWrongKeys>,
    ReturnType<typeof sharedWrongKeys>,
  ];
  for (let count = 0; count < 2; count += 1) one.note("203.0.113.7");
  for (let count = 0; count < 2; count += 1) other.note("203.0.113.7");
  await vi.waitFor(() => {
    expect(one.waitSeconds("203.0.113.7")).toBeGreaterThan(0);
    expect(other.waitSeconds("203.0.113.7")).toBeGreaterThan(0);
  }, 120_000);
  expect(other.waitSeconds("203.0.113.8")).toBe(0);
});

test("a turn is told at once, and those that follow soon are told together", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const told: string[][] = [];
  const tell = createTeller((turns) => told.push(turns.map(({ session, atMs }) => `${session}${atMs}`)));
  const turn = (session: string, atMs: number): SessionTurn => ({ session, atMs }) as SessionTurn;
  tell(turn("a", 1));
  expect(told).toEqual([["a1"]]);
  tell(turn("a", 2));
  tell(turn("b", 3));
  tell(turn("a", 4));
  vi.advanceTimersByTime(50);
  expect(told).toEqual([["a1"], ["a2", "b3", "a4"]]);
  vi.advanceTimersByTime(1_000);
  tell(turn("c", 5));
  expect(told.at(-1)).toEqual(["c5"]);
});

/** A worker's connection, and the primary's own. */
async function lent(path = ":memory:") {
  const options = { exclusive: false, busyTimeoutMs: 0, onAdopted: () => undefined };
  const thread = await openThread(path, options);
  const { near, far, end } = linked();
  far.serve("writer", lend(thread, far));
  const send = (call: ForwardedCall): Promise<ForwardedAnswer> => near.call("writer", call) as Promise<ForwardedAnswer>;
  const own = sqliteOver(thread);
  await own.query("CREATE TABLE notes (id INTEGER)");
  const count = async (): Promise<unknown> => (await own.query("SELECT COUNT(*) AS count FROM notes"))[0]?.count;
  return { own, count, end, worker: sqliteOver(channelOver(send, path), "worker") };
}

describe("a worker and its primary process", () => {
  test.each(["own", "worker"] as const)("write all kinds of statements in one batch: %s", async (side) => {
    const all = await lent();
    const notes = bulkInsert<number>("sqlite", { table: "notes", columns: { id: integer((id) => id) } });
    const answers = await all[side].batch([
      { sql: "INSERT INTO notes VALUES ($2), ($1), ($2)", params: [2, 1n], expectRows: 3 },
      notes.statement([3, 4]),
      notes.statement([5, 6, 7, 8, 9, 10, 11, 12]),
      { sql: "DELETE FROM notes WHERE id = 12 RETURNING id" },
    ]);
    expect(answers).toEqual([[], [], [], [{ id: 12 }]]);
    const ids = (await all[side].query("SELECT id FROM notes")).map(({ id }) => id);
    expect(ids).toEqual([1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const tooFew = { sql: "DELETE FROM notes WHERE id = $1", params: [2], expectRows: 2 };
    await expect(all[side].batch([notes.statement([13]), tooFew])).rejects.toMatchObject({ statementIndex: 1 });
    expect(await all.count()).toBe(12);
    await all.own.close();
  });

  test("both hear that the file is gone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "switchyard-lent-"));
    const all = await lent(join(folder, "a.db"));
    expect(await all.worker.problems()).toEqual([]);
    rmSync(join(folder, "a.db"));
    expect(await all.worker.problems()).toEqual([expect.stringContaining("a.db was deleted")]);
    expect(await all.own.problems()).toEqual(await all.worker.problems());
    await all.own.close();
    rmSync(folder, { recursive: true });
  });
});

describe("a transaction that a worker has begun", () => {
  /** Resolves when it has written; it ends only when the connection does. */
  function beginAndHang({ worker }: Awaited<ReturnType<typeof lent>>): Promise<void> {
    return new Promise((resolve, reject) => {
      const hanging = worker.transaction(async (tx) => {
        await tx.query("INSERT INTO notes VALUES (1)");
        resolve();
        await new Promise(() => undefined);
      });
      hanging.catch(reject);
    });
  }

  test("is undone when the worker dies", async () => {
    const all = await lent();
    await beginAndHang(all);
    const later = all.own.batch([{ sql: "INSERT INTO notes VALUES (2)" }]);
    all.end();
    await later;
    expect(await all.count()).toBe(1);
    await all.own.close();
  });

  test("is undone after 30 seconds where the worker hangs, and not before", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const all = await lent();
    await beginAndHang(all);
    let isWritten = false;
    const later = all.own.batch([{ sql: "INSERT INTO notes VALUES (2)" }]).then(() => {
      isWritten = true;
    });
    vi.advanceTimersByTime(29_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isWritten).toBe(false);
    vi.advanceTimersByTime(1_000);
    await later;
    expect(await all.count()).toBe(1);
    await all.own.close();
  });

  test("stays when it was committed, whatever becomes of the worker", async () => {
    const all = await lent();
    await all.worker.transaction((tx) => tx.query("INSERT INTO notes VALUES (1)"));
    all.end();
    expect(await all.count()).toBe(1);
    await all.own.close();
  });
});

const GB = 1024 ** 3;

test.each([
  ["auto", 1, 64, "1 to 1"],
  ["auto", 3, 64, "1 to 1"],
  ["auto", 4, 64, "1 to 4"],
  ["auto", 16, 64, "1 to 16"],
  ["auto", 64, 512, "1 to 16"],
  ["auto", 8, 4, "1 to 5"],
  ["auto", 8, 1.6, "1 to 1"],
  ["auto", 8, 0.5, "1 to 1"],
  ["2-8", 1, 0.5, "2 to 8"],
  [3, 1, 0.5, "3 to 3"],
] as const)("%s workers on %d cores with %d GB: %s", (wanted, cores, memory, crew) => {
  const { least, most } = workersFor(wanted, { cores, memoryBytes: memory * GB });
  expect(`${least} to ${most}`).toBe(crew);
});

test("on PostgreSQL, several gateways may share a machine", () => {
  const workersOf = (database: string) => {
    const loaded = load({ flags: { database }, env: {}, cwd: tmpdir() });
    if (!loaded.ok) throw new Error("refused");
    return loaded.settings.server.workers;
  };
  expect(workersOf("sqlite:a.db")).toBe("auto");
  expect(workersOf("postgres://host/a")).toBe(1);
});

describe("a worker that hangs", () => {
  /** The other worker, as it sees the primary process. */
  function beside(serve: (primary: OpenLink) => void): WorkerSlot {
    const { near, far, end } = linked();
    ends.push(end);
    serve(near);
    return { link: far, index: 1, count: 2, isFilled: false, isFirstStart: false };
  }

  test("shows in the readiness of the others, which stay ready", async () => {
    let silent = 1;
    const worker = beside((primary) => primary.serve(WORKER_SERVICES.silent, () => silent));
    const problem = "1 of 2 do not answer and are replaced after 30 s";
    expect(await workersCheck(worker)).toEqual({ name: "workers", problem, isOptional: true });
    silent = 0;
    expect(await workersCheck(worker)).toEqual({ name: "workers", problem: null, isOptional: true });
  });

  test("is counted in the metrics that the others show", async () => {
    const primary = watchProcess();
    const serve = async () => [await primary.readings()];
    const metrics = shareMetrics(
      createMetrics(),
      beside((link) => link.serve(WORKER_SERVICES.metrics, serve)),
    );
    expect(await metrics.text()).toContain("\nswitchyard_workers_hung_total 0\n");
    primary.workerHung();
    expect(await metrics.text()).toContain("\nswitchyard_workers_hung_total 1\n");
    metrics.close();
  });
});

test("with workers as needed, one may have its share and the common half of the slots, and no more", async () => {
  const countSlots = createSlotCounter();
  const slots = [0, 1].map((index) => {
    const { near, far } = linked();
    countSlots(far, new Promise(() => undefined));
    return { link: near, index, count: 2, isFilled: true, isFirstStart: false };
  });
  const loaded = load({ flags: {}, env: { SWITCHYARD_IN_FLIGHT: "256" }, cwd: tmpdir() });
  if (!loaded.ok) throw new Error("refused");
  const [first, second] = slots.map((slot) => openSemaphores(() => loaded.settings.limits, slot).requests);
  const taken = async (semaphore: Semaphore | undefined, count: number): Promise<number> => {
    const all = await Promise.all(Array.from({ length: count }, () => semaphore?.acquire("")));
    return all.filter((release) => typeof release === "function").length;
  };
  expect(await taken(first, 200)).toBe(64 + 128);
  expect(await taken(second, 100)).toBe(64);
});
