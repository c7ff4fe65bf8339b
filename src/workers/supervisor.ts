// Starts worker processes, replaces dead or hung ones, and stops them. The primary process keeps the port and hands out
// connections, so that a dying worker loses only its own requests. Without any worker, the port stays open and connections
// wait for the next one.

import cluster, { type Worker } from "node:cluster";
import module from "node:module";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import type { Log } from "../core/log.ts";
import { OTHER_BUILD, STARTED_BY } from "./build.ts";
import type { Crew } from "./count.ts";
import type { LoadReport } from "./fill.ts";
import { createHandover, type Handover } from "./handover.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { createLink, type OpenLink } from "./link.ts";

export interface SupervisorOptions {
  readonly crew: Crew;
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
  /** Called to have a worker end that the load does not need. */
  readonly onSpare: (worker: WorkerProcess) => void;
  /** Called when the last worker ended and may not be replaced. */
  readonly onLost: () => void;
  /** Time without an answer after which a worker is hung; for tests. */
  readonly hungMs?: number;
  /** Time without a connection after which a worker is spare; for tests. */
  readonly spareMs?: number;
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
  /** Starts all other workers that are always there, as soon as the system has room for them. */
  startOthers(): void;
  /** Takes a worker's report, and starts workers if the load needs them. Returns the connections to let go of. */
  report(worker: WorkerProcess, report: LoadReport): number;
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
  const { crew } = options;
  const children = new Map<WorkerProcess, Worker>();
  const serving = new Set<WorkerProcess>();
  const handover = createHandover({ isFilled: crew.least < crew.most });
  const pool: Pool = {
    ...{ options, children, serving, handover },
    taken: new Set(),
    delays: createDelays(),
    heartbeat: createHeartbeat(options.hungMs),
    spare: endSpare(options, { children, serving, handover }),
    isRetired: false,
  };
  setUpCluster(options);
  const startUpTo = (count: number): void => {
    for (let index = 1; index < crew.most && pool.taken.size < count && !pool.isRetired; index += 1)
      if (!pool.taken.has(index)) startOrRetry(pool, index, false);
  };
  return {
    startFirst: () => start(pool, 0, false),
    startOthers() {
      startUpTo(crew.least);
      handover.begin();
    },
    report(worker, report) {
      const child = children.get(worker);
      const letGo = child === undefined ? 0 : handover.report(child.process, report);
      startUpTo(handover.wanted());
      return letGo;
    },
    running: () => [...children.keys()],
    silent: pool.heartbeat.silent,
    retire() {
      pool.isRetired = true;
      for (const each of [pool.spare, pool.delays]) each.stop();
      handover.retire();
    },
  };
}

/** The workers of a supervisor. */
interface Pool extends Serving {
  readonly options: SupervisorOptions;
  readonly children: Map<WorkerProcess, Worker>;
  readonly serving: Set<WorkerProcess>;
  /** Indices of workers that run or will be started again. */
  readonly taken: Set<number>;
  readonly delays: Delays;
  readonly heartbeat: Heartbeat;
  readonly spare: ReturnType<typeof endSpare>;
  isRetired: boolean;
}

function start(pool: Pool, index: number, isReplacement: boolean): WorkerProcess {
  const { options, children, serving, taken, handover, heartbeat, spare } = pool;
  taken.add(index);
  const { child, worker, ending, livedMs } = launch(index, isReplacement, options);
  handover.watch(child.process);
  children.set(worker, child);
  child.once("listening", () => {
    serving.add(worker);
    handover.join(child.process);
    heartbeat.watch(worker.link, () => killHung(child, options));
  });
  options.onStart(worker);
  void ending.then((how) => {
    children.delete(worker);
    const isNoneLeft = (serving.delete(worker) || children.size === 0) && serving.size === 0;
    options.onEnd(worker);
    if (spare.hasEnded(worker)) taken.delete(index);
    else if (!pool.isRetired) replace(pool, { worker, how, livedMs: isNoneLeft ? null : livedMs() });
  });
  return worker;
}

function startOrRetry(pool: Pool, index: number, isReplacement: boolean): void {
  try {
    start(pool, index, isReplacement);
  } catch (error) {
    logFailedStart(error as Error, pool.options.log);
    pool.delays.startLater(index, 0, () => startOrRetry(pool, index, true));
  }
}

function replace(pool: Pool, { worker: { index, pid }, how: { code, signal }, livedMs }: Ended): void {
  const { options, children, delays } = pool;
  if (code === OTHER_BUILD) {
    leaveEmpty(children.size, options);
    return;
  }
  options.log.error({ event: "worker.ended", pid, code, signal }, ENDED_TEXT);
  if (livedMs === null) startOrRetry(pool, index, true);
  else delays.startLater(index, livedMs, () => startOrRetry(pool, index, true));
}

interface Ended {
  readonly worker: WorkerProcess;
  readonly how: WorkerEnding;
  /** The age of the worker; null if no other one serves. Then one is started at once, because connections wait. */
  readonly livedMs: number | null;
}

/** A worker without a connection ends after this long, if the load does not need it. */
const SPARE_MS = 5 * 60_000;

interface Serving {
  readonly children: ReadonlyMap<WorkerProcess, Worker>;
  readonly serving: ReadonlySet<WorkerProcess>;
  readonly handover: Handover;
}

/** Ends workers that the load does not need, one at a time, the last one first. */
function endSpare({ crew, onSpare, spareMs = SPARE_MS }: SupervisorOptions, { children, serving, handover }: Serving) {
  let leaving: WorkerProcess | null = null;
  const endOne = (): void => {
    if (leaving !== null || serving.size <= crew.least) return;
    const isSpare = ([worker, child]: readonly [WorkerProcess, Worker]): boolean =>
      worker.index > 0 && serving.has(worker) && handover.isSpare(child.process, spareMs);
    const [worker, child] = [...children].findLast(isSpare) ?? [];
    if (worker === undefined || child === undefined) return;
    leaving = worker;
    handover.leave(child.process);
    onSpare(worker);
  };
  const timer = crew.least < crew.most ? setInterval(endOne, spareMs / 10).unref() : undefined;
  return {
    /** Returns true if the worker ended because it was spare. */
    hasEnded(worker: WorkerProcess): boolean {
      if (leaving !== worker) return false;
      leaving = null;
      return true;
    },
    stop: () => clearInterval(timer),
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
  /** Time since the start. */
  livedMs(): number;
}

function launch(index: number, isReplacement: boolean, options: Pick<SupervisorOptions, "log" | "onHung">): Launched {
  const startedAtMs = performance.now();
  const child = forkWorker();
  limitStart(child, options);
  const link = createLink(child.process.stdio[LINK_FD] as Duplex);
  const ending = endOf(child, link);
  const { pid } = child.process;
  const livedMs = (): number => performance.now() - startedAtMs;
  return { child, ending, livedMs, worker: { index, pid, link, isReplacement, ended: ending.then(() => undefined) } };
}

/** Throws if the system has no room for a process, such as without a free file descriptor. */
function forkWorker(): Worker {
  const child = cluster.fork({ ...STARTED_BY, ...compileCache() });
  if (child.process.pid !== undefined) return child;
  child.on("error", () => undefined);
  // Node removes a worker when its process ends, and this worker has no process.
  delete cluster.workers?.[child.id];
  throw new Error("the system starts no further process");
}

/** The folder with compiled code that the command has switched on, where Node has one. It is named after the version. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = (module as { readonly getCompileCacheDir?: () => string | undefined }).getCompileCacheDir?.();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
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
