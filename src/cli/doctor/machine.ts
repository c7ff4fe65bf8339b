// What the machine itself must have: room on the disk, the dashboard's files, and the Redis that was named.

import { existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Check } from "../../config/doctor.ts";
import { reasonOf } from "../command/usage.ts";

const GIGABYTE = 1024 ** 3;
const ROOM_LITTLE_BYTES = GIGABYTE;
const ROOM_TOO_LITTLE_BYTES = 64 * 1024 * 1024;
const PATIENCE_MS = 3_000;

/** A SQLite that cannot write refuses every request that costs something. */
export function diskCheck(folder: string, freeBytesOf: (path: string) => number = freeBytes): Check {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  const free = freeBytesOf(nearest);
  const what = `Disk of ${folder}: ${(free / GIGABYTE).toFixed(1)} GB free`;
  const fix = "Make room, or move the data: SWITCHYARD_DATA, DATABASE_URL";
  if (free < ROOM_TOO_LITTLE_BYTES) return { state: "fail", what, fix };
  return free < ROOM_LITTLE_BYTES ? { state: "warn", what, fix } : { state: "ok", what, fix: null };
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

export function uiCheck(folder: string): Check {
  if (existsSync(join(folder, "index.html"))) return { state: "ok", what: "Dashboard: its files are there", fix: null };
  const what = `Dashboard: its files are missing in ${folder}`;
  return { state: "warn", what, fix: "Build them: npm run build. The API works without them" };
}

/** Null where none is configured. */
export async function redisCheck(url: string | null, patienceMs = PATIENCE_MS): Promise<Check | null> {
  if (url === null) return null;
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
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
    return { state: "ok", what: "Redis answers", fix: null };
  } catch (error) {
    const what = `Redis cannot be used: ${reasonOf(reason ?? error)}`;
    return { state: "fail", what, fix: "Check REDIS_URL and that the server runs, or leave it out on one machine" };
  } finally {
    redis.disconnect();
  }
}
