// Migrated SQLite databases in memory for gateways under test. A thread and its tables are made once and emptied between
// two gateways: starting a thread and migrating costs more than all else of a start.

import type { Db, Statement } from "../../../src/core/db.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { openDb } from "../../../src/store/db.ts";

/** A database and the statements that bring it back to what its migrations left. */
interface Kept {
  readonly db: Db;
  readonly emptying: readonly Statement[];
}

const idle: Kept[] = [];

/** An empty, migrated database of one's own until it is closed. */
export async function openMemoryDb(): Promise<Db> {
  return lend(idle.pop() ?? (await make()));
}

async function make(): Promise<Kept> {
  const db = await openDb("sqlite::memory:");
  await db.migrate();
  return { db, emptying: await emptyingOf(db) };
}

/** Rows of the ledger cannot be deleted, so its triggers step aside meanwhile. */
async function emptyingOf(db: Db): Promise<readonly Statement[]> {
  const triggers = await db.query("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'");
  // An index of words has tables of its own, which it empties itself.
  const tables = await db.query(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')",
  );
  const names = tables.map(({ name }) => String(name)).filter((name) => !/^sqlite_|^schema_migrations$/.test(name));
  const first: Statement[] = [];
  for (const name of names) {
    for (const row of await db.query(`SELECT * FROM ${name}`)) {
      const columns = Object.keys(row);
      const places = columns.map((_, at) => `$${at + 1}`);
      const sql = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${places.join(", ")})`;
      first.push({ sql, params: Object.values(row) });
    }
  }
  return [
    { sql: "PRAGMA defer_foreign_keys = ON" },
    ...triggers.map(({ name }) => ({ sql: `DROP TRIGGER ${name}` })),
    ...names.map((name) => ({ sql: `DELETE FROM ${name}` })),
    ...first,
    ...triggers.map(({ sql }) => ({ sql: String(sql) })),
  ];
}

/** Closing it empties it for the next one. Calls after that fail, as on a database that is closed. */
function lend(kept: Kept): Db {
  const { db } = kept;
  let open = 0;
  let closing: Promise<void> | null = null;
  const whileOpen =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    (...given: A): Promise<T> =>
      closing === null ? work(...given) : Promise.reject(new StoreUnavailable(new Error("the database is closed")));
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    open += 1;
    try {
      return await work();
    } finally {
      open -= 1;
    }
  };
  const close = async (): Promise<void> => {
    // A transaction that nobody ends would keep the next gateway waiting.
    if (open > 0) return db.close();
    await db.batch(kept.emptying);
    idle.push(kept);
  };
  return {
    kind: db.kind,
    query: whileOpen(db.query),
    batch: whileOpen(db.batch),
    batchAtOnce: whileOpen(db.batchAtOnce),
    transaction: (work) => whileOpen(() => counted(() => db.transaction(work)))(),
    readThenWrite: (reads, decide) => whileOpen(() => counted(() => db.readThenWrite(reads, decide)))(),
    problems: whileOpen(db.problems),
    migrate: whileOpen(db.migrate),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
