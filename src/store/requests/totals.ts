// Totals that a batch of request records adds to: usage by hour and day, counters for the histogram, provider failures
// and tool calls. Each has one row per group. Rows are written in a fixed order, so that processes do not deadlock.

import type { Db, Statement } from "../../core/db.ts";
import type { NanoUsd } from "../../core/money.ts";
import { bucketOf, costStep, LATENCY_BOUNDS_MS, OVERHEAD_BOUNDS_MS } from "../../core/requests/buckets.ts";
import type { RequestSummary } from "../../core/requests/fields.ts";
import { type AnsweredAt, answeredAtOf, type ToolCallTally, tokensOf } from "../../core/requests/records.ts";
import type { WaitingRecord } from "../../core/requests/waiting.ts";
import { type BulkInsert, bulkInsert, flag, type InsertColumn, type InsertShape, integer, text } from "../dialect.ts";
import { KEY_DAYS, keyDaysOf } from "./key-days.ts";
import { TOOL_CALLS, tallyToolCalls } from "./tool-call-tallies.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Totals are kept twice: by hour for recent charts, by day for long ones. */
export const SPAN_MS = { hour: HOUR_MS, day: DAY_MS } as const;
type SpanName = keyof typeof SPAN_MS;

/** Rollups of all keys together, whose number does not grow with the keys. */
export const ALL_KEYS = { hour: "all-hour", day: "all-day" } as const;

/** Totals that the records of a batch add to, by hour. */
export interface Totals {
  readonly rollups: Map<string, Rollup>;
  readonly counters: Map<string, RequestCounter>;
  readonly toolCalls: Map<string, ToolCallTally>;
  readonly failures: Map<string, ProviderFailures>;
}

export function newTotals(): Totals {
  return { rollups: new Map(), counters: new Map(), toolCalls: new Map(), failures: new Map() };
}

export function addToTotals({ rollups, counters, toolCalls, failures }: Totals, record: WaitingRecord): void {
  addRecord(rollupAt(rollups, record, "hour"), record);
  count(counters, counterOf(record));
  tallyToolCalls(toolCalls, record);
  countFailures(failures, record);
}

/** Makes the statements of a batch, or none if it adds nothing. */
export type TotalsWriter = (totals: Totals) => readonly Statement[];

/** Makes the writer. All processes write in this order, so that they cannot deadlock. */
export function createTotalsWriter(kind: Db["kind"]): TotalsWriter {
  const rollups = bulkInsert(kind, ROLLUPS);
  const counts = bulkInsert(kind, COUNTERS);
  const toolCalls = bulkInsert(kind, TOOL_CALLS);
  const failures = bulkInsert(kind, FAILURES);
  const keyDays = bulkInsert(kind, KEY_DAYS);
  return (totals) => {
    const sums = allRollups(totals.rollups);
    return [
      ...insertAll(rollups, sums),
      ...insertAll(counts, allCounters(totals.counters)),
      ...insertAll(toolCalls, totals.toolCalls),
      ...insertAll(failures, totals.failures),
      ...insertAll(keyDays, keyDaysOf(sums.values())),
    ];
  };
}

function insertAll<Item>(insert: BulkInsert<Item>, groups: ReadonlyMap<string, Item>): readonly Statement[] {
  if (groups.size === 0) return [];
  const inOrder = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return [insert.statement(inOrder.map(([, group]) => group))];
}

/** All requests of one combination in one hour or day. */
interface Group {
  readonly accountId: string;
  /** Summary of the first request, whose group columns are those of all. */
  readonly summary: RequestSummary;
  readonly span: SpanName | (typeof ALL_KEYS)[SpanName];
  readonly startMs: number;
}

/** The beginning of the hour or day, in UTC. */
function startOf(atMs: number, span: SpanName): number {
  return Math.floor(atMs / SPAN_MS[span]) * SPAN_MS[span];
}

/** Group columns that both tables have. */
const GROUP_COLUMNS = {
  account_id: text(({ accountId }: Group) => accountId),
  span: text(({ span }: Group) => span),
  start_at: integer(({ startMs }: Group) => startMs),
  model: text(({ summary }: Group) => summary.model ?? ""),
  tier: text(({ summary }: Group) => summary.tier ?? ""),
  key_id: text(({ summary }: Group) => summary.keyId),
  status: integer(({ summary }: Group) => summary.status),
} as const;

