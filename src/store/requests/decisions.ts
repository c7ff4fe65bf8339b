// The newest decisions of an account, read from the log of requests and its details.

import type { Db, SqlRow } from "../../core/db.ts";
import type { DecisionLog, PastRequest } from "../../core/requests/decision-log.ts";
import { readDetail } from "./detail.ts";
import { toSummary } from "./requests.ts";

export function createDecisionLog(db: Db): DecisionLog {
  return {
    recent: async (accountId, limit) => (await db.query(RECENT, [accountId, limit])).flatMap(toPast),
  };
}

const RECENT = `SELECT r.*, d.detail_json FROM requests r JOIN request_details d ON d.id = r.id
  WHERE r.account_id = $1 AND r.tier <> '' ORDER BY r.id DESC LIMIT $2`;

function toPast(row: SqlRow): readonly PastRequest[] {
  const summary = toSummary(row);
  const { decision, features } = readDetail(String(row.detail_json), summary);
  if (decision === null) return [];
  const { requestId, atMs, model, buckets, charge } = summary;
  const isAnswered = model !== null && buckets !== null && charge !== null;
  return [{ requestId, atMs, decision, features, answer: isAnswered ? { model, buckets, charge } : null }];
}
