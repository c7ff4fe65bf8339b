// API keys in the database: hashes only.

import type { Db, SqlRow, SqlValue, Statement } from "../../core/db.ts";
import type { KeyChange, KeyRecord, KeyStore } from "../../core/keys.ts";
import { SPEND_RESETS } from "../../core/keys.ts";
import { forUpdateSql, inListSql, listValue } from "../dialect.ts";
import { countSql, pageSql } from "./key-search.ts";
import { readRequires, requiresText } from "./requires.ts";
import { BUMP_REVISION, readRevision } from "./revision.ts";
import { lockTeamSql } from "./teams.ts";

/**
 * Opens the keys. Every change of a key, except its last use, increments the revision in the same batch. `reader` reads
 * lists, so that a long one does not delay writes.
 */
export function createKeyStore(db: Db, reader: Db = db): KeyStore {
  return {
    insert: async (key, replaced) => {
      const ending = replaced && [replaced.expiresAtMs, key.accountId, replaced.id, replaced.revokedAtMs];
      await db.batch([
        ...ownerLocks(db, key.accountId, key),
        { sql: INSERT, params: toParams(key) },
        ...(ending === undefined ? [] : [{ sql: REPLACE, params: ending, expectRows: 1 }]),
        BUMP_REVISION,
      ]);
    },
    all: async () => (await db.query(`SELECT ${COLUMNS} FROM api_keys`)).map(toKey),
    list: async (accountId, page, atMs, search = {}) => {
      const { params, sql } = pageSql(COLUMNS, { kind: db.kind, accountId, atMs, search }, page);
      return (await reader.query(sql(), params)).map(toKey);
    },
    count: async (accountId, atMs, search = {}) => {
      const { params, sql } = countSql({ kind: db.kind, accountId, atMs, search });
      return Number((await reader.query(sql(), params))[0]?.keys);
    },
    countByProfile: async (accountId, atMs) => {
      const rows = await reader.query(COUNT_BY_PROFILE, [accountId, atMs]);
      return new Map(rows.map(({ profile_id: id, keys }) => [String(id), Number(keys)]));
    },
    get: async (accountId, id) => {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ]);
      return row === undefined ? null : toKey(row);
    },
    update: async (accountId, id, change) => {
      const changed = CHANGEABLE.filter(([field]) => change[field] !== undefined);
      const locks = ownerLocks(db, accountId, change);
      const answers = await db.batch([
        ...locks,
        {
          sql: updateSql(changed.map(([, column]) => column)),
          params: [accountId, id, ...changed.map(([field]) => changedValue(change, field))],
        },
        BUMP_REVISION,
      ]);
      const row = answers[locks.length]?.[0];
      return row === undefined ? null : toKey(row);
    },
    revoke: async (accountId, ids, atMs) => {
      const sql = `${REVOKE} AND ${inListSql(db.kind, "id", "$3")} RETURNING id`;
      const params = [atMs, accountId, listValue(db.kind, ids)];
      const [found = []] = await db.batch([{ sql, params }, BUMP_REVISION]);
      return found.map(({ id }) => String(id));
    },
    touch: async (lastUsedAtMsById) => {
      // Sorted, so that two processes lock rows in the same order.
      const touched = [...lastUsedAtMsById].sort(([a], [b]) => (a < b ? -1 : 1));
      await db.batch(touched.map(([id, atMs]) => ({ sql: TOUCH, params: [atMs, id] })));
    },
    revision: () => readRevision(db),
  };
}

function changedValue(change: KeyChange, field: keyof KeyChange): SqlValue {
  return field === "requires" ? requiresText(change.requires) : (change[field] ?? null);
}

/** Makes sure that team and member of the account exist, and stay until the key is written. */
function ownerLocks(db: Db, accountId: string, { teamId, memberId }: KeyChange): readonly Statement[] {
  const team = { sql: lockTeamSql(db.kind), params: [accountId, teamId ?? ""], expectRows: 1 };
  const member = { sql: LOCK_MEMBER + forUpdateSql(db.kind), params: [accountId, memberId ?? ""], expectRows: 1 };
  return [...(teamId == null ? [] : [team]), ...(memberId == null ? [] : [member])];
}

const LOCK_MEMBER = "SELECT id FROM users WHERE account_id = $1 AND id = $2 AND deactivated_at IS NULL";

const COLUMNS = `id, account_id, name, prefix, hash, profile_id, requests_per_minute, spend_limit_nano,
  spend_reset, expires_at, revoked_at, last_used_at, created_at, team_id, member_id, spend_key_id, requires_json`;

const INSERT = `INSERT INTO api_keys (${COLUMNS})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`;

const COUNT_BY_PROFILE = `SELECT profile_id, COUNT(*) AS keys FROM api_keys
  WHERE account_id = $1 AND profile_id IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
  GROUP BY profile_id`;

const REVOKE = "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $1), ended_with_member = 0 WHERE account_id = $2";

/** Columns of the fields that may change. */
const CHANGEABLE = [
  ["name", "name"],
  ["profileId", "profile_id"],
  ["teamId", "team_id"],
  ["memberId", "member_id"],
  ["requires", "requires_json"],
  ["requestsPerMinute", "requests_per_minute"],
  ["spendLimitNano", "spend_limit_nano"],
  ["spendReset", "spend_reset"],
  ["expiresAtMs", "expires_at"],
] as const;

function updateSql(columns: readonly string[]): string {
  const changes = columns.map((column, index) => `${column} = $${index + 3}`).join(", ");
  return `UPDATE api_keys SET ${changes} WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL RETURNING ${COLUMNS}`;
}

const REPLACE = `UPDATE api_keys SET expires_at = CASE WHEN expires_at < $1 THEN expires_at ELSE $1 END,
  revoked_at = COALESCE(revoked_at, $4) WHERE account_id = $2 AND id = $3 RETURNING id`;

const TOUCH = "UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND COALESCE(last_used_at, 0) < $1";

function toParams(key: KeyRecord): readonly SqlValue[] {
  return [
    key.id,
    key.accountId,
    key.name,
    key.prefix,
    key.hash,
    key.profileId,
    key.requestsPerMinute,
    key.spendLimitNano,
    key.spendReset,
    key.expiresAtMs,
    key.revokedAtMs,
    key.lastUsedAtMs,
    key.createdAtMs,
    key.teamId,
    key.memberId,
    key.spendKeyId === key.id ? null : key.spendKeyId,
    requiresText(key.requires),
  ];
}

function toKey(row: SqlRow): KeyRecord {
  const spendLimit = row.spend_limit_nano ?? null;
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    prefix: String(row.prefix),
    hash: String(row.hash),
    profileId: row.profile_id == null ? null : String(row.profile_id),
    teamId: row.team_id == null ? null : String(row.team_id),
    memberId: row.member_id == null ? null : String(row.member_id),
    requires: readRequires(row.requires_json),
    requestsPerMinute: numberOrNull(row.requests_per_minute),
    spendLimitNano: spendLimit === null ? null : BigInt(spendLimit),
    // Keys of older versions have none. An unknown one of a later version counts everything, which is stricter.
    spendReset: SPEND_RESETS.find((known) => known === row.spend_reset) ?? "never",
    spendKeyId: String(row.spend_key_id ?? row.id),
    expiresAtMs: numberOrNull(row.expires_at),
    revokedAtMs: numberOrNull(row.revoked_at),
    lastUsedAtMs: numberOrNull(row.last_used_at),
    createdAtMs: Number(row.created_at),
  };
}

function numberOrNull(value: SqlValue | undefined): number | null {
  return value == null ? null : Number(value);
}
