// A batch of request records as a handful of statements: the log's lines, their details, and what they add to the totals.

import type { Decision } from "../core/decision.ts";
import type { Db, SqlValue, Statement } from "../core/ports.ts";
import { isFailed, isFallenBack, type RecordStore, type RequestRecord, recordIdAt } from "../core/records.ts";
import { type Column, insertFromJsonSql } from "./dialect.ts";
import { createRollupWriter } from "./rollup-write.ts";
import { createTallyWriter } from "./tool-call-tallies.ts";

const TEXT = "TEXT" as const;
const BIGINT = "BIGINT" as const;

const REQUESTS = columns(
  ["id", "request_id", "account_id", "key_id", "route", "error_code", "tier", "classified_tier", "category", "profile"],
  ["tool_scenario", "model", "provider", "ending"],
  [
    ...["created_at", "status", "is_error", "is_stream", "is_fallback", "attempts", "input_tokens"],
    ...["cache_read_tokens", "cache_write_tokens", "output_tokens", "is_estimated", "charge", "baseline"],
    ...["latency_ms", "first_content_ms"],
  ],
);
const DETAILS = columns(["id"], ["detail_json"], []);
const CONTENTS = columns(["id", "request_text"], ["answer_text"], ["is_request_cut", "is_answer_cut"]);

export function createRecordStore(db: Db): RecordStore {
  const insertRequests = insertFromJsonSql(db.kind, "requests", REQUESTS);
  const insertDetails = insertFromJsonSql(db.kind, "request_details", DETAILS);
  const insertContents = insertFromJsonSql(db.kind, "request_contents", CONTENTS);
  const rollups = createRollupWriter(db.kind);
  const tallies = createTallyWriter(db.kind);
  return {
    async write(records) {
      const contents = records.flatMap(toContent);
      const statements: Statement[] = [
        { sql: insertRequests, params: [JSON.stringify(records.map(toRow))] },
        { sql: insertDetails, params: [JSON.stringify(records.map((record) => [record.id, writeDetail(record)]))] },
        ...(contents.length === 0 ? [] : [{ sql: insertContents, params: [JSON.stringify(contents)] }]),
        ...rollups.statements(records),
        ...tallies.statements(records),
      ];
      await db.batch(statements);
    },
    async deleteBefore(atMs, most) {
      const oldest = await db.query("SELECT id FROM requests WHERE id < $1 ORDER BY id LIMIT $2", [
        recordIdAt(atMs),
        most,
      ]);
      const last = oldest.at(-1)?.id ?? null;
      if (last === null) return 0;
      const tables = ["requests", "request_details", "request_contents"];
      await db.batch(tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE id <= $1`, params: [last] })));
      return oldest.length;
    },
  };
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
  ];
}

function writeDetail({ decision, attempts, hold, cost, features, toolCalls }: RequestRecord): string {
  return JSON.stringify({
    decision: decision === null ? null : writeDecision(decision),
    attempts,
    holdNano: hold?.toString() ?? null,
    cost: cost === null ? null : writeCost(cost),
    features,
    toolCalls,
  });
}

/** Without what the log's line has already. */
function writeDecision(decision: Decision): object {
  const { measures: _measures, costEstimate, baselineCost, ...rest } = decision;
  return { ...rest, costEstimateNano: costEstimate.toString(), baselineCostNano: baselineCost.toString() };
}

function writeCost({ price, markupPpm, baselineModel, holdId }: NonNullable<RequestRecord["cost"]>): object {
  return { price, markupPpm, baselineModel, holdId };
}

function toContent({ id, content }: RequestRecord): readonly (readonly SqlValue[])[] {
  if (content === null) return [];
  const { request, answer, isRequestCut, isAnswerCut } = content;
  return [[id, storable(request), storable(answer), isRequestCut ? 1 : 0, isAnswerCut ? 1 : 0]];
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replace(/\u0000|\p{Surrogate}/gu, "\ufffd");
}
