// Shadow samples in the database, and their cost per day. Only statements that check the day's row change it, so that any
// number of processes keep to one budget.

import type { Db, SqlRow } from "../../core/db.ts";
import type {
  AnswerFigures,
  MarkedSample,
  OutcomeStore,
  SampleVerdict,
  StoredSample,
} from "../../core/requests/outcomes.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import type { Tier } from "../../core/tiers.ts";
import { withoutNul } from "../dialect.ts";

interface OutcomeDbs {
  /** Database with the budget. */
  readonly db: Db;
  /** Database with the samples, beside the requests. */
  readonly log: Db;
  readonly reader: Db;
}

export function createOutcomeStore({ db, log, reader }: OutcomeDbs): OutcomeStore {
  return {
    async take({ profileId, day }, amount, limit) {
      const [, taken] = await db.batch([
        { sql: OPEN_DAY, params: [profileId, day] },
        { sql: TAKE, params: [amount, profileId, day, limit] },
      ]);
      return taken !== undefined && taken.length > 0;
    },
    async settle({ profileId, day }, taken, cost) {
      await db.batch([{ sql: SETTLE, params: [taken, cost, profileId, day] }]);
    },
    async spentOn(day) {
      const rows = await reader.query("SELECT profile_id, spent FROM shadow_spend WHERE day = $1", [day]);
      return new Map(rows.map((row) => [String(row.profile_id), BigInt(row.spent ?? 0)]));
    },
    async add({ id, accountId, profileId, atMs, tier, category, live, second, verdict, similarity, answer }) {
      const figures = [live, second].flatMap(({ model, outputTokens, latencyMs, cost }) => [
        ...[model, outputTokens, latencyMs, cost],
      ]);
      const text = answer === null ? null : withoutNul(answer);
      const params = [id, accountId, profileId, atMs, tier, category, ...figures, verdict, similarity, text];
      await log.batch([{ sql: ADD, params }]);
    },
    samples: async (accountId, fromMs, limit) =>
      (await reader.query(SAMPLES, [accountId, recordIdAt(fromMs), limit])).map(toSample),
  };
}

const OPEN_DAY = "INSERT INTO shadow_spend (profile_id, day, spent) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING";

const TAKE = `UPDATE shadow_spend SET spent = spent + $1
  WHERE profile_id = $2 AND day = $3 AND spent + $1 <= $4 RETURNING spent`;

const SETTLE = "UPDATE shadow_spend SET spent = spent - $1 + $2 WHERE profile_id = $3 AND day = $4";

const ADD = `INSERT INTO shadow_samples
    (id, account_id, profile_id, created_at, tier, category, live_model, live_output_tokens, live_latency_ms, live_cost,
      second_model, second_output_tokens, second_latency_ms, second_cost, verdict, similarity, answer_text)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`;

/** Joins samples with marks and requests. The row of a request may not be written yet. */
const SAMPLES = `SELECT s.*, r.request_id, f.tier AS marked_tier, f.app_tier, f.app_score
  FROM shadow_samples s LEFT JOIN requests r ON r.id = s.id LEFT JOIN request_feedback f ON f.id = s.id
  WHERE s.account_id = $1 AND s.id >= $2 ORDER BY s.id DESC LIMIT $3`;

function toSample(row: SqlRow): MarkedSample {
  return {
    id: String(row.id),
    requestId: String(row.request_id ?? row.id),
    profileId: String(row.profile_id),
    atMs: Number(row.created_at),
    tier: String(row.tier),
    category: String(row.category),
    live: toFigures(row, "live"),
    second: toFigures(row, "second"),
    verdict: row.verdict as SampleVerdict,
    similarity: row.similarity == null ? null : Number(row.similarity),
    // The mark of a person precedes that of an application.
    markedTier: (row.marked_tier || row.app_tier || null) as Tier | null,
    score: row.app_score == null ? null : Number(row.app_score),
  };
}

/** Reads a row that names the second answer `second_answer`. */
export function toStoredSample(row: SqlRow): StoredSample {
  return {
    second: toFigures(row, "second"),
    verdict: row.verdict as SampleVerdict,
    similarity: row.similarity == null ? null : Number(row.similarity),
    answer: row.second_answer == null ? null : String(row.second_answer),
  };
}

function toFigures(row: SqlRow, side: "live" | "second"): AnswerFigures {
  return {
    model: String(row[`${side}_model`]),
    outputTokens: Number(row[`${side}_output_tokens`]),
    latencyMs: Number(row[`${side}_latency_ms`]),
    cost: BigInt(row[`${side}_cost`] ?? 0),
  };
}
