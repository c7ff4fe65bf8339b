// The times of single requests. Percentiles of few requests cannot be computed from buckets.

import type { Db } from "../../core/db.ts";
import type { UsageGroup, UsageQuery, UsageRow } from "../../core/requests/log.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import { addIds, type Conditions, newConditions } from "./conditions.ts";
import { SPAN_MS } from "./totals.ts";

/** Most times to read, in a few milliseconds. With more, buckets give good percentiles. */
const READ_MAX = 1_000;

/** The column of each grouping the API offers. */
export const GROUP_COLUMNS: Readonly<Record<UsageGroup, string>> = {
  model: "model",
  tier: "tier",
  key: "key_id",
  status: "status",
};

/** The same columns in the totals and in the log. */
export function addGroupFilter(
  where: Conditions,
  { tier, model, keyId }: Pick<UsageQuery, "tier" | "model" | "keyId">,
): void {
  if (tier !== undefined) where.add("tier = ?", tier ?? "");
  if (model !== undefined) where.add("model = ?", model ?? "");
  if (keyId !== undefined) where.add("key_id = ?", keyId);
}

/** Adds the times of requests to rows, if they are few and all still in the log. */
export async function withTimes(db: Db, rows: readonly UsageRow[], query: UsageQuery): Promise<readonly UsageRow[]> {
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  if (query.hasSpread === false || total === 0 || total > READ_MAX) return rows;
  const found = await readTimes(db, query);
  return rows.map((row) => {
    const own = found.get(nameOf(row.startMs, row.group));
    return own?.latenciesMs.length === row.requests ? { ...row, times: own } : row;
  });
}

interface FoundTimes {
  readonly latenciesMs: number[];
  readonly firstContentsMs: number[];
}

async function readTimes(db: Db, query: UsageQuery): Promise<ReadonlyMap<string, FoundTimes>> {
  const { accountId, fromMs, toMs, step, group } = query;
  const where = newConditions();
  where.add("account_id = ?", accountId);
  addIds(where, fromMs, recordIdAt(toMs));
  addGroupFilter(where, query);
  const name = group === null ? "''" : GROUP_COLUMNS[group];
  const sql = `SELECT created_at, ${name} AS name, latency_ms, first_content_ms FROM requests WHERE ${where.sql()}`;
  const found = new Map<string, FoundTimes>();
  for (const row of await db.query(sql, where.params)) {
    const atMs = Number(row.created_at);
    const startMs = step === "total" ? fromMs : Math.floor(atMs / SPAN_MS[step]) * SPAN_MS[step];
    const key = nameOf(startMs, String(row.name) || null);
    const times = found.get(key) ?? { latenciesMs: [], firstContentsMs: [] };
    times.latenciesMs.push(Number(row.latency_ms));
    if (row.first_content_ms !== null) times.firstContentsMs.push(Number(row.first_content_ms));
    found.set(key, times);
  }
  return found;
}

function nameOf(startMs: number, group: string | null): string {
  return `${startMs} ${group ?? ""}`;
}
