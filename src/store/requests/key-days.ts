// Totals by key and day: summed from the rollups of a written batch, and read for a page of keys.

import type { Db, SqlRow } from "../../core/db.ts";
import type { NanoUsd } from "../../core/money.ts";
import type { KeyDay, KeyUsage, UsageQuery } from "../../core/requests/log.ts";
import { type InsertShape, inListSql, integer, listValue, text } from "../dialect.ts";
import { newConditions } from "./conditions.ts";

/** Totals of a key on a day. */
interface WrittenDay {
  readonly accountId: string;
  readonly keyId: string;
  readonly startMs: number;
  requests: number;
  errors: number;
  charge: NanoUsd;
  baseline: NanoUsd;
}

const SUMS = ["requests", "errors", "charge", "baseline"] as const;

/** Inserts days or adds to existing rows. */
export const KEY_DAYS: InsertShape<WrittenDay> = {
  table: "request_key_days",
  columns: {
    account_id: text((day) => day.accountId),
    key_id: text((day) => day.keyId),
    start_at: integer((day) => day.startMs),
    requests: integer((day) => day.requests),
    errors: integer((day) => day.errors),
    charge: integer((day) => day.charge),
    baseline: integer((day) => day.baseline),
  },
  onConflict: `ON CONFLICT (account_id, key_id, start_at) DO UPDATE SET
    ${SUMS.map((name) => `${name} = request_key_days.${name} + excluded.${name}`).join(", ")}`,
};

/** Fields of a rollup that are summed here. */
interface RollupPart {
  readonly accountId: string;
  readonly summary: { readonly keyId: string };
  readonly span: string;
  readonly startMs: number;
  readonly counts: { readonly requests: number; readonly errors: number };
  readonly charge: NanoUsd;
  readonly baseline: NanoUsd;
}

/** Sums daily rollups, which are fewer than the records. */
export function keyDaysOf(rollups: Iterable<RollupPart>): ReadonlyMap<string, WrittenDay> {
  const days = new Map<string, WrittenDay>();
  for (const { accountId, summary, span, startMs, counts, charge, baseline } of rollups) {
    if (span !== "day") continue;
    const { keyId } = summary;
    const { requests, errors } = counts;
    const name = `${accountId}\n${keyId}\n${startMs}`;
    const known = days.get(name);
    if (known === undefined) days.set(name, { accountId, keyId, startMs, requests, errors, charge, baseline });
    else {
      known.requests += requests;
      known.errors += errors;
      known.charge += charge;
      known.baseline += baseline;
    }
  }
  return days;
}

/** Reads days by key, oldest first. Days without requests have no row. */
export async function readKeyDays(
  db: Db,
  accountId: string,
  keyIds: readonly string[],
  fromMs: number,
): Promise<ReadonlyMap<string, readonly KeyDay[]>> {
  const sql = `SELECT key_id, start_at, ${SUMS.join(", ")} FROM request_key_days
    WHERE account_id = $1 AND ${inListSql(db.kind, "key_id", "$2")} AND start_at >= $3 ORDER BY key_id, start_at`;
  const found = new Map<string, KeyDay[]>();
  for (const row of await db.query(sql, [accountId, listValue(db.kind, keyIds), fromMs])) {
    const days = found.get(String(row.key_id)) ?? [];
    days.push({ startMs: Number(row.start_at), ...readSums(row) });
    found.set(String(row.key_id), days);
  }
  return found;
}

/** Hours are only in the rollups. This table has days in far fewer columns. */
const TABLES = { hour: "request_rollups", day: "request_key_days" } as const;

/** Reads the keys with the highest cost, dearest first. */
export async function readTopKeys(
  db: Db,
  { accountId, keyId }: Pick<UsageQuery, "accountId" | "keyId">,
  { span, fromMs, toMs, most }: { span: "hour" | "day"; fromMs: number; toMs: number; most: number },
): Promise<readonly KeyUsage[]> {
  const where = newConditions();
  where.add("account_id = ?", accountId);
  if (span === "hour") where.add("span = 'hour'");
  where.add("start_at >= ? AND start_at < ?", fromMs, toMs);
  if (keyId !== undefined) where.add("key_id = ?", keyId);
  const sums = SUMS.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ");
  const sql = `SELECT key_id, ${sums} FROM ${TABLES[span]} WHERE ${where.sql()}
    GROUP BY key_id ORDER BY SUM(charge) DESC, key_id LIMIT ${most}`;
  return (await db.query(sql, where.params)).map((row) => ({ keyId: String(row.key_id), ...readSums(row) }));
}

function readSums(row: SqlRow): Omit<KeyUsage, "keyId"> {
  return {
    requests: Number(row.requests),
    errors: Number(row.errors),
    charge: BigInt(row.charge as number),
    baseline: BigInt(row.baseline as number),
  };
}