/** The plain sums of a rollup; the names are columns. */
const NO_COUNTS = {
  requests: 0,
  errors: 0,
  fallbacks: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  latency_ms: 0,
  first_content_ms: 0,
  overhead_ms: 0,
  answered_first: 0,
  answered_second: 0,
  answered_later: 0,
  answered_none: 0,
  /** Requests with known attempts. Older rows have none. */
  answered_known: 0,
};
type CountName = keyof typeof NO_COUNTS;
const COUNT_NAMES = Object.keys(NO_COUNTS) as readonly CountName[];

const ANSWERED_COLUMN: Readonly<Record<AnsweredAt, CountName>> = {
  first: "answered_first",
  second: "answered_second",
  later: "answered_later",
  none: "answered_none",
};

/** Times are counted in one column per bucket, so that percentiles can be read from sums. */
export const LATENCY_COLUMNS = bucketColumns("l", LATENCY_BOUNDS_MS);
export const FIRST_CONTENT_COLUMNS = bucketColumns("f", LATENCY_BOUNDS_MS);
export const OVERHEAD_COLUMNS = bucketColumns("o", OVERHEAD_BOUNDS_MS);

/** The sums of a rollup without the spread of the times. */
export const COUNTS: readonly string[] = [...COUNT_NAMES, "charge", "baseline"];
export const SUMS: readonly string[] = [...COUNTS, ...LATENCY_COLUMNS, ...FIRST_CONTENT_COLUMNS, ...OVERHEAD_COLUMNS];

function bucketColumns(letter: string, bounds: readonly number[]): readonly string[] {
  return Array.from({ length: bounds.length + 1 }, (_, index) => `${letter}${index}`);
}

/** Money apart from the counts, because it is not a plain number. */
interface Rollup extends Group {
  /** '' for all keys together. */
  readonly keyId: string;
  readonly counts: Record<CountName, number>;
  readonly latencies: number[];
  readonly firstContents: number[];
  readonly overheads: number[];
  charge: bigint;
  baseline: bigint;
}

/** Inserts rollups or adds to existing rows. */
const ROLLUPS: InsertShape<Rollup> = {
  table: "request_rollups",
  columns: {
    ...GROUP_COLUMNS,
    key_id: text(({ keyId }) => keyId),
    ...columnsOf(COUNT_NAMES, (name) => integer(({ counts }: Rollup) => counts[name])),
    charge: integer(({ charge }) => charge),
    baseline: integer(({ baseline }) => baseline),
    ...columnsOf(LATENCY_COLUMNS, (_, index) => integer(({ latencies }: Rollup) => latencies[index] ?? 0)),
    ...columnsOf(FIRST_CONTENT_COLUMNS, (_, index) =>
      integer(({ firstContents }: Rollup) => firstContents[index] ?? 0),
    ),
    ...columnsOf(OVERHEAD_COLUMNS, (_, index) => integer(({ overheads }: Rollup) => overheads[index] ?? 0)),
  },
  onConflict: `ON CONFLICT (account_id, span, start_at, model, tier, key_id, status) DO UPDATE SET
    ${SUMS.map((name) => `${name} = request_rollups.${name} + excluded.${name}`).join(", ")}`,
};

/** Makes columns of the same kind. */
function columnsOf<Name extends string, Item>(
  names: readonly Name[],
  columnOf: (name: Name, index: number) => InsertColumn<Item>,
): Readonly<Record<string, InsertColumn<Item>>> {
  return Object.fromEntries(names.map((name, index) => [name, columnOf(name, index)]));
}

/** Sums all other rollups from the hours of the keys, which are fewer than the records. */
function allRollups(hours: ReadonlyMap<string, Rollup>): ReadonlyMap<string, Rollup> {
  const rollups = new Map(hours);
  for (const hour of hours.values()) {
    addRollup(rollupAt(rollups, hour, "day"), hour);
    addRollup(rollupAt(rollups, hour, "hour", ALL_KEYS.hour), hour);
    addRollup(rollupAt(rollups, hour, "day", ALL_KEYS.day), hour);
  }
  return rollups;
}

