// The request log of a SQLite database: a file beside it, with a thread of its own. The ledger then waits for none of its
// rows, and they wait for no fsync. A file that is lost takes only the log along; the next start makes another.

import { existsSync, realpathSync } from "node:fs";
import { parse } from "node:path";
import type { Db } from "../../core/db.ts";
import { compareMigrations, migrate } from "../migrate.ts";
import { copyTable, emptied, hasRows, LOG_TABLES, logMigrations } from "./log-tables.ts";
import { openSqlite, openThread, type SqliteOptions, sqliteOver } from "./sqlite.ts";
import type { Thread } from "./thread.ts";

export interface LogFileOptions {
  readonly busyTimeoutMs: number;
  /** Told of rows that an earlier version, or a backup, left in the database. Moving them takes a while. */
  readonly onMoving?: (table: string, rows: number) => void;
}

/** `switchyard.db` has its log in `switchyard-log.db`. */
export function logPathOf(path: string): string {
  const { dir, name, ext } = parse(path);
  return `${dir}/${name}-log${ext}`;
}

/** The thread that writes the log, once all rows of the log are in its file. `db` is the migrated database at `path`. */
export async function openLogThread(path: string, db: Db, options: LogFileOptions): Promise<Thread> {
  const database = realpathSync(path);
  const thread = await openThread(logPathOf(database), optionsOf(options));
  try {
    const log = sqliteOver(thread);
    if ((await compareMigrations(log)).missing.length > 0) await migrate(log, logMigrations());
    await log.query(MOVES);
    for (const { name } of await log.query("SELECT name FROM log_moves")) await endMove(String(name), { db, log });
    await moveRows(db, database, options);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** With a second thread that only reads, the log and beside it the database: for pages and audits over many rows. */
export async function openLogThreads(
  path: string,
  db: Db,
  options: LogFileOptions,
): Promise<{ readonly log: Thread; readonly reader: Thread }> {
  const log = await openLogThread(path, db, options);
  try {
    const database = realpathSync(path);
    return { log, reader: await openThread(logPathOf(database), { ...optionsOf(options), attached: database }) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

function optionsOf({ busyTimeoutMs }: LogFileOptions): SqliteOptions {
  return { exclusive: false, busyTimeoutMs, onAdopted: () => undefined, holds: "log" };
}

/** Tables whose rows were copied and are to be deleted from the database. */
const MOVES = "CREATE TABLE IF NOT EXISTS log_moves (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID";

/** Table by table: copied and noted in one commit, then deleted. It may be ended anywhere and begun again. */
async function moveRows(db: Db, database: string, options: LogFileOptions): Promise<void> {
  const filled: string[] = [];
  for (const table of LOG_TABLES) if (await hasRows(db, "main", table)) filled.push(table);
  if (filled.length === 0) return;
  const log = await openSqlite(logPathOf(database), { ...optionsOf(options), attached: database });
  try {
    // What is deleted from the database must be on disk here.
    await log.query("PRAGMA synchronous = FULL");
    for (const table of filled) {
      const [counted] = await db.query(`SELECT COUNT(*) AS rows FROM ${table}`);
      options.onMoving?.(table, Number(counted?.rows));
      await moveTable(table, { db, log });
    }
  } finally {
    await log.close();
  }
}

interface Move {
  readonly db: Db;
  readonly log: Db;
}

/** The database is attached to the log. */
async function moveTable(table: string, { db, log }: Move): Promise<void> {
  await log.transaction(async (tx) => {
    const isCopied = (await tx.query("SELECT name FROM log_moves WHERE name = $1", [table])).length > 0;
    if (isCopied) return;
    await copyTable(tx, table);
    await tx.query("INSERT INTO log_moves (name) VALUES ($1)", [table]);
  });
  await endMove(table, { db, log });
}

async function endMove(table: string, { db, log }: Move): Promise<void> {
  await db.batch(emptied(table).map((sql) => ({ sql })));
  await log.query("DELETE FROM log_moves WHERE name = $1", [table]);
}

/** Copies the log into a backup of its database, which is complete then. */
export async function copyLogInto(copy: string, path: string): Promise<void> {
  const attached = logPathOf(realpathSync(path));
  if (!existsSync(attached)) return;
  const db = await openSqlite(copy, { ...optionsOf({ busyTimeoutMs: 0 }), holds: "copy", attached });
  try {
    // A start that was ended early has made the file and moved nothing.
    const [moves] = await db.query("SELECT name FROM attached.sqlite_master WHERE name = 'log_moves'");
    if (moves === undefined) return;
    await db.transaction(async (tx) => {
      // Those are in both files.
      const moved = await tx.query("SELECT name FROM attached.log_moves");
      for (const sql of moved.flatMap(({ name }) => emptied(String(name)))) await tx.query(sql);
      for (const table of LOG_TABLES) await copyTable(tx, table);
    });
  } finally {
    await db.close();
  }
}
