// A worker process seen from inside: its slot, and what it shares with other workers through the primary process. A
// process without a slot is the whole gateway.

import type { Server } from "node:http";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import type { Settings } from "../config/settings.ts";
import { type Db, sqlitePathOf } from "../core/db.ts";
import type { CallWindows, Taken } from "../core/processes/call-window.ts";
import type { WorkerLink } from "../core/processes/link.ts";
import { type ClientSemaphores, createSemaphore, type Semaphore, semaphoreOver } from "../core/processes/semaphores.ts";
import type { WrittenRecord } from "../core/requests/waiting.ts";
import type { ReadyCheck } from "../http/context.ts";
import { InnerSocket } from "../http/exchange/inner-socket.ts";
import { defaultBodyBytes } from "../http/overload/body-budget.ts";
import { createGauges, createTicker, type Gauges, residentBytes } from "../http/overload/pressure.ts";
import { openDb } from "../store/db.ts";
import { partPathOf } from "../store/sqlite/part-files.ts";
import { sqliteOver } from "../store/sqlite/sqlite.ts";
import { channelOver, type ForwardedAnswer } from "../store/sqlite/thread.ts";
import { type MetricReadings, type Metrics, sumMetrics } from "../telemetry/metrics.ts";
import type { Tail } from "../telemetry/tail.ts";
import type { LoadReport } from "../workers/fill.ts";

/** Services that the primary process offers to each worker. */
export const WORKER_SERVICES = {
  /** Calls of the SQLite connections. */
  writer: "writer",
  log: "log",
  contents: "contents",
  reader: "reader",
  windows: "windows",
  /** Name under which a worker keeps holds. When the worker dies, its holds are released. */
  owner: "owner",
  /** Metrics of all other processes. */
  metrics: "metrics",
  /** Number of workers whose sign of life is overdue. */
  silent: "silent",
  /** Takes a worker's load, and returns the number of connections that it should let go of. */
  load: "load",
  /** Events of configuration versions, which the primary process logs. */
  versionEvents: "version-news",
} as const;

/** Topic of changed keys or profiles. */
export const ACCESS_CHANGED = "access-changed";
/** Topic of the primary process's memory. */
const PRIMARY_BYTES = "primary-bytes";
/** Topic of host speeds. */
export const HOST_SPEEDS = "host-speeds";
const REQUESTS_WRITTEN = "requests-written";
const LOG_WATCHED = "log-watched";

export interface WorkerSlot {
  readonly link: WorkerLink;
  /** 0 for the worker that also does the duties of the gateway. */
  readonly index: number;
  readonly count: number;
  /** True where workers are started as needed, so that each one reports its load. */
  readonly isFilled: boolean;
  /** True for the first worker of a start, which prepares a new installation. */
  readonly isFirstStart: boolean;
}

/** Tells whether this process does the work that only one worker does: audits and deletions. */
export function hasDuties(worker: WorkerSlot | null): boolean {
  return worker === null || worker.index === 0;
}

/** Gives each worker its share of the memory for bodies, so that all together stay within the machine's memory. */
export function shareOf(settings: Settings, { count }: WorkerSlot): Settings {
  const { bodyBytes } = settings.limits;
  const part = bodyBytes === null ? defaultBodyBytes(count) : Math.ceil(bodyBytes / count);
  return { ...settings, limits: { ...settings.limits, bodyBytes: part } };
}

/** The primary process uses the same memory as its workers. */
export function openGauges(worker: WorkerSlot | null): Gauges {
  if (worker === null) return createGauges();
  let primaryBytes = 0;
  worker.link.on(PRIMARY_BYTES, (bytes) => {
    primaryBytes = Number(bytes);
  });
  return createGauges({ processes: worker.count, commonBytes: () => primaryBytes });
}

/** Tells workers the memory of the primary process, until it is stopped. */
export function announceMemory(links: () => readonly Pick<WorkerLink, "publish">[]): () => void {
  const timer = setInterval(() => {
    const bytes = residentBytes();
    for (const link of links()) link.publish(PRIMARY_BYTES, bytes);
  }, ANNOUNCE_MS).unref();
  return () => clearInterval(timer);
}

/** The primary counts limits with fewer slots per worker, because workers would refuse too many requests by chance. */
const PART_MIN = 64;

