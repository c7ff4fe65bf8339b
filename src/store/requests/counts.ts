// The histogram of the request log, and counts per hour or day. Reads the counters of request_counts if they can answer
// the filter, otherwise the requests.

import type { Db, SqlRow } from "../../core/db.ts";
import { stepsOf } from "../../core/requests/buckets.ts";
import type { Histogram, HistogramBar, HistogramSpan, RequestFilter } from "../../core/requests/log.ts";
import { narrowAccessOf } from "./access.ts";
import {
  addAll,
  addAnswered,
  addCostSteps,
  addFilter,
  isTriedAgain,
  isUncounted,
  newConditions,
} from "./conditions.ts";
import { SPAN_MS } from "./totals.ts";

/**
 * Reads the histogram. Counters have no exact costs, request ids or attempts. For these, requests are counted where
 * necessary: few lie between two cost steps or needed a second attempt.
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

/** Counts whole cost steps from the counters, and both edges of the range from the requests. */
async function countRows(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  if (isUncounted(filter) || isTriedAgain(filter)) return countRequests(db, filter, span);
  if (filter.cost === undefined) return sumCounts(db, filter, { ...span, steps: null });
  const { whole: steps, edges } = stepsOf(filter.cost);
  const parts: (readonly SqlRow[])[] = [];
  if (steps !== null) parts.push(await sumCounts(db, filter, { ...span, steps }));
  for (const cost of edges) parts.push(await countRequests(db, { ...filter, cost }, span));
  return parts.flat();
}

/** Counts first attempts: all answered requests less those that later attempts answered. */
async function countFirstTries(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  const { answeredAt = [], ...rest } = filter;
  if (filter.failedProvider !== undefined || isUncounted(filter)) return countRequests(db, filter, span);
  const others = (["second", "later"] as const).filter((at) => !answeredAt.includes(at));
  const answered = await countRows(db, { ...rest, answeredAt: ["first"] }, span);
  const later = others.length === 0 ? [] : await countRequests(db, { ...rest, answeredAt: others }, span);
  const failed = answeredAt.includes("none") ? await countRequests(db, { ...rest, answeredAt: ["none"] }, span) : [];
  const taken = later.map((row) => ({ ...row, requests: -Number(row.requests), errors: -Number(row.errors) }));
  return [...answered, ...taken, ...failed];
}

/** Span of a count, with cost steps if the filter has a cost. */
export interface CountSpan extends HistogramSpan {
  readonly steps: readonly [number, number] | null;
}

const SUM_COUNTS = `start_at, CAST(SUM(requests) AS BIGINT) AS requests, CAST(SUM(requests * is_error) AS BIGINT) AS errors
  FROM request_counts`;

/** Sums counters into one row per hour or day with requests, oldest first. */
export async function sumCounts(db: Db, filter: RequestFilter, span: CountSpan): Promise<readonly SqlRow[]> {
  const where = newConditions();
  where.add("span = ? AND start_at >= ? AND start_at < ?", span.step, span.fromMs, span.toMs);
  addFilter(where, filter);
  addAnswered(where, filter);
  if (span.steps !== null) addCostSteps(where, span.steps);
  return db.query(`SELECT ${SUM_COUNTS} WHERE ${where.sql()} GROUP BY start_at ORDER BY start_at`, where.params);
}

/** Counts the requests themselves: exact for every filter, and slower. */
export async function countRequests(db: Db, filter: RequestFilter, span: HistogramSpan): Promise<readonly SqlRow[]> {
  const where = newConditions();
  const unitMs = SPAN_MS[span.step];
  const within = { ...filter, fromMs: span.fromMs, toMs: span.toMs };
  addAll(where, db.kind, within, await narrowAccessOf(db, within));
  const columns = `(created_at / ${unitMs}) * ${unitMs} AS start_at, COUNT(*) AS requests, SUM(is_error) AS errors`;
  return db.query(`SELECT ${columns} FROM requests WHERE ${where.sql()} GROUP BY 1 ORDER BY 1`, where.params);
}

/** Adds up rows of the same hour or day. */
function mergeBars(rows: readonly SqlRow[]): readonly HistogramBar[] {
  const bars = new Map<number, HistogramBar>();
  for (const row of rows) {
    const startMs = Number(row.start_at);
    const { requests, errors } = bars.get(startMs) ?? { requests: 0, errors: 0 };
    bars.set(startMs, { startMs, requests: requests + Number(row.requests), errors: errors + Number(row.errors) });
  }
  return [...bars.values()].filter(({ requests }) => requests > 0).sort((a, b) => a.startMs - b.startMs);
}
