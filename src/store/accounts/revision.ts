// The revision of keys and profiles: a counter that tells other processes to read them again. Every write to them
// increments it in the same batch.

import type { Db, Statement } from "../../core/db.ts";

export const BUMP_REVISION: Statement = {
  sql: "UPDATE revisions SET value = value + 1 WHERE name = 'access'",
  expectRows: 1,
};

export async function readRevision(db: Db): Promise<number> {
  const [row] = await db.query("SELECT value FROM revisions WHERE name = 'access'");
  return Number(row?.value ?? 0);
}
