// Password-reset links in the database, by the hash of their token.

import type { Db } from "../../core/db.ts";
import type { PasswordResetStore } from "../../core/people.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { END_PASSKEYS, END_RESETS, SET_PASSWORD, toUser, USER_COLUMNS } from "./users.ts";

/** One open link per user: a new one replaces the last. */
export function createPasswordResetStore(db: Db): PasswordResetStore {
  return {
    insert: async ({ userId, hash, createdAtMs, expiresAtMs }) => {
      await db.query(INSERT, [userId, hash, createdAtMs, expiresAtMs]);
    },
    find: async (hash) => {
      const [row] = await db.query(FIND, [hash]);
      if (row === undefined) return null;
      const times = { createdAtMs: Number(row.reset_created_at), expiresAtMs: Number(row.reset_expires_at) };
      return { reset: { userId: String(row.id), hash, ...times }, user: toUser(row) };
    },
    redeem: async ({ userId, hash }, passwordHash) => {
      try {
        await db.batch([
          { sql: `${END_RESETS} AND hash = $2`, params: [userId, hash], expectRows: 1 },
          { sql: SET_PASSWORD, params: [passwordHash, userId], expectRows: 1 },
          { sql: "DELETE FROM sessions WHERE user_id = $1", params: [userId] },
          { sql: END_PASSKEYS, params: [userId] },
        ]);
        return true;
      } catch (error) {
        if (error instanceof BatchRejected) return false;
        throw error;
      }
    },
  };
}

const INSERT = `INSERT INTO password_resets (user_id, hash, created_at, expires_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (user_id) DO UPDATE SET hash = $2, created_at = $3, expires_at = $4`;

const FIND = `SELECT ${USER_COLUMNS.split(", ")
  .map((column) => `u.${column}`)
  .join(", ")}, r.created_at AS reset_created_at, r.expires_at AS reset_expires_at
  FROM password_resets r JOIN users u ON u.id = r.user_id WHERE r.hash = $1`;
