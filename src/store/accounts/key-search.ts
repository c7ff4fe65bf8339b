// The SQL of pages and counts of keys, by search text, status and profile, in any order.

import type { Page } from "../../core/accounts.ts";
import type { Db } from "../../core/db.ts";
import type { KeySearch, KeySort, KeyStatus } from "../../core/keys.ts";
import { type Conditions, newConditions } from "../requests/conditions.ts";
import { SPAN_MS } from "../requests/totals.ts";

/** A search for keys. */
export interface SearchContext {
  readonly kind: Db["kind"];
  readonly accountId: string;
  /** Tells which keys have expired. */
  readonly atMs: number;
  readonly search: KeySearch;
}

/** Reads `columns` of one page. A cursor is an id, whose position is read from its row. */
export function pageSql(columns: string, context: SearchContext, { limit, after }: Page): Conditions {
  const { search } = context;
  const where = newConditions();
  const place = placeSql(where, context);
  const from = fromSql(where, context);
  addSearch(where, context);
  const [isBehind, order] = search.isAscending === true ? [">", "ASC"] : ["<", "DESC"];
  if (after !== null) {
    const last = `SELECT ${place}, k.id FROM ${from} WHERE k.account_id = ? AND k.id = ?`;
    where.add(`(${place}, k.id) ${isBehind} (${last})`, context.accountId, after);
  }
  const own = columns
    .split(",")
    .map((column) => `k.${column.trim()}`)
    .join(", ");
  const condition = where.sql();
  const rows = `$${where.params.push(limit)}`;
  const sql = `SELECT ${own} FROM ${from} WHERE ${condition} ORDER BY ${place} ${order}, k.id ${order} LIMIT ${rows}`;
  return { ...where, sql: () => sql };
}

/** Counts the keys on all pages together. */
export function countSql(context: SearchContext): Conditions {
  const where = newConditions();
  addSearch(where, context);
  const condition = where.sql();
  return { ...where, sql: () => `SELECT COUNT(*) AS keys FROM api_keys k WHERE ${condition}` };
}

/** Sums the spend only to sort by it. */
function fromSql({ params }: Conditions, { accountId, search }: SearchContext): string {
  if (search.sort !== "spend") return "api_keys k";
  const fromMs = Math.floor((search.spendFromMs ?? 0) / SPAN_MS.day) * SPAN_MS.day;
  const account = `$${params.push(accountId)}`;
  const start = `$${params.push(fromMs)}`;
  return `api_keys k LEFT JOIN (SELECT key_id, CAST(SUM(charge) AS BIGINT) AS spend FROM request_key_days
    WHERE account_id = ${account} AND start_at >= ${start} GROUP BY key_id) d ON d.key_id = k.id`;
}

/** SQL of the sort value, which comes before the id. */
function placeSql({ params }: Conditions, { kind, atMs, search }: SearchContext): string {
  const { sort = "created" } = search;
  const places: Readonly<Record<Exclude<KeySort, "status">, string>> = {
    created: "k.created_at",
    name: kind === "sqlite" ? "lower(k.name)" : 'lower(k.name) COLLATE "C"',
    lastUsed: "COALESCE(k.last_used_at, 0)",
    spend: "COALESCE(d.spend, 0)",
  };
  if (sort !== "status") return places[sort];
  const at = `CAST($${params.push(atMs)} AS BIGINT)`;
  return `(CASE WHEN k.revoked_at IS NOT NULL THEN 2 WHEN k.expires_at <= ${at} THEN 1 ELSE 0 END)`;
}

/** Conditions of each status, with a `?` for the time. */
const STATUS_SQL: Readonly<Record<KeyStatus, string>> = {
  active: "(k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?))",
  expired: "(k.revoked_at IS NULL AND k.expires_at <= ?)",
  revoked: "k.revoked_at IS NOT NULL",
};

function addSearch(where: Conditions, { kind, accountId, atMs, search }: SearchContext): void {
  where.add("k.account_id = ?", accountId);
  if (search.status !== undefined) where.add(STATUS_SQL[search.status], ...(search.status === "revoked" ? [] : [atMs]));
  addOwner(where, "k.profile_id", search.profileId);
  addOwner(where, "k.team_id", search.teamId);
  addOwner(where, "k.member_id", search.memberId);
  if (search.text === undefined) return;
  const has = kind === "sqlite" ? "instr" : "strpos";
  // The second term finds letters outside ASCII, which lower() of SQLite does not change.
  where.add(
    `(${has}(lower(k.name), lower(CAST(? AS TEXT))) > 0 OR ${has}(k.name, ?) > 0 OR ${has}(k.prefix, ?) = 1 OR k.id = ?)`,
    ...[search.text, search.text, search.text, search.text],
  );
}

function addOwner(where: Conditions, column: string, id: string | null | undefined): void {
  if (id === null) where.add(`${column} IS NULL`);
  else if (id !== undefined) where.add(`${column} = ?`, id);
}
