// Budgets in the database, and what their counters say.

import {
  type Budget,
  type BudgetPeriod,
  type BudgetScope,
  type BudgetStore,
  PERIOD_MAX_MS,
} from "../../core/budgets/budget.ts";
import { spentSince } from "../../core/budgets/counter.ts";
import type { Db, SqlRow, Statement } from "../../core/db.ts";
import { listValue } from "../dialect.ts";
import { COUNTER, countersSql, toCounter } from "../ledger/budget-counters.ts";
import { BUMP_REVISION } from "./revision.ts";

/** Opens the budgets. Every change increments the revision in the same batch, so that other processes read again. */
export function createBudgetStore(db: Db): BudgetStore {
  const change = async (statement: Statement): Promise<boolean> => {
    const [found] = await db.batch([statement, BUMP_REVISION]);
    return found !== undefined && found.length > 0;
  };
  return {
    insert: async (budget) => {
      const { id, accountId, scope, isByOperator, createdAtMs } = budget;
      const params = [id, accountId, scope, isByOperator ? 1 : 0, createdAtMs, ...changeable(budget)];
      await db.batch([{ sql: INSERT, params }, BUMP_REVISION]);
    },
    update: (budget) =>
      change({ sql: UPDATE, params: [budget.accountId, budget.id, budget.scope, ...changeable(budget)] }),
    delete: (accountId, id, atMs) => change({ sql: DELETE, params: [accountId, id, atMs] }),
    all: async () => (await db.query(`SELECT ${COLUMNS} FROM budgets WHERE deleted_at IS NULL`)).map(toBudget),
    list: async (accountId, { limit, after }) => {
      const rows =
        after === null
          ? await db.query(FIRST_PAGE, [accountId, limit])
          : await db.query(PAGE_AFTER, [accountId, limit, after]);
      return rows.map(toBudget);
    },
    counters: async (ids) => {
      if (ids.length === 0) return new Map();
      const rows = await db.query(countersSql(db.kind), [listValue(db.kind, ids)]);
      return new Map(rows.map((row) => [String(row.id), toCounter(row)]));
    },
    countersFrom: async (percent, nowMs) => {
      const rows = await db.query(COUNTERS_FROM, [percent, nowMs - PERIOD_MAX_MS]);
      return rows.map((row) => ({ ...toCounter(row), accountId: String(row.account_id) }));
    },
    countersOf: async (budgetId, { fromMs, limit, after }) => {
      const first = [budgetId, fromMs, limit];
      const rows =
        after === null
          ? await db.query(COUNTERS_OF, first)
          : await db.query(COUNTERS_AFTER, [...first, spentSince(after, 0), after.id]);
      return rows.map(toCounter);
    },
  };
}

function changeable(budget: Budget) {
  const { name, value, amount, period, isRolling, timeZone, isHard, updatedAtMs } = budget;
  const { requestsPerMinute, tokensPerMinute } = budget;
  const flags = [isRolling ? 1 : 0, timeZone, isHard ? 1 : 0];
  return [name, value, amount, period, ...flags, updatedAtMs, requestsPerMinute, tokensPerMinute];
}

const COLUMNS =
  "id, account_id, name, scope, value, amount, period, is_rolling, time_zone, is_hard, is_by_operator, created_at, updated_at, requests_per_minute, tokens_per_minute";

const INSERT = `INSERT INTO budgets
    (id, account_id, scope, is_by_operator, created_at, name, value, amount, period, is_rolling, time_zone, is_hard, updated_at,
     requests_per_minute, tokens_per_minute)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

const UPDATE = `UPDATE budgets SET scope = $3, name = $4, value = $5, amount = $6, period = $7, is_rolling = $8,
    time_zone = $9, is_hard = $10, updated_at = $11, requests_per_minute = $12, tokens_per_minute = $13
  WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING id`;

const DELETE = `UPDATE budgets SET deleted_at = $3
  WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING id`;

const FIRST_PAGE = `SELECT ${COLUMNS} FROM budgets WHERE account_id = $1 AND deleted_at IS NULL
  ORDER BY created_at DESC, id DESC LIMIT $2`;

const PAGE_AFTER = `SELECT ${COLUMNS} FROM budgets
  WHERE account_id = $1 AND deleted_at IS NULL
    AND (created_at, id) < (SELECT created_at, id FROM budgets WHERE account_id = $1 AND id = $3)
  ORDER BY created_at DESC, id DESC LIMIT $2`;

/** Divides first, because amounts may be large. A budget of nothing is a lock, which is never used up. */
const COUNTERS_FROM = `SELECT ${COUNTER}, b.account_id FROM budgets b JOIN budget_counters c ON c.budget_id = b.id
  WHERE b.deleted_at IS NULL AND b.amount > 0 AND c.counted_to >= $2
    AND c.counted >= b.amount / 100 * CAST($1 AS BIGINT)`;

const OF_PERIOD = `SELECT ${COUNTER} FROM budget_counters c WHERE c.budget_id = $1 AND c.counted_to >= $2`;
const MOST_FIRST = "ORDER BY c.counted DESC, c.id LIMIT $3";

const COUNTERS_OF = `${OF_PERIOD} ${MOST_FIRST}`;

const COUNTERS_AFTER = `${OF_PERIOD} AND (c.counted < $4 OR (c.counted = $4 AND c.id > $5)) ${MOST_FIRST}`;

function toBudget(row: SqlRow): Budget {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    scope: row.scope as BudgetScope,
    value: row.value === null ? null : String(row.value),
    amount: BigInt(row.amount as number),
    period: row.period as BudgetPeriod,
    isRolling: Number(row.is_rolling) === 1,
    timeZone: String(row.time_zone),
    isHard: Number(row.is_hard) === 1,
    requestsPerMinute: row.requests_per_minute === null ? null : Number(row.requests_per_minute),
    tokensPerMinute: row.tokens_per_minute === null ? null : Number(row.tokens_per_minute),
    isByOperator: Number(row.is_by_operator) === 1,
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}
