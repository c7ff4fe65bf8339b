// Events in the database. An index allows one open event of a kind and subject, so that of several processes one raises it.

import { randomBytes } from "node:crypto";
import type { AlertEvent, AlertEventStore } from "../../core/alerts/events.ts";
import { ALERT_KINDS, type Observation, sentenceOf } from "../../core/alerts/kinds.ts";
import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import { timeInBase36 } from "../../core/requests/time-text.ts";
import { withoutNul } from "../dialect.ts";

export function createAlertEventStore(db: Db): AlertEventStore {
  return {
    async raise(observations, nowMs) {
      const raised: AlertEvent[] = [];
      for (const observation of observations) {
        const event = eventOf(observation, nowMs);
        const [rows] = await db.batch([
          { sql: RAISE, params: paramsOf(event) },
          { sql: ADD_MESSAGES, params: [event.id, nowMs] },
        ]);
        if (rows?.[0]?.id === event.id) raised.push(event);
      }
      return raised;
    },
    async end(kind, unseenSinceMs, nowMs) {
      return (await db.query(END, [kind, unseenSinceMs, nowMs])).length;
    },
    async list({ accountId, kind }, { limit, after }) {
      const conditions = [
        ...(accountId === null ? [] : [["account_id =", accountId]]),
        ...(kind === null ? [] : [["kind =", kind]]),
        ...(after === null ? [] : [["id <", after]]),
      ] as const;
      const where = conditions.map(([test], index) => `${test} $${index + 2}`).join(" AND ");
      const sql = `SELECT ${COLUMNS} FROM alert_events ${where === "" ? "" : `WHERE ${where}`} ORDER BY id DESC LIMIT $1`;
      return (await db.query(sql, [limit, ...conditions.map(([, value]) => value as string)])).map((row) =>
        toEvent(row),
      );
    },
    async deleteBefore(atMs) {
      await db.batch([
        { sql: DELETE_MESSAGES, params: [atMs] },
        { sql: "DELETE FROM alert_events WHERE ended_at IS NOT NULL AND created_at < $1", params: [atMs] },
      ]);
    },
    async claimTurn(name, nowMs, untilMs) {
      return (await db.query(CLAIM, [name, nowMs, untilMs])).length > 0;
    },
  };
}

export const EVENT_COLUMNS = [
  ...["id", "kind", "severity", "account_id", "subject", "event_text", "data_json", "created_at", "ended_at"],
] as const;
const COLUMNS = EVENT_COLUMNS.join(", ");

const RAISE = `INSERT INTO alert_events (id, kind, severity, account_id, subject, event_text, data_json, created_at, seen_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
  ON CONFLICT (account_id, kind, subject) WHERE ended_at IS NULL DO UPDATE SET seen_at = excluded.seen_at RETURNING id`;

/** Makes messages for a new event only. */
const ADD_MESSAGES = `INSERT INTO alert_messages
  (id, event_id, target_id, state, attempts, next_at, leased_until, result_text, created_at)
  SELECT 'msg_' || e.id || '_' || t.id, e.id, t.id, 'waiting', 0, $2, 0, '', $2 FROM alert_events e
  JOIN alert_targets t ON (t.account_id = '' OR t.account_id = e.account_id) AND t.is_paused = 0
    AND (t.kinds_text = '' OR t.kinds_text LIKE '%|' || e.kind || '|%')
  WHERE e.id = $1`;

const DELETE_MESSAGES = `DELETE FROM alert_messages WHERE event_id IN
  (SELECT id FROM alert_events WHERE ended_at IS NOT NULL AND created_at < $1)`;

const END = "UPDATE alert_events SET ended_at = $3 WHERE ended_at IS NULL AND kind = $1 AND seen_at < $2 RETURNING id";

const CLAIM = `INSERT INTO alert_turns (name, next_at) VALUES ($1, $3)
  ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at WHERE alert_turns.next_at <= $2 RETURNING name`;

/** Ids begin with the time, so that their order is that of the events. */
function eventOf(observation: Observation, nowMs: number): AlertEvent {
  const { kind, accountId, subject, data } = observation;
  return {
    id: `evt_${timeInBase36(nowMs)}${randomBytes(8).toString("hex")}`,
    kind,
    severity: ALERT_KINDS[kind].severity,
    accountId,
    subject,
    text: plain(sentenceOf(observation)),
    data: JSON.parse(plain(JSON.stringify(data))) as AlertEvent["data"],
    atMs: nowMs,
    endedAtMs: null,
  };
}

/** Names and errors may hold what PostgreSQL cannot store. */
function plain(text: string): string {
  return withoutNul(text).toWellFormed();
}

function paramsOf(event: AlertEvent): SqlValue[] {
  const { id, kind, severity, accountId, subject, text, data, atMs } = event;
  return [id, kind, severity, accountId ?? "", plain(subject), text, JSON.stringify(data), atMs];
}

/** The names of the columns may have a prefix, where they are joined with others. */
export function toEvent(row: SqlRow, prefix = ""): AlertEvent {
  const value = (column: (typeof EVENT_COLUMNS)[number]): SqlValue => row[prefix + column] ?? null;
  const [accountId, endedAt] = [String(value("account_id")), value("ended_at")];
  return {
    id: String(value("id")),
    kind: String(value("kind")),
    severity: String(value("severity")),
    accountId: accountId === "" ? null : accountId,
    subject: String(value("subject")),
    text: String(value("event_text")),
    data: JSON.parse(String(value("data_json"))) as AlertEvent["data"],
    atMs: Number(value("created_at")),
    endedAtMs: endedAt === null ? null : Number(endedAt),
  };
}
