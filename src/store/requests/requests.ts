// Reads the request log: pages, one request as a whole, its histogram, feedback, and recent decisions.

import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import type {
  AppFeedback,
  DecisionLog,
  Feedback,
  LoggedTurn,
  MarkedRequest,
  PastRequest,
  RequestLog,
  StoredRequest,
} from "../../core/requests/log.ts";
import type { ContentRecord, Features } from "../../core/requests/records.ts";
import type { Tier } from "../../core/tiers.ts";
import { addRequestId, addSessions, newConditions } from "./conditions.ts";
import { readHistogram } from "./counts.ts";
import { toStoredSample } from "./outcomes.ts";
import { searchPage } from "./search.ts";
import { readDetail, textOrNull, toSummary } from "./stored-record.ts";
import { readSums } from "./sums.ts";

/** Reads through `db`, and writes feedback through `writer`. */
export function createRequestLog(db: Db, writer: Db = db): RequestLog {
  return {
    list: async (filter, page) => (await searchPage(db, filter, page)).map(toSummary),
    async turns(accountId, session, limit) {
      const where = newConditions();
      where.add("account_id = ?", accountId);
      addSessions(where, db.kind, { sessions: [session] });
      const chosen = `SELECT * FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT ${limit}`;
      const sql = `SELECT r.*, d.detail_json FROM (${chosen}) AS r JOIN request_details d ON d.id = r.id ORDER BY r.id`;
      return (await db.query(sql, where.params)).map(toTurn);
    },
    sums: (filter) => readSums(db, filter),
    async hasRequestId(accountId, start) {
      const where = newConditions();
      where.add("account_id = ?", accountId);
      addRequestId(where, start);
      return (await db.query(`SELECT 1 AS found FROM requests WHERE ${where.sql()} LIMIT 1`, where.params)).length > 0;
    },
    histogram: (filter, span) => readHistogram(db, filter, span),
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
        feedback: rest?.feedback_tier ? toFeedback(rest) : null,
        appFeedback: rest?.app_at == null ? null : toAppFeedback(rest),
        sample: rest?.verdict == null ? null : toStoredSample(rest),
      };
    },
    async mark(accountId, recordId, { tier, note, atMs }) {
      const subject = subjectOf(await this.find(accountId, recordId));
      if (subject !== null) await writer.query(MARK, [...subject, accountId, tier, note, atMs]);
    },
    async rate(accountId, recordId, { score, tier, comment, keyId, atMs }) {
      const subject = subjectOf(await this.find(accountId, recordId));
      if (subject !== null) await writer.query(RATE, [...subject, accountId, score, tier ?? "", comment, keyId, atMs]);
    },
    marks: async ({ limit, after }) => (await db.query(MARKS, [after ?? BEYOND_IDS, limit])).map(toMarked),
  };
}

/** Reads recent decisions and their costs, for replay. */
export function createDecisionLog(db: Db): DecisionLog {
  return {
    recent: async (accountId, limit) => (await db.query(RECENT, [accountId, limit])).flatMap(toPast),
  };
}

const RECENT = `SELECT r.*, d.detail_json FROM requests r JOIN request_details d ON d.id = r.id
  WHERE r.account_id = $1 AND r.tier <> '' ORDER BY r.id DESC LIMIT $2`;

function toTurn(row: SqlRow): LoggedTurn {
  const summary = toSummary(row);
  const { decision } = readDetail(String(row.detail_json), summary);
  return { summary, reasoning: decision?.reasoning ?? null, thread: decision?.session?.thread ?? null };
}

function toPast(row: SqlRow): readonly PastRequest[] {
  const summary = toSummary(row);
  const { decision, features } = readDetail(String(row.detail_json), summary);
  if (decision === null) return [];
  const { requestId, atMs, profileId, model, buckets, charge } = summary;
  const isAnswered = model !== null && buckets !== null && charge !== null;
  return [{ requestId, profileId, atMs, decision, features, answer: isAnswered ? { model, buckets, charge } : null }];
}

