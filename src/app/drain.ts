// Shutdown: reports not ready, serves on for a while, closes the port, then cuts open requests at a deadline.
// A hurried shutdown skips the waiting, never the charging.

import type { FastifyInstance } from "fastify";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log, LogOutput } from "../core/log.ts";
import type { OpenCalls } from "../gateway/open-calls.ts";
import type { LifecycleContext, ReadyCheck } from "../http/context.ts";
import { type WorkerDbs, type WorkerSlot, workersCheck } from "./worker.ts";

export interface StopOptions {
  /** True to serve on for a while, so that a load balancer notices first. */
  readonly isLameDuck?: boolean;
}

/** The life of a process: ready from `begin` until it is told to stop. */
export interface Drain extends LifecycleContext {
  /** Makes the process ready, once every part has started. */
  begin(): void;
  /** Resolves when every connection is closed and every call is booked. */
  run(server: FastifyInstance, options: StopOptions): Promise<void>;
  /** Cuts open requests at once. */
  hurry(): void;
}

interface DrainContext {
  readonly settings: Pick<Settings, "server">;
  readonly dbs: WorkerDbs;
  readonly limits: { readiness(): readonly ReadyCheck[] };
  readonly worker: WorkerSlot | null;
  readonly money: { isWriteFailing(): boolean; onUnavailable(): void };
  readonly openCalls: OpenCalls;
  readonly log: Log;
  readonly logOutput: LogOutput;
}

/** Interval at which connections that became idle are closed. */
const IDLE_SWEEP_MS = 50;
/** Time for the last error event of each stream to reach its client. */
const GOODBYE_MS = 2_000;
/** Longer than a statement may take, so that a settlement reaches the outbox even without a database. */
const BOOKING_MS_MAX = 35_000;

/** Phases: starting (not ready yet), serving, lame duck (not ready, still serving), closing (new requests get 503). */
export function createDrain(context: DrainContext): Drain {
  const { settings, openCalls, log } = context;
  const { lameDuckSeconds, drainSeconds } = settings.server;
  let phase: "starting" | "serving" | "lame-duck" | "closing" = "starting";
  let isHurried = false;
  let hurry = (): void => undefined;
  const hurried = new Promise<void>((resolve) => {
    hurry = () => {
      isHurried = true;
      resolve();
    };
  });
  return {
    begin() {
      phase = "serving";
    },
    isDraining: () => phase === "lame-duck" || phase === "closing",
    isClosing: () => phase === "closing",
    hurry,
    async readiness() {
      if (phase === "starting") return [{ name: "startup", problem: "starting" }];
      if (phase !== "serving") return [{ name: "shutdown", problem: "shutting down" }];
      return [
        { name: "shutdown", problem: null },
        await databaseCheck(context),
        ...(await partChecks(context)),
        ...context.limits.readiness(),
        ...(context.worker === null ? [] : [await workersCheck(context.worker)]),
        logCheck(context.logOutput),
      ];
    },
    async run(server, { isLameDuck = false }) {
      phase = "lame-duck";
      if (isLameDuck) await within(lameDuckSeconds * 1000, hurried);
      phase = "closing";
      // The port stays open and new requests get a 503: no other process could take over.
      const isAlone = isLameDuck && lameDuckSeconds === 0;
      const drainMs = drainSeconds * 1000;
      const lingered = isAlone ? within(drainMs, openCalls.idle(), hurried) : Promise.resolve(true);
      const closed = lingered.then(() => closeServer(server));
      if (!(await within(drainMs, closed, hurried))) {
        if (!isHurried)
          log.warn(
            { event: "shutdown.timed_out" },
            "shutdown timed out: open requests end with an error and cost nothing",
          );
        openCalls.cut();
        if (!(await within(GOODBYE_MS, closed))) server.server.closeAllConnections();
        await closed;
      }
      if (!(await within(BOOKING_MS_MAX, openCalls.idle())))
        log.error({ event: "shutdown.charges_pending" }, "some requests could not be charged in time");
    },
  };
}

/** Checks reads and writes: a full or read-only database answers reads while every request fails. */
async function databaseCheck({ dbs: { db }, money }: DrainContext): Promise<ReadyCheck> {
  const problem = await db.problems().then(
    ([first]) => first ?? null,
    () => "the database does not answer",
  );
  // Requests use the state that was found here.
  if (problem !== null) money.onUnavailable();
  return { name: "database", problem: problem ?? (money.isWriteFailing() ? "the database takes no writes" : null) };
}

/** Optional checks: requests are served and charged without the request log and stored contents. */
async function partChecks({ dbs }: DrainContext): Promise<readonly ReadyCheck[]> {
  const { db, log, contents, reader } = dbs;
  if (log === db) return [];
  const problemOf = async (...parts: readonly Db[]): Promise<string | null> => {
    const found = await Promise.all(parts.map((part) => part.problems().catch(() => ["it does not answer"])));
    return found.flat()[0] ?? null;
  };
  // The reader also looks at the files of the ledger, whose check is the one above.
  const [logged, stored] = await Promise.all([problemOf(log, reader), problemOf(contents)]);
  return [
    { name: "request-log", problem: logged, isOptional: true },
    { name: "stored-contents", problem: stored, isOptional: true },
  ];
}

/** An optional check: requests are served and charged without a log, and the next process on this disk has none either. */
function logCheck(output: LogOutput): ReadyCheck {
  const reason = output.problem();
  const problem =
    reason === null ? null : `lines cannot be written (${reason}); ${output.droppedLines()} are lost so far`;
  return { name: "log", problem, isOptional: true };
}

/** Closes idle connections at an interval, because connections of streams become idle later. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP_MS);
  await server.close();
  clearInterval(sweep);
}

/** Waits for any of the promises. Returns true if the first one was fulfilled in time. */
async function within(ms: number, work: Promise<void>, ...others: readonly Promise<void>[]): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), late, ...others.map((other) => other.then(() => false))]);
  clearTimeout(timer);
  return isDone;
}
