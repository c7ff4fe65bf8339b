// Filters of the request log as SQL: on the requests themselves, and on the counters of request_counts, whose columns have
// the same names.

import type { Db, SqlValue } from "../../core/db.ts";
import type { CostRange } from "../../core/requests/buckets.ts";
import { FILTER_FIELDS, type FieldFilter, type LoggedField } from "../../core/requests/fields.ts";
import type { NumberRange, RequestFilter, StatusFilter } from "../../core/requests/log.ts";
import { type AnsweredAt, recordIdAt } from "../../core/requests/records.ts";
import { inListSql, listValue } from "../dialect.ts";
import { firstRowAt, ROWS_PER_MS, writeQuery } from "./words.ts";

/** A WHERE clause that grows, with its numbered parameters. */
export interface Conditions {
  readonly params: SqlValue[];
  /** A condition with one `?` for each value. */
  add(condition: string, ...values: readonly SqlValue[]): void;
  sql(): string;
}

export function newConditions(): Conditions {
  const parts: string[] = [];
  const params: SqlValue[] = [];
  return {
    params,
    add(condition, ...values) {
      const [head = "", ...tails] = condition.split("?");
      const places = values.map((value) => `$${params.push(value)}`);
      parts.push(head + tails.map((tail, index) => `${places[index]}${tail}`).join(""));
    },
    sql: () => parts.join(" AND "),
  };
}

/** The way to find requests. */
export interface RequestAccess {
  /** A plus before the column keeps SQLite from using its indexes. */
  readonly account: "account_id" | "+account_id";
  /** True to look for a common tag in each request instead of in the index of tags. */
  readonly isTagScanned: boolean;
}

export const BY_INDEX: RequestAccess = { account: "account_id", isTagScanned: false };

/** Filters that the counters have too. */
export const COUNTED_FIELDS = FILTER_FIELDS.filter(({ filter }) => filter === "counted");
const LOGGED_FIELDS = FILTER_FIELDS.filter(({ filter }) => filter === "logged");

/** Adds the filters that requests and counters share: all but time, cost, request id and attempts. */
export function addFilter(where: Conditions, filter: RequestFilter, account = "account_id"): void {
  where.add(`${account} = ?`, filter.accountId);
  for (const field of COUNTED_FIELDS) addField(where, field, filter[field.name]);
  if (filter.status !== undefined) addStatus(where, filter.status);
}

function addField(where: Conditions, { column, filter }: LoggedField, value: FieldFilter[keyof FieldFilter]): void {
  if (value === undefined) return;
  // Writes a flag into the statement, so that the index of fallbacks is used.
  if (typeof value === "boolean") where.add(`${column} = ${value ? 1 : 0}`);
  else if (filter === "counted") where.add(`${column} = ?`, value ?? "");
  else addLabel(where, column, value);
}

/** Filters by attempts, which only requests can answer. */
type AttemptFilter = Pick<RequestFilter, "answeredAt" | "failedProvider">;

/** True if the filter excludes answers of the first attempt. The others are few and have an index. */
export function isTriedAgain({ answeredAt, failedProvider }: AttemptFilter): boolean {
  return failedProvider !== undefined || (answeredAt !== undefined && !answeredAt.includes("first"));
}

/** Exactly the condition of the index. */
const TRIED_AGAIN = "(attempts > 1 OR (attempts = 1 AND is_error = 1))";

/** Conditions on the attempt that brought the response. */
const ANSWERED_SQL: Readonly<Record<AnsweredAt, string>> = {
  first: "attempts <= 1 AND model <> ''",
  second: "attempts = 2 AND model <> ''",
  later: "attempts > 2 AND model <> ''",
  none: "attempts > 0 AND model = '' AND status >= 500",
};

