// The tables of the parts that have files of their own, and how rows are copied between SQLite files. The database has
// tables of the same names, which are empty except in a backup.

import type { Queryable, SqlValue, Statement } from "../../core/db.ts";

/** A part of the database that has a file of its own: the request log, or stored contents. */
export type DbPart = "log" | "contents";

/**
 * Ways to copy the rows of a table. `records`: a copied row replaces one with the same key. `totals`: copied values are added
 * to an existing row. `words`: the request of each row in the index of words. `fixed`: rows never change. A condition: the
 * copied row replaces an existing one if it is newer by this.
 */
type Copying = "records" | "totals" | "words" | "fixed" | { readonly isNewer: string };

const COPIED = {
  log: {
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
  },
  contents: {
    responses: { isNewer: "responses.status = 'in_progress'" },
    response_items: "fixed",
    conversations: { isNewer: "excluded.used_at > conversations.used_at" },
    conversation_items: "fixed",
    chat_completions: "fixed",
    cached_prompts: "fixed",
    idempotent_answers: "fixed",
    files: { isNewer: "files.state = 'writing'" },
    file_parts: "fixed",
    batches: { isNewer: "batches.ended_at IS NULL" },
    batch_lines: { isNewer: "batch_lines.result IS NULL" },
    native_batches: "records",
    uploads: { isNewer: "uploads.status = 'pending'" },
    upload_parts: { isNewer: "upload_parts.is_ready = 0" },
  },
} as const satisfies Readonly<Record<DbPart, Readonly<Record<string, Copying>>>>;

export const PARTS = Object.keys(COPIED) as readonly DbPart[];

export function tablesOf(part: DbPart): readonly string[] {
  return Object.keys(COPIED[part]);
}

function copyingOf(table: string): Copying {
  const all: Readonly<Record<string, Copying>> = { ...COPIED.log, ...COPIED.contents };
  return all[table] as Copying;
}

/** The index of words. */
const WORDS = "request_words";
const WORD_ROWS = "request_word_rows" satisfies keyof (typeof COPIED)["log"];

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

/** A key, with a value for each of its columns. */
export type RowKey = readonly SqlValue[];

/** Copies rows of `attached` into the table of `main`. */
interface Copy {
  readonly table: string;
  /** Table of the rows, if its name differs. */
  readonly from?: string;
  /** Last key to copy. */
  readonly upTo?: RowKey;
}

export async function copyRows(tx: Queryable, { table, from = table, upTo }: Copy): Promise<void> {
  if (table === WORD_ROWS) return copyWords(tx);
  const shape = await shapeOf(tx, "main", table);
  const names = shape.names.join(", ");
  const part = upTo === undefined ? "1 = 1" : upToSql(shape);
  await tx.query(
    `INSERT INTO main.${table} (${names}) SELECT ${names} FROM attached.${from} WHERE ${part} ${conflictSql(table, shape)}`,
    upTo,
  );
}

/** Says what becomes of a row that both files have. */
function conflictSql(table: string, { names, keys }: TableShape): string {
  const copying = copyingOf(table);
  const others = names.filter((name) => !keys.includes(name));
  if (copying === "fixed" || others.length === 0) return "ON CONFLICT DO NOTHING";
  const before = copying === "totals" ? (name: string): string => `${table}.${name} + ` : () => "";
  const changes = others.map((name) => `${name} = ${before(name)}excluded.${name}`).join(", ");
  const condition = typeof copying === "string" ? "" : ` WHERE ${copying.isNewer}`;
  return `ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${changes}${condition}`;
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
  return copyingOf(table) === "totals";
}

/** Returns the last key of the next rows of a table; null if it is empty. An index of words moves as a whole. */
export async function endOfPart(db: Queryable, table: string, rows: number): Promise<RowKey | null> {
  const { keys } = await shapeOf(db, "main", table);
  const limit = table === WORD_ROWS ? -1 : rows;
  const [last] = await db.query(
    `SELECT * FROM (SELECT ${keys.join(", ")} FROM main.${table} ORDER BY ${keys.join(", ")} LIMIT ${limit})
     ORDER BY ${keys.map((key) => `${key} DESC`).join(", ")} LIMIT 1`,
  );
  return last === undefined ? null : keys.map((key) => last[key] as SqlValue);
}

function upToSql({ keys }: TableShape): string {
  return `(${keys.join(", ")}) <= (${keys.map((_, at) => `$${at + 1}`).join(", ")})`;
}

export async function hasRows(db: Queryable, schema: Schema, table: string): Promise<boolean> {
  return (await db.query(`SELECT 1 AS found FROM ${schema}.${table} LIMIT 1`)).length > 0;
}

/** Makes the deletion of a table's rows up to a key. */
export async function deletionOf(db: Queryable, table: string, upTo: RowKey): Promise<readonly Statement[]> {
  const words = table === WORD_ROWS ? [{ sql: `INSERT INTO ${WORDS} (${WORDS}) VALUES ('delete-all')` }] : [];
  const part = upToSql(await shapeOf(db, "main", table));
  return [...words, { sql: `DELETE FROM ${table} WHERE ${part}`, params: upTo }];
}
