// A page of the request log by cost, latency or tokens, or oldest first. Reads one narrow index from end to end if only
// the time is filtered, and often all requests of the time with other filters. Both cost less than an index per order.

import type { Db, SqlRow } from "../../core/db.ts";
import type { RequestFilter, RequestSort, SortedPage } from "../../core/requests/log.ts";
import { inListSql, listValue } from "../dialect.ts";
import { narrowAccessOf } from "./access.ts";
import { addAll, BY_INDEX, type Conditions, newConditions } from "./conditions.ts";

/** Sort columns. Ids are in the order of time. */
const VALUES: Readonly<Record<Exclude<RequestSort, "cost">, string>> = {
  time: "id",
  latency: "latency_ms",
  tokens: "tokens",
};

/** Sorts requests without a charge last, on both databases and in both orders. */
function sortedBy(sort: RequestSort, isAscending: boolean): string {
  if (sort !== "cost") return VALUES[sort];
  return `COALESCE(charge, ${isAscending ? "9223372036854775807" : "-1"})`;
}

/** Reads a page. Returns no rows if the last request of the page before was deleted. */
export async function sortedPage(db: Db, filter: RequestFilter, page: SortedPage): Promise<readonly SqlRow[]> {
  const { sort = "time", isAscending = false, after, limit } = page;
  const value = sortedBy(sort, isAscending);
  const [further, order] = isAscending ? [">", "ASC"] : ["<", "DESC"];
  const where = newConditions();
  addAll(where, db.kind, filter, sort === "time" ? BY_INDEX : await narrowAccessOf(db, filter));
  if (after !== null && sort === "time") where.add(`id ${further} ?`, after);
  else if (after !== null) {
    const sql = `SELECT ${value} AS value FROM requests WHERE account_id = $1 AND id = $2`;
    const [last] = await db.query(sql, [filter.accountId, after]);
    if (last?.value === undefined) return [];
    where.add(`(${value} ${further} ? OR (${value} = ? AND id ${further} ?))`, last.value, last.value, after);
  }
  return readChosen(db, where, sort === "time" ? `id ${order}` : `${value} ${order}, id ${order}`, limit);
}

/** Reads first the ids, for which the narrow index may suffice, then their rows. */
export async function readChosen(db: Db, where: Conditions, order: string, limit: number): Promise<readonly SqlRow[]> {
  const last = `ORDER BY ${order} LIMIT $${where.params.length + 1}`;
  const chosen = await db.query(`SELECT id FROM requests WHERE ${where.sql()} ${last}`, [...where.params, limit]);
  const ids = chosen.map(({ id }) => String(id));
  const sql = `SELECT * FROM requests WHERE ${inListSql(db.kind, "id", "$1")}`;
  const byId = new Map((await db.query(sql, [listValue(db.kind, ids)])).map((row) => [String(row.id), row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}
