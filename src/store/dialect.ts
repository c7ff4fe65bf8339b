// The few words of SQL that the two stores do not share.

import type { Db, SqlValue, Statement } from "../core/db.ts";

/** The database's own clock, in milliseconds. */
export function clockSql(kind: Db["kind"]): string {
  return kind === "sqlite"
    ? "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    : "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
}

/** Locks the rows that are read until the transaction ends; on SQLite the whole database is locked anyway. */
export function forUpdateSql(kind: Db["kind"]): string {
  return kind === "sqlite" ? "" : " FOR UPDATE";
}

/** After a table's name: SQLite has no figures to see by itself that this index is shorter; PostgreSQL has. */
export function indexedBySql(kind: Db["kind"], index: string): string {
  return kind === "sqlite" ? ` INDEXED BY ${index}` : "";
}

export interface Column {
  readonly name: string;
  readonly type: "TEXT" | "BIGINT";
}

/**
 * PostgreSQL only: `INSERT … SELECT` of rows given as one JSON text ($1), an array of arrays in the order of the columns.
 * One value however many rows: binding each would cost the event loop several times as much. An ON CONFLICT may follow.
 */
export function insertFromJsonSql(table: string, columns: readonly Column[]): string {
  const head = `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) SELECT`;
  const values = columns.map(({ type }, index) => `CAST(value ->> ${index} AS ${type})`);
  return `${head} ${values.join(", ")} FROM jsonb_array_elements(CAST($1 AS jsonb)) AS given(value) WHERE 1 = 1`;
}

/** SQLite only, for statements with `rows`: one row, its values in the order of the columns. */
export function insertRowSql(table: string, columns: readonly Column[]): string {
  const places = columns.map((_, index) => `$${index + 1}`);
  return `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")}) VALUES (${places.join(", ")})`;
}

/**
 * Makes statements that insert rows (their values in the order of the columns), however many. SQLite takes them one by one:
 * its JSON functions cost several times the insert itself. `onConflict` may follow.
 */
export function createInsert(kind: Db["kind"], table: string, columns: readonly Column[], onConflict = "") {
  const insert = kind === "sqlite" ? insertRowSql(table, columns) : insertFromJsonSql(table, columns);
  const sql = `${insert} ${onConflict}`;
  return (rows: readonly (readonly SqlValue[])[]): Statement =>
    kind === "sqlite" ? { sql, rows } : { sql, params: [JSON.stringify(rows)] };
}

/** `column` is one of a list that is sent as one value, made by `listValue`: the text is the same for every length. */
export function inListSql(kind: Db["kind"], column: string, place: string, type: Column["type"] = "TEXT"): string {
  return kind === "sqlite"
    ? `${column} IN (SELECT value FROM json_each(${place}))`
    : `${column} = ANY (CAST(${place} AS ${type}[]))`;
}

export function listValue(kind: Db["kind"], values: readonly SqlValue[]): string {
  return kind === "sqlite" ? JSON.stringify(values) : writeList(values, (value) => value);
}

/** A PostgreSQL array as text. */
function writeList<Item>(items: readonly Item[], read: (item: Item) => SqlValue): string {
  let text = "";
  for (const item of items) text += `${text === "" ? "" : ","}${writeElement(read(item))}`;
  return `{${text}}`;
}

export interface InsertShape {
  readonly table: string;
  /** Each with its type. */
  readonly columns: Readonly<Record<string, "TEXT" | "BIGINT">>;
  /** One more column that is the database's clock. */
  readonly clockColumn: string | null;
}

/** One INSERT for many rows, with the same text however many: on SQLite run row by row, on PostgreSQL with a list a column. */
export function insertRows(kind: Db["kind"], shape: InsertShape, rows: readonly (readonly SqlValue[])[]): Statement {
  const sql = insertSql(kind, shape);
  if (kind === "sqlite") return { sql, rows };
  const columns = Object.keys(shape.columns);
  return { sql, params: columns.map((_, index) => writeList(rows, (row) => row[index] ?? null)) };
}

const insertTexts = { sqlite: new WeakMap<InsertShape, string>(), postgres: new WeakMap<InsertShape, string>() };

function insertSql(kind: Db["kind"], shape: InsertShape): string {
  const known = insertTexts[kind].get(shape);
  if (known !== undefined) return known;
  const made = writeInsertSql(kind, shape);
  insertTexts[kind].set(shape, made);
  return made;
}

function writeInsertSql(kind: Db["kind"], { table, columns, clockColumn }: InsertShape): string {
  const names = Object.keys(columns);
  const types = Object.values(columns);
  const into = `INSERT INTO ${table} (${[...names, ...(clockColumn === null ? [] : [clockColumn])].join(", ")})`;
  const clock = clockColumn === null ? [] : [clockSql(kind)];
  if (kind === "sqlite")
    return `${into} VALUES (${[...names.map((_, index) => `$${index + 1}`), ...clock].join(", ")})`;
  const lists = types.map((type, index) => `CAST($${index + 1} AS ${type}[])`);
  return `${into} SELECT ${[...names, ...clock].join(", ")} FROM unnest(${lists.join(", ")}) AS rows (${names.join(", ")})`;
}

function writeElement(value: SqlValue): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  const isPlain = !value.includes('"') && !value.includes("\\");
  return isPlain ? `"${value}"` : quoted(value);
}

const QUOTED_MAX = 500;
const quotedTexts = new Map<string, string>();

/** Remembered: what has quotes in it is a price as a rule, and there are few of those. */
function quoted(value: string): string {
  const known = quotedTexts.get(value);
  if (known !== undefined) return known;
  const made = `"${value.replace(/[\\"]/g, "\\$&")}"`;
  if (quotedTexts.size >= QUOTED_MAX) quotedTexts.clear();
  quotedTexts.set(value, made);
  return made;
}
