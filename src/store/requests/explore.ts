// Explore: sums and percentiles of requests by one or two dimensions. Reads hourly and daily totals if they have the
// dimensions and filters, otherwise the requests. Only the largest values get their own rows.

import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import { estimatedPercentileMs, LATENCY_BOUNDS_MS, percentileMs } from "../../core/requests/buckets.ts";
import {
  type ExploreLog,
  type ExploreQuery,
  type ExploreRow,
  type ExploreValue,
  METRICS,
  type Metric,
  type PercentileMetric,
  TAG,
} from "../../core/requests/explore.ts";
import { accessOf } from "./access.ts";
import {
  addAll,
  addFilter,
  BY_INDEX,
  COUNTED_FIELDS,
  type Conditions,
  newConditions,
  type RequestAccess,
} from "./conditions.ts";
import { ALL_KEYS, FIRST_CONTENT_COLUMNS, LATENCY_COLUMNS, SPAN_MS } from "./totals.ts";

export function createExploreLog(db: Db): ExploreLog {
  return {
    async read(query) {
      const plan = await planOf(query, db);
      const { params, sql } = readSql(query, plan);
      const rows = (await db.query(sql(), params)).filter((row) => row.n != null);
      // Totals have no times if all their requests came without content.
      const made = rows.map((row) => toRow(row, query)).filter(({ requests }) => requests > 0);
      return {
        rows: await withExact(db, made, query, plan),
        values: query.by.map((_, index) => Number(rows[0]?.[`values${index}`] ?? 0)),
        fromMs: plan.fromMs,
        toMs: plan.toMs,
        source: [TOTALS, KEY_DAYS].includes(plan.source) ? "totals" : "requests",
      };
    },
  };
}

/** A table to read, with its columns by dimension, and its sums. */
interface Source {
  readonly table: "request_key_days" | "request_rollups" | "request_counts" | "requests";
  readonly columns: Readonly<Record<string, string>>;
  readonly sums: Readonly<Partial<Record<Metric, string>>>;
  /** Filters that the columns can answer; null for all. */
  readonly filters: readonly string[] | null;
}

const GROUPS = { model: "model", tier: "tier", key: "key_id", status: "status" };
const TOKENS = {
  inputTokens: "input_tokens + cache_read_tokens + cache_write_tokens",
  cachedTokens: "cache_read_tokens",
  outputTokens: "output_tokens",
};

/** Totals: kept for years, with the spread of times. */
const TOTALS: Source = {
  table: "request_rollups",
  columns: { ...GROUPS, hour: "start_at", day: "start_at" },
  sums: { ...TOKENS, requests: "requests", errors: "errors", cost: "charge", saved: "baseline - charge" },
  filters: ["accountId", "tier", "model", "keyId"],
};

const LOGGED = { ...GROUPS, ...Object.fromEntries(COUNTED_FIELDS.map(({ api, column }) => [api, column])) };

/** Counters: counts and money for more dimensions, kept as long as the requests. */
const COUNTERS: Source = {
  table: "request_counts",
  columns: { ...LOGGED, hour: "start_at", day: "start_at" },
  sums: { requests: "requests", errors: "requests * is_error", cost: "charge", saved: "baseline - charge" },
  filters: ["accountId", "status", ...COUNTED_FIELDS.map(({ name }) => name)],
};

/** Requests: the source for every query, and the slowest. */
const REQUESTS: Source = {
  table: "requests",
  columns: {
    ...LOGGED,
    hour: `(created_at / ${SPAN_MS.hour}) * ${SPAN_MS.hour}`,
    day: `(created_at / ${SPAN_MS.day}) * ${SPAN_MS.day}`,
    user: "end_user",
    session: "session",
    team: "team_id",
    member: "member_id",
    sessionState: "session_state",
  },
  sums: {
    ...TOKENS,
    requests: "1",
    errors: "is_error",
    cost: "charge",
    saved: "CASE WHEN is_error = 1 THEN 0 ELSE baseline - charge END",
  },
  filters: null,
};

