// Wiring of the primary process, which owns the port and the database and serves nothing itself. It gives workers the
// SQLite connection, ledger commits, shared rate limits and each other's messages.

import { hostname } from "node:os";
import { createBatcher } from "../billing/batcher.ts";
import { batchesOf } from "../billing/ledger.ts";
import { newOwner } from "../billing/owner.ts";
import { serveLedger } from "../billing/remote-batcher.ts";
import type { FileText, Settings } from "../config/settings.ts";
import { type Db, sqlitePathOf } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { RateRequest } from "../core/processes/call-window.ts";
import { createSlotCounter } from "../core/processes/semaphores.ts";
import { createAlertEventStore } from "../store/alerts/events.ts";
import { openDb } from "../store/db.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { forgetProcess, forgetProcesses } from "../store/ledger/processes.ts";
import { openPartThreads } from "../store/sqlite/part-files.ts";
import { openThread, sqliteOver } from "../store/sqlite/sqlite.ts";
import { type MetricReadings, watchProcess } from "../telemetry/metrics.ts";
import { createVersionLog, type VersionEvent } from "../versions/events.ts";
import type { Crew } from "../workers/count.ts";
import type { LoadReport } from "../workers/fill.ts";
import type { OpenLink } from "../workers/link.ts";
import { createSupervisor, type Supervisor, type WorkerProcess } from "../workers/supervisor.ts";
import type { App } from "./app.ts";
import { watchDatabase } from "./changes.ts";
import type { StopOptions } from "./drain.ts";
import { lend } from "./lend.ts";
import { openWindows } from "./limits.ts";
import { watchedBy } from "./storage.ts";
import { ACCESS_CHANGED, announceMemory, HOST_SPEEDS, WORKER_SERVICES, type WorkerSlot } from "./worker.ts";

/** Messages about the life of a worker. */
export const LIFE = { slot: "slot", started: "started", failed: "failed", stop: "stop", hurry: "hurry" } as const;

/** The first worker's report on its start. */
export type StartedApp = Omit<App, "stop" | "hurry" | "lost">;

/** Reason in words, for people. */
export class StartFailed extends Error {}

export interface PrimaryOptions {
  readonly crew: Crew;
  readonly program: string;
  readonly args: readonly string[];
  /** The configuration file as the primary read it, so that all workers have the same, even after a restart. */
  readonly file: FileText | null;
  /** Time after which a worker without a connection ends, for tests. */
  readonly spareMs?: number;
}

/** First request of a worker to the primary. */
export interface WorkerOrder extends Omit<WorkerSlot, "link"> {
  readonly file: FileText | null;
}

