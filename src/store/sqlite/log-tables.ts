// The tables of the request log: which of the migrations are theirs, and how their rows are copied from one SQLite file
// to another. The tables of the database that bear the same names are empty there, except in a backup.

import type { Queryable } from "../../core/db.ts";
import { type Migration, readMigrations, splitStatements } from "../migrate.ts";

/** A row that is there already is the same one. */
const RECORDS = [
  "requests",
  "request_details",
  "request_contents",
  "request_tags",
  "request_feedback",
  "shadow_samples",
  "session_turns",
] as const;

/** A row that is there already is added to. */
const TOTALS = [
  "request_rollups",
  "request_counts",
  "request_failures",
  "request_tool_calls",
  "request_key_days",
] as const;

/** The index of words, and which request a row of it belongs to. */
const WORDS = "request_words";
const WORD_ROWS = "request_word_rows";

export const LOG_TABLES: readonly string[] = [...RECORDS, ...TOTALS, WORD_ROWS];

/** Of every migration, the statements about the log. */
export function logMigrations(): readonly Migration[] {
  return readMigrations("sqlite").map(({ name, sql }) => ({
    name,
    sql: splitStatements(sql).filter(isOfLog).join(";\n"),
  }));
}

const SUBJECT =
  /^(?:CREATE (?:VIRTUAL )?TABLE|ALTER TABLE|INSERT INTO|UPDATE|DELETE FROM|DROP INDEX|CREATE (?:UNIQUE )?INDEX \w+ ON) (\w+)/;

/** An index is named after its table. */
function isOfLog(statement: string): boolean {
  const subject = SUBJECT.exec(statement)?.[1] ?? "";
  return [...LOG_TABLES, WORDS].some((table) => subject === table || subject.startsWith(`${table}_`));
}

/** A file as the connection names it. */
type Schema = "main" | "attached";

/** All rows of a table of `attached`, into the one of `main`. Where both have words, those of `attached` are left out. */
export async function copyTable(tx: Queryable, table: string): Promise<void> {
  if (table === WORD_ROWS) {
    if (await hasRows(tx, "main", WORD_ROWS)) return;
    for (const part of WORD_PARTS) {
      await tx.query(`DELETE FROM main.${WORDS}_${part}`);
      await tx.query(`INSERT INTO main.${WORDS}_${part} SELECT * FROM attached.${WORDS}_${part}`);
    }
  }
  const columns = await tx.query("SELECT name, pk FROM pragma_table_info($1, 'attached')", [table]);
  const names = columns.map(({ name }) => String(name));
  const keys = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name));
  const sums = names
    .filter((name) => !keys.includes(name))
    .map((name) => `${name} = ${table}.${name} + excluded.${name}`);
  const isTotal = (TOTALS as readonly string[]).includes(table);
  await tx.query(
    `INSERT INTO main.${table} (${names.join(", ")}) SELECT ${names.join(", ")} FROM attached.${table} WHERE 1 = 1
     ON CONFLICT (${keys.join(", ")}) DO ${isTotal ? `UPDATE SET ${sums.join(", ")}` : "NOTHING"}`,
  );
}

/** What an index of words consists of. Its texts are not kept, so it cannot be built again. */
const WORD_PARTS = ["data", "idx", "docsize", "config"];

export async function hasRows(db: Queryable, schema: Schema, table: string): Promise<boolean> {
  return (await db.query(`SELECT 1 AS found FROM ${schema}.${table} LIMIT 1`)).length > 0;
}

/** Deletes all rows of a table. */
export function emptied(table: string): readonly string[] {
  const words = table === WORD_ROWS ? [`INSERT INTO ${WORDS} (${WORDS}) VALUES ('delete-all')`] : [];
  return [...words, `DELETE FROM ${table}`];
}
