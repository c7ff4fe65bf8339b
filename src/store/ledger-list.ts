// The ledger of an account for reading: newest first, with what each charge was for.

import type { LedgerList } from "../core/ledger.ts";
import type { Db } from "../core/ports.ts";
import { toTransaction } from "./ledger.ts";

export function createLedgerList(db: Db): LedgerList {
  return {
    async list(accountId, { limit, after, from = null }) {
      const rows = await db.query(
        `SELECT t.*, c.request_id, c.model FROM ledger_transactions t LEFT JOIN charges c ON c.hold_id = t.hold_id
         WHERE t.account_id = $1 AND ($2 = '' OR t.sequence < (SELECT sequence FROM ledger_transactions WHERE id = $2 AND account_id = $1))
           AND ($4 = '' OR t.sequence <= (SELECT sequence FROM ledger_transactions WHERE id = $4 AND account_id = $1))
         ORDER BY t.sequence DESC LIMIT $3`,
        [accountId, after ?? "", limit, from ?? ""],
      );
      const entries = await db.query(
        "SELECT * FROM ledger_entries WHERE account_id = $1 AND sequence >= $2 AND sequence <= $3",
        [accountId, rows.at(-1)?.sequence ?? 0, rows[0]?.sequence ?? 0],
      );
      return rows.map((row) => ({
        transaction: toTransaction(
          row,
          entries.filter((entry) => entry.sequence === row.sequence),
        ),
        createdAtMs: Number(row.created_at),
        requestId: row.request_id === null ? null : String(row.request_id),
        model: row.model === null ? null : String(row.model),
      }));
    },
  };
}
