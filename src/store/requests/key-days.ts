// What each key did on each day: summed from the rollups of a batch when that is written, and read for a page of keys.

import type { Db } from "../../core/db.ts";
import type { NanoUsd } from "../../core/money.ts";
import type { KeyDay } from "../../core/requests/log.ts";
import { type InsertShape, inListSql, integer, listValue, text } from "../dialect.ts";

/** A day with the key that it belongs to. */
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

/** Rows that are there already are added to. */
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

/** The part of a rollup that is summed here. */
interface RollupPart {
  readonly record: { readonly accountId: string; readonly keyId: string };
  readonly span: "hour" | "day";
  readonly startMs: number;
  readonly counts: { readonly requests: number; readonly errors: number };
  readonly charge: NanoUsd;
  readonly baseline: NanoUsd;
}

/** From the rollups by day, which are fewer than the records. */
export function keyDaysOf(rollups: Iterable<RollupPart>): ReadonlyMap<string, WrittenDay> {
  const days = new Map<string, WrittenDay>();
  for (const { record, span, startMs, counts, charge, baseline } of rollups) {
    if (span === "hour") continue;
    const { accountId, keyId } = record;
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

/** By key, oldest day first; keys and days without requests have none. */
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
    days.push({
      startMs: Number(row.start_at),
      requests: Number(row.requests),
      errors: Number(row.errors),
      charge: BigInt(row.charge as number),
      baseline: BigInt(row.baseline as number),
    });
    found.set(String(row.key_id), days);
  }
  return found;
}
