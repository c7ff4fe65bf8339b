// Wiring of the rate limits. One process counts in memory; several share Redis or PostgreSQL. Workers reach the counts
// through their primary process.

import { type CallLimits, createLocalLimits } from "../accounts/limits/per-minute.ts";
import { createScopeRates, type ScopeRates } from "../accounts/limits/scope-rates.ts";
import { createSharedCounter, type SharedCounter } from "../accounts/limits/shared-counter.ts";
import { createSharedLimits } from "../accounts/limits/shared-per-minute.ts";
import { createSharedSignInLimiter, createSignInLimiter, type SignInLimiter } from "../accounts/limits/sign-ins.ts";
import { createStoredBytesLimit, type StoredBytesLimit, type TakeFromWindow } from "../accounts/limits/stored-bytes.ts";
import type { Settings } from "../config/settings.ts";
import { type Db, sqlitePathOf } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { CallWindows } from "../core/processes/call-window.ts";
import type { ReadyCheck } from "../http/context.ts";
import { openDb } from "../store/db.ts";
import { countProcesses } from "../store/ledger/processes.ts";
import { createCallWindows } from "../store/rate-windows/database.ts";
import { createMemoryWindows } from "../store/rate-windows/memory.ts";
import { openRedisWindows } from "../store/rate-windows/redis.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type WorkerSlot, windowsOver } from "./worker.ts";

/** Rate limits of keys, of what they store, and of sign-ins. */
export interface Limits {
  readonly limiter: CallLimits;
  readonly signIns: SignInLimiter;
  readonly storedBytes: StoredBytesLimit;
  /** Limits per minute of budgets. */
  readonly rates: ScopeRates;
  /** Redis, if it is configured. */
  readiness(): readonly ReadyCheck[];
  close(): Promise<void>;
}

interface LimitsContext {
  readonly settings: Pick<Settings, "database" | "redis">;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "limitsShared">;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

/** Interval at which the processes on this database are counted. */
const COUNT_MS = 2_000;
/** Redis answers in a millisecond or is in trouble. A PostgreSQL query waits for locks and may take longer. */
const REDIS_MS_MAX = 100;
const POSTGRES_MS_MAX = 900;

/** Opens the limits: in memory for one process, else in Redis if it is configured, else in PostgreSQL. */
export async function openLimits(db: Db, { settings, log, metrics, now, worker }: LimitsContext): Promise<Limits> {
  const isOnRedis = settings.redis !== null && db.kind !== "sqlite";
  if (db.kind === "sqlite" && worker === null) {
    if (settings.redis !== null) warnOfRedis(log);
    const windows = createMemoryWindows();
    const limiter = createLocalLimits();
    const take: TakeFromWindow = async (request) => (await windows.take([request]))[0] ?? null;
    return {
      limiter,
      rates: createScopeRates({ limiter, take, now }),
      signIns: createSignInLimiter(now),
      storedBytes: createStoredBytesLimit(take),
      readiness: () => [],
      close: () => Promise.resolve(),
    };
  }
  const windows = worker === null ? await openWindows(settings, log) : windowsOver(worker.link);
  const timeoutMs = isOnRedis ? REDIS_MS_MAX : POSTGRES_MS_MAX;
  const peers = await watchProcesses(db);
  const counter = createSharedCounter({ windows, timeoutMs, onShared: metrics.limitsShared, log });
  const limiter = createSharedLimits({ counter, processes: peers.count, now });
  limiter.start();
  const take: TakeFromWindow = ({ id, ...request }) => counter.take(id, () => request);
  return {
    limiter,
    rates: createScopeRates({ limiter, take, now }),
    signIns: createSharedSignInLimiter(counter, now),
    storedBytes: createStoredBytesLimit(take),
    readiness: () => (isOnRedis ? [redisCheck(counter)] : []),
    async close() {
      peers.stop();
      limiter.stop();
      await windows.close();
    },
  };
}

function warnOfRedis(log: Log): void {
  log.warn({ event: "redis.unused" }, "redis is not used: a SQLite file serves only one gateway");
}

/** An optional check: without Redis, each process keeps to its share of the limits and can go on serving. */
function redisCheck(counter: SharedCounter): ReadyCheck {
  const problem = counter.isResponding() ? null : "it does not answer; each process keeps to its part of the limits";
  return { name: "redis", problem, isOptional: true };
}

/** Opens separate PostgreSQL connections, so that waiting for a lock never delays a hold. */
export async function openWindows({ redis, database }: LimitsContext["settings"], log: Log): Promise<CallWindows> {
  if (sqlitePathOf(database) !== null) {
    if (redis !== null) warnOfRedis(log);
    return createMemoryWindows();
  }
  if (redis !== null)
    return openRedisWindows(redis, { onError: (err) => log.debug({ event: "redis.error", err }, "redis error") });
  return createCallWindows(
    await openDb(database, { poolMax: 2, queryTimeoutMs: 2 * POSTGRES_MS_MAX, connectTimeoutMs: 2 * POSTGRES_MS_MAX }),
  );
}

/** Counts the processes that share the database. After a failed read, the last number stays in force. */
async function watchProcesses(db: Db): Promise<{ count: () => number; stop(): void }> {
  // This process is not in the table yet.
  let count = (await countProcesses(db)) + 1;
  const look = async (): Promise<void> => {
    count = await countProcesses(db).then(
      (found) => Math.max(1, found),
      () => count,
    );
  };
  const timer = setInterval(() => void look(), COUNT_MS).unref();
  return { count: () => count, stop: () => clearInterval(timer) };
}
