// Parts of a SQLite database with files of their own beside it, each with its thread: the request log and stored contents.
// So the ledger never waits for their rows, and large texts do not fill its file. If such a file is lost or damaged, only
// this part is lost, and the next start makes another.

import { chownSync, existsSync, realpathSync, statSync } from "node:fs";
import { parse } from "node:path";
import type { Db, Queryable } from "../../core/db.ts";
import { StoreDamaged, StoreUnusable } from "../../core/store-errors.ts";
import { moveAside } from "../backup/files.ts";
import { compareMigrations, migrate, readPartMigrations } from "../migrate.ts";
import { type MoveWatcher, moveTables, tablesLeft, takenFrom } from "./part-move.ts";
import { copyRows, type DbPart, hasRows, PARTS, type Schema, tablesOf } from "./part-tables.ts";
import { openSqlite, openThread, type SqliteOptions, sqliteOver } from "./sqlite.ts";
import type { Thread } from "./thread.ts";

const BUSY_MS = 5_000;

/** Watches the files in the process that serves. */
export interface PartWatcher extends MoveWatcher {
  /** Called when an unusable file was renamed. */
  onSetAside(part: DbPart, name: string, reason: string): void;
}

/** `switchyard.db` has its log in `switchyard-log.db`. */
export function partPathOf(path: string, part: DbPart): string {
  const { dir, name, ext } = parse(path);
  return `${dir}/${name}-${part}${ext}`;
}

/** The database and all files beside it. */
export function filesOf(path: string): readonly string[] {
  return [path, ...PARTS.map((part) => partPathOf(path, part))];
}

/** Names of the parts for people. */
export const PART_NAMES: Readonly<Record<DbPart, string>> = { log: "request log", contents: "file of stored contents" };

export interface PartThreads extends Readonly<Record<DbPart, Thread>> {
  /** Only reads the log and the database, for pages and audits over many rows. */
  readonly reader: Thread;
}

/**
 * Opens a thread that writes each part, and one that only reads. Moves rows of the parts out of the database. Call this
 * with the lock of the database, on a migrated `db`.
 */
export async function openPartThreads(path: string, db: Db, watcher: PartWatcher): Promise<PartThreads> {
  const database = realpathSync(path);
  const opened: Thread[] = [];
  const keep = async (opening: Promise<Thread>): Promise<Thread> => {
    const thread = await opening;
    opened.push(thread);
    return thread;
  };
  const openReader = (): Promise<Thread> =>
    openThread(partPathOf(database, "log"), { ...optionsOf("log"), attached: database });
  // At the same time, because a thread takes a tenth of a second to start.
  const opening = [
    keep(openSettled({ database, part: "log" }, db, watcher)).then(async (log) => ({
      log,
      reader: await keep(openReader()),
    })),
    keep(openSettled({ database, part: "contents" }, db, watcher)),
  ] as const;
  try {
    const [logAndReader, contents] = await Promise.all(opening);
    return { ...logAndReader, contents };
  } catch (error) {
    await Promise.allSettled(opening);
    for (const thread of opened) await thread.close();
    throw error;
  }
}

function optionsOf(part: DbPart): SqliteOptions {
  return { exclusive: false, busyTimeoutMs: BUSY_MS, onAdopted: () => undefined, holds: part };
}

/** A part of the database at this real path. */
interface PartOf {
  readonly database: string;
  readonly part: DbPart;
}

