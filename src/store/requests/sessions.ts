// Sessions of the request log: conversations with what they came to, newest activity first, and the turns of one.

import type { Db, SqlRow } from "../../core/db.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import type { SessionLog, SessionSummary } from "../../core/requests/sessions.ts";
import { inListSql, listValue } from "../dialect.ts";
import { addIds, addLabel, newConditions } from "./conditions.ts";

/** Reads through `db`, which need not be the connection that writes. */
export function createSessionLog(db: Db): SessionLog {
  return {
    async list(query, { limit, after }) {
      const where = newConditions();
      where.add("account_id = ? AND session <> ''", query.accountId);
      addIds(where, query.fromMs, query.toMs === undefined ? null : recordIdAt(query.toMs));
      addLabel(where, "end_user", query.user);
      if (query.keyId !== undefined) where.add("key_id = ?", query.keyId);
      if (query.states !== undefined)
        where.add(inListSql(db.kind, "session_state", "?"), listValue(db.kind, query.states));
      const having = after === null ? "" : ` HAVING MAX(id) < $${where.params.push(after)}`;
      const sql = `SELECT session, MAX(id) AS last_id FROM requests WHERE ${where.sql()} GROUP BY session${having}
        ORDER BY MAX(id) DESC LIMIT $${where.params.push(limit)}`;
      const found = await db.query(sql, where.params);
      const byName = await readSessions(
        db,
        query.accountId,
        found.map(({ session }) => String(session)),
      );
      return found.flatMap(({ session, last_id: lastId }) => {
        const summary = byName.get(String(session));
        return summary === undefined ? [] : [{ ...summary, id: String(lastId) }];
      });
    },
    async find(accountId, session) {
      return (await readSessions(db, accountId, [session])).get(session) ?? null;
    },
  };
}

/** What each conversation came to as a whole, also what lies outside of the time that was asked for. */
async function readSessions(
  db: Db,
  accountId: string,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, SessionSummary>> {
  if (sessions.length === 0) return new Map();
  const where = `account_id = $1 AND session <> '' AND ${inListSql(db.kind, "session", "$2")}`;
  const by = "session, model, provider, end_user, key_id, session_state";
  const sql = `SELECT ${by}, ${SUMS} FROM requests WHERE ${where} GROUP BY ${by} ORDER BY MIN(id)`;
  const rows = await db.query(sql, [accountId, listValue(db.kind, sessions)]);
  const found = new Map<string, SessionSummary>();
  for (const row of rows) {
    const session = String(row.session);
    found.set(session, addRow(found.get(session) ?? emptySession(session), row));
  }
  return found;
}

const SUMS = [
  ["turns", "1"],
  ["errors", "is_error"],
  ["charge", "charge"],
  ["baseline", "CASE WHEN is_error = 1 THEN charge ELSE baseline END"],
  ["tokens", "tokens"],
  ["cached", "cache_read_tokens"],
  ["cache_hits", "CASE WHEN cache_read_tokens > 0 THEN 1 ELSE 0 END"],
]
  .map(([name, sql]) => `CAST(COALESCE(SUM(${sql}), 0) AS BIGINT) AS ${name}`)
  .concat("MIN(created_at) AS first_at", "MAX(created_at) AS last_at", "MAX(id) AS last_id")
  .join(", ");

function emptySession(session: string): SessionSummary {
  return {
    id: "",
    session,
    firstMs: Number.POSITIVE_INFINITY,
    lastMs: 0,
    turns: 0,
    errors: 0,
    switches: 0,
    escalations: 0,
    models: [],
    hosts: [],
    users: [],
    keyIds: [],
    charge: 0n,
    baseline: 0n,
    tokens: 0,
    cachedTokens: 0,
    cacheHits: 0,
  };
}

/** Names in the order in which the conversation had them. */
function addRow(sum: SessionSummary, row: SqlRow): SessionSummary {
  const turns = Number(row.turns);
  return {
    ...sum,
    id: sum.id > String(row.last_id) ? sum.id : String(row.last_id),
    firstMs: Math.min(sum.firstMs, Number(row.first_at)),
    lastMs: Math.max(sum.lastMs, Number(row.last_at)),
    turns: sum.turns + turns,
    errors: sum.errors + Number(row.errors),
    switches: sum.switches + (row.session_state === "switched" ? turns : 0),
    escalations: sum.escalations + (row.session_state === "escalated" ? turns : 0),
    models: withName(sum.models, row.model),
    hosts: withName(sum.hosts, row.provider),
    users: withName(sum.users, row.end_user),
    keyIds: withName(sum.keyIds, row.key_id),
    charge: sum.charge + BigInt(row.charge ?? 0),
    baseline: sum.baseline + BigInt(row.baseline ?? 0),
    tokens: sum.tokens + Number(row.tokens),
    cachedTokens: sum.cachedTokens + Number(row.cached),
    cacheHits: sum.cacheHits + Number(row.cache_hits),
  };
}

function withName(names: readonly string[], name: SqlRow[string] | undefined): readonly string[] {
  const text = String(name ?? "");
  return text === "" || names.includes(text) ? names : [...names, text];
}
