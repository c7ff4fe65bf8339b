// How many requests each provider failed, by hour and by day: few rows, as most requests are answered at the first try.

import type { Db, Statement } from "../../core/db.ts";
import type { FailureQuery, FailureRow } from "../../core/requests/log.ts";
import { failedProvidersOf, type RequestRecord } from "../../core/requests/records.ts";
import { createInsert } from "../dialect.ts";
import { newConditions } from "./conditions.ts";
import { DAY_MS, HOUR_MS } from "./rollup-write.ts";

const TABLE = "request_failures";

export interface FailureWriter {
  statements(records: readonly RequestRecord[]): readonly Statement[];
}

export function createFailureWriter(kind: Db["kind"]): FailureWriter {
  const insert = createInsert(
    kind,
    TABLE,
    [
      ...["account_id", "span", "key_id", "provider"].map((name) => ({ name, type: "TEXT" as const })),
      ...["start_at", "requests"].map((name) => ({ name, type: "BIGINT" as const })),
    ],
    `ON CONFLICT (account_id, span, start_at, key_id, provider)
     DO UPDATE SET requests = ${TABLE}.requests + excluded.requests`,
  );
  return {
    statements(records) {
      const rows = rowsOf(records);
      return rows.length === 0 ? [] : [insert(rows)];
    },
  };
}

type Cell = [string, string, string, string, number, number];

/** In one order, so that processes that write at once lock rows alike. */
function rowsOf(records: readonly RequestRecord[]): readonly Cell[] {
  const cells = new Map<string, Cell>();
  for (const record of records) {
    const { accountId, keyId, atMs } = record;
    for (const provider of failedProvidersOf(record)) {
      for (const [span, spanMs] of [["hour", HOUR_MS] as const, ["day", DAY_MS] as const]) {
        const startAt = Math.floor(atMs / spanMs) * spanMs;
        const name = `${accountId}\n${span}\n${startAt}\n${keyId}\n${provider}`;
        const cell = cells.get(name);
        if (cell === undefined) cells.set(name, [accountId, span, keyId, provider, startAt, 1]);
        else cell[5] += 1;
      }
    }
  }
  return [...cells].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}

interface Covered {
  readonly span: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export async function readFailures(
  db: Db,
  { accountId, keyId, step }: FailureQuery,
  { span, fromMs, toMs }: Covered,
): Promise<readonly FailureRow[]> {
  const where = newConditions();
  where.add("account_id = ? AND span = ?", accountId, span);
  where.add("start_at >= ? AND start_at < ?", fromMs, toMs);
  if (keyId !== undefined) where.add("key_id = ?", keyId);
  const by = [...(step === "total" ? [] : ["start_at"]), "provider"].join(", ");
  const sql = `SELECT ${by}, CAST(SUM(requests) AS BIGINT) AS requests FROM ${TABLE} WHERE ${where.sql()} GROUP BY ${by} ORDER BY ${by}`;
  return (await db.query(sql, where.params)).map((row) => ({
    startMs: step === "total" ? fromMs : Number(row.start_at),
    provider: String(row.provider),
    requests: Number(row.requests),
  }));
}
