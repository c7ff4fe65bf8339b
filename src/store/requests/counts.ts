// The counters beside the log: how many requests of each combination an hour and a day had. From them come the histogram
// over the log and the hours in which a page of it is to be looked for.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import { costStep, stepsOf } from "../../core/requests/cost-steps.ts";
import type { Histogram, HistogramBar, HistogramSpan, RequestFilter } from "../../core/requests/log.ts";
import { isAdjusted, isFailed, isFallenBack, type RequestRecord, recordIdAt } from "../../core/requests/records.ts";
import { type Column, createInsert } from "../dialect.ts";
import {
  addAnswered,
  addAttempts,
  addCost,
  addCostSteps,
  addFilter,
  addIds,
  addRequestId,
  isTriedAgain,
  newConditions,
} from "./conditions.ts";
import { DAY_MS, HOUR_MS } from "./rollup-write.ts";

const TEXTS = [
  "account_id",
  "span",
  "key_id",
  "model",
  "category",
  "tier",
  "profile",
  "provider",
  "profile_id",
] as const;
const NUMBERS = ["start_at", "status", "cost_step", "is_adjusted", "is_fallback", "is_error"] as const;
export const SPAN_MS = { hour: HOUR_MS, day: DAY_MS } as const;

export interface CountWriter {
  statements(records: readonly RequestRecord[]): readonly Statement[];
}

export function createCountWriter(kind: Db["kind"]): CountWriter {
  const columns: readonly Column[] = [
    ...TEXTS.map((name) => ({ name, type: "TEXT" as const })),
    ...[...NUMBERS, "requests"].map((name) => ({ name, type: "BIGINT" as const })),
  ];
  const insert = createInsert(
    kind,
    "request_counts",
    columns,
    `ON CONFLICT (account_id, span, start_at, key_id, model, category, tier, status, cost_step, is_adjusted, is_fallback,
      is_error, profile, provider, profile_id)
     DO UPDATE SET requests = request_counts.requests + excluded.requests`,
  );
  return { statements: (records) => [insert(cellsOf(records))] };
}

type Cell = [...key: (string | number)[], count: number];

/** In one order, so that processes that write at once lock rows alike. */
function cellsOf(records: readonly RequestRecord[]): readonly Cell[] {
  const cells = new Map<string, Cell>();
  for (const record of records) {
    for (const span of ["hour", "day"] as const) {
      const key = keyOf(record, span);
      const name = key.join("\n");
      const cell = cells.get(name);
      if (cell === undefined) cells.set(name, [...key, 1]);
      else (cell[key.length] as number) += 1;
    }
  }
  return [...cells].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}

function keyOf(record: RequestRecord, span: keyof typeof SPAN_MS): readonly (string | number)[] {
  const { decision, answeredBy } = record;
  return [
    record.accountId,
    span,
    record.keyId,
    answeredBy?.model ?? "",
    decision?.category ?? "",
    decision?.tier ?? "",
    decision?.profile ?? "",
    answeredBy?.provider ?? "",
    record.profileId ?? "",
    Math.floor(record.atMs / SPAN_MS[span]) * SPAN_MS[span],
    record.status,
    costStep(record.cost?.charge ?? null),
    isAdjusted(record) ? 1 : 0,
    isFallenBack(record) ? 1 : 0,
    isFailed(record) ? 1 : 0,
  ];
}

/** For counters whose whole day is over before that time. A seek for each account, not a walk. */
export const DELETE_COUNTS = `DELETE FROM request_counts
  WHERE account_id IN (SELECT id FROM accounts) AND span IN ('hour', 'day') AND start_at < $1`;

/**
 * From the counters; from the requests themselves where a cost lies between two steps, of the beginning of a request id, and
 * of the few that the first try did not answer.
 */
