// Moves rows of a part from the database, where an earlier version or a backup left them, into the file of the part. The
// move may be killed and repeated, and an earlier version may write in between: every row still counts once.

import type { Db } from "../../core/db.ts";
import { copyRows, type DbPart, deletionOf, endOfPart, hasRows, isTotals, tablesOf } from "./part-tables.ts";

/** Rows per commit. A killed start repeats at most one commit. One stored response may have megabytes. */
const ROWS_MAX: Readonly<Record<DbPart, number>> = { log: 20_000, contents: 500 };

export interface Movers {
  readonly db: Db;
  readonly part: DbPart;
  /** The file of the part, whose commits are on disk, with the database attached. */
  readonly file: Db;
}

/** Called while rows move. */
export interface MoveWatcher {
  onMoving(part: DbPart, table: string, rows: number): void;
  /** Called when a move failed. The rows stay in the database, and the next start tries again. */
  onMoveFailed(part: DbPart, table: string, error: Error): void;
}

/** Lists tables whose rows must be moved, or that cannot be read. */
export async function tablesLeft(db: Db, part: DbPart): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of tablesOf(part)) {
    const isLeft = (await isTaken(db, table)) || (await hasRows(db, "main", table).catch(() => true));
    if (isLeft) left.push(table);
  }
  return left;
}

/** Moves each table. A damaged table or a full disk stops neither the other tables nor the gateway. */
export async function moveTables(tables: readonly string[], movers: Movers, watcher: MoveWatcher): Promise<void> {
  for (const table of tables) {
    try {
      const [counted] = await movers.db.query(`SELECT COUNT(*) AS rows FROM ${table}`);
      watcher.onMoving(movers.part, table, Number(counted?.rows));
      await (isTotals(table) ? moveTotals(table, movers) : moveRows(table, movers));
    } catch (error) {
      watcher.onMoveFailed(movers.part, table, error as Error);
    }
  }
}

/** Copies rows, then deletes them. Copying a row twice changes nothing. */
async function moveRows(table: string, { db, part, file }: Movers): Promise<void> {
  for (;;) {
    const upTo = await endOfPart(db, table, ROWS_MAX[part]);
    if (upTo === null) return;
    await file.transaction((tx) => copyRows(tx, { table, upTo }));
    await db.batch(await deletionOf(db, table, upTo));
  }
}

/**
 * Moves totals, which are added to those of the log and so must not be copied twice. They first get their own table, where
 * nobody adds to them. Then a note in the log tells that they were copied.
 */
async function moveTotals(table: string, movers: Movers): Promise<void> {
  const { db, file } = movers;
  const taken = takenFrom(table);
  await endTotals(table, movers);
  if (!(await isTaken(db, table))) {
    await db.batch([{ sql: `CREATE TABLE ${taken} AS SELECT * FROM ${table}` }, { sql: `DELETE FROM ${table}` }]);
  }
  await file.transaction(async (tx) => {
    await copyRows(tx, { table, from: taken });
    await tx.query("INSERT INTO log_moves (name) VALUES ($1)", [table]);
    await tx.query("UPDATE log_state SET moves = moves + 1");
  });
  await endTotals(table, movers);
  // An earlier version may have added rows after an interrupted move.
  if (await hasRows(db, "main", table)) await moveTotals(table, movers);
}

/** Ends the move of copied totals. */
async function endTotals(table: string, { db, file }: Movers): Promise<void> {
  if ((await file.query("SELECT name FROM log_moves WHERE name = $1", [table])).length === 0) return;
  await db.query(`DROP TABLE IF EXISTS ${takenFrom(table)}`);
  await file.query("DELETE FROM log_moves WHERE name = $1", [table]);
}

/** Names the table of totals that are being moved. */
export function takenFrom(table: string): string {
  return `moving_${table}`;
}

async function isTaken(db: Db, table: string): Promise<boolean> {
  const found = await db.query("SELECT name FROM main.sqlite_master WHERE name = $1", [takenFrom(table)]);
  return found.length > 0;
}