export function openSemaphores(limits: () => Settings["limits"], worker: WorkerSlot | null): ClientSemaphores {
  const open = (scope: string, limit: () => number): Semaphore => {
    if (worker === null) return createSemaphore(limit);
    const { link, index, count, isFilled } = worker;
    if (isFilled) return openOverflowing(worker, scope, limit);
    const common = semaphoreOver(link, scope, limit);
    // The shares of all workers add up to the limit.
    const own = createSemaphore(limit, () => Math.floor(limit() / count) + Number(index < limit() % count));
    const counting = (): Semaphore => (limit() < PART_MIN * count ? common : own);
    return {
      limit,
      tryAcquire: (name) => counting().tryAcquire(name),
      acquire: (name) => counting().acquire(name),
    };
  };
  return {
    connections: open("connections", () => limits().connections),
    requests: open("requests", () => limits().inFlight),
    requestsPerKey: open("key", () => limits().inFlightPerKey),
  };
}

/**
 * Half of the slots are shares of workers. A worker without a free one takes one of the other half, which the primary
 * counts: few workers may have most requests.
 */
function openOverflowing({ link, count }: WorkerSlot, scope: string, limit: () => number): Semaphore {
  const part = (): number => (limit() < PART_MIN * count ? 0 : Math.floor(limit() / 2 / count));
  const own = createSemaphore(limit, part);
  const common = semaphoreOver(link, scope, () => limit() - part() * count);
  return {
    limit,
    tryAcquire: (name) => own.tryAcquire(name) ?? undefined,
    acquire: async (name) => own.tryAcquire(name) ?? common.acquire(name),
  };
}

/** Database handles of a worker: its own pool on PostgreSQL, the primary's connection on SQLite. */
export interface WorkerDbs {
  readonly db: Db;
  /** Writes the request log. */
  readonly log: Db;
  /** Stored responses, conversations and answers kept for Idempotency-Key. */
  readonly contents: Db;
  /** Reads the database and the log, for pages and audits over many rows. */
  readonly reader: Db;
}

/** PostgreSQL connections of a gateway, divided among workers. A worker needs three: two write its log. */
const POOL_MAX = 16;
const POOL_MIN = 3;

export async function openWorkerDbs(
  { link, count }: WorkerSlot,
  settings: Pick<Settings, "database">,
  onConnectionLost: (error: Error) => void,
): Promise<WorkerDbs> {
  const { database } = settings;
  const path = sqlitePathOf(database);
  if (path === null) {
    const poolMax = Math.max(POOL_MIN, Math.floor(POOL_MAX / count));
    const db = await openDb(database, { poolMax, onConnectionLost });
    return inOne(db);
  }
  const over = (service: string, file: string): Db =>
    sqliteOver(
      channelOver((call) => link.call(service, call, QUERY_MS) as Promise<ForwardedAnswer>, file),
      String(process.pid),
    );
  const db = over(WORKER_SERVICES.writer, path);
  if (path === ":memory:") return inOne(db);
  const log = partPathOf(path, "log");
  return {
    db,
    log: over(WORKER_SERVICES.log, log),
    contents: over(WORKER_SERVICES.contents, partPathOf(path, "contents")),
    reader: over(WORKER_SERVICES.reader, log),
  };
}

/** A database with all its parts in it. */
export function inOne(db: Db): WorkerDbs {
  return { db, log: db, contents: db, reader: db };
}

/** Longest time for pages over a long log, and for audits. */
const QUERY_MS = 120_000;

/** Opens the rate-limit windows that all workers share. */
export function windowsOver(link: WorkerLink): CallWindows {
  return {
    take: (requests) => link.call(WORKER_SERVICES.windows, requests) as Promise<readonly Taken[]>,
    close: () => Promise.resolve(),
  };
}

/** Collects the metrics of all processes of the gateway, and gives those of this process to the others. */
export function shareMetrics(metrics: Metrics, worker: WorkerSlot | null): Metrics {
  if (worker === null) return metrics;
  worker.link.serve(WORKER_SERVICES.metrics, metrics.readings);
  return {
    ...metrics,
    async text() {
      const others = (await worker.link.call(WORKER_SERVICES.metrics, null)) as readonly MetricReadings[];
      return sumMetrics([await metrics.readings(), ...others]);
    },
  };
}

/** An optional check: this worker serves, and a hung worker will be replaced. */
export async function workersCheck({ link, count }: WorkerSlot): Promise<ReadyCheck> {
  const problem = await link.call(WORKER_SERVICES.silent, null, SILENT_MS_MAX).then(
    (silent) => (silent === 0 ? null : `${silent} of ${count} do not answer and are replaced after 30 s`),
    () => "the primary process does not answer",
  );
  return { name: "workers", problem, isOptional: true };
}

