// Passkeys of users and the challenges that wait for one, in the database.

import type { Db, SqlRow } from "../../core/db.ts";
import type { Passkey, PasskeyChallengeStore, PasskeyStore } from "../../core/people.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { toUser, USER_COLUMNS } from "./users.ts";

export function createPasskeyStore(db: Db): PasskeyStore {
  return {
    insert: async (passkey, passwordHash) => {
      const { id, credentialId, userId, name, publicKey, counter, host, createdAtMs, lastUsedAtMs } = passkey;
      const values = [id, credentialId, name, publicKey, counter, host, createdAtMs, lastUsedAtMs];
      try {
        await db.batch([{ sql: INSERT, params: [...values, userId, passwordHash], expectRows: 1 }]);
        return true;
      } catch (error) {
        if (error instanceof BatchRejected) return false;
        throw error;
      }
    },
    find: async (credentialId) => {
      const [row] = await db.query(FIND, [credentialId]);
      return row === undefined ? null : { passkey: toPasskey(row, "passkey_"), user: toUser(row) };
    },
    ofUser: async (userId) => (await db.query(OF_USER, [userId])).map((row) => toPasskey(row)),
    noteUse: async (id, counter, atMs) => (await db.query(NOTE_USE, [id, counter, atMs])).length > 0,
    delete: async (userId, id) => (await db.query(DELETE, [userId, id])).length > 0,
  };
}

export function createPasskeyChallengeStore(db: Db): PasskeyChallengeStore {
  return {
    insert: async ({ hash, userId, expiresAtMs }, nowMs) => {
      await db.batch([
        { sql: "DELETE FROM passkey_challenges WHERE expires_at <= $1", params: [nowMs] },
        { sql: INSERT_CHALLENGE, params: [hash, userId, expiresAtMs] },
      ]);
    },
    take: async (hash) => {
      const [row] = await db.query(TAKE, [hash]);
      if (row === undefined) return null;
      return { hash, userId: row.user_id == null ? null : String(row.user_id), expiresAtMs: Number(row.expires_at) };
    },
  };
}

const COLUMNS = "id credential_id name public_key counter host created_at last_used_at user_id".split(" ");

/** A password reset or a removal may be under way at the same moment, and must win. */
const INSERT = `INSERT INTO passkeys (${COLUMNS.join(", ")})
  SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), $6, CAST($7 AS BIGINT), CAST($8 AS BIGINT), id FROM users
  WHERE id = $9 AND password_hash = $10 AND deactivated_at IS NULL`;

const FIND = `SELECT ${COLUMNS.map((column) => `p.${column} AS passkey_${column}`).join(", ")},
  ${USER_COLUMNS.split(", ")
    .map((column) => `u.${column}`)
    .join(", ")}
  FROM passkeys p JOIN users u ON u.id = p.user_id WHERE p.credential_id = $1`;

const OF_USER = `SELECT ${COLUMNS.join(", ")} FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`;

/** Refuses the second of two sign-ins with one count: the authenticator may have been copied. */
const NOTE_USE = `UPDATE passkeys SET counter = $2, last_used_at = $3
  WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`;

const DELETE = "DELETE FROM passkeys WHERE user_id = $1 AND id = $2 RETURNING id";

const INSERT_CHALLENGE = "INSERT INTO passkey_challenges (hash, user_id, expires_at) VALUES ($1, $2, $3)";

const TAKE = "DELETE FROM passkey_challenges WHERE hash = $1 RETURNING user_id, expires_at";

function toPasskey(row: SqlRow, prefix = ""): Passkey {
  const value = (column: string) => row[prefix + column];
  const lastUsedAt = value("last_used_at");
  return {
    id: String(value("id")),
    credentialId: String(value("credential_id")),
    userId: String(value("user_id")),
    name: String(value("name")),
    publicKey: String(value("public_key")),
    counter: Number(value("counter")),
    host: String(value("host")),
    createdAtMs: Number(value("created_at")),
    lastUsedAtMs: lastUsedAt == null ? null : Number(lastUsedAt),
  };
}
