// One-time links in the database, by the hash of their token.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { Invitation, InvitationStore, UserRole } from "../../core/people.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { INSERT_USER, userParams } from "./users.ts";

/** A link is used up in the batch that makes its user, so it works once. */
export function createInvitationStore(db: Db): InvitationStore {
  return {
    insert: async ({ id, hash, kind, email, role, accountId, createdAtMs, expiresAtMs, invitedBy }) => {
      await db.batch([
        { sql: "DELETE FROM invitations WHERE kind = 'invitation' AND email = $1", params: [email] },
        { sql: INSERT, params: [id, hash, kind, email, role, accountId, createdAtMs, expiresAtMs, invitedBy] },
      ]);
    },
    byHash: async (hash) => {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM invitations WHERE hash = $1`, [hash]);
      return row === undefined ? null : toInvitation(row);
    },
    list: async ({ limit, after }) => {
      const rows = after === null ? await db.query(FIRST_PAGE, [limit]) : await db.query(PAGE_AFTER, [limit, after]);
      return rows.map(toInvitation);
    },
    delete: async (id) => {
      const deleted = await db.query("DELETE FROM invitations WHERE id = $1 AND kind = 'invitation' RETURNING id", [
        id,
      ]);
      return deleted.length > 0;
    },
    redeem: async (invitation, user) => {
      try {
        await db.batch([...useUp(invitation), { sql: INSERT_USER, params: userParams(user) }]);
        return true;
      } catch (error) {
        if (error instanceof BatchRejected) return false;
        throw error;
      }
    },
  };
}

/**
 * Uses up a link. The first operator ends every set-up link, so the second of two concurrent attempts finds none.
 */
function useUp({ kind, role, hash }: Invitation): readonly Statement[] {
  if (kind === "setup") return [{ sql: END_SETUP, params: [hash], expectRows: 1 }];
  const used: Statement = { sql: "DELETE FROM invitations WHERE hash = $1", params: [hash], expectRows: 1 };
  return role === "operator" ? [used, { sql: "DELETE FROM invitations WHERE kind = 'setup'" }] : [used];
}

const END_SETUP = `DELETE FROM invitations WHERE kind = 'setup'
  AND EXISTS (SELECT 1 FROM invitations AS given WHERE given.hash = $1 AND given.kind = 'setup')`;

const COLUMNS = "id, hash, kind, email, role, account_id, created_at, expires_at, invited_by";

const INSERT = `INSERT INTO invitations (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const FIRST_PAGE = `SELECT ${COLUMNS} FROM invitations WHERE kind = 'invitation'
  ORDER BY created_at DESC, id DESC LIMIT $1`;

const PAGE_AFTER = `SELECT ${COLUMNS} FROM invitations WHERE kind = 'invitation'
  AND (created_at, id) < (SELECT created_at, id FROM invitations WHERE id = $2)
  ORDER BY created_at DESC, id DESC LIMIT $1`;

/** A set-up link has no expiry. */
function toInvitation(row: SqlRow): Invitation {
  return {
    id: String(row.id),
    hash: String(row.hash),
    kind: String(row.kind) as Invitation["kind"],
    email: String(row.email),
    role: String(row.role) as UserRole,
    accountId: String(row.account_id),
    invitedBy: String(row.invited_by),
    createdAtMs: Number(row.created_at),
    expiresAtMs: row.expires_at == null ? null : Number(row.expires_at),
  };
}