/** Adds the filters by attempts, on requests. */
function addAttempts(where: Conditions, filter: AttemptFilter): void {
  const { answeredAt, failedProvider } = filter;
  if (isTriedAgain(filter)) where.add(TRIED_AGAIN);
  if (answeredAt !== undefined) where.add(`(${answeredAt.map((at) => `(${ANSWERED_SQL[at]})`).join(" OR ")})`);
  // LIKE ignores case on SQLite.
  if (failedProvider !== undefined) {
    where.add("replace(failed_providers, ?, '') <> failed_providers", JSON.stringify(failedProvider));
  }
}

/** Narrows counters, which have no attempts, to answered requests, and failed ones if asked for. */
export function addAnswered(where: Conditions, { answeredAt }: AttemptFilter): void {
  if (answeredAt !== undefined)
    where.add(answeredAt.includes("none") ? "(model <> '' OR status >= 500)" : "model <> ''");
}

/** Narrows requests to those from a time on and before an id. */
export function addIds(where: Conditions, fromMs: number | undefined, endId: string | null): void {
  if (fromMs !== undefined) where.add("id >= ?", recordIdAt(fromMs));
  if (endId !== null) where.add("id < ?", endId);
}

/** Sorts after every character of a request id. */
const LAST = "~";

/** Adds the beginning of a request id. An expression as `column` avoids the index. */
export function addRequestId(where: Conditions, start: string, column = "request_id"): void {
  where.add(`${column} >= ? AND ${column} < ?`, start, `${start}${LAST}`);
}

/** True if neither the counters nor the index of second attempts can answer the filter. */
export function isUncounted(filter: RequestFilter): boolean {
  const { latency, tokens, tag, requestIdStart, words } = filter;
  const own = LOGGED_FIELDS.map(({ name }) => filter[name]);
  return [latency, tokens, tag, requestIdStart, words, ...own].some((each) => each !== undefined);
}

/** Adds the whole filter, on requests. */
export function addAll(where: Conditions, kind: Db["kind"], filter: RequestFilter, access = BY_INDEX): void {
  const { tag, ...rest } = filter;
  addFilter(where, filter, access.account);
  if (tag === undefined || !access.isTagScanned) addOwn(where, kind, filter);
  else {
    addOwn(where, kind, rest);
    addTagText(where, kind, tag);
  }
  addIds(where, filter.fromMs, filter.toMs === undefined ? null : recordIdAt(filter.toMs));
  if (filter.requestIdStart !== undefined) addRequestId(where, filter.requestIdStart);
}

/** Adds the filters that only requests have. */
export function addOwn(where: Conditions, kind: Db["kind"], filter: RequestFilter): void {
  addAttempts(where, filter);
  if (filter.cost !== undefined) addCost(where, filter.cost);
  addNumbers(where, "latency_ms", filter.latency);
  addNumbers(where, "tokens", filter.tokens);
  const { session, ...rest } = filter;
  for (const field of LOGGED_FIELDS) if (field.name !== "session") addField(where, field, rest[field.name]);
  if (typeof session === "string") addSessions(where, kind, { sessions: [session] });
  else addLabel(where, "session", session);
  if (filter.tag !== undefined) addTag(where, filter.accountId, filter.tag);
  if (filter.words !== undefined) addWords(where, kind, { ...filter, words: filter.words });
}

function addNumbers(where: Conditions, column: string, { from, to }: NumberRange = {}): void {
  if (from !== undefined) where.add(`${column} >= ?`, from);
  if (to !== undefined) where.add(`${column} < ?`, to);
}

/** Adds a label. Its index has only requests with a label, and needs the condition `<> ''`. */
export function addLabel(where: Conditions, column: string, value: string | null | undefined): void {
  if (value === null) where.add(`${column} = ''`);
  else if (value !== undefined) where.add(`${column} = ? AND ${column} <> ''`, value);
}

/** Turns of these sessions, from an id on. */
interface SessionTurns {
  readonly sessions: readonly string[];
  readonly fromId?: string;
}

