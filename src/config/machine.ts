// Resources of the machine that this process may use. A control group of Linux, its own or one above it, may allow less
// than the machine has: in a container, a service or a CI job.

import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export function readMachine(root = "/"): Machine {
  const limits = readGroups(root);
  const memoryBytes = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return {
    cores: Math.max(1, Math.min(availableParallelism(), Math.ceil(limits.cores))),
    memoryBytes: Math.min(totalmem(), memoryBytes, limits.memoryBytes),
  };
}

const GROUPS = "sys/fs/cgroup";

/** Infinite where nothing is limited. */
function readGroups(root: string): Machine {
  let cores = Number.POSITIVE_INFINITY;
  let memoryBytes = Number.POSITIVE_INFINITY;
  for (const folder of groupFolders(root)) {
    cores = Math.min(cores, shareIn(folder));
    for (const file of ["memory.max", "memory.limit_in_bytes"]) {
      memoryBytes = Math.min(memoryBytes, limitOf(textOf(join(folder, file))));
    }
  }
  return { cores, memoryBytes };
}

/** The groups of this process and all above them. Version 1 has a tree for each list of controllers, version 2 one. */
function groupFolders(root: string): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const line of textOf(join(root, "proc/self/cgroup")).split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    // Seen from inside a container, the path may be that of the machine. Its own limits are at the top then.
    const names = path.split("/").filter((name) => name !== "" && name !== "..");
    for (let depth = names.length; depth >= 0; depth -= 1) {
      folders.add(join(root, GROUPS, controllers, ...names.slice(0, depth)));
    }
  }
  return folders;
}

/** Processor time per time. */
function shareIn(folder: string): number {
  const [most, period] = textOf(join(folder, "cpu.max")).split(" ");
  const share = limitOf(most) / Number(period);
  const older = limitOf(textOf(join(folder, "cpu.cfs_quota_us"))) / Number(textOf(join(folder, "cpu.cfs_period_us")));
  return Math.min(share || Number.POSITIVE_INFINITY, older || Number.POSITIVE_INFINITY);
}

/** Infinite for `max`, for -1, and where there is no file. */
function limitOf(text: string | undefined): number {
  const limit = Number(text);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** Empty where there is no such file, which is so on other systems. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
