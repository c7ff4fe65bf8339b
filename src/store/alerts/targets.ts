// Targets of events in the database.

import { type AlertTarget, type AlertTargetStore, CHANNELS } from "../../core/alerts/targets.ts";
import type { Db, SqlRow, SqlValue } from "../../core/db.ts";

export function createAlertTargetStore(db: Db): AlertTargetStore {
  return {
    async insert(target) {
      await db.query(`INSERT INTO alert_targets (${TARGET_COLUMNS.join(", ")}) VALUES (${PLACES})`, paramsOf(target));
    },
    async update(target) {
      return (await db.query(UPDATE, paramsOf(target))).length > 0;
    },
    async delete(id) {
      const [deleted] = await db.batch([
        { sql: "DELETE FROM alert_targets WHERE id = $1 RETURNING id", params: [id] },
        { sql: "DELETE FROM alert_messages WHERE target_id = $1", params: [id] },
      ]);
      return deleted !== undefined && deleted.length > 0;
    },
    async get(id) {
      const [row] = await db.query(`${SELECT} WHERE id = $1`, [id]);
      return row === undefined ? null : toTarget(row);
    },
    async list(accountId) {
      const rows =
        accountId === null
          ? await db.query(`${SELECT} ORDER BY id`)
          : await db.query(`${SELECT} WHERE account_id = $1 ORDER BY id`, [accountId]);
      return rows.map((row) => toTarget(row));
    },
  };
}

export const TARGET_COLUMNS = [
  ...["id", "account_id", "channel", "name", "kinds_text", "quiet_json", "is_paused"],
  ...["address_shown", "sealed_text", "created_at"],
] as const;

const PLACES = TARGET_COLUMNS.map((_, index) => `$${index + 1}`).join(", ");
const SELECT = `SELECT ${TARGET_COLUMNS.join(", ")} FROM alert_targets`;
const UPDATE = `UPDATE alert_targets SET ${TARGET_COLUMNS.map((column, index) => `${column} = $${index + 1}`).join(", ")}
  WHERE id = $1 RETURNING id`;

function paramsOf(target: AlertTarget): SqlValue[] {
  const { id, accountId, channel, name, kinds, quiet, isPaused, addressShown, sealed, createdAtMs } = target;
  const kindsText = kinds === null ? "" : `|${kinds.join("|")}|`;
  const quietText = quiet === null ? null : JSON.stringify(quiet);
  return [
    id,
    accountId ?? "",
    channel,
    name,
    kindsText,
    quietText,
    Number(isPaused),
    addressShown,
    sealed,
    createdAtMs,
  ];
}

/** The names of the columns may have a prefix, where they are joined with others. */
export function toTarget(row: SqlRow, prefix = ""): AlertTarget {
  const value = (column: (typeof TARGET_COLUMNS)[number]): SqlValue => row[prefix + column] ?? null;
  const [accountId, kinds, quiet] = [String(value("account_id")), String(value("kinds_text")), value("quiet_json")];
  return {
    id: String(value("id")),
    accountId: accountId === "" ? null : accountId,
    channel: CHANNELS.find((channel) => channel === value("channel")) ?? "webhook",
    name: String(value("name")),
    kinds: kinds === "" ? null : kinds.split("|").filter((kind) => kind !== ""),
    quiet: quiet === null ? null : (JSON.parse(String(quiet)) as AlertTarget["quiet"]),
    isPaused: Number(value("is_paused")) === 1,
    addressShown: String(value("address_shown")),
    sealed: String(value("sealed_text")),
    createdAtMs: Number(value("created_at")),
  };
}
