// Checks of the machine: room on the disk, the dashboard's files, the port, and Redis where it is configured.

import { existsSync, statfsSync } from "node:fs";
import { createServer, isIP } from "node:net";
import { dirname, join } from "node:path";
import type { Check } from "../../config/doctor.ts";
import type { Settings } from "../../config/settings.ts";
import * as TEXT from "../command/text.ts";
import { reasonOf } from "../command/usage.ts";

const GIGABYTE = 1024 ** 3;
/** Below the first the check warns, below the second it fails. */
const ROOM_LITTLE_BYTES = GIGABYTE;
const ROOM_TOO_LITTLE_BYTES = 64 * 1024 * 1024;
/** Long enough for a busy machine, short enough for a person who waits. */
const TIMEOUT_MS = 3_000;

/** With a full disk SQLite cannot write, and every request that costs something fails. */
export function diskCheck(folder: string, freeBytesOf: (path: string) => number = freeBytes): Check {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  const free = freeBytesOf(nearest);
  const what = TEXT.diskFree(folder, (free / GIGABYTE).toFixed(1));
  const fix = TEXT.freeSpace;
  if (free < ROOM_TOO_LITTLE_BYTES) return { state: "fail", what, fix };
  return free < ROOM_LITTLE_BYTES ? { state: "warn", what, fix } : { state: "ok", what, fix: null };
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** The dashboard is built separately, so a checkout may lack it. */
export function uiCheck(folder: string): Check {
  if (existsSync(join(folder, "index.html"))) return { state: "ok", what: TEXT.dashboardBuilt, fix: null };
  const what = TEXT.dashboardMissing(folder);
  return { state: "warn", what, fix: TEXT.buildDashboard };
}

/** Checks Redis; null when none is configured. */
export async function redisCheck(url: string | null, timeoutMs = TIMEOUT_MS): Promise<Check | null> {
  if (url === null) return null;
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown = null;
  redis.on("error", (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    return { state: "ok", what: TEXT.redisFine, fix: null };
  } catch (error) {
    const what = TEXT.redisUnusable(reasonOf(reason ?? error));
    return {
      state: "fail",
      what,
      fix: TEXT.checkRedis,
    };
  } finally {
    redis.disconnect();
  }
}

const RUNNING = TEXT.alreadyRunning;

export function isServing({ what }: Check): boolean {
  return what.endsWith(RUNNING);
}

/** Is the port free, or is it ours already? */
export async function portCheck({ host, port }: Pick<Settings["server"], "host" | "port">): Promise<Check> {
  if (port === 0) return { state: "ok", what: TEXT.anyPort, fix: null };
  const error = await tryListening(host, port);
  if (error === null) return { state: "ok", what: TEXT.portFree(port, host), fix: null };
  if (error.code !== "EADDRINUSE") {
    const what = TEXT.portUnusable(port, host, reasonOf(error));
    return { state: "fail", what, fix: TEXT.setHostAndPort };
  }
  if (await isSwitchyard(host, port)) {
    return { state: "ok", what: `Port ${port}: ${RUNNING}`, fix: null };
  }
  const what = TEXT.portTaken(port, host);
  return { state: "fail", what, fix: TEXT.stopProgram };
}

/** Opens the port and closes it at once; null on success. */
function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Any server can say it is healthy; only ours writes request ids of this form. */
async function isSwitchyard(host: string, port: number): Promise<boolean> {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const address = `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}/healthz`;
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "manual" });
    const body = (await response.json()) as { status?: unknown };
    return body.status === "ok" && /^req_[0-9a-f]+$/.test(response.headers.get("x-request-id") ?? "");
  } catch {
    return false;
  }
}
