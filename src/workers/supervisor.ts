// Starts worker processes, replaces dead or hung ones, and stops them. The primary process keeps the port and hands out
// connections, so that a dying worker loses only its own requests. Without any worker, the port stays open and connections
// wait for the next one.

import cluster, { type Worker } from "node:cluster";
import type { Duplex } from "node:stream";
import type { Log } from "../core/log.ts";
import { OTHER_BUILD, STARTED_BY } from "./build.ts";
import { createHandover } from "./handover.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { createLink, type OpenLink } from "./link.ts";

export interface SupervisorOptions {
  /** Number of workers to start. */
  readonly count: number;
  /** The program that a worker runs, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly log: Log;
  /** Called before the first message of the worker. */
  readonly onStart: (worker: WorkerProcess) => void;
  /** Called when the worker has ended, for any reason. */
  readonly onEnd: (worker: WorkerProcess) => void;
  /** Called before a hung worker is killed. */
  readonly onHung: () => void;
  /** Called when the last worker ended and may not be replaced. */
  readonly onLost: () => void;
  /** Time without an answer after which a worker is hung; for tests. */
  readonly hungMs?: number;
}

export interface WorkerProcess {
  readonly index: number;
  readonly pid: number | undefined;
  readonly link: OpenLink;
  /** True if the worker replaces one that ended or could not be started. */
  readonly isReplacement: boolean;
  /** Resolves when the worker has ended. */
  readonly ended: Promise<void>;
}

export interface Supervisor {
  /** Starts one worker, and replaces it when it dies until all are stopped. Throws if the start fails. */
  startFirst(): WorkerProcess;
  /** Starts all other workers, as soon as the system has room for them. */
  startOthers(): void;
  running(): readonly WorkerProcess[];
  /** Number of workers whose sign of life is overdue. */
  silent(): number;
  /** Stops replacing workers. */
  retire(): void;
}

/** File descriptor of the link in a worker, after standard input, output, errors and Node's own channel. */
export const LINK_FD = 4;
/** Many processes share the cores, so each collects garbage with one thread and less often. Measured: 14% less CPU. */
const V8_FLAGS = ["--v8-pool-size=1", "--max-semi-space-size=32"];
/** A worker that lived shorter than this is replaced with a growing delay. */
const SHORT_LIFE_MS = 10_000;
const DELAY_MS_MIN = 100;
const DELAY_MS_MAX = 10_000;
/** A worker that does not serve by then hangs. A machine with 20 times its load starts one in a fraction of this. */
const START_MS_MAX = 5 * 60_000;

const ENDED_TEXT = "a worker process ended; another one takes its place";
const OTHER_BUILD_TEXT =
  "the files of the program were replaced; restart the gateway, as workers that end are not replaced until then";

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { count, log, onStart, onEnd } = options;
  const running = new Set<WorkerProcess>();
  const serving = new Set<WorkerProcess>();
  const delays = createDelays();
  const handover = createHandover();
  const heartbeat = createHeartbeat(options.hungMs);
  let isRetired = false;
  setUpCluster(options);

  function start(index: number, isReplacement: boolean): WorkerProcess {
    const startedAtMs = performance.now();
    const { child, worker, ending } = launch(index, isReplacement, options);
    handover.watch(child.process);
    running.add(worker);
    child.once("listening", () => {
      serving.add(worker);
      handover.join(child.process);
      heartbeat.watch(worker.link, () => killHung(child, options));
    });
    onStart(worker);
    void ending.then(({ code, signal }) => {
      running.delete(worker);
      const isNoneLeft = (serving.delete(worker) || running.size === 0) && serving.size === 0;
      onEnd(worker);
      if (isRetired) return;
      if (code === OTHER_BUILD) return leaveEmpty(running.size, options);
      log.error({ event: "worker.ended", pid: worker.pid, code, signal }, ENDED_TEXT);
      // Connections wait while none serves, so one is started at once, even where the last one died as it started.
      if (isNoneLeft) startOrRetry(index, true);
      else delays.startLater(index, performance.now() - startedAtMs, () => startOrRetry(index, true));
    });
    return worker;
  }

  function startOrRetry(index: number, isReplacement: boolean): void {
    try {
      start(index, isReplacement);
    } catch (error) {
      logFailedStart(error as Error, log);
      delays.startLater(index, 0, () => startOrRetry(index, true));
    }
  }

  return {
    startFirst: () => start(0, false),
    startOthers() {
      for (let index = 1; index < count && !isRetired; index += 1) startOrRetry(index, false);
      handover.begin();
    },
    running: () => [...running],
    silent: heartbeat.silent,
    retire() {
      isRetired = true;
      delays.stop();
      handover.retire();
    },
  };
}

