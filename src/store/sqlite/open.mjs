// Chooses the SQLite library, prepares a connection, locks the file for the serving process, and checks the file. Plain
// JavaScript for the same reason as worker.mjs.

import { pathToFileURL } from "node:url";

const BUSY = 5;

/** Loads Node's own SQLite if it reports columns (from 22.16), otherwise the package with the same API. */
export async function loadDatabaseSync() {
  const emitWarning = process.emitWarning;
  // Hides the warning of Node 22 and 24 that the module is experimental.
  process.emitWarning = () => {};
  try {
    const builtin = process.getBuiltinModule("node:sqlite");
    if (typeof builtin?.StatementSync?.prototype?.columns === "function") return builtin.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
  return (await import("@photostructure/sqlite")).DatabaseSync;
}

/** Takes the lock of the one process that serves from a file. The lock ends with the process. */
export function takeLock(DatabaseSync, file) {
  const holder = new DatabaseSync(file);
  try {
    holder.exec("PRAGMA busy_timeout = 0");
    holder.exec("PRAGMA locking_mode = EXCLUSIVE");
    holder.exec("BEGIN EXCLUSIVE");
    return holder;
  } catch (error) {
    holder.close();
    if (((error.errcode ?? 0) & 0xff) === BUSY) throw Object.assign(error, { isInUse: true });
    throw error;
  }
}

export function prepareFile(db, holds) {
  // Page size of new files. A lone charge changes seven pages of the ledger, so small pages write half as much. The log
  // changes many pages at once, and contents have long rows, which cost less if pages are larger.
  db.exec(`PRAGMA page_size = ${holds === "log" || holds === "contents" ? 8192 : 4096}`);
  db.exec("PRAGMA journal_mode = WAL");
  // A commit does not wait for the disk: worker.mjs syncs SQLite's log before it answers.
  db.exec("PRAGMA synchronous = NORMAL");
  // Rare checkpoints write a changed page once instead of often. The -wal stays below 40 MB, that of the request log
  // below 80 MB.
  db.exec(`PRAGMA wal_autocheckpoint = ${holds === "log" ? 8000 : 4000}`);
  // 64 MiB. With SQLite's default of 2 MB, a busy file reads most pages again before it changes them. Contents are mostly
  // read once.
  db.exec(`PRAGMA cache_size = ${holds === "contents" ? -8192 : -65536}`);
  db.exec("PRAGMA foreign_keys = ON");
}

/** Attaches a file read-only. If it were writable, every transaction would lock it too. */
export function attach(db, path) {
  db.prepare("ATTACH ? AS attached").run(`${pathToFileURL(path).href}?mode=ro`);
  db.exec("PRAGMA attached.cache_size = -65536");
}

const CORRUPT = 11;
/** SQLite's messages about damage. The package reports them without a code. */
const DAMAGE = /disk image is malformed|file is not a database/;
/** Tables of parts that have files of their own: without money or access. */
const PARTS =
  /^(requests?_|requests$|tool_call_tallies$|responses?(_items)?$|conversation(s|_items)$|idempotent_answers$)/;

export function isDamage(error) {
  return DAMAGE.test(error.message);
}

/** Reads every page of tables with money and access, before the first write. */
export function checkTables(db) {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  for (const { name } of tables.filter((table) => !PARTS.test(table.name))) {
    const [found] = Object.values(db.prepare(`PRAGMA quick_check('${name}')`).get() ?? {});
    if (found !== "ok")
      throw Object.assign(new Error(`table ${name}: ${found}`), { errcode: CORRUPT, isDamaged: true });
  }
}
