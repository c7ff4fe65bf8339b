// One-time links in the database, by the hash of their token.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { Invitation, InvitationStore, PeopleFilter } from "../../core/people.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { INSERT_USER, peoplePage, roleColumns, toRole, toTeamIds, userParams } from "./users.ts";

/** A link is used up in the batch that makes its user, so it works once. */
export function createInvitationStore(db: Db): InvitationStore {
  return {
    insert: async (invitation, only) => {
      const { id, hash, kind, email, accountId, createdAtMs, expiresAtMs, invitedBy } = invitation;
      const { role, account_role } = roleColumns(invitation.role);
      const grant = [account_role, JSON.stringify(invitation.teamIds)];
      await db.batch([
        {
          sql: `DELETE FROM invitations WHERE kind = 'invitation' AND email = $1${ownOnly(only)}`,
          params: only === undefined ? [email] : [email, only.accountId],
        },
        {
          sql: INSERT,
          params: [id, hash, kind, email, role, accountId, createdAtMs, expiresAtMs, invitedBy, ...grant],
        },
      ]);
    },
    byHash: async (hash) => {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM invitations WHERE hash = $1`, [hash]);
      return row === undefined ? null : toInvitation(row);
    },
    list: async (page, only) => {
      const condition = "kind = 'invitation'";
      const { sql, params } = peoplePage(`SELECT ${COLUMNS} FROM invitations`, { page, only, condition });
      return (await db.query(sql, params)).map(toInvitation);
    },
    delete: async (id, only) => {
      const params = only === undefined ? [id] : [id, only.accountId];
      const sql = `DELETE FROM invitations WHERE id = $1 AND kind = 'invitation'${ownOnly(only)} RETURNING id`;
      return (await db.query(sql, params)).length > 0;
    },
    redeem: async (invitation, user) => {
      try {
        await db.batch([...useUp(invitation), { sql: INSERT_USER, params: userParams(user) }]);
        // Two that were made at once are both open. In the same transaction, two people who accept could wait for each other.
        await db.query(FORGET_OTHERS, [user.email]);
        return true;
      } catch (error) {
        if (error instanceof BatchRejected) return false;
        throw error;
      }
    },
  };
}

/** Leaves invitations of other accounts and of operators alone. The account is the second parameter. */
function ownOnly(only: PeopleFilter | undefined): string {
  return only === undefined ? "" : " AND account_id = $2 AND role <> 'operator'";
}

/**
 * Uses up a link. The first operator ends every set-up link, so the second of two concurrent attempts finds none.
 */
function useUp({ kind, role, hash }: Invitation): readonly Statement[] {
  if (kind === "setup") return [{ sql: END_SETUP, params: [hash], expectRows: 1 }];
  const used: Statement = { sql: "DELETE FROM invitations WHERE hash = $1", params: [hash], expectRows: 1 };
  return role === "operator" ? [used, { sql: "DELETE FROM invitations WHERE kind = 'setup'" }] : [used];
}

const FORGET_OTHERS = "DELETE FROM invitations WHERE kind = 'invitation' AND email = $1";

const END_SETUP = `DELETE FROM invitations WHERE kind = 'setup'
  AND EXISTS (SELECT 1 FROM invitations AS given WHERE given.hash = $1 AND given.kind = 'setup')`;

const COLUMNS = "id, hash, kind, email, role, account_id, created_at, expires_at, invited_by, account_role, teams_json";

const INSERT = `INSERT INTO invitations (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

/** A set-up link has no expiry. */
function toInvitation(row: SqlRow): Invitation {
  return {
    id: String(row.id),
    hash: String(row.hash),
    kind: String(row.kind) as Invitation["kind"],
    email: String(row.email),
    role: toRole(row),
    accountId: String(row.account_id),
    teamIds: toTeamIds(row),
    invitedBy: String(row.invited_by),
    createdAtMs: Number(row.created_at),
    expiresAtMs: row.expires_at == null ? null : Number(row.expires_at),
  };
}
