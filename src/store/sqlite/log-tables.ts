// The tables of the request log, and how their rows are copied from one SQLite file to another. The tables of the database that bear the same names are empty there, except in a backup.

import type { Queryable, SqlValue, Statement } from "../../core/db.ts";

/**
 * The tables of the log, by how their rows are copied. `records`: a row has one writer at a time. `totals`: a row that is
 * there already is added to. `words`: which request each row of the index of words belongs to.
 */
const COPIED = {
  requests: "records",
  request_details: "records",
  request_contents: "records",
  request_tags: "records",
  request_feedback: "records",
  shadow_samples: "records",
  session_turns: "records",
  request_rollups: "totals",
  request_counts: "totals",
  request_failures: "totals",
  request_tool_calls: "totals",
  request_key_days: "totals",
  request_word_rows: "words",
} as const satisfies Readonly<Record<string, "records" | "totals" | "words">>;

export const LOG_TABLES: readonly string[] = Object.keys(COPIED);

/** The index of words. */
const WORDS = "request_words";
const WORD_ROWS = "request_word_rows" satisfies keyof typeof COPIED;

/** A file as the connection names it. */
export type Schema = "main" | "attached";

/** The columns of a table, and those of its key. */
interface TableShape {
  readonly names: readonly string[];
  readonly keys: readonly string[];
}

async function shapeOf(tx: Queryable, schema: Schema, table: string): Promise<TableShape> {
  const columns = await tx.query("SELECT name, pk FROM pragma_table_info($1, $2)", [table, schema]);
  const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
  return { names: columns.map(({ name }) => String(name)), keys: keys.map(({ name }) => String(name)) };
}

/** Copies rows of `attached` into the table of `main`. */
interface Copy {
  readonly table: string;
  /** The table that holds the rows, if its name is another one. */
  readonly from?: string;
  /** Up to this key. */
  readonly upTo?: SqlValue;
}

/** Rows of both count together in totals. Of other rows with the same key, those of `attached` are the newer ones. */
export async function copyRows(tx: Queryable, { table, from = table, upTo }: Copy): Promise<void> {
  if (table === WORD_ROWS) return copyWords(tx);
  const { names, keys } = await shapeOf(tx, "main", table);
  const isTotal = isTotals(table);
  const changes = names
    .filter((name) => !keys.includes(name))
    .map((name) => `${name} = ${isTotal ? `${table}.${name} + ` : ""}excluded.${name}`);
  const part = upTo === undefined ? "1 = 1" : `${keys[0]} <= $1`;
  await tx.query(
    `INSERT INTO main.${table} (${names.join(", ")}) SELECT ${names.join(", ")} FROM attached.${from} WHERE ${part}
     ON CONFLICT (${keys.join(", ")}) DO ${changes.length === 0 ? "NOTHING" : `UPDATE SET ${changes.join(", ")}`}`,
    upTo === undefined ? [] : [upTo],
  );
}

/** Copies the words, unless `main` has some already. */
async function copyWords(tx: Queryable): Promise<void> {
  if (await hasRows(tx, "main", WORD_ROWS)) return;
  for (const table of [...WORD_PARTS.map((part) => `${WORDS}_${part}`), WORD_ROWS]) {
    await tx.query(`DELETE FROM main.${table}`);
    await tx.query(`INSERT INTO main.${table} SELECT * FROM attached.${table}`);
  }
}

/** Tables of an index of words. Its texts are not kept, so it cannot be built again. */
const WORD_PARTS = ["data", "idx", "docsize", "config"];

export function isTotals(table: string): boolean {
  return COPIED[table as keyof typeof COPIED] === "totals";
}

/** The key that ends the first rows of a table; null where it has none. An index of words has no parts. */
export async function endOfPart(db: Queryable, table: string, rows: number): Promise<SqlValue> {
  const key = await partKeyOf(db, table);
  const [last] = await db.query(
    `SELECT MAX(${key}) AS last FROM (SELECT ${key} FROM main.${table} ORDER BY ${key} LIMIT ${table === WORD_ROWS ? -1 : rows})`,
  );
  return last?.last ?? null;
}

async function partKeyOf(db: Queryable, table: string): Promise<string> {
  return (await shapeOf(db, "main", table)).keys[0] as string;
}

export async function hasRows(db: Queryable, schema: Schema, table: string): Promise<boolean> {
  return (await db.query(`SELECT 1 AS found FROM ${schema}.${table} LIMIT 1`)).length > 0;
}

/** Deletes the rows of a table up to this key. */
export async function deletionOf(db: Queryable, table: string, upTo: SqlValue): Promise<readonly Statement[]> {
  const words = table === WORD_ROWS ? [{ sql: `INSERT INTO ${WORDS} (${WORDS}) VALUES ('delete-all')` }] : [];
  return [...words, { sql: `DELETE FROM ${table} WHERE ${await partKeyOf(db, table)} <= $1`, params: [upTo] }];
}
