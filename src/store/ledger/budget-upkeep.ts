// Removes what budgets no longer need: counters whose period is over, what ended holds counted on, and budgets that were
// deleted. Also frees what a build that knows no budgets left on hold.

import { PERIOD_MAX_MS } from "../../core/budgets/budget.ts";
import { spentSince } from "../../core/budgets/counter.ts";
import type { Db } from "../../core/db.ts";
import { clockSql, forUpdateSql } from "../dialect.ts";
import { COUNTER, toCounter } from "./budget-counters.ts";

export interface BudgetUpkeep {
  /** Returns the number of counters that had to be freed. Several processes may call it at once. */
  sweep(nowMs: number): Promise<number>;
}

/** Rows that are deleted in one transaction, and transactions of one sweep. */
const AT_ONCE = 200;
const ROUNDS_MAX = 50;

export function createBudgetUpkeep(db: Db): BudgetUpkeep {
  return {
    async sweep(nowMs) {
      const freed = await freeLost(db);
      await deleteEnded(db);
      await deleteOver(db, nowMs - PERIOD_MAX_MS);
      await db.query(FORGET_BUDGETS, [nowMs - PERIOD_MAX_MS]);
      return freed;
    },
  };
}

/**
 * A build that knows no budgets ends holds of a process that died, and leaves them on their budgets. The wallet is locked,
 * as by every batch that changes a hold.
 */
async function freeLost(db: Db): Promise<number> {
  const rows = await db.query(LOST);
  for (const { id, account_id: accountId } of rows) {
    await db.transaction(async (tx) => {
      await tx.query(`SELECT account_id FROM wallets WHERE account_id = $1${forUpdateSql(db.kind)}`, [
        accountId ?? null,
      ]);
      await tx.query(FREE, [String(id)]);
    });
  }
  return rows.length;
}

/** A hold that expired may still be settled, so that its rows stay for as long as a period. */
async function deleteEnded(db: Db): Promise<void> {
  const sql = `DELETE FROM hold_budgets WHERE hold_id IN (SELECT b.hold_id FROM hold_budgets b JOIN holds h ON h.id = b.hold_id
    WHERE h.state IN ('settled', 'voided') OR (h.state = 'expired' AND h.resolved_at <= ${clockSql(db.kind)} - $1)
    LIMIT $2) RETURNING hold_id`;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if ((await db.query(sql, [PERIOD_MAX_MS, AT_ONCE])).length < AT_ONCE) return;
  }
}

/** Deletes counters as they were read, in the order of the ledger's writes: a request that counts on one meanwhile wins. */
async function deleteOver(db: Db, beforeMs: number): Promise<void> {
  let after = "";
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const rows = await db.query(OVER, [beforeMs, after, AT_ONCE]);
    const over = rows.map(toCounter).filter((counter) => spentSince(counter, beforeMs) === 0n);
    const statements = over.map(({ id, version }) => ({ sql: FORGET_COUNTER, params: [id, version] }));
    if (statements.length > 0) await db.batch(statements, { isBackground: true });
    if (rows.length < AT_ONCE) return;
    after = String(rows.at(-1)?.id);
  }
}

const OPEN = `SELECT b.counter_id, SUM(b.amount) AS amount FROM hold_budgets b JOIN holds h ON h.id = b.hold_id
  WHERE h.state = 'open' GROUP BY b.counter_id`;

const LOST = `SELECT c.id, b.account_id FROM budget_counters c JOIN budgets b ON b.id = c.budget_id
  LEFT JOIN (${OPEN}) o ON o.counter_id = c.id WHERE c.held > 0 AND c.held > COALESCE(o.amount, 0)`;

const HELD = `(SELECT CAST(COALESCE(SUM(b.amount), 0) AS BIGINT) FROM hold_budgets b JOIN holds h ON h.id = b.hold_id
  WHERE h.state = 'open' AND b.counter_id = budget_counters.id)`;

/** A process that remembers the counter reads it again, because of the version. */
const FREE = `UPDATE budget_counters SET held = ${HELD}, version = version + 1 WHERE id = $1 AND held > ${HELD}`;

/** A version begins with the start of a period, so that it tells the age of a counter that counted nothing. */
const OVER = `SELECT ${COUNTER} FROM budget_counters c
  WHERE c.held = 0 AND c.leased = 0 AND c.counted_to < $1 AND c.version < $1 AND c.id > $2
    AND NOT EXISTS (SELECT 1 FROM hold_budgets b WHERE b.counter_id = c.id) ORDER BY c.id LIMIT $3`;

const FORGET_COUNTER = `DELETE FROM budget_counters WHERE id = $1 AND version = $2
  AND NOT EXISTS (SELECT 1 FROM hold_budgets b WHERE b.counter_id = budget_counters.id)`;

const FORGET_BUDGETS = `DELETE FROM budgets WHERE deleted_at <= $1
  AND NOT EXISTS (SELECT 1 FROM budget_counters c WHERE c.budget_id = budgets.id)`;
