// Sums over all requests of a filter: count, failures, charge, baseline and tokens. Whole days and hours come from the
// counters, and the rest at both ends of the range from the requests themselves.

import type { Db, SqlRow } from "../../core/db.ts";
import { stepsOf } from "../../core/requests/buckets.ts";
import type { RequestFilter, RequestSums } from "../../core/requests/log.ts";
import { narrowAccessOf } from "./access.ts";
import { addAll, addCostSteps, addFilter, isUncounted, newConditions } from "./conditions.ts";
import { SPAN_MS } from "./totals.ts";

const { hour: HOUR_MS, day: DAY_MS } = SPAN_MS;
/** Later than every request. */
const LAST_MS = 8.64e15;

export async function readSums(db: Db, filter: RequestFilter): Promise<RequestSums> {
  const { fromMs = 0, toMs = LAST_MS } = filter;
  const steps = filter.cost === undefined ? null : stepsOf(filter.cost);
  const firstHour = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
  const lastHour = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  const isCounted = !isUncounted(filter) && filter.answeredAt === undefined && filter.failedProvider === undefined;
  if (!isCounted || firstHour >= lastHour || (steps !== null && steps.edges.length > 0)) {
    return addUp([await sumRequests(db, filter)]);
  }
  const counted = wholeSpans(firstHour, lastHour).map((span) => sumCounters(db, filter, span));
  const ends = [
    { fromMs, toMs: firstHour },
    { fromMs: lastHour, toMs },
  ].filter((end) => end.fromMs < end.toMs);
  const left = ends.map((end) => sumRequests(db, { ...filter, ...end }));
  return addUp(await Promise.all([...counted, ...left]));
}

interface SummedSpan {
  readonly step: keyof typeof SPAN_MS;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Splits a range into days in the middle and hours at both ends. */
function wholeSpans(fromMs: number, toMs: number): readonly SummedSpan[] {
  const firstDay = Math.ceil(fromMs / DAY_MS) * DAY_MS;
  const lastDay = Math.floor(toMs / DAY_MS) * DAY_MS;
  if (firstDay >= lastDay) return [{ step: "hour", fromMs, toMs }];
  const spans: readonly SummedSpan[] = [
    { step: "hour", fromMs, toMs: firstDay },
    { step: "day", fromMs: firstDay, toMs: lastDay },
    { step: "hour", fromMs: lastDay, toMs },
  ];
  return spans.filter((span) => span.fromMs < span.toMs);
}

async function sumCounters(db: Db, filter: RequestFilter, span: SummedSpan): Promise<SqlRow | undefined> {
  const where = newConditions();
  where.add("span = ? AND start_at >= ? AND start_at < ?", span.step, span.fromMs, span.toMs);
  addFilter(where, filter);
  const steps = filter.cost === undefined ? null : stepsOf(filter.cost).whole;
  if (filter.cost !== undefined && steps === null) return undefined;
  if (steps !== null) addCostSteps(where, steps);
  const sums = ["requests", "requests * is_error", "charge", "baseline", "tokens"];
  return (await db.query(`SELECT ${sumsSql(sums)} FROM request_counts WHERE ${where.sql()}`, where.params))[0];
}

/** Sums requests, exactly for every filter. */
async function sumRequests(db: Db, filter: RequestFilter): Promise<SqlRow | undefined> {
  const where = newConditions();
  addAll(where, db.kind, filter, await narrowAccessOf(db, filter));
  const sums = ["1", "is_error", "charge", "CASE WHEN is_error = 1 THEN charge ELSE baseline END", "tokens"];
  return (await db.query(`SELECT ${sumsSql(sums)} FROM requests WHERE ${where.sql()}`, where.params))[0];
}

const NAMES = ["requests", "errors", "charge", "baseline", "tokens"] as const;

function sumsSql(columns: readonly string[]): string {
  return columns.map((column, at) => `CAST(COALESCE(SUM(${column}), 0) AS BIGINT) AS ${NAMES[at]}`).join(", ");
}

function addUp(rows: readonly (SqlRow | undefined)[]): RequestSums {
  const total = (name: (typeof NAMES)[number]): bigint => rows.reduce((sum, row) => sum + BigInt(row?.[name] ?? 0), 0n);
  return {
    requests: Number(total("requests")),
    errors: Number(total("errors")),
    charge: total("charge"),
    baseline: total("baseline"),
    tokens: Number(total("tokens")),
  };
}