/** Resolves when the first worker serves; the others follow. */
export async function startPrimary(settings: Settings, log: Log, options: PrimaryOptions): Promise<App> {
  const store = await openStore(settings, log);
  try {
    return await startOn(store, settings, log, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startOn(store: Store, settings: Settings, log: Log, options: PrimaryOptions): Promise<App> {
  const { crew, program, args, file, spareMs } = options;
  const windows = await openWindows(settings, log);
  const metrics = watchProcess();
  const first = createFirstStart();
  const owners = new Map<WorkerProcess, string>();
  const versionLog = createVersionLog(log);
  const countSlots = createSlotCounter();
  const onStart = (worker: WorkerProcess): void => {
    const [{ link, index }, isFirstStart] = [worker, !first.isOver()];
    link.serve(LIFE.slot, () => orderOf(index, { crew, isFirstStart, file }));
    link.serve(WORKER_SERVICES.owner, (owner) => void owners.set(worker, String(owner)));
    link.serve(WORKER_SERVICES.windows, (requests) => windows.take(requests as readonly RateRequest[]));
    link.serve(WORKER_SERVICES.versionEvents, (event) => versionLog.write(event as VersionEvent, worker));
    link.serve(WORKER_SERVICES.metrics, async () => [
      ...(await readOthers(supervisor, worker)),
      await metrics.readings(),
    ]);
    link.serve(WORKER_SERVICES.silent, () => supervisor.silent());
    link.serve(WORKER_SERVICES.load, (report) => supervisor.report(worker, report as LoadReport));
    link.onPublished((frame) => passToOthers(supervisor, worker, frame));
    countSlots(link, link.closed);
    store.serve(link);
    reportStart(worker, first, { log, onReplaced: () => void tellReplaced(store.db, worker, log) });
  };
  const onEnd = (worker: WorkerProcess): void => {
    const owner = owners.get(worker);
    owners.delete(worker);
    versionLog.forget(worker);
    // Tells the other workers to release the holds of the dead one. If this fails, they notice the death later.
    if (owner !== undefined) void forgetProcess(store.db, owner).catch(() => undefined);
  };
  let onLost = (): void => undefined;
  const lost = new Promise<void>((resolve) => (onLost = resolve));
  const told = { onStart, onEnd, onLost, onSpare: stopWorker, onHung: metrics.workerHung };
  const supervisor = createSupervisor({ crew, program, args, log, ...told, ...(spareMs !== undefined && { spareMs }) });
  const listeners = {
    onChange: () => publishToAll(supervisor, ACCESS_CHANGED, null),
    onSpeeds: (text: string) => publishToAll(supervisor, HOST_SPEEDS, text),
  };
  const changes = await watchDatabase(settings.database, listeners, log);
  const endAnnouncing = announceMemory(() => supervisor.running().map(({ link }) => link));
  const close = async (): Promise<void> => {
    endAnnouncing();
    supervisor.retire();
    await Promise.all(supervisor.running().map(({ ended }) => ended));
    await changes.close();
    await windows.close();
  };
  try {
    void supervisor.startFirst().ended.then(() => first.fail("its first worker process ended"));
    const app = await first.app;
    // Starting processes takes a while, so wait until the caller can stop it. Before that, a signal would kill it.
    setImmediate(supervisor.startOthers);
    return { ...app, ...stopping(supervisor, () => close().then(store.close)), lost };
  } catch (error) {
    await close();
    throw error;
  }
}

function orderOf(
  index: number,
  { crew, ...start }: Pick<PrimaryOptions, "crew"> & Pick<WorkerOrder, "isFirstStart" | "file">,
): WorkerOrder {
  return { index, count: crew.most, isFilled: crew.least < crew.most, ...start };
}

function stopWorker({ link }: WorkerProcess): void {
  link.publish(LIFE.stop, {});
}

/** The start of the first worker. If this worker cannot start, the gateway cannot. */
interface FirstStart {
  readonly app: Promise<StartedApp>;
  isOver(): boolean;
  succeed(app: StartedApp): void;
  fail(reason: string): void;
}

function createFirstStart(): FirstStart {
  let isOver = false;
  let succeed = (_: StartedApp): void => undefined;
  let fail = (_: Error): void => undefined;
  const app = new Promise<StartedApp>((resolve, reject) => {
    succeed = resolve;
    fail = reject;
  });
  return {
    app,
    isOver: () => isOver,
    succeed(started) {
      isOver = true;
      succeed(started);
    },
    fail: (reason) => fail(new StartFailed(reason)),
  };
}

/** The database may be what the worker died of, so the event is kept where that is possible. */
async function tellReplaced(db: Db, { index }: WorkerProcess, log: Log): Promise<void> {
  const [worker, host] = [String(index), hostname()];
  const observation = { kind: "worker.replaced", accountId: null, subject: host, data: { worker, host } } as const;
  await createAlertEventStore(db)
    .raise([observation], Date.now())
    .catch((err) => log.warn({ event: "alert.watch_failed", err }, "the replacement of a worker could not be kept"));
}

interface StartReport {
  readonly log: Log;
  readonly onReplaced: () => void;
}

function reportStart(worker: WorkerProcess, first: FirstStart, { log, onReplaced }: StartReport): void {
  const { link, index, pid, isReplacement } = worker;
  link.serve(LIFE.started, (app) => {
    if (isReplacement) {
      onReplaced();
      log.info(
        { event: "worker.replaced", pid, index },
        "a worker process serves in place of one that ended or could not start",
      );
    } else log.debug({ event: "worker.started", pid, index }, "a worker process serves");
    first.succeed(app as StartedApp);
  });
  link.serve(LIFE.failed, (reason) => {
    if (first.isOver())
      log.error({ event: "worker.start_failed", reason: String(reason) }, "a worker process cannot start");
    first.fail(String(reason));
  });
}

function stopping(supervisor: Supervisor, close: () => Promise<void>): Pick<App, "stop" | "hurry"> {
  return {
    async stop(options: StopOptions = {}) {
      supervisor.retire();
      publishToAll(supervisor, LIFE.stop, options);
      await close();
    },
    hurry: () => publishToAll(supervisor, LIFE.hurry, null),
  };
}

function publishToAll(supervisor: Supervisor, topic: string, payload: unknown): void {
  for (const { link } of supervisor.running()) link.publish(topic, payload);
}

function passToOthers(supervisor: Supervisor, from: WorkerProcess, frame: Uint8Array): void {
  for (const worker of supervisor.running()) if (worker !== from) worker.link.pass(frame);
}

/** Time that a scrape waits for a busy or starting worker. */
const READINGS_MS_MAX = 2_000;

async function readOthers(supervisor: Supervisor, asking: WorkerProcess): Promise<readonly MetricReadings[]> {
  const asked = supervisor.running().filter((worker) => worker !== asking);
  const answers = await Promise.all(asked.map(({ link }) => readingsOf(link)));
  return answers.filter((readings) => readings !== null);
}

async function readingsOf(link: OpenLink): Promise<MetricReadings | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), READINGS_MS_MAX);
  });
  const read = link.call(WORKER_SERVICES.metrics, null) as Promise<MetricReadings>;
  const readings = await Promise.race([read.catch(() => null), late]);
  clearTimeout(timer);
  return readings ?? null;
}

