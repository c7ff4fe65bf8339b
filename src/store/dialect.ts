// The SQL that SQLite and PostgreSQL do not share: the clock, locks, lists, and inserts of many rows.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Db, SqlValue, Statement } from "../core/db.ts";
import { createPacker, type PackedInsert, type PackedTable, type RowValue, UTF8 } from "./sqlite/packed-rows.ts";

/** Reads the clock of the database, in milliseconds. */
export function clockSql(kind: Db["kind"]): string {
  return kind === "sqlite"
    ? "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    : "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
}

/** Locks the rows that are read until the transaction ends. SQLite locks the whole database anyway. */
export function forUpdateSql(kind: Db["kind"]): string {
  return kind === "sqlite" ? "" : " FOR UPDATE";
}

/** Names the index after a table's name. Without statistics, SQLite does not know that this index is shorter. */
export function indexedBySql(kind: Db["kind"], index: string): string {
  return kind === "sqlite" ? ` INDEXED BY ${index}` : "";
}

type ColumnType = "TEXT" | "BIGINT" | "TSVECTOR";

/** A column of a bulk insert: its SQL type, and the value that an item has for it. */
export interface InsertColumn<Item> {
  readonly type: ColumnType;
  readonly of: (item: Item) => RowValue;
}

/** Text that the program made: ids, names, JSON. */
export function text<Item>(of: (item: Item) => string | null): InsertColumn<Item> {
  return { type: "TEXT", of };
}

/** Text that people wrote. PostgreSQL rejects half a surrogate pair, so both databases get U+FFFD instead. */
export function freeText<Item>(of: (item: Item) => string | null): InsertColumn<Item> {
  return { type: "TEXT", of: (item) => of(item)?.toWellFormed() ?? null };
}

/** Text that is UTF-8 already. */
export function encodedText<Item>(of: (item: Item) => Uint8Array): InsertColumn<Item> {
  return { type: "TEXT", of };
}

/** Words with their positions, on PostgreSQL only. */
export function tsvector<Item>(of: (item: Item) => string): InsertColumn<Item> {
  return { type: "TSVECTOR", of };
}

/** Counts, times in milliseconds and money in nano-USD. */
export function integer<Item>(of: (item: Item) => number | bigint | null): InsertColumn<Item> {
  return { type: "BIGINT", of };
}

/** Flag that is stored as 1 or 0. */
export function flag<Item>(of: (item: Item) => boolean): InsertColumn<Item> {
  return { type: "BIGINT", of: (item) => (of(item) ? 1 : 0) };
}

/** Describes how items of one kind become rows of one table. */
export interface InsertShape<Item> {
  readonly table: string;
  /** Columns by name. */
  readonly columns: Readonly<Record<string, InsertColumn<Item>>>;
  /** Further column with the time of the database's clock. */
  readonly clockColumn?: string;
  /** An ON CONFLICT clause, for rows that may be there already. */
  readonly onConflict?: string;
}

/** Makes INSERT statements for any number of items. The text is always the same, so it is prepared once. */
export interface BulkInsert<Item> {
  statement(items: readonly Item[]): Statement;
  /** Makes a statement that can wait: it needs little memory and does not keep the items. */
  pack(items: readonly Item[]): PackedInsert;
  /** Makes a statement of a long list in slices, so that running requests get their turn. */
  statementInSlices(items: readonly Item[]): Promise<Statement>;
}

/** Items between two looks at the clock. */
const STEP = 10;
/** Length of a slice while turns of the event loop are short. */
const SLICE_MS = 0.5;
/** Length of a slice as a share of the turn before it, if that is longer. Short slices could not keep up. */
const SLICE_SHARE = 0.05;

/**
 * SQLite gets many rows packed, and few one by one: its JSON functions would cost 20% of a request (18 November 2026).
 * PostgreSQL gets all rows as one JSON text: binding each value would cost the event loop several times as much.
 */
export function bulkInsert<Item>(kind: Db["kind"], shape: InsertShape<Item>): BulkInsert<Item> {
  const values = Object.values(shape.columns).map(({ of }) => of);
  if (kind === "sqlite") {
    const sql = insertRowSql(shape);
    const pack = createPacker(tableOf(shape));
    const toRows = (items: readonly Item[]) => items.map((item) => rowOf(item, values));
    const packAll = (unpacked: readonly (readonly RowValue[])[]): PackedInsert => {
      const packed = pack(unpacked);
      if (packed !== null) return packed;
      const rows = unpacked.map(decoded);
      return { statement: { sql, rows }, rows: () => rows };
    };
    return {
      statement: (items) => packAll(toRows(items)).statement,
      pack: (items) => packAll(toRows(items)),
      statementInSlices: async (items) => packAll((await inSlices(items, toRows)).flat()).statement,
    };
  }
  const sql = insertFromJsonSql(shape);
  const toJson = (items: readonly Item[]): string =>
    JSON.stringify(items.map((item) => values.map((of) => plainValue(of(item)))));
  return {
    statement: (items) => ({ sql, params: [toJson(items)] }),
    pack(items) {
      const json = toJson(items);
      return { statement: { sql, params: [json] }, rows: () => JSON.parse(json) as readonly (readonly SqlValue[])[] };
    },
    async statementInSlices(items) {
      const parts = await inSlices(items, (slice) => toJson(slice).slice(1, -1));
      return { sql, params: [`[${parts.join(",")}]`] };
    },
  };
}

