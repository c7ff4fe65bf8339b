// A batch of request records as a handful of statements: the log's lines, their details, and what they add to the totals.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Db, SqlValue, Statement } from "../../core/db.ts";
import {
  failedProvidersOf,
  isAdjusted,
  isFailed,
  isFallenBack,
  type RecordStore,
  type RequestRecord,
  recordIdAt,
} from "../../core/requests/records.ts";
import { type Column, insertFromJsonSql, insertRowSql } from "../dialect.ts";
import { createCountWriter, DELETE_COUNTS } from "./counts.ts";
import { toDetail } from "./detail.ts";
import { createFailureWriter } from "./provider-failures.ts";
import { createRollupWriter, DAY_MS } from "./rollup-write.ts";
import { createTallyWriter } from "./tool-call-tallies.ts";

const TEXT = "TEXT" as const;
const BIGINT = "BIGINT" as const;

const REQUESTS = columns(
  ["id", "request_id", "account_id", "key_id", "route", "error_code", "tier", "classified_tier", "category", "profile"],
  ["tool_scenario", "model", "provider", "ending", "profile_id", "failed_providers"],
  [
    ...["created_at", "status", "is_error", "is_stream", "is_fallback", "attempts", "input_tokens"],
    ...["cache_read_tokens", "cache_write_tokens", "output_tokens", "is_estimated", "charge", "baseline"],
    ...["latency_ms", "first_content_ms", "is_adjusted"],
  ],
);
const DETAILS = columns(["id"], ["detail_json"], []);
const CONTENTS = columns(["id", "request_text"], ["answer_text"], ["is_request_cut", "is_answer_cut"]);

export function createRecordStore(db: Db): RecordStore {
  const insertRequests = createSlicedInsert(db.kind, "requests", REQUESTS);
  const insertDetails = createSlicedInsert(db.kind, "request_details", DETAILS);
  const insertContents = createSlicedInsert(db.kind, "request_contents", CONTENTS);
  const rollups = createRollupWriter(db.kind);
  const counts = createCountWriter(db.kind);
  const tallies = createTallyWriter(db.kind);
  const failures = createFailureWriter(db.kind);
  return {
    async write(records) {
      const contents = records.flatMap(toContent);
      const statements: Statement[] = [
        await insertRequests(records, toRow),
        await insertDetails(records, (record) => [record.id, JSON.stringify(toDetail(record))]),
        ...(contents.length === 0 ? [] : [await insertContents(contents, (row) => row)]),
        ...rollups.statements(records),
        ...counts.statements(records),
        ...tallies.statements(records),
        ...failures.statements(records),
      ];
      await db.batch(statements);
    },
    async deleteBefore(atMs, most) {
      const oldest = await db.query("SELECT id FROM requests WHERE id < $1 ORDER BY id LIMIT $2", [
        recordIdAt(atMs),
        most,
      ]);
      const last = oldest.at(-1)?.id ?? "";
      const tables = oldest.length === 0 ? [] : ["requests", "request_details", "request_contents"];
      await db.batch([
        ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE id <= $1`, params: [last] })),
        // With the last of them: a day that was over before that time has no requests left.
        ...(oldest.length < most ? [{ sql: DELETE_COUNTS, params: [atMs - DAY_MS] }] : []),
      ]);
      return oldest.length;
    },
  };
}

/** About half a millisecond of work each; requests that are being served come in between. */
const SLICE = 50;

type Insert = <Item>(items: readonly Item[], toRow: (item: Item) => readonly SqlValue[]) => Promise<Statement>;

/** Many rows in one statement: SQLite takes them one by one, PostgreSQL as one text. */
function createSlicedInsert(kind: Db["kind"], table: string, own: readonly Column[]): Insert {
  if (kind === "sqlite") {
    const sql = insertRowSql(table, own);
    return async (items, write) => ({ sql, rows: (await inSlices(items, (slice) => slice.map(write))).flat() });
  }
  const sql = insertFromJsonSql(table, own);
  return async (items, write) => {
    const parts = await inSlices(items, (slice) => JSON.stringify(slice.map(write)).slice(1, -1));
    return { sql, params: [`[${parts.join(",")}]`] };
  };
}

async function inSlices<Item, Part>(
  items: readonly Item[],
  write: (slice: readonly Item[]) => Part,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (let at = 0; at < items.length; at += SLICE) {
    if (at > 0) await nextTurn();
    parts.push(write(items.slice(at, at + SLICE)));
  }
  return parts;
}

function columns(...groups: readonly [readonly string[], readonly string[], readonly string[]]): readonly Column[] {
  const [first, second, numbers] = groups;
  return [
    ...[...first, ...second].map((name) => ({ name, type: TEXT })),
    ...numbers.map((name) => ({ name, type: BIGINT })),
  ];
}

type Cell = string | number | null;

function toRow(record: RequestRecord): readonly Cell[] {
  const { decision, answeredBy, cost } = record;
  return [
    record.id,
    record.requestId,
    record.accountId,
    record.keyId,
    record.route,
    record.errorCode ?? "",
    decision?.tier ?? "",
    decision?.classifiedTier ?? "",
    decision?.category ?? "",
    decision?.profile ?? "",
    decision?.toolScenario ?? "",
    answeredBy?.model ?? "",
    answeredBy?.provider ?? "",
    record.ending ?? "",
    record.profileId ?? "",
    writeProviders(record),
    record.atMs,
    record.status,
    isFailed(record) ? 1 : 0,
    record.isStream ? 1 : 0,
    isFallenBack(record) ? 1 : 0,
    record.attempts.length,
    cost?.buckets.input ?? null,
    cost?.buckets.cacheRead ?? null,
    cost?.buckets.cacheWrite ?? null,
    cost?.buckets.output ?? null,
    cost?.isEstimated ? 1 : 0,
    cost?.charge.toString() ?? null,
    cost?.baseline.toString() ?? null,
    record.latencyMs,
    record.firstContentMs,
    isAdjusted(record) ? 1 : 0,
  ];
}

function writeProviders(record: RequestRecord): string {
  const failed = failedProvidersOf(record);
  return failed.length === 0 ? "" : JSON.stringify(failed);
}

function toContent({ id, content }: RequestRecord): readonly (readonly SqlValue[])[] {
  if (content === null) return [];
  const { request, answer, isRequestCut, isAnswerCut } = content;
  return [[id, storable(request), storable(answer), isRequestCut ? 1 : 0, isAnswerCut ? 1 : 0]];
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").replace(/\p{Surrogate}/gu, "\ufffd");
}
