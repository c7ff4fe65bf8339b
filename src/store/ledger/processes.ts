// The processes that share a database. Each reports every few seconds that it is alive (`beat` of the ledger's store). Its
// holds and leases are found by its row.

import { BATCH_OWNER } from "../../core/batches/holds.ts";
import type { Db } from "../../core/db.ts";
import { clockSql } from "../dialect.ts";

/** Time without a beat after which a process does not count as alive. */
const ALIVE_MS = 15_000;

/** Counts the processes that share this database now. */
export async function countProcesses(db: Db): Promise<number> {
  const sql = `SELECT COUNT(*) AS count FROM processes WHERE id <> $2 AND seen_at > ${clockSql(db.kind)} - $1`;
  const [row] = await db.query(sql, [ALIVE_MS, BATCH_OWNER]);
  return Number(row?.count ?? 0);
}

/**
 * Makes the owner of batches look alive to versions that know no batches, for all time. On one database with this version,
 * they would release the holds of batches. On SQLite no two versions run at once.
 */
export async function keepBatchHolds(db: Db): Promise<void> {
  if (db.kind !== "postgres") return;
  await db.query("INSERT INTO processes (id, seen_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", [
    BATCH_OWNER,
    Number.MAX_SAFE_INTEGER,
  ]);
}

/** Forgets a process that has certainly ended. Its holds and leases are orphans at once. */
export async function forgetProcess(db: Db, owner: string): Promise<void> {
  await db.query("DELETE FROM processes WHERE id = $1", [owner]);
}

/** Forgets all processes. Called by the process that owns a SQLite file, before any other uses the file. */
export async function forgetProcesses(db: Db): Promise<void> {
  await db.query("DELETE FROM processes");
}

/** Finds processes without holds and leases. Recovery finds holds by the row of their process, so the others stay. */
export const HOLDS_NOTHING = `NOT EXISTS (SELECT 1 FROM holds WHERE holds.owner = processes.id AND holds.state = 'open')
  AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = processes.id)
  AND NOT EXISTS (SELECT 1 FROM budget_leases b WHERE b.owner = processes.id AND b.amount > 0)`;

/** Accounts that processes have leases of. A budget may still have one when that of its account is used up. */
export const LEASED =
  "SELECT owner, account_id, amount FROM leases UNION ALL SELECT owner, account_id, 0 FROM budget_leases WHERE amount > 0";
