// The ledger of an account for reading: newest first, with what each charge was for and who did the rest.

import type { Db, SqlRow } from "../../core/db.ts";
import type { LedgerLine, LedgerList } from "../../core/ledger.ts";
import { indexedBySql, inListSql, listValue } from "../dialect.ts";
import { toTransaction } from "./ledger.ts";
import { listMonths, type Stretch, stretchOf } from "./months.ts";

export function createLedgerList(db: Db): LedgerList {
  return {
    async list(accountId, { limit, after, from = null, kind = null, month = null }) {
      const isMoves = kind !== null && kind !== "charge";
      const index = isMoves ? indexedBySql(db.kind, "ledger_moves") : "";
      const within = month === null ? EVERYTHING : await stretchOf(db, accountId, month);
      const rows = await db.query(
        `SELECT t.*, a.actor, c.request_id, c.model FROM ledger_transactions t${index}
         LEFT JOIN charges c ON c.hold_id = t.hold_id
         LEFT JOIN ledger_actors a ON t.kind <> 'charge' AND a.transaction_id = t.id
         WHERE t.account_id = $1 AND ($2 = '' OR t.sequence < (SELECT sequence FROM ledger_transactions WHERE id = $2 AND account_id = $1))
           AND ($4 = '' OR t.sequence <= (SELECT sequence FROM ledger_transactions WHERE id = $4 AND account_id = $1))
           AND t.sequence > $6 AND t.sequence <= $7 AND ($5 = '' OR t.kind = $5)${isMoves ? MOVES_ONLY : ""}
         ORDER BY t.sequence DESC LIMIT $3`,
        [accountId, after ?? "", limit, from ?? "", kind ?? "", within.from, within.to],
      );
      const entries = await entriesOf(db, accountId, rows);
      return rows.map((row) => toLine(row, entries.get(Number(row.sequence)) ?? []));
    },
    months: (accountId, page) => listMonths(db, accountId, page),
  };
}

const EVERYTHING: Stretch = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Said in these words, the index of what is not a charge can be used. */
const MOVES_ONLY = " AND t.kind <> 'charge'";

/** By the transaction's place. Asked for one by one: between two top-ups there may be a million charges. */
async function entriesOf(db: Db, accountId: string, rows: readonly SqlRow[]): Promise<ReadonlyMap<number, SqlRow[]>> {
  const places = listValue(
    db.kind,
    rows.map(({ sequence }) => Number(sequence)),
  );
  const entries = await db.query(
    `SELECT * FROM ledger_entries WHERE account_id = $1 AND ${inListSql(db.kind, "sequence", "$2", "BIGINT")}`,
    [accountId, places],
  );
  const found = new Map<number, SqlRow[]>();
  for (const entry of entries) {
    const place = Number(entry.sequence);
    found.set(place, [...(found.get(place) ?? []), entry]);
  }
  return found;
}

function toLine(row: SqlRow, entries: readonly SqlRow[]): LedgerLine {
  return {
    transaction: toTransaction(row, entries),
    createdAtMs: Number(row.created_at),
    requestId: row.request_id == null ? null : String(row.request_id),
    model: row.model == null ? null : String(row.model),
  };
}
