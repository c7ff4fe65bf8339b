// A gateway of a simulation: the built program in a process, a folder and on a port of its own, with a TCP proxy to its
// clients and one to PostgreSQL. It is killed, stopped, started again, and its disk, log and clock are made to fail.

import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { LogEvent } from "../../src/core/events.ts";
import { freePort } from "../support/network/ports.ts";
import { startTcpProxy, type TcpProxy } from "../support/network/tcp-proxy.ts";
import { MARKUP, MODEL_IDS, PRICES } from "./price.ts";

const ADMIN_TOKEN = "simulation-admin-token";
/** Starting and stopping, on a machine with much else to do. */
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
const FULL_DEVICE = "/dev/full";
const RECORDS_LOST: LogEvent = "records.lost";
/** Without it the kernel cannot be made to refuse writes, and the disk is never full. */
export const canLimitFiles = spawnSync("prlimit", ["--version"]).status === 0;

export interface SimulatedGateway {
  readonly index: number;
  readonly url: string;
  /** The same by way of the proxy that loses replies. */
  readonly proxiedUrl: string;
  readonly toClients: TcpProxy;
  readonly toDatabase: TcpProxy | null;
  readonly isRunning: boolean;
  /** Where its log is. */
  readonly logFile: string;
  start(options?: { readonly isLogFull?: boolean }): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM, and the exit code; null when it did not end in time. */
  stop(): Promise<number | null>;
  /** Shifts its clock against the real one. */
  shiftClock(ms: number): void;
  /** While it is full, the kernel refuses everything that this process writes to files. */
  setDiskFull(isFull: boolean): void;
  /** Was it killed, stopped or cut off at any time between the two? */
  wasDisturbed(beganMs: number, endedMs: number): boolean;
  wasKilledSince(ms: number): boolean;
  /** Was it stopped without its database, and did its log say that records are lost? */
  lostRecordsSince(ms: number): boolean;
  /** Replies through the proxy may have been lost from now until the promise is settled. */
  disturb(work: () => Promise<void>): Promise<void>;
  /** `switchyard ledger verify` on its database, as a command. */
  verifyLedger(): SpawnSyncReturns<string>;
  /** What nobody asked for: it ended by itself. */
  readonly complaints: readonly string[];
  api(method: string, path: string, options?: ApiOptions): Promise<Response>;
  close(): Promise<void>;
}

