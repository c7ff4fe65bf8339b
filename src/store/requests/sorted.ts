// A page of the request log by cost, latency or tokens, the largest first. Where nothing but the time is filtered, one
// narrow index is read from end to end; that takes less than keeping an index for each order up to date.

import type { Db, SqlRow } from "../../core/db.ts";
import type { RequestFilter, RequestSort, SortedPage } from "../../core/requests/log.ts";
import { inListSql, listValue } from "../dialect.ts";
import { addAll, type Conditions, newConditions } from "./conditions.ts";

/** What was not charged comes last on both databases. */
const VALUES: Readonly<Record<Exclude<RequestSort, "time">, string>> = {
  cost: "COALESCE(charge, -1)",
  latency: "latency_ms",
  tokens: "tokens",
};

interface ByValue extends SortedPage {
  readonly sort: Exclude<RequestSort, "time">;
}

/** None when the request that the page follows is deleted. */
export async function sortedPage(db: Db, filter: RequestFilter, page: ByValue): Promise<readonly SqlRow[]> {
  const value = VALUES[page.sort];
  const where = newConditions();
  addAll(where, db.kind, filter);
  if (page.after !== null) {
    const sql = `SELECT ${value} AS value FROM requests WHERE account_id = $1 AND id = $2`;
    const [last] = await db.query(sql, [filter.accountId, page.after]);
    if (last?.value === undefined) return [];
    where.add(`(${value} < ? OR (${value} = ? AND id < ?))`, last.value, last.value, page.after);
  }
  return readChosen(db, where, `${value} DESC, id DESC`, page.limit);
}

/** First the ids, for which the narrow index may do, then their rows. */
export async function readChosen(db: Db, where: Conditions, order: string, limit: number): Promise<readonly SqlRow[]> {
  const last = `ORDER BY ${order} LIMIT $${where.params.length + 1}`;
  const chosen = await db.query(`SELECT id FROM requests WHERE ${where.sql()} ${last}`, [...where.params, limit]);
  const ids = chosen.map(({ id }) => String(id));
  const sql = `SELECT * FROM requests WHERE ${inListSql(db.kind, "id", "$1")}`;
  const byId = new Map((await db.query(sql, [listValue(db.kind, ids)])).map((row) => [String(row.id), row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}