function rollupAt(
  rollups: Map<string, Rollup>,
  { accountId, summary }: Pick<Group, "accountId" | "summary">,
  length: SpanName,
  span: Group["span"] = length,
): Rollup {
  const { model, tier, status, atMs } = summary;
  const keyId = span === length ? summary.keyId : "";
  const startMs = startOf(atMs, length);
  const name = `${accountId}\n${span}\n${startMs}\n${model ?? ""}\n${tier ?? ""}\n${keyId}\n${status}`;
  const known = rollups.get(name);
  if (known !== undefined) return known;
  const made: Rollup = {
    accountId,
    summary,
    span,
    startMs,
    keyId,
    counts: { ...NO_COUNTS },
    latencies: LATENCY_COLUMNS.map(() => 0),
    firstContents: FIRST_CONTENT_COLUMNS.map(() => 0),
    overheads: OVERHEAD_COLUMNS.map(() => 0),
    charge: 0n,
    baseline: 0n,
  };
  rollups.set(name, made);
  return made;
}

function addRecord(rollup: Rollup, record: WaitingRecord): void {
  const { summary } = record;
  const { buckets, latencyMs, firstContentMs, overheadMs } = summary;
  const { counts } = rollup;
  const answeredAt = answeredAtOf(summary);
  counts.requests += 1;
  counts.answered_known += 1;
  counts.latency_ms += latencyMs;
  if (summary.isError) counts.errors += 1;
  if (summary.isFallback) counts.fallbacks += 1;
  if (answeredAt !== null) counts[ANSWERED_COLUMN[answeredAt]] += 1;
  if (buckets !== null) {
    counts.input_tokens += buckets.input;
    counts.cache_read_tokens += buckets.cacheRead;
    counts.cache_write_tokens += buckets.cacheWrite;
    counts.output_tokens += buckets.output;
    rollup.charge += summary.charge ?? 0n;
    rollup.baseline += baselineOf(summary);
  }
  countIn(rollup.latencies, bucketOf(latencyMs));
  if (firstContentMs !== null) countIn(rollup.firstContents, bucketOf(firstContentMs));
  if (overheadMs === null) return;
  // Both means are over the same requests.
  counts.first_content_ms += firstContentMs ?? 0;
  counts.overhead_ms += overheadMs;
  countIn(rollup.overheads, bucketOf(overheadMs, OVERHEAD_BOUNDS_MS));
}

function countIn(buckets: number[], index: number): void {
  buckets[index] = (buckets[index] ?? 0) + 1;
}

function addRollup(day: Rollup, hour: Rollup): void {
  for (const name of COUNT_NAMES) day.counts[name] += hour.counts[name];
  addEach(day.latencies, hour.latencies);
  addEach(day.firstContents, hour.firstContents);
  addEach(day.overheads, hour.overheads);
  day.charge += hour.charge;
  day.baseline += hour.baseline;
}

function addEach(sums: number[], more: readonly number[]): void {
  for (const [index, value] of more.entries()) sums[index] = (sums[index] ?? 0) + value;
}

/** Counts and sums of requests with equal filter values. */
interface RequestCounter extends Group {
  requests: number;
  charge: bigint;
  baseline: bigint;
  tokens: number;
}

/** Group columns of counters, besides account and time. */
const COUNTER_TEXTS = {
  key_id: GROUP_COLUMNS.key_id,
  model: GROUP_COLUMNS.model,
  category: text(({ summary }: Group) => summary.category ?? ""),
  tier: GROUP_COLUMNS.tier,
  profile: text(({ summary }: Group) => summary.profile ?? ""),
  provider: text(({ summary }: Group) => summary.provider ?? ""),
  profile_id: text(({ summary }: Group) => summary.profileId ?? ""),
} as const;

const COUNTER_NUMBERS = {
  status: GROUP_COLUMNS.status,
  cost_step: integer(({ summary }: Group) => costStep(summary.charge)),
  is_adjusted: flag(({ summary }: Group) => summary.isAdjusted),
  is_fallback: flag(({ summary }: Group) => summary.isFallback),
  is_error: flag(({ summary }: Group) => summary.isError),
} as const;

