// Ids of requests that an index names by words or by a tag, newest first and some at a time. Of the filter, only the time
// is applied beside.

import type { Db, SqlValue } from "../../core/db.ts";
import type { RequestFilter } from "../../core/requests/log.ts";
import { recordTimeOf } from "../../core/requests/records.ts";
import { addIds, newConditions } from "./conditions.ts";
import { writeQuery } from "./words.ts";

type Ids = AsyncGenerator<readonly string[], void, void>;

/** Most pages need no more. The next steps are larger, because few of these pass the other filters. */
const FIRST_STEP = 500;
const GROWTH = 4;

/** Those before `end`. */
export function namedIds(db: Db, filter: RequestFilter, end: string | null): Ids {
  if (filter.words === undefined) return idsById(db, filter, end);
  const query = writeQuery(db.kind, filter.words);
  if (query === null) return none();
  return db.kind === "sqlite" ? idsByRow(db, { ...filter, query }, end) : idsById(db, { ...filter, query }, end);
}

async function* none(): Ids {}

interface Named extends Pick<RequestFilter, "accountId" | "fromMs" | "tag"> {
  readonly query?: string;
}

async function* idsById(db: Db, { accountId, fromMs, tag, query }: Named, end: string | null): Ids {
  let before = end;
  const isAny = query === undefined && tag?.value == null;
  // A plus keeps the index by value out: of a common tag, SQLite finds the newest sooner in the order of the ids.
  const isCommon = isAny && db.kind === "sqlite" && (await isCommonTag(db, accountId, tag?.name ?? ""));
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

/** So many are sorted in a few milliseconds. */
const COMMON = 5_000;

async function isCommonTag(db: Db, accountId: string, name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM request_tags WHERE account_id = $1 AND name = $2 LIMIT ${COMMON}`;
  const [row] = await db.query(`SELECT COUNT(*) AS tags FROM (${sql})`, [accountId, name]);
  return Number(row?.tags) === COMMON;
}

/** Rows of one millisecond are not in the order of their ids, so each step ends between two. */
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

/** More than one database writes in a millisecond. */
export const ROWS_PER_MS = 256;

/** SQLite only: where the rows of request_words of that time begin. */
export function firstRowAt(atMs: number): number {
  return Math.floor(atMs) * ROWS_PER_MS;
}

function textsOf(rows: readonly Readonly<Record<string, SqlValue>>[]): readonly string[] {
  return rows.map(({ id }) => String(id));
}
