// What a batch of records adds to the totals by hour and by day. One row per group, in one order, so that processes that
// write at once lock rows alike.

import type { Db, Statement } from "../../core/db.ts";
import { bucketOf, LATENCY_BOUNDS_MS, OVERHEAD_BOUNDS_MS } from "../../core/requests/latency-buckets.ts";
import {
  ANSWERED_AT,
  answeredAtOf,
  isFailed,
  isFallenBack,
  overheadMsOf,
  type RequestRecord,
  triedOf,
} from "../../core/requests/records.ts";
import { type Column, createInsert } from "../dialect.ts";

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

export const LATENCY_COLUMNS = bucketColumns("l", LATENCY_BOUNDS_MS);
export const FIRST_CONTENT_COLUMNS = bucketColumns("f", LATENCY_BOUNDS_MS);
export const OVERHEAD_COLUMNS = bucketColumns("o", OVERHEAD_BOUNDS_MS);

export const COUNTS = [
  ...["requests", "errors", "fallbacks", "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"],
  ...["charge", "baseline", "latency_ms", "first_content_ms", "overhead_ms"],
  ...["answered_first", "answered_second", "answered_later", "answered_none", "answered_known"],
] as const;

const KEY_TEXTS = ["account_id", "span", "model", "tier", "key_id"] as const;
const KEY_NUMBERS = ["start_at", "status"] as const;
export const SUMS: readonly string[] = [...COUNTS, ...LATENCY_COLUMNS, ...FIRST_CONTENT_COLUMNS, ...OVERHEAD_COLUMNS];
const FIRST_LATENCY = COUNTS.length;
const FIRST_FIRST_CONTENT = FIRST_LATENCY + LATENCY_COLUMNS.length;
const FIRST_OVERHEAD = FIRST_FIRST_CONTENT + FIRST_CONTENT_COLUMNS.length;

export interface RollupWriter {
  statements(records: readonly RequestRecord[]): readonly Statement[];
}

export function createRollupWriter(kind: Db["kind"]): RollupWriter {
  const columns: readonly Column[] = [
    ...KEY_TEXTS.map((name) => ({ name, type: "TEXT" as const })),
    ...[...KEY_NUMBERS, ...SUMS].map((name) => ({ name, type: "BIGINT" as const })),
  ];
  const insert = createInsert(
    kind,
    "request_rollups",
    columns,
    `ON CONFLICT (account_id, span, start_at, model, tier, key_id, status) DO UPDATE SET
     ${SUMS.map((name) => `${name} = request_rollups.${name} + excluded.${name}`).join(", ")}`,
  );
  return { statements: (records) => [insert(rowsOf(records))] };
}

/** In the order of the columns. */
type GroupKey = readonly [accountId: string, span: string, model: string, tier: string, keyId: string, ...TwoNumbers];
type TwoNumbers = readonly [startAt: number, status: number];

/** The money apart, as it is not a plain number. */
interface Group {
  readonly key: GroupKey;
  readonly sums: number[];
  charge: bigint;
  baseline: bigint;
}

function rowsOf(records: readonly RequestRecord[]): readonly (readonly (string | number)[])[] {
  const groups = new Map<string, Group>();
  for (const record of records) {
    const { accountId, keyId, status, answeredBy, decision } = record;
    const startAt = Math.floor(record.atMs / HOUR_MS) * HOUR_MS;
    add(
      groupAt(groups, [accountId, "hour", answeredBy?.model ?? "", decision?.tier ?? "", keyId, startAt, status]),
      record,
    );
  }
  for (const hour of [...groups.values()]) addHourToDay(groups, hour);
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { key, sums, charge, baseline }]) => {
    const row: (string | number)[] = [...key, ...sums];
    row[key.length + COUNTS.indexOf("charge")] = charge.toString();
    row[key.length + COUNTS.indexOf("baseline")] = baseline.toString();
    return row;
  });
}

function groupAt(groups: Map<string, Group>, key: GroupKey): Group {
  const [accountId, span, model, tier, keyId, startAt, status] = key;
  const name = `${accountId}\n${span}\n${startAt}\n${model}\n${tier}\n${keyId}\n${status}`;
  const known = groups.get(name);
  if (known !== undefined) return known;
  const group = { key, sums: SUMS.map(() => 0), charge: 0n, baseline: 0n };
  groups.set(name, group);
  return group;
}

function addHourToDay(groups: Map<string, Group>, { key, sums, charge, baseline }: Group): void {
  const [accountId, , model, tier, keyId, startAt, status] = key;
  const dayAt = Math.floor(startAt / DAY_MS) * DAY_MS;
  const day = groupAt(groups, [accountId, "day", model, tier, keyId, dayAt, status]);
  sums.forEach((sum, index) => {
    (day.sums[index] as number) += sum;
  });
  day.charge += charge;
  day.baseline += baseline;
}

function add(group: Group, record: RequestRecord): void {
  const { cost, latencyMs, firstContentMs } = record;
  const { sums } = group;
  const overheadMs = overheadMsOf(record);
  const answeredAt = answeredAtOf(triedOf(record));
  const counts = [
    1,
    isFailed(record) ? 1 : 0,
    isFallenBack(record) ? 1 : 0,
    cost?.buckets.input ?? 0,
    cost?.buckets.cacheRead ?? 0,
    cost?.buckets.cacheWrite ?? 0,
    cost?.buckets.output ?? 0,
    0,
    0,
    latencyMs,
    overheadMs === null ? 0 : (firstContentMs ?? 0),
    overheadMs ?? 0,
    ...ANSWERED_AT.map((at) => (at === answeredAt ? 1 : 0)),
    1,
  ];
  for (let index = 0; index < counts.length; index++) (sums[index] as number) += counts[index] as number;
  (sums[FIRST_LATENCY + bucketOf(latencyMs)] as number) += 1;
  if (firstContentMs !== null) (sums[FIRST_FIRST_CONTENT + bucketOf(firstContentMs)] as number) += 1;
  if (overheadMs !== null) (sums[FIRST_OVERHEAD + bucketOf(overheadMs, OVERHEAD_BOUNDS_MS)] as number) += 1;
  group.charge += cost?.charge ?? 0n;
  group.baseline += cost?.baseline ?? 0n;
}

function bucketColumns(letter: string, bounds: readonly number[]): readonly string[] {
  return Array.from({ length: bounds.length + 1 }, (_, index) => `${letter}${index}`);
}