const COUNTER_SUMS = ["requests", "charge", "baseline", "tokens"] as const;

const COUNTERS: InsertShape<RequestCounter> = {
  table: "request_counts",
  columns: {
    account_id: GROUP_COLUMNS.account_id,
    span: GROUP_COLUMNS.span,
    ...COUNTER_TEXTS,
    start_at: GROUP_COLUMNS.start_at,
    ...COUNTER_NUMBERS,
    ...columnsOf(COUNTER_SUMS, (name) => integer((counter: RequestCounter) => counter[name])),
  },
  onConflict: `ON CONFLICT (account_id, span, start_at, ${Object.keys({ ...COUNTER_TEXTS, ...COUNTER_NUMBERS }).join(", ")})
    DO UPDATE SET ${COUNTER_SUMS.map((name) => `${name} = request_counts.${name} + excluded.${name}`).join(", ")}`,
};

const TEXT_VALUES = Object.values(COUNTER_TEXTS).map(({ of }) => of);
const NUMBER_VALUES = Object.values(COUNTER_NUMBERS).map(({ of }) => of);

function count(counters: Map<string, RequestCounter>, counter: RequestCounter): void {
  const name = counterName(counter);
  const known = counters.get(name);
  if (known === undefined) counters.set(name, counter);
  else addCounter(known, counter);
}

/** Sums days from hours, which are fewer than the records. */
function allCounters(hours: ReadonlyMap<string, RequestCounter>): ReadonlyMap<string, RequestCounter> {
  const counters = new Map(hours);
  for (const hour of hours.values()) {
    count(counters, { ...hour, span: "day", startMs: startOf(hour.startMs, "day") });
  }
  return counters;
}

/** Names a counter for sorting. Keeps the order of earlier versions, so that rolling updates cannot deadlock. */
function counterName(group: Group): string {
  const texts = TEXT_VALUES.map((of) => of(group)).join("\n");
  const numbers = NUMBER_VALUES.map((of) => of(group)).join("\n");
  return `${group.accountId}\n${group.span}\n${texts}\n${group.startMs}\n${numbers}`;
}

function counterOf({ accountId, summary }: WaitingRecord): RequestCounter {
  return {
    accountId,
    summary,
    span: "hour",
    startMs: startOf(summary.atMs, "hour"),
    requests: 1,
    charge: summary.charge ?? 0n,
    baseline: baselineOf(summary),
    tokens: tokensOf(summary.buckets),
  };
}

/** Returns the baseline. A failed request saved nothing, so its baseline is its charge. */
function baselineOf({ isError, charge, baseline }: RequestSummary): NanoUsd {
  return (isError ? charge : baseline) ?? 0n;
}

function addCounter(sum: RequestCounter, { requests, charge, baseline, tokens }: RequestCounter): void {
  sum.requests += requests;
  sum.charge += charge;
  sum.baseline += baseline;
  sum.tokens += tokens;
}

/** Failures by provider: few rows, because most requests succeed at the first attempt. */
interface ProviderFailures extends Group {
  readonly provider: string;
  requests: number;
}

const FAILURES: InsertShape<ProviderFailures> = {
  table: "request_failures",
  columns: {
    account_id: GROUP_COLUMNS.account_id,
    span: GROUP_COLUMNS.span,
    start_at: GROUP_COLUMNS.start_at,
    key_id: GROUP_COLUMNS.key_id,
    provider: text(({ provider }) => provider),
    requests: integer(({ requests }) => requests),
  },
  onConflict: `ON CONFLICT (account_id, span, start_at, key_id, provider)
    DO UPDATE SET requests = request_failures.requests + excluded.requests`,
};

function countFailures(failures: Map<string, ProviderFailures>, { accountId, summary }: WaitingRecord): void {
  const { keyId, atMs, failedProviders } = summary;
  for (const provider of failedProviders) {
    for (const span of ["hour", "day"] as const) {
      const startMs = startOf(atMs, span);
      const name = `${accountId}\n${span}\n${startMs}\n${keyId}\n${provider}`;
      const known = failures.get(name);
      if (known === undefined) failures.set(name, { accountId, summary, span, startMs, provider, requests: 1 });
      else known.requests += 1;
    }
  }
}
