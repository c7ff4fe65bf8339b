// A real Redis (or Valkey) for a test file: the one on the PATH, in memory only, on a free loopback port.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "../network/ports.ts";

export interface TestRedis {
  readonly url: string;
  /** Stops and lets go on, as a machine that is out of breath would. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const PROGRAMS = ["redis-server", "valkey-server"];

/** Null when there is none on this machine; it says so once. */
export async function startTestRedis(): Promise<TestRedis | null> {
  const program = PROGRAMS.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (program === undefined) {
    console.warn(`Redis tests are skipped: neither ${PROGRAMS.join(" nor ")} is on the PATH`);
    return null;
  }
  const port = await freePort();
  const server = spawn(program, ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
    stdio: "ignore",
  });
  const kill = (): boolean => server.kill("SIGKILL");
  process.once("exit", kill);
  const url = `redis://127.0.0.1:${port}`;
  await untilAnswering(url, server);
  return {
    url,
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
    async stop() {
      process.off("exit", kill);
      const exited = once(server, "exit");
      if (server.exitCode === null && server.signalCode === null && kill()) await exited;
    },
  };
}

async function untilAnswering(url: string, server: ChildProcess): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on("error", () => undefined);
  for (let tries = 0; server.exitCode === null && tries < 4_000; tries += 1) {
    const isUp = await redis.connect().then(
      () => true,
      () => false,
    );
    if (isUp) return redis.disconnect();
    await wait(25);
  }
  throw new Error("Redis did not start");
}