/** Looks up a tag by its index, only for requests with tags. */
const LOOKED_UP = "(SELECT t.value FROM request_tags t WHERE t.id = requests.id AND t.name = ?)";
const TAG_SQL = `CASE WHEN tags = '' THEN '' ELSE COALESCE(${LOOKED_UP}, '') END`;
/** Reads a tag from JSON in less than half the time. SQLite paths cannot contain a quote. */
const JSON_TAG_SQL = "CASE WHEN tags = '' THEN '' ELSE COALESCE(json_extract(tags, ?), '') END";
/** Cuts a tag out of JSON, which PostgreSQL does much faster than parsing. Text with escapes is looked up. */
const CUT_TAG_SQL = `CASE WHEN tags = '' THEN '' WHEN strpos(tags, '\\') > 0 THEN COALESCE(${LOOKED_UP}, '')
  ELSE split_part(split_part(tags, '"' || ? || '":"', 2), '"', 1) END`;
const PATH_NAME = /^[\w.:/ -]+$/;

/** Daily totals by key. With many keys, the other totals have far more rows. */
const KEY_DAYS: Source = {
  table: "request_key_days",
  columns: { key: "key_id", day: "start_at" },
  sums: { requests: "requests", errors: "errors", cost: "charge", saved: "baseline - charge" },
  filters: ["accountId", "keyId"],
};

/** Range in whole hours or days, and the table to read. */
interface Plan {
  readonly kind: Db["kind"];
  readonly fromMs: number;
  readonly toMs: number;
  readonly span: keyof typeof SPAN_MS;
  /** True if the key of a request matters. */
  readonly isOfKeys: boolean;
  readonly source: Source;
  readonly access: RequestAccess;
}

/** Longer totals are read from days, so that a year costs no more than a week. */
const HOURLY_TOTAL_MAX_MS = 8 * SPAN_MS.day;

/** Chooses the first source that can answer the query. */
async function planOf({ fromMs, toMs, by, filter, metric }: ExploreQuery, db: Db): Promise<Plan> {
  const isHourly = by.includes("hour") || (!by.includes("day") && toMs - fromMs <= HOURLY_TOTAL_MAX_MS);
  const span = isHourly ? "hour" : "day";
  const unitMs = SPAN_MS[span];
  const fits = ({ table, columns, sums, filters }: Source): boolean =>
    by.every((name) => name in columns) &&
    (metric in sums || (METRICS[metric] === "percentile" && table === "request_rollups")) &&
    Object.keys(filter).every((name) => filters === null || filters.includes(name));
  const isOfKeys = by.includes("key") || filter.keyId !== undefined;
  const source = [...(isOfKeys && !isHourly ? [KEY_DAYS] : []), TOTALS, COUNTERS].find(fits) ?? REQUESTS;
  return {
    kind: db.kind,
    fromMs: Math.floor(fromMs / unitMs) * unitMs,
    toMs: Math.ceil(toMs / unitMs) * unitMs,
    span,
    isOfKeys,
    source,
    access: source === REQUESTS ? await accessOf(db, { ...filter, fromMs, toMs }) : BY_INDEX,
  };
}

interface Timing {
  readonly column: "latency_ms" | "first_content_ms";
  readonly buckets: readonly string[];
  readonly share: number;
}

const latency: Omit<Timing, "share"> = { column: "latency_ms", buckets: LATENCY_COLUMNS };
const ttft: Omit<Timing, "share"> = { column: "first_content_ms", buckets: FIRST_CONTENT_COLUMNS };
const TIMINGS: Readonly<Record<PercentileMetric, Timing>> = {
  latencyP50: { ...latency, share: 0.5 },
  latencyP95: { ...latency, share: 0.95 },
  ttftP50: { ...ttft, share: 0.5 },
  ttftP95: { ...ttft, share: 0.95 },
};

function timingOf({ metric }: ExploreQuery): Timing | null {
  return (TIMINGS as Readonly<Record<string, Timing>>)[metric] ?? null;
}

const isTime = (name: string): boolean => name === "hour" || name === "day";

/**
 * Groups once (`g`, with dimensions `d0` and `d1`), and reads from that the largest values (`t0`, `t1`) and the rows. For
 * other values, `k0` or `k1` is null and `other0` or `other1` is 1.
 */
