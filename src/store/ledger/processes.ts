// The processes that share a database. Each says every few seconds that it lives (`beat` of the ledger's store), and what
// it holds is found by its row.

import type { Db } from "../../core/db.ts";
import { clockSql } from "../dialect.ts";

/** After so long without a sign of life, a process does not count as alive. */
const ALIVE_MS = 15_000;

/** Counts the processes that share this database now. */
export async function countProcesses(db: Db): Promise<number> {
  const sql = `SELECT COUNT(*) AS count FROM processes WHERE seen_at > ${clockSql(db.kind)} - $1`;
  const [row] = await db.query(sql, [ALIVE_MS]);
  return Number(row?.count ?? 0);
}

/** A process that is known to have ended. What it holds is an orphan at once. */
export async function forgetProcess(db: Db, owner: string): Promise<void> {
  await db.query("DELETE FROM processes WHERE id = $1", [owner]);
}

/** For the one process that owns a SQLite file, before any other uses it. */
export async function forgetProcesses(db: Db): Promise<void> {
  await db.query("DELETE FROM processes");
}
