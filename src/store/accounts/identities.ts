// Identities of users at identity providers, and sign-ins that are under way, in the database.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { Identity, IdentityStore, PendingSignIn, PendingSignInStore } from "../../core/people.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { INSERT_USER, toUser, USER_COLUMNS, userParams } from "./users.ts";

export function createIdentityStore(db: Db): IdentityStore {
  return {
    find: async (issuer, subject) => {
      const [row] = await db.query(FIND, [issuer, subject]);
      return row === undefined ? null : { identity: toIdentity(row, "identity_"), user: toUser(row) };
    },
    ofUser: async (userId) => {
      const rows = await db.query(`SELECT ${COLUMNS.join(", ")} FROM identities WHERE user_id = $1 ORDER BY id`, [
        userId,
      ]);
      return rows.map((row) => toIdentity(row));
    },
    insert: async (identity, user) => {
      const made: readonly Statement[] = user === undefined ? [] : [{ sql: INSERT_USER, params: userParams(user) }];
      const { id, issuer, subject, userId, email, createdAtMs, lastSignInAtMs } = identity;
      await db.batch([
        { sql: FORGET_ORPHAN, params: [issuer, subject] },
        ...made,
        { sql: INSERT, params: [id, issuer, subject, userId, email, createdAtMs, lastSignInAtMs] },
      ]);
    },
    noteSignIn: async ({ id, email, lastSignInAtMs }) => {
      await db.query("UPDATE identities SET email = $1, last_sign_in_at = $2 WHERE id = $3", [
        email,
        lastSignInAtMs,
        id,
      ]);
    },
    renameUser: async (userId, email) => {
      try {
        await db.query("UPDATE users SET email = $1 WHERE id = $2", [email, userId]);
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
      }
    },
    delete: async (userId, id) => {
      const deleted = await db.query("DELETE FROM identities WHERE user_id = $1 AND id = $2 RETURNING id", [
        userId,
        id,
      ]);
      return deleted.length > 0;
    },
  };
}

export function createPendingSignInStore(db: Db): PendingSignInStore {
  return {
    insert: async ({ stateHash, provider, returnTo, linkTo, expiresAtMs }, nowMs) => {
      await db.batch([
        { sql: "DELETE FROM pending_sign_ins WHERE expires_at <= $1", params: [nowMs] },
        { sql: INSERT_PENDING, params: [stateHash, provider, returnTo, linkTo, expiresAtMs] },
      ]);
    },
    take: async (stateHash) => {
      const [row] = await db.query(TAKE, [stateHash]);
      return row === undefined ? null : toPending(row);
    },
  };
}

const COLUMNS = ["id", "issuer", "subject", "user_id", "email", "created_at", "last_sign_in_at"] as const;

const INSERT = `INSERT INTO identities (${COLUMNS.join(", ")}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

/** An older version that deletes a user leaves the identity behind. */
const FORGET_ORPHAN = `DELETE FROM identities WHERE issuer = $1 AND subject = $2
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = identities.user_id)`;

const FIND = `SELECT ${COLUMNS.map((column) => `i.${column} AS identity_${column}`).join(", ")},
  ${USER_COLUMNS.split(", ")
    .map((column) => `u.${column}`)
    .join(", ")}
  FROM identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2`;

const INSERT_PENDING = `INSERT INTO pending_sign_ins (state_hash, provider, return_to, link_to, expires_at)
  VALUES ($1, $2, $3, $4, $5)`;

const TAKE = `DELETE FROM pending_sign_ins WHERE state_hash = $1
  RETURNING state_hash, provider, return_to, link_to, expires_at`;

function toIdentity(row: SqlRow, prefix = ""): Identity {
  const value = (column: (typeof COLUMNS)[number]) => row[prefix + column];
  return {
    id: String(value("id")),
    issuer: String(value("issuer")),
    subject: String(value("subject")),
    userId: String(value("user_id")),
    email: String(value("email")),
    createdAtMs: Number(value("created_at")),
    lastSignInAtMs: Number(value("last_sign_in_at")),
  };
}

function toPending(row: SqlRow): PendingSignIn {
  return {
    stateHash: String(row.state_hash),
    provider: String(row.provider),
    returnTo: String(row.return_to),
    linkTo: row.link_to == null ? null : String(row.link_to),
    expiresAtMs: Number(row.expires_at),
  };
}
