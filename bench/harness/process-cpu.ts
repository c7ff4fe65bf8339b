// CPU time of a server on this machine, all its processes together. It is read from /proc, so Linux only.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

/** The unit of `/proc` (USER_HZ): 100 on every platform that Node supports. */
const TICKS_PER_SECOND = 100;

/** Of a PostgreSQL server: a function that reads the CPU time so far; null where it cannot be known, such as for a server elsewhere. */
export async function openPostgresCpu(url: string): Promise<(() => number) | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
    const server = readFileSync(join(rows[0]?.data_directory ?? "", "postmaster.pid"), "utf8").split("\n", 1)[0] ?? "";
    readStat(server);
    return () => processCpuUs(server);
  } catch {
    return null;
  } finally {
    await client.end();
  }
}

/** The server and its children. What ended children used is counted in the server's own entry. */
export function processCpuUs(server: string): number {
  const ticks = familyOf(server).reduce(
    (sum, { pid, used, ofEnded }) => sum + used + (pid === server ? ofEnded : 0),
    0,
  );
  return (ticks * 1_000_000) / TICKS_PER_SECOND;
}

/** The ids of a process and its children. */
export function processFamily(server: string): readonly string[] {
  return familyOf(server).map(({ pid }) => pid);
}

function familyOf(server: string) {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const stats = processes.flatMap((pid) => {
    try {
      return [{ pid, ...readStat(pid) }];
    } catch {
      // It has ended since the folder was read.
      return [];
    }
  });
  return stats.filter(({ pid, parent }) => pid === server || parent === server);
}

/** Throws when the process has ended. */
function readStat(pid: string): { readonly parent: string; readonly used: number; readonly ofEnded: number } {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name may hold anything, but it ends with the last bracket; the state follows.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent = ""] = fields;
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return { parent, used: user + system, ofEnded: childUser + childSystem };
}
