// The request log of a SQLite database: a file beside it, with its own thread. So the ledger never waits for log rows, and
// log rows never wait for an fsync. If the file is lost or damaged, only the log is lost, and the next start makes another.

import { chownSync, existsSync, realpathSync, statSync } from "node:fs";
import { parse } from "node:path";
import type { Db, Queryable } from "../../core/db.ts";
import { StoreDamaged, StoreUnusable } from "../../core/store-errors.ts";
import { moveAside } from "../backup/files.ts";
import { compareMigrations, migrate, readLogMigrations } from "../migrate.ts";
import { type MoveWatcher, moveTables, tablesLeft, takenFrom } from "./log-move.ts";
import { copyRows, hasRows, LOG_TABLES, type Schema } from "./log-tables.ts";
import { openSqlite, openThread, type SqliteOptions, sqliteOver } from "./sqlite.ts";
import type { Thread } from "./thread.ts";

const BUSY_MS = 5_000;

/** Watches the log in the process that serves. */
export interface LogWatcher extends MoveWatcher {
  /** Called when an unusable file was renamed. */
  onSetAside(name: string, reason: string): void;
}

/** `switchyard.db` has its log in `switchyard-log.db`. */
export function logPathOf(path: string): string {
  const { dir, name, ext } = parse(path);
  return `${dir}/${name}-log${ext}`;
}

/**
 * Opens a thread that writes the log, and one that only reads the log and the database, for pages and audits over many
 * rows. Moves log rows out of the database. Call this with the lock of the database, on a migrated `db`.
 */
export async function openLogThreads(
  path: string,
  db: Db,
  watcher: LogWatcher,
): Promise<{ readonly log: Thread; readonly reader: Thread }> {
  const database = realpathSync(path);
  const log = await openSettled(database, db, watcher);
  try {
    return { log, reader: await openThread(logPathOf(database), { ...LOG, attached: database }) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

const LOG: SqliteOptions = { exclusive: false, busyTimeoutMs: BUSY_MS, onAdopted: () => undefined, holds: "log" };

/** Opens the thread that writes the log of a database. Creates and migrates the file if needed. */
async function openLog(database: string): Promise<Thread> {
  const path = logPathOf(database);
  const thread = await openThread(path, LOG);
  try {
    const log = sqliteOver(thread);
    const [other] = await log.query("SELECT name FROM sqlite_master WHERE name = 'ledger_transactions'");
    if (other !== undefined) throw new StoreUnusable(`${path} is a database, so it cannot hold a request log.`);
    if ((await compareMigrations(log)).missing.length > 0) await migrate(log, readLogMigrations("sqlite"));
    for (const sql of STATE) await log.query(sql);
    // Gives the file the owner of the database, as SQLite does.
    const { uid, gid } = statSync(database);
    if (process.getuid?.() === 0 && uid !== 0) chownSync(path, uid, gid);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** Tables for totals that were copied but not deleted yet, the number of such moves, and the head of the database. */
const STATE = [
  "CREATE TABLE IF NOT EXISTS log_moves (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS log_state (id INTEGER NOT NULL PRIMARY KEY, moves BIGINT NOT NULL, commits BIGINT NOT NULL)",
  "INSERT INTO log_state (id, moves, commits) VALUES (1, 0, 0) ON CONFLICT (id) DO NOTHING",
];

/** Opens a usable log, and moves all readable rows into it. */
async function openSettled(database: string, db: Db, watcher: LogWatcher): Promise<Thread> {
  const left = await tablesLeft(db);
  const open = (): Promise<Thread | null> => openMoved(database, db, { left, watcher });
  let reason = "the database is older than it and has a request log of its own";
  try {
    const thread = await open();
    if (thread !== null) return thread;
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
    reason = (error.cause as Error).message;
  }
  setAside(database, watcher, reason);
  return (await open()) as Thread;
}

interface LeftRows {
  readonly left: readonly string[];
  readonly watcher: LogWatcher;
}

/** Opens the log and moves rows into it. Returns null if an older database with log rows has replaced the one of this log. */
async function openMoved(database: string, db: Db, { left, watcher }: LeftRows): Promise<Thread | null> {
  const thread = await openLog(database);
  try {
    const log = sqliteOver(thread);
    if (left.length > 0) {
      const [state] = await log.query("SELECT commits FROM log_state");
      if ((await commitsOf(db)) < Number(state?.commits)) {
        await thread.close();
        return null;
      }
      await move(database, db, { left, watcher });
    }
    // Noted after the move, so that an older copy of the database has a lower number.
    await log.query("UPDATE log_state SET commits = $1", [await commitsOf(db)]);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

async function move(database: string, db: Db, { left, watcher }: LeftRows): Promise<void> {
  const log = await openSqlite(logPathOf(database), { ...LOG, attached: database });
  try {
    // Rows must be on disk here before they are deleted from the database.
    await log.query("PRAGMA synchronous = FULL");
    await moveTables(left, { db, log }, watcher);
    await log.query("PRAGMA main.wal_checkpoint(TRUNCATE)");
  } finally {
    await log.close();
  }
}

async function commitsOf(db: Db): Promise<number> {
  const [head] = await db.query("SELECT commits FROM store_head");
  return Number(head?.commits);
}

function setAside(database: string, watcher: LogWatcher, reason: string): void {
  const path = logPathOf(database);
  const name = `${path}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  moveAside(["-wal", "-shm", ""].map((ending) => [`${path}${ending}`, `${name}${ending}`]));
  watcher.onSetAside(name, reason);
}

/** Gives a command the log of an open database, or the database itself while the log is still in it. */
export async function withLogAt<T>(path: string, db: Db, work: (log: Db) => Promise<T>): Promise<T> {
  if (await hasRows(db, "main", "requests")) return work(db);
  const log = sqliteOver(await openLog(realpathSync(path)));
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Counts the moves of totals into a log. */
export async function movesOf(log: string): Promise<number> {
  if (!existsSync(log)) return 0;
  const db = await openSqlite(log, { ...LOG, isReadOnly: true });
  try {
    return (await hasState(db, "main")) ? movesIn(db, "main") : 0;
  } finally {
    await db.close();
  }
}

interface LogAtTime {
  readonly log: string;
  /** Number of moves into the log when the database was copied. Moved totals must not count twice. */
  readonly moves: number;
}

/** Completes the copy of a database with its log. */
export async function copyLogInto(copy: string, { log, moves }: LogAtTime): Promise<void> {
  if (!existsSync(log)) return;
  const db = await openSqlite(copy, { ...LOG, holds: "copy", attached: log });
  try {
    // An interrupted start made the file and moved nothing.
    if (!(await hasState(db, "attached"))) return;
    await db.transaction(async (tx) => {
      if ((await movesIn(tx, "attached")) !== moves)
        throw new Error("A gateway was moving its request log to a file of its own. Try again in a moment.");
      // These totals are in both files and must count once.
      for (const { name } of await tx.query("SELECT name FROM attached.log_moves"))
        await tx.query(`DROP TABLE IF EXISTS main.${takenFrom(String(name))}`);
      for (const table of LOG_TABLES) await copyRows(tx, { table });
    });
  } finally {
    await db.close();
  }
}

async function hasState(db: Queryable, schema: Schema): Promise<boolean> {
  return (await db.query(`SELECT name FROM ${schema}.sqlite_master WHERE name = 'log_state'`)).length > 0;
}

async function movesIn(db: Queryable, schema: Schema): Promise<number> {
  const [state] = await db.query(`SELECT moves FROM ${schema}.log_state`);
  return Number(state?.moves);
}
