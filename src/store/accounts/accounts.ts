// Accounts in the database.

import type { Account, AccountStore } from "../../core/accounts.ts";
import type { Db, SqlRow } from "../../core/db.ts";

/** Accounts are never deleted: the ledger refers to them. */
export function createAccountStore(db: Db): AccountStore {
  return {
    insert: async ({ id, name, createdAtMs }) => {
      await db.query("INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)", [id, name, createdAtMs]);
    },
    get: async (id) => {
      const [row] = await db.query("SELECT id, name, created_at FROM accounts WHERE id = $1", [id]);
      return row === undefined ? null : toAccount(row);
    },
    list: async ({ limit, after }) => {
      const rows = after === null ? await db.query(FIRST_PAGE, [limit]) : await db.query(PAGE_AFTER, [limit, after]);
      return rows.map(toAccount);
    },
  };
}

const FIRST_PAGE = "SELECT id, name, created_at FROM accounts ORDER BY created_at DESC, id DESC LIMIT $1";

const PAGE_AFTER = `SELECT id, name, created_at FROM accounts
  WHERE (created_at, id) < (SELECT created_at, id FROM accounts WHERE id = $2)
  ORDER BY created_at DESC, id DESC LIMIT $1`;

function toAccount(row: SqlRow): Account {
  return { id: String(row.id), name: String(row.name), createdAtMs: Number(row.created_at) };
}