/** Pushes one by one: `map` may make an array with holes, which takes twice as long in a message. */
function rowOf<Item>(item: Item, values: readonly ((item: Item) => RowValue)[]): readonly RowValue[] {
  const row: RowValue[] = [];
  for (const of of values) row.push(of(item));
  return row;
}

function decoded(row: readonly RowValue[]): readonly SqlValue[] {
  return row.map(decodedValue);
}

function decodedValue(value: RowValue): SqlValue {
  return value instanceof Uint8Array ? UTF8.decode(value) : value;
}

/** The table for `createPacker`, on SQLite only. */
function tableOf<Item>({ table, columns, clockColumn, onConflict = "" }: InsertShape<Item>): PackedTable {
  const clock = clockColumn === undefined ? null : { column: clockColumn, sql: clockSql("sqlite") };
  return { table, columns: Object.keys(columns), clock, onConflict };
}

/** Inserts one row with its values in the order of the columns, on SQLite only. */
function insertRowSql<Item>({ table, columns, clockColumn, onConflict }: InsertShape<Item>): string {
  const names = Object.keys(columns);
  const places = names.map((_, index) => `$${index + 1}`);
  const clock = clockColumn === undefined ? [] : [clockSql("sqlite")];
  return `${insertInto(table, names, clockColumn)} VALUES (${[...places, ...clock].join(", ")}) ${onConflict ?? ""}`;
}

/** Inserts rows from one JSON text ($1), an array of arrays in the order of the columns, on PostgreSQL only. */
function insertFromJsonSql<Item>({ table, columns, clockColumn, onConflict }: InsertShape<Item>): string {
  const names = Object.keys(columns);
  const values = Object.values(columns).map(({ type }, index) => `CAST(value ->> ${index} AS ${type})`);
  const clock = clockColumn === undefined ? [] : [clockSql("postgres")];
  const rows = "jsonb_array_elements(CAST($1 AS jsonb)) AS given(value) WHERE 1 = 1";
  return `${insertInto(table, names, clockColumn)} SELECT ${[...values, ...clock].join(", ")} FROM ${rows} ${onConflict ?? ""}`;
}

function insertInto(table: string, names: readonly string[], clockColumn: string | undefined): string {
  return `INSERT INTO ${table} (${[...names, ...(clockColumn === undefined ? [] : [clockColumn])].join(", ")})`;
}

/** Writes larger integers as text, because JSON is exact only up to 2^53. */
function plainValue(value: RowValue): string | number | null {
  const plain = decodedValue(value);
  return typeof plain === "bigint" ? plain.toString() : plain;
}

/** Writes the parts in order, with a turn of the event loop between two slices. */
export async function inSlices<Item, Part>(
  items: readonly Item[],
  write: (slice: readonly Item[]) => Part,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  let endsAtMs = performance.now() + SLICE_MS;
  for (let at = 0; at < items.length; at += STEP) {
    const nowMs = performance.now();
    if (nowMs >= endsAtMs) {
      await nextTurn();
      const backAtMs = performance.now();
      endsAtMs = backAtMs + Math.max(SLICE_MS, SLICE_SHARE * (backAtMs - nowMs));
    }
    parts.push(write(items.slice(at, at + STEP)));
  }
  return parts;
}

/** Tests that `column` is in the list of one value, made by `listValue`. The text is the same for every length. */
export function inListSql(kind: Db["kind"], column: string, place: string, type: ColumnType = "TEXT"): string {
  return kind === "sqlite"
    ? `${column} IN (SELECT value FROM json_each(${place}))`
    : `${column} = ANY (CAST(${place} AS ${type}[]))`;
}

/** Writes a list as JSON for SQLite, as an array literal for PostgreSQL. */
export function listValue(kind: Db["kind"], values: readonly SqlValue[]): string {
  return kind === "sqlite" ? JSON.stringify(values) : `{${values.map(writeElement).join(",")}}`;
}

/** Quotes all text, so that the text NULL and the empty text survive. */
function writeElement(value: SqlValue): string {
  if (value === null) return "NULL";
  return typeof value === "string" ? `"${value.replace(/[\\"]/g, "\\$&")}"` : String(value);
}

/** Replaces NUL, which PostgreSQL cannot store. */
export function withoutNul(value: string): string {
  return value.replaceAll("\u0000", "\ufffd");
}
