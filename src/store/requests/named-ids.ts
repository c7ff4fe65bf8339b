// Ids of requests that an index finds by words or by a tag, in steps, newest first. Of the other filters, only the time is
// applied.

import type { Db, SqlValue } from "../../core/db.ts";
import type { RequestFilter } from "../../core/requests/log.ts";
import { recordTimeOf } from "../../core/requests/records.ts";
import { isCommonTag } from "./access.ts";
import { addIds, newConditions } from "./conditions.ts";
import { firstRowAt, ROWS_PER_MS, writeQuery } from "./words.ts";

type Ids = AsyncGenerator<readonly string[], void, void>;

/** Ids of the first step, enough for most pages. Later steps are larger, because few ids pass the other filters. */
const FIRST_STEP = 500;
const GROWTH = 4;

/** Yields the ids before `end`. */
export async function* namedIds(db: Db, filter: RequestFilter, end: string | null): Ids {
  if (filter.words === undefined) return yield* idsById(db, filter, end);
  const query = writeQuery(db.kind, filter.words);
  if (query === null) return;
  const named = { ...filter, query };
  if (await hasFew(db, filter, end)) yield await idsOfFew(db, named, end);
  else yield* db.kind === "sqlite" ? idsByRow(db, named, end) : idsById(db, named, end);
}

/** Accounts with fewer requests are scanned directly (about 10 ms); larger ones use the word index. */
const FEW = 10_000;

async function hasFew(db: Db, { accountId, fromMs }: RequestFilter, end: string | null): Promise<boolean> {
  const where = newConditions();
  where.add("account_id = ?", accountId);
  addIds(where, fromMs, end);
  const sql = `SELECT 1 AS one FROM requests WHERE ${where.sql()} LIMIT ${FEW}`;
  const [row] = await db.query(`SELECT COUNT(*) AS requests FROM (${sql}) AS first`, where.params);
  return Number(row?.requests) < FEW;
}

/** Finds all ids at once, by comparing the matches of the index with the account's requests. */
async function idsOfFew(
  db: Db,
  { accountId, fromMs, query = "" }: Named,
  end: string | null,
): Promise<readonly string[]> {
  const where = newConditions();
  where.add("account_id = ?", accountId);
  addIds(where, fromMs, end);
  const place = `$${where.params.length + 1}`;
  const sql = `${OF_FEW[db.kind](where.sql(), place)} ORDER BY id DESC`;
  return textsOf(await db.query(sql, [...where.params, query]));
}

const OF_FEW: Readonly<Record<Db["kind"], (where: string, query: string) => string>> = {
  // The plus keeps SQLite from querying the index of words once per request.
  sqlite: (where, query) => `WITH own AS MATERIALIZED (SELECT rows.number
      FROM (SELECT id, created_at FROM requests WHERE ${where}) AS found CROSS JOIN request_word_rows AS rows
      ON rows.number >= found.created_at * ${ROWS_PER_MS} AND rows.number < (found.created_at + 1) * ${ROWS_PER_MS}
      AND rows.id = found.id)
    SELECT rows.id FROM request_words CROSS JOIN request_word_rows AS rows ON rows.number = request_words.rowid
      WHERE request_words MATCH ${query} AND +request_words.rowid IN (SELECT number FROM own)
      AND request_words.rowid BETWEEN (SELECT MIN(number) FROM own) AND (SELECT MAX(number) FROM own)`,
  postgres: (where, query) => `WITH own AS MATERIALIZED (SELECT id FROM requests WHERE ${where})
    SELECT id FROM own JOIN request_words USING (id) WHERE words @@ CAST(${query} AS tsquery)`,
};

/** A search, with its query in the database's syntax. */
interface Named extends Pick<RequestFilter, "accountId" | "fromMs" | "tag"> {
  readonly query?: string;
}

async function* idsById(db: Db, { accountId, fromMs, tag, query }: Named, end: string | null): Ids {
  let before = end;
  const isAny = db.kind === "sqlite" && query === undefined && tag?.value === null;
  // The plus avoids the index by value: SQLite finds the newest requests of a common tag sooner in the order of ids.
  const isCommon = isAny && (await isCommonTag(db, accountId, tag, COMMON));
  const account = isCommon ? "+account_id" : "account_id";
  for (let step = FIRST_STEP; ; step *= GROWTH) {
    const where = newConditions();
    if (query !== undefined) where.add("words @@ CAST(? AS tsquery)", query);
    else where.add(`${account} = ? AND name = ?`, accountId, tag?.name ?? "");
    if (query === undefined && tag?.value != null) where.add("value = ?", tag.value);
    addIds(where, fromMs, before);
    const table = query === undefined ? "request_tags" : "request_words";
    const sql = `SELECT id FROM ${table} WHERE ${where.sql()} ORDER BY id DESC LIMIT ${step}`;
    const ids = textsOf(await db.query(sql, where.params));
    yield ids;
    if (ids.length < step) return;
    before = ids.at(-1) ?? null;
  }
}

/** Requests of a common tag. Fewer are sorted in a few milliseconds. */
const COMMON = 5_000;

/** Yields ids in steps of whole milliseconds, because rows of one millisecond are not in the order of their ids. */
async function* idsByRow(db: Db, { fromMs = 0, query = "" }: Named, end: string | null): Ids {
  let beforeMs = end === null ? Number.MAX_SAFE_INTEGER / ROWS_PER_MS : (recordTimeOf(end) ?? 0) + 1;
  for (let step = FIRST_STEP; ; step *= GROWTH) {
    const params = [query, firstRowAt(fromMs), firstRowAt(beforeMs), step];
    const ids = textsOf(await db.query(BY_ROW, params));
    const lastMs = recordTimeOf(ids.at(-1) ?? "") ?? 0;
    const isLast = ids.length < step;
    const whole = isLast ? ids : ids.filter((id) => recordTimeOf(id) !== lastMs);
    yield end === null ? whole : whole.filter((id) => id < end);
    if (isLast) return;
    beforeMs = lastMs + 1;
  }
}

const BY_ROW = `SELECT rows.id FROM request_words CROSS JOIN request_word_rows AS rows ON rows.number = request_words.rowid
  WHERE request_words MATCH $1 AND request_words.rowid >= CAST($2 AS INTEGER) AND request_words.rowid < CAST($3 AS INTEGER)
  ORDER BY request_words.rowid DESC LIMIT $4`;

function textsOf(rows: readonly Readonly<Record<string, SqlValue>>[]): readonly string[] {
  return rows.map(({ id }) => String(id));
}
