// Chooses how to find the requests of a filter. If many requests have the account or tag, reading all requests in order
// takes a third of the time of an index lookup for each.

import type { Db } from "../../core/db.ts";
import type { RequestFilter } from "../../core/requests/log.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import { addIds, BY_INDEX, newConditions, type RequestAccess } from "./conditions.ts";

/** Newest requests of all accounts, from which the share of matching ones is estimated. */
const LOOKED_AT = 300;
const SCANNED_SHARE = 1 / 3;

/** Filters with an index of few requests, which is always faster. */
const INDEXED = ["isFallback", "answeredAt", "failedProvider", "user", "session", "words", "requestIdStart"] as const;

/** Index lookups that take as long as reading a few hundred thousand requests in order. */
const SCANNED_TAGS = 50_000;

export async function accessOf(db: Db, filter: RequestFilter): Promise<RequestAccess> {
  const { accountId, keyId, fromMs, toMs, status, tag } = filter;
  const isTagScanned = tag !== undefined && (await isCommonTag(db, accountId, tag, SCANNED_TAGS));
  const isTagIndexed = tag !== undefined && !isTagScanned;
  // PostgreSQL knows how many requests an account has.
  const hasIndex =
    db.kind === "postgres" ||
    isTagIndexed ||
    INDEXED.some((name) => filter[name] !== undefined) ||
    status?.kind === "error";
  if (hasIndex) return { account: "account_id", isTagScanned };
  const where = newConditions();
  addIds(where, fromMs, recordIdAt(toMs ?? Number.MAX_SAFE_INTEGER));
  const sql = `SELECT account_id, key_id FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT ${LOOKED_AT}`;
  const rows = await db.query(sql, where.params);
  const own = rows.filter((row) => row.account_id === accountId && (keyId === undefined || row.key_id === keyId));
  return { account: own.length > rows.length * SCANNED_SHARE ? "+account_id" : "account_id", isTagScanned };
}

/** Filters that the narrow index can answer. */
const COVERED = ["accountId", "fromMs", "toMs", "latency", "tokens", "cost"];

/** Chooses the access for statements that need only columns of the narrow index. */
export async function narrowAccessOf(db: Db, filter: RequestFilter): Promise<RequestAccess> {
  return Object.keys(filter).every((name) => COVERED.includes(name)) ? BY_INDEX : accessOf(db, filter);
}

/** True if many requests have the tag. */
export async function isCommonTag(
  db: Db,
  accountId: string,
  { name, value }: NonNullable<RequestFilter["tag"]>,
  most: number,
): Promise<boolean> {
  const where = newConditions();
  where.add("account_id = ? AND name = ?", accountId, name);
  if (value !== null) where.add("value = ?", value);
  const sql = `SELECT 1 FROM request_tags WHERE ${where.sql()} LIMIT ${most}`;
  const [row] = await db.query(`SELECT COUNT(*) AS tags FROM (${sql}) AS first`, where.params);
  return Number(row?.tags) === most;
}
