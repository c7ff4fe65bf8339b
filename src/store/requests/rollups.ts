// Reads the usage totals and the provider failures: by hour, by day or over the whole range.

import type { Db, SqlRow } from "../../core/db.ts";
import type {
  FailureQuery,
  FailureRow,
  ProfileUsage,
  UsageLog,
  UsageQuery,
  UsageRow,
} from "../../core/requests/log.ts";
import { newConditions } from "./conditions.ts";
import { readKeyDays, readTopKeys } from "./key-days.ts";
import { addGroupFilter, GROUP_COLUMNS, withTimes } from "./times.ts";
import { ALL_KEYS, COUNTS, FIRST_CONTENT_COLUMNS, LATENCY_COLUMNS, OVERHEAD_COLUMNS, SPAN_MS, SUMS } from "./totals.ts";

/** Longer totals are read from days, so that a year costs no more than a week. */
const HOURLY_TOTAL_MAX_MS = 8 * SPAN_MS.day;

const sumsSql = (names: readonly string[]): string =>
  names.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ");
const ALL_SQL = sumsSql(SUMS);
const COUNTS_SQL = sumsSql(COUNTS);

/** A chart of any length reads hours or days, never single requests. */
export function createUsageLog(db: Db): UsageLog {
  return {
    async read(query) {
      const { span, fromMs, toMs } = coverage(query);
      const where = newConditions();
      const isOfKeys = query.group === "key" || query.keyId !== undefined;
      where.add("account_id = ? AND span = ?", query.accountId, isOfKeys ? span : ALL_KEYS[span]);
      where.add("start_at >= ? AND start_at < ?", fromMs, toMs);
      addGroupFilter(where, query);
      const by = [
        ...(query.step === "total" ? [] : ["start_at"]),
        ...(query.group === null ? [] : [GROUP_COLUMNS[query.group]]),
      ];
      const order = by.length === 0 ? "" : ` GROUP BY ${by.join(", ")} ORDER BY ${by.join(", ")}`;
      const sql = `SELECT ${[...by, query.hasSpread === false ? COUNTS_SQL : ALL_SQL].join(", ")} FROM request_rollups WHERE ${where.sql()}${order}`;
      const rows = await db.query(sql, where.params);
      const counted = rows.filter((row) => row.requests != null).map((row) => toUsage(row, query, fromMs));
      return { rows: await withTimes(db, counted, { ...query, fromMs, toMs }), fromMs, toMs };
    },
    topKeys: (query, most) => readTopKeys(db, query, { ...coverage({ ...query, step: "total" }), most }),
    ofKeys: (accountId, keyIds, fromMs) => readKeyDays(db, accountId, keyIds, fromMs),
    async ofProfiles(accountId, fromMs) {
      const rows = await db.query(OF_PROFILES, [accountId, fromMs]);
      return new Map(rows.map((row) => [String(row.profile_id), toProfileUsage(row)]));
    },
    async failures(query) {
      const covered = coverage(query);
      const { fromMs, toMs } = covered;
      return { rows: await readFailures(db, query, covered), fromMs, toMs };
    },
  };
}

const OF_PROFILES = `SELECT profile_id, ${sumsSql(["requests", "charge", "baseline"])} FROM request_counts
  WHERE account_id = $1 AND span = 'day' AND start_at >= $2 AND profile_id <> '' GROUP BY profile_id`;

function toProfileUsage(row: SqlRow): ProfileUsage {
  return {
    requests: Number(row.requests),
    charge: BigInt(row.charge as number),
    baseline: BigInt(row.baseline as number),
  };
}

/** Rounds a query to whole hours or days. */
interface Covered {
  readonly span: keyof typeof SPAN_MS;
  readonly fromMs: number;
  readonly toMs: number;
}

function coverage({ fromMs, toMs, step }: Pick<UsageQuery, "fromMs" | "toMs" | "step">): Covered {
  const isHourly = step === "hour" || (step === "total" && toMs - fromMs <= HOURLY_TOTAL_MAX_MS);
  const span = isHourly ? "hour" : "day";
  const unit = SPAN_MS[span];
  return {
    span,
    fromMs: Math.floor(fromMs / unit) * unit,
    toMs: Math.ceil(toMs / unit) * unit,
  };
}

/** Reads named sums. The group is null if its column is empty. */
function toUsage(row: SqlRow, { step, group, hasSpread }: UsageQuery, fromMs: number): UsageRow {
  const spread = (columns: readonly string[]): readonly number[] =>
    hasSpread === false ? [] : columns.map((column) => Number(row[column]));
  const name = group === null ? "" : String(row[GROUP_COLUMNS[group]]);
  return {
    times: null,
    startMs: step === "total" ? fromMs : Number(row.start_at),
    group: name === "" ? null : name,
    requests: Number(row.requests),
    errors: Number(row.errors),
    fallbacks: Number(row.fallbacks),
    answered: {
      first: Number(row.answered_first),
      second: Number(row.answered_second),
      later: Number(row.answered_later),
      none: Number(row.answered_none),
      unknown: Number(row.requests) - Number(row.answered_known),
    },
    buckets: {
      input: Number(row.input_tokens),
      cacheRead: Number(row.cache_read_tokens),
      cacheWrite: Number(row.cache_write_tokens),
      output: Number(row.output_tokens),
    },
    charge: BigInt(row.charge as number),
    baseline: BigInt(row.baseline as number),
    latencyMsSum: Number(row.latency_ms),
    latencies: spread(LATENCY_COLUMNS),
    firstContents: spread(FIRST_CONTENT_COLUMNS),
    firstContentMsSum: Number(row.first_content_ms),
    overheadMsSum: Number(row.overhead_ms),
    overheads: spread(OVERHEAD_COLUMNS),
  };
}

async function readFailures(
  db: Db,
  { accountId, keyId, step }: FailureQuery,
  { span, fromMs, toMs }: Covered,
): Promise<readonly FailureRow[]> {
  const where = newConditions();
  where.add("account_id = ? AND span = ?", accountId, span);
  where.add("start_at >= ? AND start_at < ?", fromMs, toMs);
  if (keyId !== undefined) where.add("key_id = ?", keyId);
  const by = [...(step === "total" ? [] : ["start_at"]), "provider"].join(", ");
  const sql = `SELECT ${by}, CAST(SUM(requests) AS BIGINT) AS requests FROM request_failures WHERE ${where.sql()} GROUP BY ${by} ORDER BY ${by}`;
  return (await db.query(sql, where.params)).map((row) => ({
    startMs: step === "total" ? fromMs : Number(row.start_at),
    provider: String(row.provider),
    requests: Number(row.requests),
  }));
}
