// The columns of the table `requests`: how each kind of field is stored and read. Missing text is stored as the empty text,
// so that filters need no IS NULL.

import type { SqlRow, SqlValue } from "../../core/db.ts";
import type { TokenBuckets } from "../../core/money.ts";
import { FIELDS, type FieldKind, type FieldValue, type RequestSummary } from "../../core/requests/fields.ts";
import { NO_TAGS, type Tags, tokensOf } from "../../core/requests/records.ts";
import type { WaitingRecord } from "../../core/requests/waiting.ts";
import { flag, freeText, type InsertColumn, type InsertShape, integer, text, withoutNul } from "../dialect.ts";

type Insert<Value> = (of: (record: WaitingRecord) => Value) => InsertColumn<WaitingRecord>;

interface Storage<Value> {
  readonly columns: (column: string, of: (record: WaitingRecord) => Value) => InsertShape<WaitingRecord>["columns"];
  readonly read: (row: SqlRow, column: string) => Value;
}

function oneColumn<Value>(insert: Insert<Value>, read: (stored: SqlValue) => Value): Storage<Value> {
  return {
    columns: (column, of) => ({ [column]: insert(of) }),
    read: (row, column) => read(row[column] ?? null),
  };
}

const BUCKETS = [
  ["input", "input_tokens"],
  ["cacheRead", "cache_read_tokens"],
  ["cacheWrite", "cache_write_tokens"],
  ["output", "output_tokens"],
] as const;

const STORAGE: { readonly [Kind in FieldKind]: Storage<FieldValue<Kind>> } = {
  text: oneColumn<string>(text, String),
  optionalText: oneColumn((of) => text((record) => of(record) ?? ""), textOrNull),
  freeText: oneColumn((of) => freeText((record) => withoutNul(of(record) ?? "")), textOrNull),
  integer: oneColumn<number>(integer, Number),
  optionalInteger: oneColumn(integer, (stored) => (stored === null ? null : Number(stored))),
  flag: oneColumn<boolean>(flag, (stored) => Number(stored) === 1),
  time: oneColumn<number>(integer, Number),
  amount: oneColumn(integer, (stored) => (stored === null ? null : BigInt(stored))),
  texts: oneColumn((of) => text((record) => writeTexts(of(record))), readTexts),
  tags: oneColumn((of) => text((record) => writeTags(of(record))), readTags),
  tokens: {
    columns: (_column, of) =>
      Object.fromEntries(BUCKETS.map(([bucket, name]) => [name, integer((record) => of(record)?.[bucket] ?? null)])),
    read: readBuckets,
  },
};

/** The rows of the log. */
export const REQUESTS: InsertShape<WaitingRecord> = {
  table: "requests",
  columns: Object.assign(
    { account_id: text(({ accountId }: WaitingRecord) => accountId) },
    ...FIELDS.map(({ name, kind, column }) =>
      (STORAGE[kind] as Storage<unknown>).columns(column, ({ summary }) => summary[name]),
    ),
    // To sort, filter and sum up by.
    { tokens: integer(({ summary }: WaitingRecord) => tokensOf(summary.buckets)) },
  ),
};

/** Reads a row of the log. */
export function toSummary(row: SqlRow): RequestSummary {
  const line: Record<string, unknown> = {};
  for (const { name, kind, column } of FIELDS) line[name] = STORAGE[kind].read(row, column);
  return line as RequestSummary;
}

function readBuckets(row: SqlRow): TokenBuckets | null {
  if (row.input_tokens == null) return null;
  const counts = BUCKETS.map(([bucket, name]) => [bucket, Number(row[name])]);
  return Object.fromEntries(counts) as TokenBuckets;
}

function writeTexts(texts: readonly string[]): string {
  return texts.length === 0 ? "" : JSON.stringify(texts);
}

function readTexts(stored: SqlValue): readonly string[] {
  return stored ? (JSON.parse(String(stored)) as string[]) : [];
}

/** JSON would write half of a surrogate pair as an escape, which SQLite turns into bytes that are no text. */
function writeTags(tags: Tags): string {
  if (tags === NO_TAGS) return "";
  const whole = Object.entries(tags).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);
  return JSON.stringify(Object.fromEntries(whole));
}

function readTags(stored: SqlValue): Tags {
  return stored ? (JSON.parse(String(stored)) as Tags) : NO_TAGS;
}

export function textOrNull(stored: SqlValue | undefined): string | null {
  return stored == null || stored === "" ? null : String(stored);
}