function logFailedStart({ message }: Error, log: Log): void {
  const failure = { event: "worker.start_failed", reason: message } as const;
  log.error(failure, "a worker process could not be started; trying again");
}

/** Kills a hung worker. A stopped process reacts to no other signal. */
function killHung({ process }: Worker, { log, onHung }: Pick<SupervisorOptions, "log" | "onHung">): void {
  log.error({ event: "worker.hung", pid: process.pid }, "a worker process answers no more; it is killed");
  onHung();
  process.kill("SIGKILL");
}

/** Kills a worker that hangs while it starts. */
function limitStart(child: Worker, options: Pick<SupervisorOptions, "log" | "onHung">): void {
  const limit = setTimeout(() => killHung(child, options), START_MS_MAX).unref();
  for (const isOver of ["listening", "exit"]) child.once(isOver, () => clearTimeout(limit));
}

/** Logs a worker of another build. The other workers go on serving until a person restarts the gateway. */
function leaveEmpty(left: number, { log, onLost }: Pick<SupervisorOptions, "log" | "onLost">): void {
  log.error({ event: "worker.other_build", left }, OTHER_BUILD_TEXT);
  if (left === 0) onLost();
}

interface Delays {
  /** Starts the next worker of an index, after a delay that depends on the life of the last one. */
  startLater(index: number, livedMs: number, start: () => void): void;
  stop(): void;
}

function createDelays(): Delays {
  const nextMs = new Map<number, number>();
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    startLater(index, livedMs, start) {
      const isShort = livedMs < SHORT_LIFE_MS;
      const delayMs = isShort ? (nextMs.get(index) ?? DELAY_MS_MIN) : 0;
      nextMs.set(index, isShort ? Math.min(2 * delayMs, DELAY_MS_MAX) : DELAY_MS_MIN);
      timers.set(index, setTimeout(start, delayMs));
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

function setUpCluster({ program, args }: Pick<SupervisorOptions, "program" | "args">): void {
  cluster.setupPrimary({
    exec: program,
    args: [...args],
    execArgv: [...process.execArgv, "--disable-warning=ExperimentalWarning", ...V8_FLAGS],
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc", "pipe"],
  });
}

interface Launched {
  readonly child: Worker;
  readonly worker: WorkerProcess;
  readonly ending: Promise<WorkerEnding>;
}

function launch(index: number, isReplacement: boolean, options: Pick<SupervisorOptions, "log" | "onHung">): Launched {
  const child = forkWorker();
  limitStart(child, options);
  const link = createLink(child.process.stdio[LINK_FD] as Duplex);
  const ending = endOf(child, link);
  const { pid } = child.process;
  return { child, ending, worker: { index, pid, link, isReplacement, ended: ending.then(() => undefined) } };
}

/** Throws if the system has no room for a process, such as without a free file descriptor. */
function forkWorker(): Worker {
  const child = cluster.fork(STARTED_BY);
  if (child.process.pid !== undefined) return child;
  child.on("error", () => undefined);
  // Node removes a worker when its process ends, and this worker has no process.
  delete cluster.workers?.[child.id];
  throw new Error("the system starts no further process");
}

interface WorkerEnding {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Waits for the end of the process and of the pipe, so that all its messages are read. */
async function endOf(child: Worker, link: OpenLink): Promise<WorkerEnding> {
  const ended = new Promise<WorkerEnding>((resolve) => {
    child.process.once("close", (code, signal) => resolve({ code, signal }));
  });
  // An error of Node's own channel is followed by the end of the process.
  child.on("error", () => undefined);
  const ending = await ended;
  await link.closed;
  return ending;
}
