// The tables of the request log, and how rows are copied between SQLite files. The database has tables of the same names,
// which are empty except in a backup.

import type { Queryable, SqlValue, Statement } from "../../core/db.ts";

/**
 * Tables of the log, by how rows are copied. `records`: a row has one writer at a time. `totals`: copied values are added
 * to an existing row. `words`: the request of each row in the index of words.
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

/** Name of a file in the connection. */
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
  /** Table of the rows, if its name differs. */
  readonly from?: string;
  /** Last key to copy. */
  readonly upTo?: SqlValue;
}

/** Copies rows. Totals of both files are added. Other rows of `attached` replace those with the same key. */
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

/** Tables of an index of words. They are copied, because the index cannot be built again without its texts. */
const WORD_PARTS = ["data", "idx", "docsize", "config"];

export function isTotals(table: string): boolean {
  return COPIED[table as keyof typeof COPIED] === "totals";
}

/** Returns the last key of the next rows of a table; null if it is empty. An index of words moves as a whole. */
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

/** Makes the deletion of a table's rows up to a key. */
export async function deletionOf(db: Queryable, table: string, upTo: SqlValue): Promise<readonly Statement[]> {
  const words = table === WORD_ROWS ? [{ sql: `INSERT INTO ${WORDS} (${WORDS}) VALUES ('delete-all')` }] : [];
  return [...words, { sql: `DELETE FROM ${table} WHERE ${await partKeyOf(db, table)} <= $1`, params: [upTo] }];
}
