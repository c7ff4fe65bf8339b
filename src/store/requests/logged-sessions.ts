// Sessions of the request log: conversations with their totals, newest activity first, and the turns of one.

import type { Page } from "../../core/accounts.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import type { LoggedSession, LoggedSessionQuery, LoggedSessions } from "../../core/requests/logged-sessions.ts";
import { recordIdAt } from "../../core/requests/records.ts";
import { inListSql, listValue } from "../dialect.ts";
import { addIds, addLabel, addSessions, type Conditions, newConditions } from "./conditions.ts";

/** Opens the sessions. `db` may be a read-only connection. */
export function createLoggedSessions(db: Db): LoggedSessions {
  return {
    async list(query, { limit, after }) {
      const found = await lastTurns(db, query, { limit, after });
      const byName = await readSessions(db, query.accountId, [...found.keys()]);
      return [...found].flatMap(([session, id]) => {
        const summary = byName.get(session);
        return summary === undefined ? [] : [{ ...summary, id }];
      });
    },
    async find(accountId, session) {
      return (await readSessions(db, accountId, [session])).get(session) ?? null;
    },
  };
}

/** Requests of the first step, mostly enough for a page. */
const FIRST_STEP = 500;
const GROWTH = 4;
/** Most turns to read, so that long conversations do not bring all of theirs at once. */
const STEP_MAX = 32_000;

/**
 * Finds the last turn of each conversation, newest first. Reads requests backwards until there are enough, so a page costs
 * the same in a long log. Conversations of earlier pages have a turn from `after` on.
 */
async function lastTurns(
  db: Db,
  query: LoggedSessionQuery,
  { limit, after }: Page,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const end = query.toMs === undefined ? null : recordIdAt(query.toMs);
  let before = after !== null && (end === null || after < end) ? after : end;
  for (let step = FIRST_STEP; ; step = Math.min(step * GROWTH, STEP_MAX)) {
    const where = turnsOf(db, query);
    addIds(where, query.fromMs, before);
    const sql = `SELECT session, id FROM requests WHERE ${where.sql()} ORDER BY id DESC LIMIT ${step}`;
    const rows = await db.query(sql, where.params);
    const names = new Map<string, string>();
    for (const { session, id } of rows) {
      const name = String(session);
      if (!found.has(name) && !names.has(name)) names.set(name, String(id));
    }
    const listed = after === null ? new Set() : await listedBefore(db, query, [...names.keys()], { after, end });
    for (const [name, id] of names) if (!listed.has(name) && found.size < limit) found.set(name, id);
    if (rows.length < step || found.size === limit) return found;
    before = String(rows.at(-1)?.id);
  }
}

/** Finds conversations with a turn from an id on. */
async function listedBefore(
  db: Db,
  query: LoggedSessionQuery,
  sessions: readonly string[],
  { after, end }: { readonly after: string; readonly end: string | null },
): Promise<ReadonlySet<string>> {
  const where = turnsOf(db, query);
  addSessions(where, db.kind, { sessions, fromId: after });
  addIds(where, undefined, end);
  const rows = await db.query(`SELECT DISTINCT session FROM requests WHERE ${where.sql()}`, where.params);
  return new Set(rows.map(({ session }) => String(session)));
}

/** Adds the filters of turns, without the time. */
function turnsOf(db: Db, { accountId, user, keyId, states }: LoggedSessionQuery): Conditions {
  const where = newConditions();
  where.add("account_id = ? AND session <> ''", accountId);
  addLabel(where, "end_user", user);
  if (keyId !== undefined) where.add("key_id = ?", keyId);
  if (states !== undefined) where.add(inListSql(db.kind, "session_state", "?"), listValue(db.kind, states));
  return where;
}

/** Reads the totals of whole conversations, including turns outside of the requested time. */
async function readSessions(
  db: Db,
  accountId: string,
  sessions: readonly string[],
): Promise<ReadonlyMap<string, LoggedSession>> {
  if (sessions.length === 0) return new Map();
  const where = newConditions();
  where.add("account_id = ?", accountId);
  addSessions(where, db.kind, { sessions });
  const by = "session, model, provider, end_user, key_id, session_state";
  const sql = `SELECT ${by}, ${SUMS} FROM requests WHERE ${where.sql()} GROUP BY ${by} ORDER BY MIN(id)`;
  const rows = await db.query(sql, where.params);
  const found = new Map<string, LoggedSession>();
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

function emptySession(session: string): LoggedSession {
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

/** Lists names in the order in which they first appeared. */
function addRow(sum: LoggedSession, row: SqlRow): LoggedSession {
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