export async function readHistogram(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<Histogram> {
  const unitMs = SPAN_MS[span.step];
  const fromMs = Math.floor(span.fromMs / unitMs) * unitMs;
  const toMs = Math.ceil(span.toMs / unitMs) * unitMs;
  const whole = { ...span, fromMs, toMs };
  const rows = filter.answeredAt?.includes("first")
    ? await countFirstTries(db, filter, whole)
    : await countRows(db, filter, whole);
  return { bars: mergeBars(rows), fromMs, toMs };
}

async function countRows(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  if (filter.requestIdStart !== undefined || isTriedAgain(filter)) return countRequests(db, filter, span);
  if (filter.cost === undefined) return sumCounts(db, filter, { ...span, steps: null });
  const { whole: steps, edges } = stepsOf(filter.cost);
  const parts: (readonly SqlRow[])[] = [];
  if (steps !== null) parts.push(await sumCounts(db, filter, { ...span, steps }));
  for (const cost of edges) parts.push(await countRequests(db, { ...filter, cost }, span));
  return parts.flat();
}

/** Nearly all: what was answered, less what later tries answered. */
async function countFirstTries(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  const { answeredAt = [], ...rest } = filter;
  if (filter.failedProvider !== undefined || filter.requestIdStart !== undefined)
    return countRequests(db, filter, span);
  const others = (["second", "later"] as const).filter((at) => !answeredAt.includes(at));
  const answered = await countRows(db, { ...rest, answeredAt: ["first"] }, span);
  const later = others.length === 0 ? [] : await countRequests(db, { ...rest, answeredAt: others }, span);
  const failed = answeredAt.includes("none") ? await countRequests(db, { ...rest, answeredAt: ["none"] }, span) : [];
  const taken = later.map((row) => ({ ...row, requests: -Number(row.requests), errors: -Number(row.errors) }));
  return [...answered, ...taken, ...failed];
}

export interface CountSpan extends HistogramSpan {
  readonly steps: readonly [number, number] | null;
}

const SUM_COUNTS = `start_at, CAST(SUM(requests) AS BIGINT) AS requests, CAST(SUM(requests * is_error) AS BIGINT) AS errors
  FROM request_counts`;

/** One row for each hour or day that has some, oldest first. */
export async function sumCounts(db: Db, filter: RequestFilter, span: CountSpan): Promise<readonly SqlRow[]> {
  const where = newConditions();
  where.add("span = ? AND start_at >= ? AND start_at < ?", span.step, span.fromMs, span.toMs);
  addFilter(where, filter);
  addAnswered(where, filter);
  if (span.steps !== null) addCostSteps(where, span.steps);
  return db.query(`SELECT ${SUM_COUNTS} WHERE ${where.sql()} GROUP BY start_at ORDER BY start_at`, where.params);
}

export async function countRequests(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  const where = newConditions();
  const unitMs = SPAN_MS[span.step];
  addFilter(where, filter);
  addAttempts(where, filter);
  addIds(where, span.fromMs, recordIdAt(span.toMs));
  if (filter.requestIdStart !== undefined) addRequestId(where, filter.requestIdStart);
  if (filter.cost !== undefined) addCost(where, filter.cost);
  const columns = `(created_at / ${unitMs}) * ${unitMs} AS start_at, COUNT(*) AS requests, SUM(is_error) AS errors`;
  return db.query(`SELECT ${columns} FROM requests WHERE ${where.sql()} GROUP BY 1 ORDER BY 1`, where.params);
}

function mergeBars(rows: readonly SqlRow[]): readonly HistogramBar[] {
  const bars = new Map<number, HistogramBar>();
  for (const row of rows) {
    const startMs = Number(row.start_at);
    const { requests, errors } = bars.get(startMs) ?? { requests: 0, errors: 0 };
    bars.set(startMs, { startMs, requests: requests + Number(row.requests), errors: errors + Number(row.errors) });
  }
  return [...bars.values()].filter(({ requests }) => requests > 0).sort((a, b) => a.startMs - b.startMs);
}
