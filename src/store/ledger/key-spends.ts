// Spending of keys with a limit: read for display, and reset by hand.

import type { Db, SqlRow } from "../../core/db.ts";
import type { KeySpendStore } from "../../core/keys.ts";
import type { KeySpend } from "../../core/ledger.ts";
import { inListSql, listValue } from "../dialect.ts";

/** Names the columns: a prepared statement with `*` fails when a newer version adds one. */
export const KEY_SPEND = "k.spent, k.held, k.period_start, k.spent_before";

/** The ledger writes these rows; only the start of a period is written here. */
export function createKeySpendStore(db: Db): KeySpendStore {
  return {
    async of(keyIds) {
      if (keyIds.length === 0) return new Map();
      const rows = await db.query(
        `SELECT k.key_id, ${KEY_SPEND} FROM key_spends k WHERE ${inListSql(db.kind, "k.key_id", "$1")}`,
        [listValue(db.kind, keyIds)],
      );
      return new Map(rows.map((row) => [String(row.key_id), toKeySpend(row)]));
    },
    /**
     * Resets without the lock of the wallet. A process with an older memory is only stricter, and reads again before it
     * refuses. Its writes leave these two columns alone, unless a new period begins, which resets them too.
     */
    async reset(keyId, atMs) {
      await db.query(BEGIN_NOW, [keyId, atMs]);
    },
  };
}

/** Begins a period now, but never before the current one: a slow clock would begin that one again. */
const BEGIN_NOW = `UPDATE key_spends SET spent_before = spent,
  period_start = CASE WHEN period_start > $2 THEN period_start ELSE $2 END WHERE key_id = $1`;

export function toKeySpend(row: SqlRow): KeySpend {
  return {
    keyId: String(row.key_id),
    spent: BigInt(row.spent as number),
    held: BigInt(row.held as number),
    periodStartMs: Number(row.period_start),
    spentBefore: BigInt(row.spent_before as number),
  };
}
