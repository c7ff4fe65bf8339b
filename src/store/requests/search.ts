// A page of the request log, newest first, by any filter. Scans the last day. If that is not enough, counters tell the
// hours with more matches, so that a rare combination needs no full scan. Tags and words have their own index, which
// finds candidates.

import type { Db, SqlRow } from "../../core/db.ts";
import { stepsOf, touchedSteps } from "../../core/requests/buckets.ts";
import type { RequestFilter, SortedPage } from "../../core/requests/log.ts";
import { recordIdAt, recordTimeOf } from "../../core/requests/records.ts";
import { inListSql, listValue } from "../dialect.ts";
import {
  addFilter,
  addIds,
  addOwn,
  addRequestId,
  isNarrow,
  isTriedAgain,
  isUncounted,
  newConditions,
} from "./conditions.ts";
import { countRequests, sumCounts } from "./counts.ts";
import { namedIds } from "./named-ids.ts";
import { readChosen, sortedPage } from "./sorted.ts";
import { SPAN_MS } from "./totals.ts";

const { hour: HOUR_MS, day: DAY_MS } = SPAN_MS;

/** The rows of one page. */
export async function searchPage(db: Db, filter: RequestFilter, page: SortedPage): Promise<readonly SqlRow[]> {
  const { limit, after, sort = "time", isAscending = false } = page;
  if (sort !== "time" || isAscending) return sortedPage(db, filter, page);
  const end = firstOf(filter.toMs === undefined ? null : recordIdAt(filter.toMs), after);
  const search = { db, filter, limit };
  if (filter.requestIdStart !== undefined) return byRequestId(search, end, filter.requestIdStart);
  if (filter.words !== undefined || filter.tag !== undefined) return byNamedIds(search, end);
  if (!isNarrow(filter) || isUncounted(filter)) return readRange(search, { fromMs: filter.fromMs, end });
  const newestMs = await newestBefore(db, filter, end);
  if (newestMs === null) return [];
  const nearMs = floorTo(newestMs, HOUR_MS) - DAY_MS + HOUR_MS;
  const near = await readRange(search, { fromMs: Math.max(nearMs, filter.fromMs ?? 0), end });
  if (near.length === limit || nearMs <= (filter.fromMs ?? 0)) return near;
  return [...near, ...(await searchOlder({ ...search, limit: limit - near.length }, nearMs))];
}

/** Reads the ids of an index until enough requests pass the other filters. */
async function byNamedIds(search: Search, end: string | null): Promise<readonly SqlRow[]> {
  const { db, filter, limit } = search;
  const found: SqlRow[] = [];
  for await (const ids of namedIds(db, filter, end)) {
    const where = newConditions();
    const { words, tag, ...rest } = filter;
    addFilter(where, rest);
    addOwn(where, db.kind, words === undefined || tag === undefined ? rest : { ...rest, tag });
    where.add(inListSql(db.kind, "id", "?"), listValue(db.kind, ids));
    const sql = `SELECT * FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT $${where.params.length + 1}`;
    found.push(...(await db.query(sql, [...where.params, limit - found.length])));
    if (found.length === limit) break;
  }
  return found;
}

/** Parts of a search that all ranges share. */
interface Search {
  readonly db: Db;
  readonly filter: RequestFilter;
  readonly limit: number;
}

interface Range {
  readonly fromMs: number | undefined;
  /** First id after the range; null for an open end. */
  readonly end: string | null;
}

/** Reads a range by the primary key, newest first. */
async function readRange({ db, filter, limit }: Search, { fromMs, end }: Range): Promise<readonly SqlRow[]> {
  const where = newConditions();
  addFilter(where, filter);
  addOwn(where, db.kind, filter);
  addIds(where, fromMs, end);
  if (filter.latency !== undefined || filter.tokens !== undefined) return readChosen(db, where, "id DESC", limit);
  const sql = `SELECT * FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT $${where.params.length + 1}`;
  return db.query(sql, [...where.params, limit]);
}

/** Reads the time of the newest request before an id, without filters. */
async function newestBefore(db: Db, { accountId }: RequestFilter, end: string | null): Promise<number | null> {
  const where = newConditions();
  where.add("account_id = ?", accountId);
  addIds(where, undefined, end);
  const [row] = await db.query(`SELECT id FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT 1`, where.params);
  return row === undefined ? null : recordTimeOf(String(row.id));
}

