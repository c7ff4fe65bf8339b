// How many workers a machine can use: one for each core, as far as memory allows.

import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** What a busy worker uses, with room for bodies and streams. */
const WORKER_BYTES = 384 * 1024 * 1024;

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export function workersFor(wanted: number | "auto", { cores, memoryBytes }: Machine): number {
  if (wanted !== "auto") return wanted;
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / WORKER_BYTES)));
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
