// Backup and restore of a PostgreSQL database with the server's own tools. The password is passed in the environment,
// where other users cannot read it.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { writeWhole } from "./files.ts";
import type { RowCounts } from "./sqlite.ts";

/** Backs up, and counts the rows of the whole archive. Leaves out rate-limit windows, which last a minute. */
export function backupPostgres(database: string, target: string): Promise<RowCounts> {
  return writeWhole(target, async (archive) => {
    const flags = ["--format=custom", "--no-owner", "--no-privileges", "--no-unlogged-table-data"];
    await runTool("pg_dump", [...flags, `--file=${archive}`], database);
    return examinePostgres(archive);
  });
}

/** Reads the whole archive and counts the rows of each table. */
export async function examinePostgres(archive: string): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  let table: string | null = null;
  await runTool("pg_restore", ["--data-only", "--file=-", archive], null, (line) => {
    if (table === null) {
      table = /^COPY (?:\S+\.)?"?(\w+)"? \(/.exec(line)?.[1] ?? null;
      if (table !== null) counts[table] = 0;
    } else if (line === "\\.") table = null;
    else counts[table] = (counts[table] ?? 0) + 1;
  });
  return counts;
}

/** Restores in one transaction that drops the tables of the archive and creates them again. */
export async function restorePostgres(database: string, archive: string): Promise<void> {
  const flags = ["--clean", "--if-exists", "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"];
  await runTool("pg_restore", [...flags, archive], database);
}

/** Runs a tool and resolves when it succeeded. `database` is null for work on an archive alone. */
async function runTool(
  tool: "pg_dump" | "pg_restore",
  flags: readonly string[],
  database: string | null,
  onLine?: (line: string) => void,
): Promise<void> {
  const { address, env } = connectionOf(database);
  const child = spawn(tool, [...address, ...flags], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    if (said.length < SAID_MAX) said += text.toString("utf8");
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(isMissing(error) ? new Error(INSTALL(tool)) : error));
    child.once("close", resolve);
  });
  const lines = createInterface({ input: child.stdout });
  if (onLine !== undefined) lines.on("line", onLine);
  const read = new Promise((resolve) => lines.once("close", resolve));
  const code = await ended;
  await read;
  if (code !== 0) throw new Error(`${tool} failed: ${said.trim() || `exit code ${code}`}`);
}

/** Characters of a tool's error that are shown. */
const SAID_MAX = 4_000;

const INSTALL = (tool: string): string =>
  `${tool} is not installed. Install PostgreSQL's client tools (package postgresql-client), in the server's version or newer.`;

function isMissing(error: NodeJS.ErrnoException): boolean {
  return error.code === "ENOENT";
}

/** Splits an address into an argument without the password and a variable with it. */
function connectionOf(database: string | null) {
  if (database === null) return { address: [], env: process.env };
  const url = new URL(database);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const env = password === "" ? process.env : { ...process.env, PGPASSWORD: password };
  return { address: [`--dbname=${url.href}`], env };
}
