// The log of requests for reading. Every filter has an index that also gives the order, so a page is found without
// looking at the rest.

import type { TokenBuckets } from "../core/money.ts";
import type { Db, Row, SqlValue } from "../core/ports.ts";
import { type ContentRecord, recordIdAt } from "../core/records.ts";
import type { Feedback, RequestFilter, RequestLog, RequestSummary, StatusFilter } from "../core/request-log.ts";
import type { Tier } from "../core/tiers.ts";
import { readDetail } from "./request-detail.ts";

export function createRequestLog(db: Db): RequestLog {
  return {
    async list(filter, { limit, after }) {
      const where = conditions(filter, after);
      if (filter.requestIdStart !== undefined) await addRequestId(db, where, filter);
      const rows = await db.query(
        `SELECT * FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT $${where.params.length + 1}`,
        [...where.params, limit],
      );
      return rows.map(toSummary);
    },
    async find(accountId, id) {
      const [row] =
        (await rowsOf(db, "id = $2", [accountId, id])) ??
        (await rowsOf(db, "request_id = $2 ORDER BY id DESC LIMIT 1", [accountId, id])) ??
        [];
      if (row === undefined) return null;
      const [rest] = await db.query(REST, [row.id ?? null]);
      const summary = toSummary(row);
      return {
        summary,
        detail: readDetail(String(rest?.detail_json), summary),
        content: rest?.request_text == null ? null : toContent(rest),
        feedback: rest?.feedback_tier == null ? null : toFeedback(rest),
      };
    },
    async mark(accountId, recordId, { tier, note, atMs }) {
      const stored = await this.find(accountId, recordId);
      if (stored === null) return;
      const { summary, detail } = stored;
      const features = JSON.stringify(detail.features);
      await db.query(MARK, [
        summary.id,
        accountId,
        tier,
        note,
        summary.tier ?? "",
        summary.category ?? "",
        features,
        atMs,
      ]);
    },
  };
}

const REST = `SELECT d.detail_json, c.request_text, c.is_request_cut, c.answer_text, c.is_answer_cut,
    f.tier AS feedback_tier, f.note, f.created_at AS feedback_at
  FROM request_details d LEFT JOIN request_contents c ON c.id = d.id LEFT JOIN request_feedback f ON f.id = d.id
  WHERE d.id = $1`;

const MARK = `INSERT INTO request_feedback
    (id, account_id, tier, note, decided_tier, category, features_json, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, note = excluded.note, created_at = excluded.created_at`;

/** Null when there are none. */
async function rowsOf(db: Db, condition: string, params: readonly SqlValue[]): Promise<readonly Row[] | null> {
  const rows = await db.query(`SELECT * FROM requests WHERE account_id = $1 AND ${condition}`, params);
  return rows.length === 0 ? null : rows;
}

interface Conditions {
  readonly params: SqlValue[];
  /** A condition with one `?` for each value. */
  add(condition: string, ...values: readonly SqlValue[]): void;
  sql(): string;
}

export function newConditions(): Conditions {
  const parts: string[] = [];
  const params: SqlValue[] = [];
  return {
    params,
    add(condition, ...values) {
      const [head = "", ...tails] = condition.split("?");
      const places = values.map((value) => `$${params.push(value)}`);
      parts.push(head + tails.map((tail, index) => `${places[index]}${tail}`).join(""));
    },
    sql: () => parts.join(" AND "),
  };
}

function conditions(filter: RequestFilter, after: string | null): Conditions {
  const where = newConditions();
  where.add("account_id = ?", filter.accountId);
  if (filter.fromMs !== undefined) where.add("id >= ?", recordIdAt(filter.fromMs));
  const end = firstOf(filter.toMs === undefined ? null : recordIdAt(filter.toMs), after);
  if (end !== null) where.add("id < ?", end);
  if (filter.tier !== undefined) where.add("tier = ?", filter.tier ?? "");
  if (filter.model !== undefined) where.add("model = ?", filter.model ?? "");
  if (filter.keyId !== undefined) where.add("key_id = ?", filter.keyId);
  if (filter.category !== undefined) where.add("category = ?", filter.category);
  if (filter.isFallback !== undefined) where.add(`is_fallback = ${filter.isFallback ? 1 : 0}`);
  if (filter.status !== undefined) addStatus(where, filter.status);
  return where;
}

