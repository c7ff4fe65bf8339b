// The number of workers that a machine can use: one for each core, as far as memory allows. On a small machine one process
// serves more.

import type { Machine } from "../config/machine.ts";

/** Memory of a busy worker, with room for bodies and streams. */
const WORKER_BYTES = 384 * 1024 * 1024;

/** Measured: two workers on two cores are slower than one process, because the primary process needs CPU too. */
const CORES_MIN = 4;
/** Fewer workers are no faster than one process, for the same reason. */
const WORKERS_MIN = 3;
/** The largest number that was measured. One thread of the primary process writes the request log of all workers. */
const AUTO_MAX = 16;

export function workersFor(wanted: number | "auto", { cores, memoryBytes }: Machine): number {
  if (wanted !== "auto") return wanted;
  if (cores < CORES_MIN) return 1;
  // The other half of the memory is for the system, its file cache and other programs.
  const fitting = Math.min(cores, AUTO_MAX, Math.floor(memoryBytes / 2 / WORKER_BYTES));
  return fitting < WORKERS_MIN ? 1 : fitting;
}
