// Chooses the SQLite library, prepares a connection, locks the file for the process that serves, and checks that the file
// is sound. Plain JavaScript for the same reason as worker.mjs.

import { pathToFileURL } from "node:url";

const BUSY = 5;

/** Node's own SQLite where it can tell a statement's columns (22.16 and later), else the package with the same API. */
export async function loadDatabaseSync() {
  const emitWarning = process.emitWarning;
  // Node 22 and 24 announce on stderr that the module is experimental, at every start.
  process.emitWarning = () => {};
  try {
    const builtin = process.getBuiltinModule("node:sqlite");
    if (typeof builtin?.StatementSync?.prototype?.columns === "function") return builtin.DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
  return (await import("@photostructure/sqlite")).DatabaseSync;
}

/** The lock of the one process that serves from a file; it dies with the process. */
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
  // Only new files get this page size. A lone charge changes seven pages of the ledger: with 8192, twice as much
  // is written and synced. The log changes many pages at once, and those cost less when they are larger.
  db.exec(`PRAGMA page_size = ${holds === "log" ? 8192 : 4096}`);
  db.exec("PRAGMA journal_mode = WAL");
  // A commit waits for no disk: worker.mjs syncs the log before it answers.
  db.exec("PRAGMA synchronous = NORMAL");
  // Checkpoints write each changed page once, so fewer of them write less. The -wal stays below 40 MB, that of the
  // request log below 80.
  db.exec(`PRAGMA wal_autocheckpoint = ${holds === "log" ? 8000 : 4000}`);
  // In KiB. With SQLite's own 2 MB, a busy file reads most pages again before it changes them.
  db.exec("PRAGMA cache_size = -65536");
  db.exec("PRAGMA foreign_keys = ON");
}

/** To be read only: where it could be written to, every transaction would lock it as well. */
export function attach(db, path) {
  db.prepare("ATTACH ? AS attached").run(`${pathToFileURL(path).href}?mode=ro`);
  db.exec("PRAGMA attached.cache_size = -65536");
}

const CORRUPT = 11;
/** SQLite's words for a page that cannot be true; the package gives them without a number. */
const DAMAGE = /disk image is malformed|file is not a database/;
/** The log of requests is most of the file, and nobody's money or access. */
const LOG = /^(requests?_|requests$|tool_call_tallies$)/;

export function isDamage(error) {
  return DAMAGE.test(error.message);
}

/** Reads every page of what money and access are kept in, before anything is written to it. */
export function checkTables(db) {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  for (const { name } of tables.filter((table) => !LOG.test(table.name))) {
    const [found] = Object.values(db.prepare(`PRAGMA quick_check('${name}')`).get() ?? {});
    if (found !== "ok")
      throw Object.assign(new Error(`table ${name}: ${found}`), { errcode: CORRUPT, isDamaged: true });
  }
}