interface ApiOptions {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayPlace {
  readonly root: string;
  /** Of the whole simulation; each gateway has a folder below. */
  readonly folder: string;
  readonly index: number;
  readonly providerUrl: string;
  /** Null for a SQLite file in its own folder. */
  readonly databaseUrl: string | null;
}

export async function createGateway(place: GatewayPlace): Promise<SimulatedGateway> {
  const { root, index, databaseUrl } = place;
  const folder = join(place.folder, `gateway-${index}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "switchyard.yaml"), yamlOf(place.providerUrl));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const toClients = await startTcpProxy(url);
  const toDatabase = databaseUrl === null ? null : await startTcpProxy(databaseUrl);
  const logFile = join(folder, "gateway.log");
  const disturbances: { fromMs: number; untilMs: number }[] = [];
  const complaints: string[] = [];
  let child: ChildProcess | null = null;
  let killedMs = Number.NEGATIVE_INFINITY;
  let lostRecordsMs = Number.NEGATIVE_INFINITY;
  /** Where the log of this process begins; null while the log is full. */
  let logStart: number | null = 0;

  function begin(): { fromMs: number; untilMs: number } {
    const disturbance = { fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY };
    disturbances.push(disturbance);
    return disturbance;
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const ending = child;
    if (ending === null) return 0;
    child = null;
    begin();
    const exited = new Promise<number | null>((resolve) => ending.once("exit", (code) => resolve(code)));
    ending.kill(signal);
    const code = await Promise.race([exited, wait(STOP_MS_MAX, "late" as const, { ref: false })]);
    if (code !== "late") return code;
    ending.kill("SIGKILL");
    return null;
  }

  /** One with a full log cannot say so. A file is never away. */
  function saysRecordsLost(): boolean {
    if (logStart === null) return databaseUrl !== null;
    return readFileSync(logFile).subarray(logStart).includes(`"event":"${RECORDS_LOST}"`);
  }

  /** One with a full log cannot say so. */
  function saysDatabaseAway(): boolean {
    return logStart === null || readFileSync(logFile).subarray(logStart).includes("database is not available");
  }

  async function startOnce({ isLogFull = false }: { readonly isLogFull?: boolean } = {}): Promise<void> {
    const log = openSync(isLogFull ? FULL_DEVICE : logFile, "a");
    const started = spawn(
      process.execPath,
      [`--import=${join(root, "test/simulate/clock.mjs")}`, join(root, "test/support/gateway/serve.mjs")],
      { cwd: folder, stdio: ["ignore", log, log, "ipc"], env: environment(port, toDatabase?.url ?? null) },
    );
    logStart = isLogFull ? null : fstatSync(log).size;
    closeSync(log);
    child = started;
    let isReady = false;
    started.once("exit", (code, signal) => {
      if (child !== started) return;
      child = null;
      begin();
      if (isReady) complaints.push(`gateway ${index} ended by itself with ${code ?? signal}`);
    });
    await untilReady(url, () => child === started);
    isReady = true;
    for (const disturbance of disturbances) disturbance.untilMs = Math.min(disturbance.untilMs, performance.now());
  }

  return {
    index,
    url,
    proxiedUrl: toClients.url,
    toClients,
    toDatabase,
    logFile,
    complaints,
    get isRunning() {
      return child !== null;
    },
    async start(options) {
      // A database that is cut off just then ends a start, and a supervisor starts again.
      for (let triesLeft = databaseUrl === null ? 0 : 2; ; triesLeft -= 1) {
        try {
          return await startOnce(options);
        } catch (error) {
          if (child !== null || triesLeft === 0 || !saysDatabaseAway()) throw error;
        }
      }
    },
    async kill() {
      killedMs = performance.now();
      await end("SIGKILL");
    },
    async stop() {
      if (child === null) return 0;
      const code = await end("SIGTERM");
      if (saysRecordsLost()) lostRecordsMs = performance.now();
      return code;
    },
    shiftClock: (shiftMs) => void child?.send({ shiftMs }),
    setDiskFull(isFull) {
      if (child === null) return;
      const limit = `--fsize=${isFull ? "1" : "unlimited"}:unlimited`;
      const { status, stderr } = spawnSync("prlimit", ["--pid", String(child.pid), limit]);
      if (status !== 0) throw new Error(`prlimit failed: ${stderr}`);
    },
    wasDisturbed: (beganMs, endedMs) =>
      disturbances.some(({ fromMs, untilMs }) => fromMs <= endedMs && untilMs >= beganMs),
    wasKilledSince: (ms) => killedMs >= ms,
    lostRecordsSince: (ms) => lostRecordsMs >= ms,
    async disturb(work) {
      const disturbance = begin();
      await work();
      disturbance.untilMs = performance.now();
    },
    api: (method, path, { body, headers = {} } = {}) =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(START_MS_MAX),
      }),
    verifyLedger: () =>
      spawnSync(process.execPath, [join(root, "bin/switchyard.mjs"), "ledger", "verify"], {
        cwd: folder,
        encoding: "utf8",
        env: environment(port, databaseUrl),
      }),
    async close() {
      await end("SIGKILL");
      await toClients.close();
      await toDatabase?.close();
    },
  };
}

function environment(port: number, databaseUrl: string | null): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    PORT: String(port),
    LOG_LEVEL: "info",
    NODE_ENV: "production",
    SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN,
    SWITCHYARD_DRAIN_SECONDS: "2",
    SWITCHYARD_LAME_DUCK_SECONDS: "0",
    SWITCHYARD_STARTER_CREDITS: "0",
    SWITCHYARD_PRICES_CHECK: "off",
    SWITCHYARD_WARM_UP: "false",
    // A busy machine is no reason to reject requests here.
    SWITCHYARD_EVENT_LOOP_DELAY_MS: "60000",
    SWITCHYARD_QUEUE_MS: "60000",
    ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
  };
}

async function untilReady(url: string, isAlive: () => boolean): Promise<void> {
  const lateAtMs = performance.now() + START_MS_MAX;
  while (isAlive()) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    if (performance.now() > lateAtMs) throw new Error(`the gateway at ${url} does not become ready`);
    await wait(50);
  }
  throw new Error(`the gateway at ${url} ended while it started`);
}

/** Two providers of one format and one of the other, all of them one mock. Breakers open for a moment only. */
function yamlOf(providerUrl: string): string {
  const timeouts = "timeouts: { connectMs: 1500, firstByteMs: 800, idleMs: 800, totalMs: 8000 }";
  const model = (id: (typeof MODEL_IDS)[number], provider: string): string => {
    const price = Object.entries(PRICES[id]).map(([name, text]) => `${name}: ${text}`);
    return `  - { id: ${id}, provider: ${provider}, price: { ${price.join(", ")} }, context: 200000, maxOutput: 16384, capabilities: [tools, json] }`;
  };
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 1000000, wrongKeysPerMinute: 100000 }",
    "health: { openMs: 200, openMsMax: 1000 }",
    "providers:",
    `  one: { kind: openai, baseUrl: "${providerUrl}", apiKey: simulated-one, ${timeouts} }`,
    `  two: { kind: openai, baseUrl: "${providerUrl}", apiKey: simulated-two, ${timeouts} }`,
    `  native: { kind: anthropic, baseUrl: "${providerUrl.replace(/\/v1$/, "")}", apiKey: simulated-three, ${timeouts} }`,
    "models:",
    ...MODEL_IDS.map((id) => model(id, { alpha: "one", beta: "two", gamma: "native" }[id])),
    "tiers: { NANO: [beta, alpha], SIMPLE: [beta, alpha], LIGHT: [alpha, beta, gamma], STANDARD: [alpha, gamma], COMPLEX: [gamma, alpha] }",
    `routing: { baseline: gamma, markup: ${MARKUP} }`,
  ].join("\n");
}

/** Where there is no such device, logs are never full. */
export const canFillLog = existsSync(FULL_DEVICE);
