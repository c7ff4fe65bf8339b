// Logins in the database, by the hash of their token.

import type { Db } from "../../core/db.ts";
import type { LoginStore } from "../../core/people.ts";
import { toUser, USER_COLUMNS } from "./users.ts";

/** Only the hash of a token is stored, so a copy of the database opens no login. */
export function createLoginStore(db: Db): LoginStore {
  return {
    insert: async ({ hash, userId, createdAtMs, seenAtMs }, staleBeforeMs) => {
      await db.batch([
        { sql: NOTE_SIGN_IN, params: [createdAtMs, userId], expectRows: 1 },
        { sql: INSERT, params: [hash, userId, createdAtMs, seenAtMs] },
        { sql: "DELETE FROM sessions WHERE seen_at < $1", params: [staleBeforeMs] },
      ]);
    },
    find: async (hash) => {
      const [row] = await db.query(FIND, [hash]);
      if (row === undefined) return null;
      const login = {
        hash,
        userId: String(row.id),
        createdAtMs: Number(row.session_created_at),
        seenAtMs: Number(row.session_seen_at),
      };
      return { login, user: toUser(row) };
    },
    touch: async (hash, seenAtMs) => {
      await db.query("UPDATE sessions SET seen_at = $1 WHERE hash = $2 AND seen_at < $1", [seenAtMs, hash]);
    },
    delete: async (hash) => {
      await db.query("DELETE FROM sessions WHERE hash = $1", [hash]);
    },
  };
}

/** Nobody signs in whom an identity provider keeps out. */
const NOTE_SIGN_IN = "UPDATE users SET last_sign_in_at = $1 WHERE id = $2 AND deactivated_at IS NULL";

const INSERT = "INSERT INTO sessions (hash, user_id, created_at, seen_at) VALUES ($1, $2, $3, $4)";

const FIND = `SELECT ${USER_COLUMNS.split(", ")
  .map((column) => `u.${column}`)
  .join(", ")}, s.created_at AS session_created_at, s.seen_at AS session_seen_at
  FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1 AND u.deactivated_at IS NULL`;
