// A gateway in a process of its own, from the build, so that it can be killed and so that several can share a database.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_TOKEN, NEVER_SHEDS, PLAIN_START, SHARED_SECRET } from "./gateway.ts";

export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** The first screen, as it was printed. */
  readonly banner: string;
  /** The first key's text, when this start made it. */
  readonly firstKey: string | null;
  /** The one-time link for the first operator, when it was shown. */
  readonly setupLink: string | null;
  /** Everything it has written to standard output and standard error after the first screen. */
  output(): string;
  /** SIGKILL, and the end of the process. */
  kill(): Promise<void>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** The exit code, when it has ended. */
  readonly exited: Promise<number | null>;
  api(method: string, path: string, body?: object): Promise<Response>;
}

export interface ProcessOptions {
  /** Where switchyard.yaml and the data are. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that has loaded everything and waits to be told to serve. */
export interface Spare {
  serve(): Promise<GatewayProcess>;
  discard(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, "serve.mjs");

/** For tests that sign in often and look at something else than how hard that is. */
export const CHEAP_PASSWORDS = {
  NODE_OPTIONS: `--import=${new URL("cheap-passwords.mjs", import.meta.url).href}`,
};

export function startGatewayProcess(options: ProcessOptions): Promise<GatewayProcess> {
  return whenReady(launch(options));
}

export function prepareGatewayProcess(options: ProcessOptions): Spare {
  const child = launch(options, ["spare"]);
  return {
    serve() {
      child.stdin?.write("go\n");
      return whenReady(child);
    },
    discard: () => end(child, "SIGKILL").then(() => undefined),
  };
}

/** The process alone, which does not serve yet. */
export function launch({ folder, env = {} }: ProcessOptions, words: readonly string[] = []): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      SWITCHYARD_DISCOVER_LOCAL: "false",
      PORT: "0",
      LOG_LEVEL: "error",
      SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN,
      SWITCHYARD_DRAIN_SECONDS: "2",
      SWITCHYARD_LAME_DUCK_SECONDS: "0",
      // One process for one gateway, whatever the default is.
      SWITCHYARD_WORKERS: "1",
      ...NEVER_SHEDS,
      ...PLAIN_START,
      // A real provider's tests count from what they top up.
      ...(existsSync(join(folder, "switchyard.yaml")) ? { SWITCHYARD_STARTER_CREDITS: "0" } : {}),
      // Gateways on one server need one secret.
      ...(env.DATABASE_URL?.startsWith("postgres") ? { SWITCHYARD_SECRET: SHARED_SECRET } : {}),
      ...env,
    },
  });
}

/** Resolves when the program has printed its first screen whole, however it was started. */
export async function whenReady(child: ChildProcess): Promise<GatewayProcess> {
  const said = await untilSaid(child, /Base URL +(\S+)\/v1[\s\S]*Try it[\s\S]*\}'\n/);
  const url = /Base URL +(\S+)\/v1/.exec(said)?.[1] ?? "";
  let output = "";
  const keep = (text: Buffer): void => {
    output += text.toString("utf8");
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return {
    url,
    pid: child.pid ?? 0,
    banner: said,
    firstKey: /API key +(sk-service-\S+)/.exec(said)?.[1] ?? null,
    setupLink: /(http\S+#\/setup\?token=\S+)/.exec(said)?.[1] ?? null,
    output: () => output,
    kill: () => end(child, "SIGKILL").then(() => undefined),
    stop: () => end(child, "SIGTERM"),
    signal: (name) => void child.kill(name),
    exited: once(child, "exit").then(([code]) => code as number | null),
    api: (method, path, body) =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

function untilSaid(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (text: Buffer): void => {
      if (said.length < 100_000) said += text.toString("utf8");
      if (pattern.test(said)) resolve(said);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${said}`)));
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}
