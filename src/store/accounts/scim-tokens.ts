// Tokens of identity providers for SCIM, by their hash.

import type { Db, SqlRow } from "../../core/db.ts";
import type { ScimToken, ScimTokenStore } from "../../core/people.ts";
import { newConditions } from "../requests/conditions.ts";

export function createScimTokenStore(db: Db): ScimTokenStore {
  return {
    insert: async ({ id, accountId, name, hash, reachesOperators, createdAtMs, lastUsedAtMs }) => {
      const flag = reachesOperators ? 1 : 0;
      await db.query(INSERT, [id, accountId, name, hash, flag, createdAtMs, lastUsedAtMs]);
    },
    byHash: async (hash) => {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM scim_tokens WHERE hash = $1`, [hash]);
      return row === undefined ? null : toToken(row);
    },
    list: async (accountId, { limit, after }) => {
      const where = newConditions();
      where.add("account_id = ?", accountId);
      if (after !== null) where.add("(created_at, id) < (SELECT created_at, id FROM scim_tokens WHERE id = ?)", after);
      const sql = `SELECT ${COLUMNS} FROM scim_tokens WHERE ${where.sql()} ORDER BY created_at DESC, id DESC`;
      return (await db.query(`${sql} LIMIT $${where.params.push(limit)}`, where.params)).map(toToken);
    },
    delete: async (accountId, id) => {
      const sql = "DELETE FROM scim_tokens WHERE account_id = $1 AND id = $2 RETURNING id";
      return (await db.query(sql, [accountId, id])).length > 0;
    },
    touch: async (id, atMs) => {
      await db.query("UPDATE scim_tokens SET last_used_at = $1 WHERE id = $2", [atMs, id]);
    },
  };
}

const COLUMNS = "id, account_id, name, hash, reaches_operators, created_at, last_used_at";

const INSERT = `INSERT INTO scim_tokens (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

function toToken(row: SqlRow): ScimToken {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    hash: String(row.hash),
    reachesOperators: Number(row.reaches_operators) === 1,
    createdAtMs: Number(row.created_at),
    lastUsedAtMs: row.last_used_at == null ? null : Number(row.last_used_at),
  };
}
