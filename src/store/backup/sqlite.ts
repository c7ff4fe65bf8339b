// Backup and restore of a SQLite database as one file with the request log and stored contents in it. The copy has one
// consistent state of the ledger, also if a gateway is writing.

import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Db, sqlitePathOf } from "../../core/db.ts";
import { StoreDamaged } from "../../core/store-errors.ts";
import { openDb } from "../db.ts";
import { copyPartInto, filesOf, movesOf, PART_NAMES, partPathOf } from "../sqlite/part-files.ts";
import { type DbPart, PARTS } from "../sqlite/part-tables.ts";
import { lockSqlite } from "../sqlite/sqlite.ts";
import { moveAside, writeWhole } from "./files.ts";

/** Row counts by table. */
export type RowCounts = Readonly<Record<string, number>>;

/** Examines the copy before it becomes a backup. */
export type CheckCopy = (db: Db) => Promise<void>;

/** Backs up the database, checks the copy and returns its row counts. */
export async function backupSqlite(database: string, target: string, check: CheckCopy): Promise<RowCounts> {
  const source = sqlitePathOf(database) as string;
  if (!existsSync(source)) throw new Error(`There is no database at ${source}.`);
  // Renaming the copy over the database would leave a gateway writing to the old file.
  const path = realpathSync(source);
  if (existsSync(target) && filesOf(path).includes(realpathSync(target)))
    throw new Error("The backup and the database are the same file.");
  const parts = PARTS.map((part) => ({ part, path: partPathOf(path, part) }));
  return writeWhole(target, async (copy) => {
    const before = new Map<DbPart, number>();
    for (const each of parts) before.set(each.part, await movesOf(each.path).catch(blaming(each)));
    await copyInto(copy, await openDb(database));
    // After the ledger, so that a charge in the copy has its kept answer.
    for (const each of parts)
      await copyPartInto(copy, { ...each, moves: before.get(each.part) ?? 0 }).catch(blaming(each));
    return examineSqlite(copy, check);
  });
}

/** Names the damaged file in the error: the ledger can be backed up without its parts. */
function blaming({ part, path }: { readonly part: DbPart; readonly path: string }): (error: Error) => never {
  return (error) => {
    if (!(error instanceof StoreDamaged)) throw error;
    throw new Error(`The ${PART_NAMES[part]} ${path} is damaged. Move it away to back up the database without it.`);
  };
}

/** Copies the database with SQLite's own log, which a copy of the file would lack. Closes the database. */
async function copyInto(copy: string, db: Db): Promise<void> {
  try {
    await db.query("VACUUM INTO $1", [copy]);
  } finally {
    await db.close();
  }
}

/** Reads every page. Rejects if the file is damaged or the check fails. Writes nothing. */
export async function examineSqlite(path: string, check: CheckCopy): Promise<RowCounts> {
  const db = await openDb(`sqlite:${path}`, { isReadOnly: true });
  try {
    const [found] = await db.query("PRAGMA integrity_check(1)");
    if (found?.integrity_check !== "ok") throw new Error(`${path} is damaged: ${String(found?.integrity_check)}`);
    await check(db);
    return await countRows(db);
  } finally {
    await db.close();
  }
}

async function countRows(db: Db): Promise<RowCounts> {
  const tables = await db.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await db.query(`SELECT COUNT(*) AS count FROM "${String(name)}"`);
    counts[String(name)] = Number(row?.count);
  }
  return counts;
}

interface SqliteRestore {
  readonly database: string;
  /** Path of an examined backup. */
  readonly backup: string;
  /** Suffix for the names of replaced files. */
  readonly stamp: string;
  /** Called with the restored database before a gateway can start on it. */
  readonly finish: CheckCopy;
}

/**
 * Restores a backup and returns the new name of the replaced file, or null if there was none. A crash in between leaves a
 * database that is missing or behind its witness, and a start refuses both.
 */
export async function restoreSqlite({ database, backup, stamp, finish }: SqliteRestore): Promise<string | null> {
  const path = sqlitePathOf(database) as string;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const target = realPathOf(path);
  const lock = await lockSqlite(target);
  try {
    const aside = existsSync(target) ? `${target}.replaced-${stamp}` : null;
    await writeWhole(target, async (copy) => {
      await copyInto(copy, await openDb(`sqlite:${backup}`, { isReadOnly: true }));
      // Moves each -wal before its file, so that it never belongs to the restored file.
      for (const file of filesOf(target)) {
        moveAside(["-wal", "-shm", ""].map((end) => [`${file}${end}`, `${file}.replaced-${stamp}${end}`]));
      }
    });
    moveAside([[`${target}.witness`, `${target}.replaced-${stamp}.witness`]]);
    const db = await openDb(database);
    try {
      await finish(db);
    } finally {
      await db.close();
    }
    return aside;
  } finally {
    await lock.close();
  }
}

/** Resolves the path of a file that may be missing. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
