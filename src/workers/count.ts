// The number of workers that a machine can use: one while it is quiet, and one for each core under load, as far as memory
// allows. On a small machine one process serves more.

import type { Machine } from "../config/machine.ts";
import type { WorkerCount } from "../config/readers.ts";

/** Memory of a busy worker, with room for bodies and streams. */
const WORKER_BYTES = 384 * 1024 * 1024;

/** Measured: two workers on two cores are slower than one process, because the primary process needs CPU too. */
const CORES_MIN = 4;
/** Fewer workers are no faster than one process, for the same reason. */
const WORKERS_MIN = 3;
/** The largest number that was measured. One thread of the primary process writes the request log of all workers. */
const AUTO_MAX = 16;

/** Numbers of workers: those that are always there, and those under load. */
export interface Crew {
  readonly least: number;
  readonly most: number;
}

export const ALONE: Crew = { least: 1, most: 1 };

export function workersFor(wanted: WorkerCount, { cores, memoryBytes }: Machine): Crew {
  if (wanted !== "auto") {
    const [least, most = least] = String(wanted).split("-").map(Number) as [number, number?];
    return { least, most };
  }
  if (cores < CORES_MIN) return ALONE;
  // The other half of the memory is for the system, its file cache and other programs.
  const fitting = Math.min(cores, AUTO_MAX, Math.floor(memoryBytes / 2 / WORKER_BYTES));
  return fitting < WORKERS_MIN ? ALONE : { least: 1, most: fitting };
}
