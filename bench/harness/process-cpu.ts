// CPU time of a server on this machine, all its processes together. It is read from /proc, so Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

/** A tick, the unit of `/proc/PID/stat`, takes 10 ms (USER_HZ) on every platform that Node supports. */
const NS_PER_TICK = 10_000_000;

/** Returns a function that reads the CPU time of a PostgreSQL server so far; null where nobody can know it, such as for a server elsewhere. */
export async function openPostgresCpu(url: string): Promise<(() => number) | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
    const server = readFileSync(join(rows[0]?.data_directory ?? "", "postmaster.pid"), "utf8").split("\n", 1)[0] ?? "";
    readStat(`/proc/${server}`);
    return openProcessCpu(server);
  } catch {
    return null;
  } finally {
    await client.end();
  }
}

/** A function that reads the CPU time so far, of the server and its children. */
export function openProcessCpu(server: string, proc = "/proc"): () => number {
  const threads = new Map<string, Map<string, number>>();
  return () => {
    let totalNs = 0;
    for (const { pid, usedNs, ofEndedNs } of familyOf(server, proc)) {
      const ofProcess = threads.get(pid) ?? new Map<string, number>();
      threads.set(pid, ofProcess);
      readThreads(join(proc, pid, "task"), ofProcess);
      const threadsNs = [...ofProcess.values()].reduce((sum, each) => sum + each, 0);
      // Ticks are rounded down, so they only serve where the kernel does not say more.
      totalNs += threadsNs === 0 ? usedNs : threadsNs;
      // What ended children used is counted in the server's own entry.
      if (pid === server) totalNs += ofEndedNs;
    }
    return totalNs / 1000;
  };
}

/** The ids of a process and its children. */
export function processFamily(server: string): readonly string[] {
  return familyOf(server, "/proc").map(({ pid }) => pid);
}

function familyOf(server: string, proc: string) {
  const processes = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  const stats = processes.flatMap((pid) => {
    try {
      return [{ pid, ...readStat(join(proc, pid)) }];
    } catch {
      // It has ended since the folder was read.
      return [];
    }
  });
  return stats.filter(({ pid, parent }) => pid === server || parent === server);
}

/** Throws when the process has ended. */
function readStat(folder: string): { readonly parent: string; readonly usedNs: number; readonly ofEndedNs: number } {
  const text = readFileSync(join(folder, "stat"), "utf8");
  // The name may hold anything, but it ends with the last bracket; the state follows.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent = ""] = fields;
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return { parent, usedNs: (user + system) * NS_PER_TICK, ofEndedNs: (childUser + childSystem) * NS_PER_TICK };
}

/** Each thread's time as the scheduler counts it, in nanoseconds. One that has ended keeps what it had when it was last seen. */
function readThreads(folder: string, times: Map<string, number>): void {
  for (const thread of readdirSync(folder)) {
    try {
      const [ns = ""] = readFileSync(join(folder, thread, "schedstat"), "utf8").split(" ");
      times.set(thread, Number(ns));
    } catch {
      // It has ended since the folder was read, or this kernel has no such file.
    }
  }
}
