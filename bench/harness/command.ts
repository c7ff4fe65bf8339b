// A server that is started by its command: a gateway or a peer. A gateway in one process is asked for its CPU time and
// memory. Of other servers they are read from /proc, all processes together, so Linux only.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Resources, ServerWork } from "./child.ts";
import { openProcessCpu, processFamily } from "./process-cpu.ts";
import { type Child, createAsk } from "./processes.ts";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly port: number;
  /** Beside what this process has. */
  readonly env?: Readonly<Record<string, string>>;
  /** True for a process that answers questions, as those of the benchmarks do. */
  readonly isAsked?: boolean;
}

export interface Commanded {
  readonly process: Child<ServerWork>;
  stop(): Promise<void>;
}

/** Python takes long to begin. */
const START_MS_MAX = 90_000;
const PAGE_BYTES = 4096;

/** Resolves when the server answers on its port, whatever it says. */
export async function startCommand({ file, args, cwd, port, env = {}, isAsked = false }: Command): Promise<Commanded> {
  const child = spawn(file, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "ignore", "ignore", isAsked ? "ipc" : "ignore"],
    serialization: "advanced",
    env: { ...process.env, NODE_ENV: "production", ...env },
  });
  const kill = (): void => killGroup(child);
  process.on("exit", kill);
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    kill();
  };
  try {
    await untilAnswered(child, port);
  } catch (error) {
    await stop();
    throw error;
  }
  const ask = isAsked ? createAsk<ServerWork>(child, file) : askFromOutside(String(child.pid));
  return { process: { ready: null, ask }, stop };
}

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function untilAnswered(child: ChildProcess, port: number): Promise<void> {
  let failure: string | null = null;
  child.once("error", ({ message }) => {
    failure = message;
  });
  child.once("exit", (code) => {
    failure = `it ended with ${code}`;
  });
  for (const endsAt = Date.now() + START_MS_MAX; Date.now() < endsAt; await wait(100)) {
    if (failure !== null) throw new Error(failure);
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.text().then(() => true),
      () => false,
    );
    if (isUp) return;
  }
  throw new Error("it did not start in time");
}

/** With all processes that it has started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** The resources are all that can be told. */
function askFromOutside(pid: string): Child<ServerWork>["ask"] {
  const readCpuUs = openProcessCpu(pid);
  const ask = async (name: string): Promise<Resources | undefined> =>
    name === "resources" ? resourcesOf(pid, readCpuUs()) : undefined;
  return ask as Child<ServerWork>["ask"];
}

function resourcesOf(pid: string, cpuUs: number): Resources {
  const pages = processFamily(pid).map((one) => Number(readFileSync(`/proc/${one}/statm`, "utf8").split(" ")[1]));
  const rssBytes = pages.reduce((sum, each) => sum + each, 0) * PAGE_BYTES;
  // What is live inside another process cannot be told.
  return { cpuUs, rssBytes, liveBytes: rssBytes };
}
