// The number of workers that a machine can use: one for each core, as far as memory allows. A small machine is served better by
// one process.

import type { Machine } from "../config/machine.ts";

/** Memory of a busy worker, with room for bodies and streams. */
const WORKER_BYTES = 384 * 1024 * 1024;

/** Measured: two workers on two cores are slower than one process, as the primary process needs a part of them. */
const CORES_MIN = 4;
/** Fewer gain nothing over one process, for the same reason. */
const WORKERS_MIN = 3;
/** More were not measured. One thread of the primary process writes the request log of all. */
const AUTO_MAX = 16;

export function workersFor(wanted: number | "auto", { cores, memoryBytes }: Machine): number {
  if (wanted !== "auto") return wanted;
  if (cores < CORES_MIN) return 1;
  // Half of the memory is for the system, its file cache and everybody else.
  const fitting = Math.min(cores, AUTO_MAX, Math.floor(memoryBytes / 2 / WORKER_BYTES));
  return fitting < WORKERS_MIN ? 1 : fitting;
}