/** Short, because probes give up soon. */
const SILENT_MS_MAX = 2_000;

/** Shows requests of all workers in the live log. Workers send requests only while somebody watches. */
export function shareTail(tail: Tail, worker: WorkerSlot | null): Tail {
  if (worker === null) return tail;
  const { link } = worker;
  let watchedUntilMs = 0;
  let timer: NodeJS.Timeout | null = null;
  const announce = (): void => link.publish(LOG_WATCHED, null);
  const isWatchedElsewhere = (): boolean => performance.now() < watchedUntilMs;
  link.on(LOG_WATCHED, () => {
    watchedUntilMs = performance.now() + WATCHED_MS;
  });
  link.on(REQUESTS_WRITTEN, (records) => tail.tell(records as readonly WrittenRecord[]));
  const stopAnnouncing = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  return {
    count: tail.count,
    isWatched: () => tail.isWatched() || isWatchedElsewhere(),
    tell(records) {
      tail.tell(records);
      if (isWatchedElsewhere()) link.publish(REQUESTS_WRITTEN, records.map(withoutPreview));
    },
    watch(watcher) {
      const end = tail.watch(watcher);
      announce();
      timer ??= setInterval(announce, ANNOUNCE_MS).unref();
      return () => {
        end();
        if (tail.count() === 0) stopAnnouncing();
      };
    },
    close() {
      stopAnnouncing();
      tail.close();
    },
  };
}

/** Repeated while somebody watches, so that new workers hear of the watcher and dead watchers expire. */
const ANNOUNCE_MS = 1_000;
const WATCHED_MS = 3 * ANNOUNCE_MS;

/** Removes prompts and responses, which the live log does not show. */
function withoutPreview({ accountId, summary }: WrittenRecord): WrittenRecord {
  return { accountId, summary: { ...summary, preview: null } };
}

/**
 * Tells the primary process how busy this worker is, so that it knows who gets the next connection. A worker that has too
 * much, or too little for a process of its own, is told to let go of connections: their clients connect again.
 */
export interface LoadReports {
  /** Returns true for each response that should be the last one on its connection. */
  letsGo(): boolean;
  /** Counts the used part of the memory for bodies as load. */
  watchBodies(usedPart: () => number): void;
  watch(server: Server): void;
  close(): void;
}

const NO_REPORTS: LoadReports = {
  letsGo: () => false,
  watchBodies: () => undefined,
  watch: () => undefined,
  close: () => undefined,
};

/** Often enough for a quiet gateway to use all its cores within two seconds. */
const REPORT_MS = 100;

export function createLoadReports(
  worker: WorkerSlot | null,
  limits: () => Pick<Settings["limits"], "inFlight" | "connections">,
  openCalls: () => number,
): LoadReports {
  if (worker?.isFilled !== true) return NO_REPORTS;
  const { link, count } = worker;
  const connections = new Set<Socket>();
  let leaving = 0;
  let bodies = (): number => 0;
  let used = performance.eventLoopUtilization();
  const readLoad = (): number => {
    const { utilization } = performance.eventLoopUtilization(used);
    used = performance.eventLoopUtilization();
    // Each worker has its share of the limits.
    const most = limits();
    const slots = Math.max((openCalls() * count) / most.inFlight, (connections.size * count) / most.connections);
    return Math.max(utilization, slots, bodies());
  };
  const report = (): void => {
    const told: LoadReport = { load: readLoad(), connections: connections.size };
    // A primary that does not answer leaves things as they are.
    link.call(WORKER_SERVICES.load, told).then(
      (letGo) => (leaving = Math.max(leaving, Number(letGo))),
      () => undefined,
    );
  };
  const ticker = createTicker({
    everyMs: REPORT_MS,
    onWake: () => (used = performance.eventLoopUtilization()),
    onTick: report,
  });
  return {
    letsGo() {
      if (leaving === 0) return false;
      leaving -= 1;
      return true;
    },
    watchBodies(usedPart) {
      bodies = usedPart;
    },
    watch(server) {
      server.on("request", ticker.wake);
      server.on("connection", (socket: Socket) => {
        // One inside the process belongs to a client that is counted; one may also be given back to the server.
        if (socket instanceof InnerSocket || connections.has(socket)) return;
        connections.add(socket);
        ticker.wake();
        socket.once("close", () => {
          connections.delete(socket);
          ticker.wake();
        });
      });
    },
    close: ticker.stop,
  };
}
