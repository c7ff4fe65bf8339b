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

/** The way to the requests. */
export interface RequestAccess {
  /** A plus in front of the column keeps its indexes out of a statement. */
  readonly account: "account_id" | "+account_id";
  /** A tag that most requests have is looked for in each of them instead of by its index. */
  readonly isTagScanned: boolean;
}

export const BY_INDEX: RequestAccess = { account: "account_id", isTagScanned: false };

/** Filters that the counters know, too. */
export const COUNTED_FIELDS = FILTER_FIELDS.filter(({ filter }) => filter === "counted");
const LOGGED_FIELDS = FILTER_FIELDS.filter(({ filter }) => filter === "logged");

/** All but the time, the cost, the request id and the attempts: those the two tables have not in common. */
export function addFilter(where: Conditions, filter: RequestFilter, account = "account_id"): void {
  where.add(`${account} = ?`, filter.accountId);
  for (const field of COUNTED_FIELDS) addField(where, field, filter[field.name]);
  if (filter.status !== undefined) addStatus(where, filter.status);
}

function addField(where: Conditions, { column, filter }: LoggedField, value: FieldFilter[keyof FieldFilter]): void {
  if (value === undefined) return;
  // A flag stands in the statement itself, where the index of fallbacks is found by it.
  if (typeof value === "boolean") where.add(`${column} = ${value ? 1 : 0}`);
  else if (filter === "counted") where.add(`${column} = ?`, value ?? "");
  else addLabel(where, column, value);
}

/** The filters that only the requests themselves can answer. */
type AttemptFilter = Pick<RequestFilter, "answeredAt" | "failedProvider">;

/** True if the filter asks for requests that the first attempt did not answer: few, and with an index of their own. */
export function isTriedAgain({ answeredAt, failedProvider }: AttemptFilter): boolean {
  return failedProvider !== undefined || (answeredAt !== undefined && !answeredAt.includes("first"));
}

/** In the words of the index. */
const TRIED_AGAIN = "(attempts > 1 OR (attempts = 1 AND is_error = 1))";

/** The attempt that brought the response, in terms of the columns. */
const ANSWERED_SQL: Readonly<Record<AnsweredAt, string>> = {
  first: "attempts <= 1 AND model <> ''",
  second: "attempts = 2 AND model <> ''",
  later: "attempts > 2 AND model <> ''",
  none: "attempts > 0 AND model = '' AND status >= 500",
};

/** On the requests. */
function addAttempts(where: Conditions, filter: AttemptFilter): void {
  const { answeredAt, failedProvider } = filter;
  if (isTriedAgain(filter)) where.add(TRIED_AGAIN);
  if (answeredAt !== undefined) where.add(`(${answeredAt.map((at) => `(${ANSWERED_SQL[at]})`).join(" OR ")})`);
  // LIKE would not tell upper from lower case on SQLite.
  if (failedProvider !== undefined) {
    where.add("replace(failed_providers, ?, '') <> failed_providers", JSON.stringify(failedProvider));
  }
}

/** On the counters, which do not know attempts: those that were answered, and where asked for those that failed, too. */
export function addAnswered(where: Conditions, { answeredAt }: AttemptFilter): void {
  if (answeredAt !== undefined)
    where.add(answeredAt.includes("none") ? "(model <> '' OR status >= 500)" : "model <> ''");
}

/** On the requests: from that time, and before that id. */
export function addIds(where: Conditions, fromMs: number | undefined, endId: string | null): void {
  if (fromMs !== undefined) where.add("id >= ?", recordIdAt(fromMs));
  if (endId !== null) where.add("id < ?", endId);
}

/** Behind every character that a request id may have. */
const LAST = "~";

/** On the requests; an expression in the place of the column keeps its index out of it. */
export function addRequestId(where: Conditions, start: string, column = "request_id"): void {
  where.add(`${column} >= ? AND ${column} < ?`, start, `${start}${LAST}`);
}

/** The filters that neither the counters nor the index of a second attempt know. */
export function isUncounted(filter: RequestFilter): boolean {
  const { latency, tokens, tag, requestIdStart, words } = filter;
  const own = LOGGED_FIELDS.map(({ name }) => filter[name]);
  return [latency, tokens, tag, requestIdStart, words, ...own].some((each) => each !== undefined);
}

/** On the requests: the whole filter. */
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

/** On the requests: the filters that only they know. */
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

/** The index of a label has only the requests that have one, and is used where the words `<> ''` stand. */
export function addLabel(where: Conditions, column: string, value: string | null | undefined): void {
  if (value === null) where.add(`${column} = ''`);
  else if (value !== undefined) where.add(`${column} = ? AND ${column} <> ''`, value);
}

/** The turns of these sessions, from an id on. */
interface SessionTurns {
  readonly sessions: readonly string[];
  readonly fromId?: string;
}

/** On SQLite, the index has sessions with the same end together, in the order of time. */
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

/** In the JSON of a request's tags no other text is like a name with its quotes and colon: quotes inside are escaped. */
function addTagText(where: Conditions, kind: Db["kind"], { name, value }: NonNullable<RequestFilter["tag"]>): void {
  where.add(
    `${kind === "sqlite" ? "instr" : "strpos"}(tags, ?) > 0`,
    `${JSON.stringify(name)}:${value === null ? "" : JSON.stringify(value)}`,
  );
}

/** A query without any word finds nothing. */
function addWords(where: Conditions, kind: Db["kind"], filter: RequestFilter & { readonly words: string }): void {
  const query = writeQuery(kind, filter.words);
  if (query === null) where.add("1 = 0");
  else if (kind === "postgres") where.add(`id IN (${MATCHING.postgres})`, query);
  else {
    const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER / ROWS_PER_MS } = filter;
    where.add(`id IN (${MATCHING.sqlite})`, query, firstRowAt(fromMs), firstRowAt(toMs));
  }
}

/** The ids that a query finds, with a `?` for it and, on SQLite, for both ends of the time. */
const MATCHING: Readonly<Record<Db["kind"], string>> = {
  sqlite: `SELECT rows.id FROM request_words CROSS JOIN request_word_rows AS rows ON rows.number = request_words.rowid
    WHERE request_words MATCH ? AND request_words.rowid >= CAST(? AS INTEGER) AND request_words.rowid < CAST(? AS INTEGER)`,
  postgres: "SELECT id FROM request_words WHERE words @@ CAST(? AS tsquery)",
};

/** On the requests. */
function addCost(where: Conditions, { from, to }: CostRange): void {
  where.add("charge >= ?", from ?? 0n);
  if (to !== undefined) where.add("charge < ?", to);
}

/** On the counters: these steps, the first and the last. */
export function addCostSteps(where: Conditions, [first, last]: readonly [number, number]): void {
  where.add("cost_step >= ? AND cost_step <= ?", first, last);
}

/** True if the filter narrows by anything but the time. */
export function isNarrow({ accountId: _accountId, fromMs: _fromMs, toMs: _toMs, ...rest }: RequestFilter): boolean {
  return Object.keys(rest).length > 0;
}

/** Statuses from here on are errors. */
const ERROR_STATUS = 400;

/** Errors are few and have an index of their own, which is used where the words `is_error = 1` stand. */
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
