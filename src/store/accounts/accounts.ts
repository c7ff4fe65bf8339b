// Accounts in the database.

import { type Account, type AccountStore, BILLING_MODES, type BillingMode } from "../../core/accounts.ts";
import type { Db, SqlRow, SqlValue } from "../../core/db.ts";
import { BUMP_REVISION } from "./revision.ts";

/** Accounts are never deleted: the ledger refers to them. */
export function createAccountStore(db: Db): AccountStore {
  return {
    insert: async ({ id, name, billingMode, createdAtMs }) => {
      await db.query(INSERT, [id, name, billingMode, createdAtMs]);
    },
    get: async (id) => {
      const [row] = await db.query(`SELECT ${COLUMNS} FROM accounts WHERE id = $1`, [id]);
      return row === undefined ? null : toAccount(row);
    },
    list: async ({ limit, after }) => {
      const rows = after === null ? await db.query(FIRST_PAGE, [limit]) : await db.query(PAGE_AFTER, [limit, after]);
      return rows.map(toAccount);
    },
    setBillingMode: async (id, mode) => {
      const [found] = await db.batch([{ sql: SET_MODE, params: [id, mode] }, BUMP_REVISION]);
      const row = found?.[0];
      return row === undefined ? null : toAccount(row);
    },
    billingModes: async () => {
      const rows = await db.query("SELECT id, billing_mode FROM accounts WHERE billing_mode IS NOT NULL");
      const modes = new Map<string, BillingMode>();
      for (const row of rows) {
        const mode = modeOf(row.billing_mode);
        if (mode !== null) modes.set(String(row.id), mode);
      }
      return modes;
    },
  };
}

const COLUMNS = "id, name, billing_mode, created_at";

const INSERT = `INSERT INTO accounts (${COLUMNS}) VALUES ($1, $2, $3, $4)`;

const FIRST_PAGE = `SELECT ${COLUMNS} FROM accounts ORDER BY created_at DESC, id DESC LIMIT $1`;

const PAGE_AFTER = `SELECT ${COLUMNS} FROM accounts
  WHERE (created_at, id) < (SELECT created_at, id FROM accounts WHERE id = $2)
  ORDER BY created_at DESC, id DESC LIMIT $1`;

const SET_MODE = `UPDATE accounts SET billing_mode = $2 WHERE id = $1 RETURNING ${COLUMNS}`;

function toAccount(row: SqlRow): Account {
  const { id, name, billing_mode, created_at } = row;
  return { id: String(id), name: String(name), billingMode: modeOf(billing_mode), createdAtMs: Number(created_at) };
}

/** Reads a mode. Returns null for an unknown one, such as that of a later version. */
function modeOf(value: SqlValue | undefined): BillingMode | null {
  return BILLING_MODES.find((known) => known === value) ?? null;
}