/** Opens the thread that writes a part. Creates and migrates the file if needed. */
async function openPart({ database, part }: PartOf): Promise<Thread> {
  const path = partPathOf(database, part);
  requireFile(path, part);
  const thread = await openThread(path, optionsOf(part));
  try {
    const file = sqliteOver(thread);
    await requireOwn(file, path, part);
    if ((await compareMigrations(file)).missing.length > 0) await migrate(file, readPartMigrations("sqlite", part));
    for (const sql of STATE) await file.query(sql);
    // Gives the file the owner of the database, as SQLite does.
    const { uid, gid } = statSync(database);
    if (process.getuid?.() === 0 && uid !== 0) chownSync(path, uid, gid);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** A folder may be a mount that was meant for a file, so it is not renamed. */
function requireFile(path: string, part: DbPart): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new StoreUnusable(
    `${path} is not a file, so it cannot be the ${PART_NAMES[part]}. Nothing was changed. Move it away; the next start makes a file there.`,
  );
}

/** Refuses the database itself and the file of another part. */
async function requireOwn(file: Db, path: string, part: DbPart): Promise<void> {
  const others = PARTS.filter((other) => other !== part).map((other) => tablesOf(other)[0] as string);
  for (const table of ["ledger_transactions", ...others]) {
    const [found] = await file.query("SELECT name FROM sqlite_master WHERE name = $1", [table]);
    if (found !== undefined)
      throw new StoreUnusable(`${path} is another database, so it cannot be the ${PART_NAMES[part]}. Move it away.`);
  }
}

/** Tables for totals that were copied but not deleted yet, the number of such moves, and the head of the database. */
const STATE = [
  "CREATE TABLE IF NOT EXISTS log_moves (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS log_state (id INTEGER NOT NULL PRIMARY KEY, moves BIGINT NOT NULL, commits BIGINT NOT NULL)",
  "INSERT INTO log_state (id, moves, commits) VALUES (1, 0, 0) ON CONFLICT (id) DO NOTHING",
];

/** Opens a usable file, and moves all readable rows of the part into it. */
async function openSettled(file: PartOf, db: Db, watcher: PartWatcher): Promise<Thread> {
  const left = await tablesLeft(db, file.part);
  const open = (): Promise<Thread | null> => openMoved(file, db, { left, watcher });
  let reason = "the database is older than it and has rows of its own";
  try {
    const thread = await open();
    if (thread !== null) return thread;
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
    reason = (error.cause as Error).message;
  }
  setAside(file, watcher, reason);
  return (await open()) as Thread;
}

interface LeftRows {
  readonly left: readonly string[];
  readonly watcher: PartWatcher;
}

/** Opens the file and moves rows into it. Returns null if an older database with such rows has replaced the one of this file. */
async function openMoved(file: PartOf, db: Db, { left, watcher }: LeftRows): Promise<Thread | null> {
  const thread = await openPart(file);
  try {
    const part = sqliteOver(thread);
    if (left.length > 0) {
      const [state] = await part.query("SELECT commits FROM log_state");
      if ((await commitsOf(db)) < Number(state?.commits)) {
        await thread.close();
        return null;
      }
      await move(file, db, { left, watcher });
    }
    // Noted after the move, so that an older copy of the database has a lower number.
    await part.query("UPDATE log_state SET commits = $1", [await commitsOf(db)]);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

async function move({ database, part }: PartOf, db: Db, { left, watcher }: LeftRows): Promise<void> {
  const file = await openSqlite(partPathOf(database, part), { ...optionsOf(part), attached: database });
  try {
    // Rows must be on disk here before they are deleted from the database.
    await file.query("PRAGMA synchronous = FULL");
    await moveTables(left, { db, part, file }, watcher);
    await file.query("PRAGMA main.wal_checkpoint(TRUNCATE)");
  } finally {
    await file.close();
  }
}

async function commitsOf(db: Db): Promise<number> {
  const [head] = await db.query("SELECT commits FROM store_head");
  return Number(head?.commits);
}

function setAside({ database, part }: PartOf, watcher: PartWatcher, reason: string): void {
  const path = partPathOf(database, part);
  const name = `${path}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  moveAside(["-wal", "-shm", ""].map((ending) => [`${path}${ending}`, `${name}${ending}`]));
  watcher.onSetAside(part, name, reason);
}

/** Gives a command the log of an open database, or the database itself while the log is still in it. */
export async function withLogAt<T>(path: string, db: Db, work: (log: Db) => Promise<T>): Promise<T> {
  if (await hasRows(db, "main", "requests")) return work(db);
  const log = sqliteOver(await openPart({ database: realpathSync(path), part: "log" }));
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Counts the moves of totals into the file of a part. Changes nothing, and rejects if the file is damaged. */
export async function movesOf(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  const db = await openSqlite(path, { ...optionsOf("log"), isReadOnly: true });
  try {
    return (await hasState(db, "main")) ? await movesIn(db, "main") : 0;
  } finally {
    await db.close();
  }
}

interface PartAtTime {
  readonly path: string;
  readonly part: DbPart;
  /** Number of moves into the file when the database was copied. Moved totals must not count twice. */
  readonly moves: number;
}

/** Completes the copy of a database with one of its parts. */
export async function copyPartInto(copy: string, { path, part, moves }: PartAtTime): Promise<void> {
  if (!existsSync(path)) return;
  const db = await openSqlite(copy, { ...optionsOf(part), holds: "copy", attached: path });
  try {
    // An interrupted start made the file and moved nothing.
    if (!(await hasState(db, "attached"))) return;
    await db.transaction(async (tx) => {
      if ((await movesIn(tx, "attached")) !== moves)
        throw new Error("A gateway was moving its request log to a file of its own. Try again in a moment.");
      // These totals are in both files and must count once.
      for (const { name } of await tx.query("SELECT name FROM attached.log_moves"))
        await tx.query(`DROP TABLE IF EXISTS main.${takenFrom(String(name))}`);
      for (const table of tablesOf(part)) await copyRows(tx, { table });
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