function readSql(query: ExploreQuery, plan: Plan): Conditions {
  const { by, top } = query;
  const where = newConditions();
  const grouped = groupedSql(where, query, plan);
  if (by.length === 1 && !by.some(isTime) && timingOf(query) === null) {
    const sql = oneDimensionSql(grouped, top);
    return { ...where, sql: () => sql };
  }
  const rank = timingOf(query) === null ? "v" : "n";
  const kept = by.map((name, at) => ({ at, dimension: `d${at}`, isWhole: isTime(name) }));
  const ranked = kept.filter(({ isWhole }) => !isWhole);
  const tops = ranked.map(
    ({ at, dimension }) =>
      `, t${at} AS (SELECT ${dimension} FROM g GROUP BY ${dimension} ORDER BY SUM(${rank}) DESC, ${dimension} LIMIT ${top})`,
  );
  const joins = ranked.map(({ at, dimension }) => ` LEFT JOIN t${at} ON t${at}.${dimension} = g.${dimension}`);
  const columns = kept.flatMap(({ at, dimension, isWhole }) => [
    `${isWhole ? "g" : `t${at}`}.${dimension} AS k${at}`,
    `${isWhole ? "0" : `CASE WHEN t${at}.${dimension} IS NULL THEN 1 ELSE 0 END`} AS other${at}`,
  ]);
  const groups = kept.flatMap(({ at }) => [at * 2 + 1, at * 2 + 2]).join(", ");
  const counts = kept.map(({ at, dimension }) => `(SELECT COUNT(DISTINCT ${dimension}) FROM g) AS values${at}`);
  const sql = `WITH g AS MATERIALIZED (${grouped})${tops.join("")}
    SELECT ${[...columns, ...sumsSql(query, plan), ...counts].join(", ")} FROM g${joins.join("")} GROUP BY ${groups}`;
  return { ...where, sql: () => sql };
}

/** Reads one dimension. A value is one row of `g`, so nothing is grouped again: sessions are nearly as many as requests. */
function oneDimensionSql(grouped: string, top: number): string {
  const rest = (name: string): string => `CAST(SUM(${name}) - (SELECT SUM(${name}) FROM t) AS BIGINT)`;
  return `WITH g AS MATERIALIZED (${grouped}),
    t AS MATERIALIZED (SELECT d0, n, v FROM g ORDER BY v DESC, d0 LIMIT ${top})
    SELECT d0 AS k0, 0 AS other0, n, v, (SELECT COUNT(*) FROM g) AS values0 FROM t
    UNION ALL SELECT NULL, 1, ${rest("n")}, ${rest("v")}, COUNT(*) FROM g`;
}

/** Groups by all dimensions, with the sum (`v`) or the counts by bucket, and the number of requests (`n`). */
function groupedSql(where: Conditions, query: ExploreQuery, plan: Plan): string {
  const { by, filter, metric } = query;
  const { source } = plan;
  const timing = timingOf(query);
  const sum = (expression: string, name: string): string =>
    `CAST(COALESCE(SUM(${expression}), 0) AS BIGINT) AS ${name}`;
  const columns = by.map((name, at) => `${dimensionSql(where, name, plan)} AS d${at}`);
  const groups = by.map((_, at) => at + 1);
  if (source.table === "requests") addRequests(where, query, plan);
  else {
    if (source !== KEY_DAYS) where.add("span = ?", spanOf(plan));
    where.add("start_at >= ? AND start_at < ?", plan.fromMs, plan.toMs);
    addFilter(where, filter);
  }
  columns.push(sum(source.sums.requests ?? "1", "n"));
  if (timing === null) columns.push(sum(source.sums[metric] ?? "0", "v"));
  else if (source.table === "requests") {
    where.add(`${timing.column} IS NOT NULL`);
    const bounds = LATENCY_BOUNDS_MS.map((bound, at) => `WHEN ${timing.column} <= ${bound} THEN ${at}`);
    columns.push(`CASE ${bounds.join(" ")} ELSE ${LATENCY_BOUNDS_MS.length} END AS bucket`);
    groups.push(columns.length);
  } else columns.push(...timing.buckets.map((column, at) => sum(column, `c${at}`)));
  return `SELECT ${columns.join(", ")} FROM ${source.table} WHERE ${where.sql()} GROUP BY ${groups.join(", ")}`;
}

/** Names the span. Only totals have spans of all keys together. */
function spanOf({ source, span, isOfKeys }: Plan): string {
  return source === TOTALS && !isOfKeys ? ALL_KEYS[span] : span;
}

