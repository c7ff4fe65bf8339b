// Shutdown: not ready at once, still serving for a while, then no new connections, then a deadline for open requests.
// A hurry skips the waiting, never the charging.

import type { FastifyInstance } from "fastify";
import type { Settings } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log, LogOutput } from "../core/log.ts";
import type { OpenCalls } from "../gateway/open-calls.ts";
import type { LifecycleContext, ReadyCheck } from "../http/context.ts";
import { type WorkerSlot, workersCheck } from "./worker.ts";

export interface StopOptions {
  /** True to go on serving for a while, so that a load balancer can notice. */
  readonly isLameDuck?: boolean;
}

/** The life of a process: ready once it has begun, until it is told to stop. */
export interface Drain extends LifecycleContext {
  /** Everything is there: ready from now on. */
  begin(): void;
  /** Resolves when every connection is closed and every call is booked. */
  run(server: FastifyInstance, options: StopOptions): Promise<void>;
  /** No more waiting: open requests are cut now. */
  hurry(): void;
}

interface DrainContext {
  readonly settings: Pick<Settings, "server">;
  readonly db: Db;
  readonly limits: { readiness(): readonly ReadyCheck[] };
  readonly worker: WorkerSlot | null;
  readonly money: { isWriteFailing(): boolean; onUnavailable(): void };
  readonly openCalls: OpenCalls;
  readonly log: Log;
  readonly logOutput: LogOutput;
}

/** The interval at which connections that have become idle are closed meanwhile. */
const IDLE_SWEEP_MS = 50;
/** For the last error event of each stream to reach clients that read. */
const GOODBYE_MS = 2_000;
/** Longer than a statement may take, so that a settlement without a database still reaches the outbox. */
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
        ...context.limits.readiness(),
        ...(context.worker === null ? [] : [await workersCheck(context.worker)]),
        logCheck(context.logOutput),
      ];
    },
    async run(server, { isLameDuck = false }) {
      phase = "lame-duck";
      if (isLameDuck) await within(lameDuckSeconds * 1000, hurried);
      phase = "closing";
      // New requests get a 503 while streams go on, not a closed port: no other process could take over.
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

/** A full or read-only database answers reads while every request fails, so both count. */
async function databaseCheck({ db, money }: DrainContext): Promise<ReadyCheck> {
  const problem = await db.problems().then(
    ([first]) => first ?? null,
    () => "the database does not answer",
  );
  // The state found here counts for requests too.
  if (problem !== null) money.onUnavailable();
  return { name: "database", problem: problem ?? (money.isWriteFailing() ? "the database takes no writes" : null) };
}

/** Optional: requests are served and charged without a log, and another process on the same disk would do no better. */
function logCheck(output: LogOutput): ReadyCheck {
  const reason = output.problem();
  const problem =
    reason === null ? null : `lines cannot be written (${reason}); ${output.droppedLines()} are lost so far`;
  return { name: "log", problem, isOptional: true };
}

/** Node closes the connections that are idle now; those of streams that end later would be kept alive. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP_MS);
  await server.close();
  clearInterval(sweep);
}

/** True when the first of the promises was fulfilled in time. Any of them ends the waiting. */
async function within(ms: number, work: Promise<void>, ...others: readonly Promise<void>[]): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), late, ...others.map((other) => other.then(() => false))]);
  clearTimeout(timer);
  return isDone;
}