/** The database as workers use it. */
interface Store {
  readonly db: Db;
  serve(link: OpenLink): void;
  close(): Promise<void>;
}

async function openStore(settings: Settings, log: Log): Promise<Store> {
  const path = sqlitePathOf(settings.database);
  return path === null ? openPostgresStore(settings.database, log) : openSqliteStore(path, log);
}

/** Opens the file and forgets processes of earlier runs. Only one gateway opens a SQLite file, so all of them are dead. */
async function openSqliteStore(path: string, log: Log): Promise<Store> {
  const watched = watchedBy(log);
  const writer = await openThread(path, { ...watched, busyTimeoutMs: BUSY_MS });
  const db = sqliteOver(writer);
  try {
    await db.migrate();
    await forgetProcesses(db);
    const beside =
      path === ":memory:"
        ? { log: writer, contents: writer, reader: writer }
        : await openPartThreads(path, db, watched);
    const serveOps = ledgerOn(db);
    return {
      db,
      serve(link) {
        link.serve(WORKER_SERVICES.writer, lend(writer, link));
        link.serve(WORKER_SERVICES.log, lend(beside.log, link));
        link.serve(WORKER_SERVICES.contents, lend(beside.contents, link));
        link.serve(WORKER_SERVICES.reader, lend(beside.reader, link));
        serveOps(link);
      },
      async close() {
        for (const thread of new Set([beside.reader, beside.log, beside.contents, writer])) await thread.close();
      },
    };
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Time that SQLite waits for a write of a command. */
const BUSY_MS = 5_000;

/** Connections for the ledger. Workers have their own connections for the rest. */
const LEDGER_POOL_MAX = 3;

async function openPostgresStore(database: string, log: Log): Promise<Store> {
  const { onConnectionLost } = watchedBy(log);
  const db = await openDb(database, { poolMax: LEDGER_POOL_MAX, onConnectionLost });
  try {
    await db.migrate();
    return { db, serve: ledgerOn(db), close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Queues the operations of all workers: they are committed together, and no two processes change a wallet at once. */
function ledgerOn(db: Db): (link: OpenLink) => void {
  const store = createLedgerStore(db, newOwner());
  return serveLedger(createBatcher(batchesOf(store)));
}