/** Writes the SQL of a dimension. The parameter of the dimension precedes those of the conditions, as in the text. */
function dimensionSql({ params }: Conditions, dimension: string, { kind, source }: Plan): string {
  const column = source.columns[dimension];
  if (column !== undefined) return column;
  const name = dimension.slice(TAG.length);
  const isPath = kind === "sqlite" && PATH_NAME.test(name);
  const place = `$${params.push(isPath ? `$."${name}"` : name)}`;
  const sql = isPath ? JSON_TAG_SQL : kind === "sqlite" ? TAG_SQL : CUT_TAG_SQL;
  // PostgreSQL needs a type if the context shows none.
  return sql.replaceAll("?", () => (kind === "sqlite" ? place : `CAST(${place} AS TEXT)`));
}

/** Adds the filter on requests. */
function addRequests(where: Conditions, { filter }: ExploreQuery, { kind, fromMs, toMs, access }: Plan): void {
  addAll(where, kind, { ...filter, fromMs, toMs }, access);
}

/** Writes the sums over `g`. */
function sumsSql(query: ExploreQuery, { source }: Plan): readonly string[] {
  const sum = (expression: string, name: string): string => `CAST(SUM(${expression}) AS BIGINT) AS ${name}`;
  const timing = timingOf(query);
  if (timing === null) return [sum("g.n", "n"), sum("g.v", "v")];
  const countOf = (at: number): string =>
    source === TOTALS ? `g.c${at}` : `CASE WHEN g.bucket = ${at} THEN g.n ELSE 0 END`;
  return [sum("g.n", "n"), ...timing.buckets.map((_, at) => sum(countOf(at), `c${at}`))];
}

function toRow(row: SqlRow, query: ExploreQuery): ExploreRow {
  const by = query.by.map(
    (name, at): ExploreValue => toValue(name, row[`k${at}`] ?? null, Number(row[`other${at}`]) === 1),
  );
  const timing = timingOf(query);
  if (timing === null) {
    const sum = row.v ?? 0;
    return { by, requests: Number(row.n), value: METRICS[query.metric] === "usd" ? BigInt(sum) : Number(sum) };
  }
  const counts = timing.buckets.map((_, at) => Number(row[`c${at}`]));
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { by, requests, value: estimatedPercentileMs(counts, timing.share) };
}

/** Reads a value. Requests without a value have the empty text. */
function toValue(name: string, value: SqlValue, isOther: boolean): ExploreValue {
  if (isTime(name)) return { value: Number(value), isOther: false };
  return { value: isOther || value === "" ? null : String(value), isOther };
}

/** Most times to read, in a few milliseconds. With more, buckets give good percentiles. */
const EXACT_MAX = 1_000;

/** Computes percentiles of few requests from their times, if all are still in the log. */
async function withExact(
  db: Db,
  rows: readonly ExploreRow[],
  query: ExploreQuery,
  plan: Plan,
): Promise<readonly ExploreRow[]> {
  const timing = timingOf(query);
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  if (timing === null || total === 0 || total > EXACT_MAX) return rows;
  const where = newConditions();
  const dimensions = query.by.map(
    (name, at) => `${dimensionSql(where, name, { ...plan, source: REQUESTS })} AS d${at}`,
  );
  addRequests(where, query, plan);
  where.add(`${timing.column} IS NOT NULL`);
  const sql = `SELECT ${[...dimensions, `${timing.column} AS ms`].join(", ")} FROM requests WHERE ${where.sql()} LIMIT ${EXACT_MAX + 1}`;
  const kept = query.by.map(
    (_, at) => new Set(rows.flatMap(({ by }) => (by[at]?.isOther === false ? [by[at].value] : []))),
  );
  const times = new Map<string, number[]>();
  for (const found of await db.query(sql, where.params)) {
    const by = query.by.map((name, at) => toValue(name, found[`d${at}`] ?? null, false));
    const name = nameOf(by.map((each, at) => (kept[at]?.has(each.value) ? each : { value: null, isOther: true })));
    times.set(name, [...(times.get(name) ?? []), Number(found.ms)]);
  }
  return rows.map((row) => {
    const own = times.get(nameOf(row.by));
    return own?.length === row.requests ? { ...row, value: percentileMs(own, timing.share) } : row;
  });
}

function nameOf(by: readonly ExploreValue[]): string {
  return JSON.stringify(by.map(({ value, isOther }) => [value, isOther]));
}
