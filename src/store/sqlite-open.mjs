// Which SQLite is used, and the lock of the process that serves. Plain JavaScript for the same reason as sqlite-worker.mjs.

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
