// Messages that wait to be sent. A process takes some for a while by a lease; when it dies, they are free once that is over.

import type { AlertOutbox, DueMessage, SentMessage } from "../../core/alerts/targets.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import { clockSql, inListSql, listValue, withoutNul } from "../dialect.ts";
import { EVENT_COLUMNS, toEvent } from "./events.ts";
import { TARGET_COLUMNS, toTarget } from "./targets.ts";

const RESULT_CHARS_MAX = 500;

export function createAlertOutbox(db: Db): AlertOutbox {
  const clock = clockSql(db.kind);
  // The outer conditions are checked once more where another process was faster.
  const claim = `UPDATE alert_messages SET leased_until = ${clock} + $2, attempts = attempts + 1
    WHERE state = 'waiting' AND leased_until <= ${clock} AND id IN (
      SELECT id FROM alert_messages WHERE state = 'waiting' AND next_at <= ${clock} AND leased_until <= ${clock}
      ORDER BY next_at LIMIT $1)
    RETURNING id`;
  const due = `SELECT m.id AS message_id, m.attempts AS message_attempts, ${aliased("e", EVENT_COLUMNS)},
    ${aliased("t", TARGET_COLUMNS)} FROM alert_messages m JOIN alert_events e ON e.id = m.event_id
    JOIN alert_targets t ON t.id = m.target_id WHERE ${inListSql(db.kind, "m.id", "$1")}`;
  const settle = `UPDATE alert_messages SET state = $2, result_text = $3, done_at = ${clock} WHERE id = $1`;
  const retry = `UPDATE alert_messages SET next_at = ${clock} + $2, leased_until = 0, result_text = $3 WHERE id = $1`;
  const postpone = `UPDATE alert_messages SET next_at = ${clock} + $2, leased_until = 0, attempts = attempts - 1
    WHERE id = $1`;
  return {
    async claim(limit, leaseMs) {
      const ids = (await db.query(claim, [limit, leaseMs])).map(({ id }) => String(id));
      return ids.length === 0 ? [] : (await db.query(due, [listValue(db.kind, ids)])).map(toDue);
    },
    async settle(id, state, result) {
      await db.query(settle, [id, state, plain(result)]);
    },
    async retry(id, afterMs, result) {
      await db.query(retry, [id, Math.ceil(afterMs), plain(result)]);
    },
    async postpone(id, afterMs) {
      await db.query(postpone, [id, Math.ceil(afterMs)]);
    },
    list: async (targetId, limit) => (await db.query(LIST, [targetId, limit])).map(toSent),
  };
}

const LIST = `SELECT m.id, e.kind, e.event_text, m.state, m.attempts, m.result_text, m.created_at, m.done_at
  FROM alert_messages m JOIN alert_events e ON e.id = m.event_id WHERE m.target_id = $1
  ORDER BY m.created_at DESC, m.id DESC LIMIT $2`;

/** Another's answer may hold anything. */
function plain(result: string): string {
  return withoutNul(result.slice(0, RESULT_CHARS_MAX)).toWellFormed();
}

function aliased(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${table}.${column} AS ${table}_${column}`).join(", ");
}

function toDue(row: SqlRow): DueMessage {
  return {
    id: String(row.message_id),
    attempts: Number(row.message_attempts),
    event: toEvent(row, "e_"),
    target: toTarget(row, "t_"),
  };
}

function toSent(row: SqlRow): SentMessage {
  return {
    id: String(row.id),
    kind: String(row.kind),
    text: String(row.event_text),
    state: row.state as SentMessage["state"],
    attempts: Number(row.attempts),
    result: String(row.result_text),
    createdAtMs: Number(row.created_at),
    doneAtMs: row.done_at === null ? null : Number(row.done_at),
  };
}