/** One bound instead of two: of two, SQLite may seek by the far one and walk from there. */
function firstOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Errors are few and have an index of their own, which is used where the words `is_error = 1` stand. */
function addStatus(where: Conditions, filter: StatusFilter): void {
  const lowest =
    filter.kind === "exact" ? filter.status : filter.kind === "class" ? filter.hundreds * 100 : ERROR_STATUS;
  if (lowest >= ERROR_STATUS) where.add("is_error = 1");
  if (filter.kind === "exact") where.add("status = ?", lowest);
  if (filter.kind === "class") where.add("status >= ? AND status < ?", lowest, lowest + 100);
}

const ERROR_STATUS = 400;
/** Behind every character that a request id may have. */
const LAST = "~";
/** More ids than this are found sooner in the order of the log than by their index and sorted. */
const FEW = 1_000;

async function addRequestId(
  db: Db,
  where: Conditions,
  { accountId, requestIdStart = "" }: RequestFilter,
): Promise<void> {
  const bounds = [requestIdStart, `${requestIdStart}${LAST}`] as const;
  const some = await db.query(
    `SELECT id FROM requests WHERE account_id = $1 AND request_id >= $2 AND request_id < $3 LIMIT ${FEW}`,
    [accountId, ...bounds],
  );
  // An expression keeps the index of request ids out of it.
  const column = some.length < FEW ? "request_id" : "(request_id || '')";
  where.add(`${column} >= ? AND ${column} < ?`, ...bounds);
}

export function toSummary(row: Row): RequestSummary {
  return {
    id: String(row.id),
    requestId: String(row.request_id),
    keyId: String(row.key_id),
    atMs: Number(row.created_at),
    route: String(row.route),
    status: Number(row.status),
    errorCode: textOrNull(row.error_code),
    isError: Number(row.is_error) === 1,
    isStream: Number(row.is_stream) === 1,
    tier: textOrNull(row.tier),
    classifiedTier: textOrNull(row.classified_tier),
    category: textOrNull(row.category),
    profile: textOrNull(row.profile),
    toolScenario: textOrNull(row.tool_scenario),
    model: textOrNull(row.model),
    provider: textOrNull(row.provider),
    isFallback: Number(row.is_fallback) === 1,
    attempts: Number(row.attempts),
    buckets: toBuckets(row),
    isEstimated: Number(row.is_estimated) === 1,
    charge: row.charge == null ? null : BigInt(row.charge),
    baseline: row.baseline == null ? null : BigInt(row.baseline),
    latencyMs: Number(row.latency_ms),
    firstContentMs: row.first_content_ms == null ? null : Number(row.first_content_ms),
    ending: textOrNull(row.ending),
  };
}

function toBuckets(row: Row): TokenBuckets | null {
  if (row.input_tokens == null) return null;
  return {
    input: Number(row.input_tokens),
    cacheRead: Number(row.cache_read_tokens),
    cacheWrite: Number(row.cache_write_tokens),
    output: Number(row.output_tokens),
  };
}

function textOrNull(value: SqlValue | undefined): string | null {
  return value == null || value === "" ? null : String(value);
}

function toContent(row: Row): ContentRecord {
  return {
    request: String(row.request_text),
    isRequestCut: Number(row.is_request_cut) === 1,
    answer: String(row.answer_text),
    isAnswerCut: Number(row.is_answer_cut) === 1,
  };
}

function toFeedback(row: Row): Feedback {
  return {
    tier: row.feedback_tier as Tier,
    note: row.note == null ? null : String(row.note),
    atMs: Number(row.feedback_at),
  };
}
