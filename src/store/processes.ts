// How many processes are alive on this database: each says so every few seconds (`beat` of the ledger's store).

import type { Db } from "../core/ports.ts";
import { clockSql } from "./dialect.ts";

const ALIVE_MS = 15_000;

export async function countProcesses(db: Db): Promise<number> {
  const sql = `SELECT COUNT(*) AS count FROM processes WHERE seen_at > ${clockSql(db.kind)} - $1`;
  const [row] = await db.query(sql, [ALIVE_MS]);
  return Number(row?.count ?? 0);
}
