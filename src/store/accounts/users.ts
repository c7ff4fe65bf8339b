// Users in the database.

import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import { hasPassword, type User, type UserRole, type UserStore } from "../../core/people.ts";
import { forUpdateSql } from "../dialect.ts";
import { BUMP_REVISION } from "./revision.ts";

/** E-mail addresses arrive in lower case; the table keeps them unique. */
export function createUserStore(db: Db): UserStore {
  return {
    hasOperator: async () => (await db.query("SELECT id FROM users WHERE role = 'operator' LIMIT 1")).length > 0,
    byEmail: async (email) => {
      const [row] = await db.query(`SELECT ${USER_COLUMNS} FROM users WHERE email = $1`, [email]);
      return row === undefined ? null : toUser(row);
    },
    byId: async (id) => {
      const [row] = await db.query(`SELECT ${USER_COLUMNS} FROM users WHERE id = $1`, [id]);
      return row === undefined ? null : toUser(row);
    },
    list: async ({ limit, after }) => {
      const rows = after === null ? await db.query(FIRST_PAGE, [limit]) : await db.query(PAGE_AFTER, [limit, after]);
      return rows.map(toUser);
    },
    setPassword: async (id, passwordHash, keptSession) => {
      await db.batch([
        { sql: SET_PASSWORD, params: [passwordHash, id], expectRows: 1 },
        { sql: END_RESETS, params: [id] },
        { sql: "DELETE FROM sessions WHERE user_id = $1 AND hash <> $2", params: [id, keptSession] },
      ]);
    },
    delete: (id, atMs) =>
      db.transaction(async (tx) => {
        // Locks all operators in one order: of two that delete each other, only one may succeed.
        const lock = forUpdateSql(db.kind);
        const operators = await tx.query(
          `SELECT ${USER_COLUMNS} FROM users WHERE role = 'operator' ORDER BY id${lock}`,
        );
        if (isLastWayBack(operators.map(toUser), id)) return "last-operator";
        const deleted = await tx.query("DELETE FROM users WHERE id = $1 RETURNING id", [id]);
        if (deleted.length === 0) return "missing";
        await tx.query("DELETE FROM sessions WHERE user_id = $1", [id]);
        await tx.query("DELETE FROM identities WHERE user_id = $1", [id]);
        await tx.query(END_RESETS, [id]);
        await tx.query(REVOKE_KEYS, [id, atMs]);
        await tx.query(BUMP_REVISION.sql);
        return "deleted";
      }),
  };
}

/** True for an operator beside whom no other could sign in while identity providers are down. */
export function isLastWayBack(operators: readonly User[], id: string): boolean {
  const others = operators.filter((user) => user.id !== id && hasPassword(user.passwordHash));
  return others.length === 0 && operators.some((user) => user.id === id);
}

export const SET_PASSWORD = "UPDATE users SET password_hash = $1 WHERE id = $2";

const REVOKE_KEYS = "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $2) WHERE member_id = $1";

export const END_RESETS = "DELETE FROM password_resets WHERE user_id = $1";

/** Names the columns: a prepared statement with `*` fails when a newer version adds one. */
export const USER_COLUMNS = "id, email, role, account_id, password_hash, created_at, last_sign_in_at";

export const INSERT_USER = `INSERT INTO users (${USER_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const FIRST_PAGE = `SELECT ${USER_COLUMNS} FROM users ORDER BY created_at DESC, id DESC LIMIT $1`;

const PAGE_AFTER = `SELECT ${USER_COLUMNS} FROM users
  WHERE (created_at, id) < (SELECT created_at, id FROM users WHERE id = $2)
  ORDER BY created_at DESC, id DESC LIMIT $1`;

export function userParams(user: User): readonly SqlValue[] {
  const { id, email, role, accountId, passwordHash, createdAtMs, lastSignInAtMs } = user;
  return [id, email, role, accountId, passwordHash, createdAtMs, lastSignInAtMs];
}

export function toUser(row: SqlRow): User {
  return {
    id: String(row.id),
    email: String(row.email),
    role: String(row.role) as UserRole,
    accountId: String(row.account_id),
    passwordHash: String(row.password_hash),
    createdAtMs: Number(row.created_at),
    lastSignInAtMs: row.last_sign_in_at == null ? null : Number(row.last_sign_in_at),
  };
}
