// Rows of budgets in a ledger batch: counters, and the counters that a hold counts on.

import { type BudgetCounter, type BudgetHold, counterOf } from "../../core/budgets/counter.ts";
import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { Hold, LedgerOp } from "../../core/ledger.ts";
import { bulkInsert, type InsertShape, inListSql, integer, text } from "../dialect.ts";

/** Names the columns: a prepared statement with `*` fails when a newer version adds one. */
export const COUNTER = "c.id, c.spent, c.held, c.parts_json, c.version";

/** Reads the counters in a list of ids. */
export function countersSql(kind: Db["kind"]): string {
  return `SELECT ${COUNTER} FROM budget_counters c WHERE ${inListSql(kind, "c.id", "$1")}`;
}

/** Reads what the holds in a list of ids count on, with the counters. */
export function holdBudgetsSql(kind: Db["kind"]): string {
  return `SELECT b.hold_id, b.counter_id, b.amount, ${COUNTER} FROM hold_budgets b
    JOIN budget_counters c ON c.id = b.counter_id WHERE ${inListSql(kind, "b.hold_id", "$1")}`;
}

/** Lists the counters of new holds. */
export function countersHeldOn(op: LedgerOp): readonly string[] {
  return op.kind === "hold" && op.budgets !== undefined ? op.budgets.map(({ counter }) => counter) : [];
}

/** Lists holds that may count on budgets. A settlement says so. */
export function holdsToEnd(op: LedgerOp): readonly string[] {
  if (op.kind === "void") return [op.holdId];
  return op.kind === "settle" && op.budgets !== undefined ? [op.holdId] : [];
}

export function toCounter(row: SqlRow): BudgetCounter {
  const parts = JSON.parse(String(row.parts_json)) as readonly (readonly [number, string])[];
  return {
    id: String(row.id),
    spent: BigInt(row.spent as number),
    held: BigInt(row.held as number),
    parts: parts.map(([startMs, amount]) => ({ startMs, amount: BigInt(amount) })),
    version: Number(row.version),
  };
}

/** Adds to each hold what it counts on. */
export function withBudgets(holds: readonly Hold[], rows: readonly SqlRow[]): readonly Hold[] {
  if (rows.length === 0) return holds;
  const byHold = new Map<string, BudgetHold[]>();
  for (const { hold_id: holdId, counter_id: counter, amount } of rows) {
    const held = { counter: String(counter), amount: BigInt(amount as number) };
    byHold.set(String(holdId), [...(byHold.get(String(holdId)) ?? []), held]);
  }
  return holds.map((hold) => {
    const budgets = byHold.get(hold.id);
    return budgets === undefined ? hold : { ...hold, budgets };
  });
}

interface OwnBudgetHold extends BudgetHold {
  readonly holdId: string;
}

const HOLD_BUDGETS: InsertShape<OwnBudgetHold> = {
  table: "hold_budgets",
  columns: {
    hold_id: text(({ holdId }) => holdId),
    counter_id: text(({ counter }) => counter),
    amount: integer(({ amount }) => amount),
  },
};

/** Compares the version, so that a process whose memory is out of date cannot write. */
const COUNTERS: InsertShape<BudgetCounter> = {
  table: "budget_counters",
  columns: {
    id: text(({ id }) => id),
    budget_id: text(({ id }) => counterOf(id).budgetId),
    spent: integer(({ spent }) => spent),
    held: integer(({ held }) => held),
    parts_json: text(({ parts }) => JSON.stringify(parts.map(({ startMs, amount }) => [startMs, String(amount)]))),
    version: integer(({ version }) => version),
  },
  onConflict: `ON CONFLICT (id) DO UPDATE SET spent = excluded.spent, held = excluded.held,
    parts_json = excluded.parts_json, version = excluded.version WHERE budget_counters.version = excluded.version - 1`,
};

/** Makes the statements that write counters and the budgets of new holds. */
export function createBudgetWriter(kind: Db["kind"]) {
  const holdBudgets = bulkInsert(kind, HOLD_BUDGETS);
  const counters = bulkInsert(kind, COUNTERS);
  return (newHolds: readonly Hold[], changed: readonly BudgetCounter[]): readonly Statement[] => {
    if (changed.length === 0) return [];
    // One order for all processes, so that none waits for another one that waits for it.
    const inOrder = [...changed].sort((a, b) => (a.id < b.id ? -1 : 1));
    const held = newHolds.flatMap(({ id, budgets = [] }) => budgets.map((one) => ({ ...one, holdId: id })));
    return [
      ...(held.length === 0 ? [] : [holdBudgets.statement(held)]),
      { ...counters.statement(inOrder), expectRows: inOrder.length },
    ];
  };
}