/** Searches by counters: finds the days with enough matches, then their hours. */
async function searchOlder(search: Search, beforeMs: number): Promise<readonly SqlRow[]> {
  const fromMs = search.filter.fromMs ?? 0;
  const days = await spansOf(search, "day", { fromMs: floorTo(fromMs, DAY_MS), toMs: beforeMs });
  const found: SqlRow[] = [];
  for (let at = 0; at < days.length && found.length < search.limit; ) {
    const missing = search.limit - found.length;
    const some = takeUntil(days.slice(at), missing);
    at += some.length;
    const span = { fromMs: some.at(-1)?.startMs ?? 0, toMs: Math.min((some[0]?.startMs ?? 0) + DAY_MS, beforeMs) };
    const hours = await spansOf(search, "hour", {
      fromMs: Math.max(span.fromMs, floorTo(fromMs, HOUR_MS)),
      toMs: span.toMs,
    });
    found.push(...(await readRanges({ ...search, limit: missing }, joined(hours), fromMs)));
  }
  return found;
}

/** Ranges read at once, few enough to leave connections to others. */
const AT_ONCE = 4;

async function readRanges(search: Search, ranges: readonly TimeRange[], fromMs: number): Promise<readonly SqlRow[]> {
  const found: SqlRow[] = [];
  for (let at = 0; at < ranges.length && found.length < search.limit; at += AT_ONCE) {
    const limit = search.limit - found.length;
    const reads = ranges.slice(at, at + AT_ONCE).map((range) => {
      const bounds = { fromMs: Math.max(range.fromMs, fromMs), end: recordIdAt(range.toMs) };
      return readRange({ ...search, limit }, bounds);
    });
    found.push(...(await Promise.all(reads)).flat());
  }
  return found.slice(0, search.limit);
}

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** An hour or day with its number of matching requests. */
interface CountedSpan {
  readonly startMs: number;
  readonly requests: number;
}

/** Reads spans, newest first. For costs between two steps, and first attempts, the count is an upper bound. */
async function spansOf(
  { db, filter }: Search,
  step: "hour" | "day",
  between: TimeRange,
): Promise<readonly CountedSpan[]> {
  const steps = filter.cost === undefined ? null : touchedSteps(filter.cost);
  const isRare = isTriedAgain(filter);
  const rows = isRare
    ? await countRequests(db, filter, { ...between, step })
    : await sumCounts(db, filter, { ...between, step, steps });
  const isOnSteps = filter.cost === undefined || stepsOf(filter.cost).edges.length === 0;
  const isExact = isRare || (isOnSteps && filter.answeredAt === undefined);
  return rows.map((row) => ({ startMs: Number(row.start_at), requests: isExact ? Number(row.requests) : 1 })).reverse();
}

/** Takes spans until they have enough requests. */
function takeUntil(spans: readonly CountedSpan[], wanted: number): readonly CountedSpan[] {
  let sum = 0;
  const enough = spans.findIndex(({ requests }) => {
    sum += requests;
    return sum >= wanted;
  });
  return enough < 0 ? spans : spans.slice(0, enough + 1);
}

/** Joins consecutive hours into ranges. */
function joined(hours: readonly CountedSpan[]): readonly TimeRange[] {
  const ranges: { fromMs: number; toMs: number }[] = [];
  for (const { startMs } of hours) {
    const last = ranges.at(-1);
    if (last !== undefined && last.fromMs === startMs + HOUR_MS) last.fromMs = startMs;
    else ranges.push({ fromMs: startMs, toMs: startMs + HOUR_MS });
  }
  return ranges;
}

/** Ids to find by their index and sort. More are found sooner in the order of the log. */
const FEW = 1_000;

/** Searches by the index of request ids if it finds few, otherwise in the order of the log. */
async function byRequestId(search: Search, end: string | null, start: string): Promise<readonly SqlRow[]> {
  const { db, filter, limit } = search;
  const ids = newConditions();
  ids.add("account_id = ?", filter.accountId);
  addRequestId(ids, start);
  const some = await db.query(`SELECT id FROM requests WHERE ${ids.sql()} LIMIT ${FEW}`, ids.params);
  const where = newConditions();
  addFilter(where, filter);
  addOwn(where, db.kind, filter);
  addIds(where, filter.fromMs, end);
  addRequestId(where, start, some.length < FEW ? "request_id" : "(request_id || '')");
  const sql = `SELECT * FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT $${where.params.length + 1}`;
  return db.query(sql, [...where.params, limit]);
}

/** Returns the lower bound. With two bounds in a statement, SQLite may start at the wrong one. */
function firstOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function floorTo(ms: number, unitMs: number): number {
  return Math.floor(ms / unitMs) * unitMs;
}
