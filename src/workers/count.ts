// How many workers a machine can use: one for each core, as far as memory allows. A small machine is served better by
// one process.

import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** What a busy worker uses, with room for bodies and streams. */
const WORKER_BYTES = 384 * 1024 * 1024;

/** Measured: two workers on two cores are slower than one process, as the primary process needs a part of them. */
const CORES_MIN = 4;
/** Fewer gain nothing over one process, for the same reason. */
const WORKERS_MIN = 3;
/** More were not measured. One thread of the primary process writes the request log of all. */
const AUTO_MAX = 16;

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export function workersFor(wanted: number | "auto", { cores, memoryBytes }: Machine): number {
  if (wanted !== "auto") return wanted;
  if (cores < CORES_MIN) return 1;
  // Half of the memory is for the system, its file cache and everybody else.
  const fitting = Math.min(cores, AUTO_MAX, Math.floor(memoryBytes / 2 / WORKER_BYTES));
  return fitting < WORKERS_MIN ? 1 : fitting;
}

/** The cores that this process may use: a container may have less of them than the machine. */
export function coresAvailable(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(quota())));
}

/** Processor time per time, as the control group of Linux has it. */
function quota(): number {
  try {
    const [most = "max", period = "100000"] = readFileSync("/sys/fs/cgroup/cpu.max", "utf8").trim().split(" ");
    return most === "max" ? Number.POSITIVE_INFINITY : Number(most) / Number(period);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