/** Adds sessions. The SQLite index groups sessions by their last characters, in the order of time. */
export function addSessions(where: Conditions, kind: Db["kind"], { sessions, fromId }: SessionTurns): void {
  const list = listValue(kind, sessions);
  const named = `session <> '' AND ${inListSql(kind, "session", "?")}`;
  if (fromId !== undefined) where.add("id >= ?", fromId);
  if (kind === "postgres") where.add(named, list);
  else {
    const parts = "substr(session, -2) IN (SELECT substr(value, -2) FROM json_each(?))";
    const found = `SELECT id FROM requests INDEXED BY requests_by_session_part WHERE ${parts} AND ${named} AND id >= ?`;
    where.add(`id IN (${found})`, list, list, fromId ?? "");
  }
}

function addTag(where: Conditions, accountId: string, { name, value }: NonNullable<RequestFilter["tag"]>): void {
  const ids = "id IN (SELECT id FROM request_tags WHERE account_id = ? AND name = ?";
  if (value === null) where.add(`${ids})`, accountId, name);
  else where.add(`${ids} AND value = ?)`, accountId, name, value);
}

/** Looks for a tag in JSON text. Quotes are escaped there, so a name with quotes and colon matches only itself. */
function addTagText(where: Conditions, kind: Db["kind"], { name, value }: NonNullable<RequestFilter["tag"]>): void {
  where.add(
    `${kind === "sqlite" ? "instr" : "strpos"}(tags, ?) > 0`,
    `${JSON.stringify(name)}:${value === null ? "" : JSON.stringify(value)}`,
  );
}

/** Adds a query of words. One without any word finds nothing. */
function addWords(where: Conditions, kind: Db["kind"], filter: RequestFilter & { readonly words: string }): void {
  const query = writeQuery(kind, filter.words);
  if (query === null) where.add("1 = 0");
  else if (kind === "postgres") where.add(`id IN (${MATCHING.postgres})`, query);
  else {
    const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER / ROWS_PER_MS } = filter;
    where.add(`id IN (${MATCHING.sqlite})`, query, firstRowAt(fromMs), firstRowAt(toMs));
  }
}

/** SQL of the matching ids, with a `?` for the query and, on SQLite, for both ends of the time. */
const MATCHING: Readonly<Record<Db["kind"], string>> = {
  sqlite: `SELECT rows.id FROM request_words CROSS JOIN request_word_rows AS rows ON rows.number = request_words.rowid
    WHERE request_words MATCH ? AND request_words.rowid >= CAST(? AS INTEGER) AND request_words.rowid < CAST(? AS INTEGER)`,
  postgres: "SELECT id FROM request_words WHERE words @@ CAST(? AS tsquery)",
};

/** Adds a range of costs, on requests. */
function addCost(where: Conditions, { from, to }: CostRange): void {
  where.add("charge >= ?", from ?? 0n);
  if (to !== undefined) where.add("charge < ?", to);
}

/** Adds a range of cost steps, on counters. */
export function addCostSteps(where: Conditions, [first, last]: readonly [number, number]): void {
  where.add("cost_step >= ? AND cost_step <= ?", first, last);
}

/** True if the filter narrows by anything but the time. */
export function isNarrow({ accountId: _accountId, fromMs: _fromMs, toMs: _toMs, ...rest }: RequestFilter): boolean {
  return Object.keys(rest).length > 0;
}

/** Lowest status of an error. */
const ERROR_STATUS = 400;

/** Adds a status. The index of errors needs the condition `is_error = 1`. */
function addStatus(where: Conditions, filter: StatusFilter): void {
  if (filter.kind === "error" || filter.kind === "broken") where.add("is_error = 1");
  if (filter.kind === "broken") where.add("status < ?", ERROR_STATUS);
  if (filter.kind === "exact") {
    if (filter.statuses.every((status) => status >= ERROR_STATUS)) where.add("is_error = 1");
    where.add(`status IN (${filter.statuses.map(() => "?").join(", ")})`, ...filter.statuses);
  }
  if (filter.kind === "class") {
    const lowest = filter.hundreds * 100;
    if (lowest >= ERROR_STATUS) where.add("is_error = 1");
    where.add("status >= ? AND status < ?", lowest, lowest + 100);
  }
}