/** Reads the parts of a request that are not in its log row. */
const REST = `SELECT d.detail_json, c.request_text, c.is_request_cut, c.answer_text, c.is_answer_cut,
    f.tier AS feedback_tier, f.note, f.created_at AS feedback_at,
    f.app_score, f.app_tier, f.app_comment, f.app_key_id, f.app_at,
    s.second_model, s.second_output_tokens, s.second_latency_ms, s.second_cost, s.verdict, s.similarity,
    s.answer_text AS second_answer
  FROM request_details d LEFT JOIN request_contents c ON c.id = d.id LEFT JOIN request_feedback f ON f.id = d.id
    LEFT JOIN shadow_samples s ON s.id = d.id
  WHERE d.id = $1`;

/** Columns that a mark copies from its request, because the mark is kept longer. */
function subjectOf(stored: StoredRequest | null): readonly SqlValue[] | null {
  if (stored === null) return null;
  const { summary, detail } = stored;
  return [summary.id, summary.tier ?? "", summary.category ?? "", JSON.stringify(detail.features)];
}

/** Writes a mark, which replaces an earlier one of the request. */
const MARK = `INSERT INTO request_feedback
    (id, decided_tier, category, features_json, account_id, tier, note, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, note = excluded.note, created_at = excluded.created_at`;

/** The same for the columns of applications. */
const RATE = `INSERT INTO request_feedback
    (id, decided_tier, category, features_json, account_id, tier, created_at,
      app_score, app_tier, app_comment, app_key_id, app_at)
  VALUES ($1, $2, $3, $4, $5, '', $10, $6, $7, $8, $9, $10)
  ON CONFLICT (id) DO UPDATE SET app_score = excluded.app_score, app_tier = excluded.app_tier,
    app_comment = excluded.app_comment, app_key_id = excluded.app_key_id, app_at = excluded.app_at`;

/** Sorts after every id. */
const BEYOND_IDS = "~";

/** Prefers the mark of a person to that of an application. */
const MARKS = `SELECT id, CASE WHEN tier <> '' THEN tier ELSE app_tier END AS tier, decided_tier, category,
    features_json, CASE WHEN tier <> '' THEN created_at ELSE app_at END AS created_at
  FROM request_feedback
  WHERE (tier <> '' OR app_tier <> '') AND category <> '' AND features_json <> 'null' AND id < $1
  ORDER BY id DESC LIMIT $2`;

/** Reads rows. Returns null if there are none. */
async function rowsOf(db: Db, condition: string, params: readonly SqlValue[]): Promise<readonly SqlRow[] | null> {
  const rows = await db.query(`SELECT * FROM requests WHERE account_id = $1 AND ${condition}`, params);
  return rows.length === 0 ? null : rows;
}

function toContent(row: SqlRow): ContentRecord {
  return {
    request: String(row.request_text),
    isRequestCut: Number(row.is_request_cut) === 1,
    answer: String(row.answer_text),
    isAnswerCut: Number(row.is_answer_cut) === 1,
  };
}

function toMarked(row: SqlRow): MarkedRequest {
  return {
    id: String(row.id),
    tier: row.tier as Tier,
    decidedTier: String(row.decided_tier),
    category: String(row.category),
    features: JSON.parse(String(row.features_json)) as Features,
    atMs: Number(row.created_at),
  };
}

function toFeedback(row: SqlRow): Feedback {
  return {
    tier: row.feedback_tier as Tier,
    note: row.note == null ? null : String(row.note),
    atMs: Number(row.feedback_at),
  };
}

function toAppFeedback(row: SqlRow): AppFeedback {
  return {
    score: row.app_score == null ? null : Number(row.app_score),
    tier: textOrNull(row.app_tier) as Tier | null,
    comment: row.app_comment == null ? null : String(row.app_comment),
    keyId: String(row.app_key_id),
    atMs: Number(row.app_at),
  };
}
