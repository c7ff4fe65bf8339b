// The processes on this database: how many are alive, as each says so every few seconds (`beat` of the ledger's store),
// and which are known to be gone.

import type { Db } from "../../core/db.ts";
import { clockSql } from "../dialect.ts";

const ALIVE_MS = 15_000;

export async function countProcesses(db: Db): Promise<number> {
  const sql = `SELECT COUNT(*) AS count FROM processes WHERE seen_at > ${clockSql(db.kind)} - $1`;
  const [row] = await db.query(sql, [ALIVE_MS]);
  return Number(row?.count ?? 0);
}

export async function forgetProcesses(db: Db, isGone: (id: string) => boolean): Promise<void> {
  const ids = (await db.query("SELECT id FROM processes")).map(({ id }) => String(id));
  for (const id of ids.filter(isGone)) await db.query("DELETE FROM processes WHERE id = $1", [id]);
}
