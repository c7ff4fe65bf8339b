// How SQLite reaches the requests of a filter. Where most requests of the time belong to the account, and key, that is asked
// for, reading all of them in order takes a third of the time that looking each up by an index takes.

import type { Db } from "../../core/db.ts";
import type { RequestFilter } from "../../core/requests/log.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import { addIds, newConditions } from "./conditions.ts";

/** The newest requests of all accounts show how many of them are looked for. */
const LOOKED_AT = 300;
const SCANNED_SHARE = 1 / 3;

/** What an index of few requests can answer, which is always the shorter way. */
const INDEXED = [
  "isFallback",
  "answeredAt",
  "failedProvider",
  "user",
  "session",
  "tag",
  "words",
  "requestIdStart",
] as const;

/** The column of the account: a plus in front of it keeps its indexes out of a statement. */
export async function accountColumn(db: Db, filter: RequestFilter): Promise<"account_id" | "+account_id"> {
  const { accountId, keyId, fromMs, toMs, status } = filter;
  const hasIndex = INDEXED.some((name) => filter[name] !== undefined) || status?.kind === "error";
  if (db.kind !== "sqlite" || hasIndex) return "account_id";
  const where = newConditions();
  addIds(where, fromMs, recordIdAt(toMs ?? Number.MAX_SAFE_INTEGER));
  const sql = `SELECT account_id, key_id FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT ${LOOKED_AT}`;
  const rows = await db.query(sql, where.params);
  const own = rows.filter((row) => row.account_id === accountId && (keyId === undefined || row.key_id === keyId));
  return own.length > rows.length * SCANNED_SHARE ? "+account_id" : "account_id";
}
