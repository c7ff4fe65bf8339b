// Rows of budgets in a ledger batch: counters, and the counters that a hold counts on.

import {
  type BudgetCounter,
  type BudgetHold,
  type BudgetLease,
  type BudgetState,
  budgetLeaseKey,
  counterOf,
  spentSince,
} from "../../core/budgets/counter.ts";
import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type { Hold, LedgerChanges, LedgerOp } from "../../core/ledger.ts";
import { bulkInsert, type InsertShape, inListSql, integer, listValue, text } from "../dialect.ts";

/** Names the columns: a prepared statement with `*` fails when a newer version adds one. */
export const COUNTER = "c.id, c.spent, c.held, c.leased, c.parts_json, c.version";

/** The reads of a batch, and their rows. */
type Reads = Readonly<Partial<Record<"heldBudgets" | "counters" | "budgetLeases", Statement>>>;
type BudgetRows = Readonly<Partial<Record<keyof Reads, readonly SqlRow[]>>>;

/** Lists the reads that these operations need. Most need none. */
export function budgetReads(kind: Db["kind"], ops: readonly LedgerOp[]): Reads {
  const read = (name: keyof Reads, ids: readonly string[], sql: string): Reads =>
    ids.length === 0 ? {} : { [name]: { sql, params: [listValue(kind, [...new Set(ids)].sort())] } };
  return {
    ...read("heldBudgets", ops.flatMap(holdsToEnd), holdBudgetsSql(kind)),
    ...read("counters", ops.flatMap(countersHeldOn), countersSql(kind)),
    ...budgetLeaseRead(kind, ops),
  };
}

export function toBudgetState({ heldBudgets = [], counters = [], budgetLeases = [] }: BudgetRows): BudgetState {
  const rows = [...heldBudgets, ...counters, ...budgetLeases];
  return {
    counters: new Map(rows.map((row) => [String(row.id), toCounter(row)])),
    budgetLeases: new Map(budgetLeases.map(toBudgetLease).map((lease) => [budgetLeaseKey(lease), lease])),
  };
}

/** Reads the counters in a list of ids. */
export function countersSql(kind: Db["kind"]): string {
  return `SELECT ${COUNTER} FROM budget_counters c WHERE ${inListSql(kind, "c.id", "$1")}`;
}

/** Reads what the holds in a list of ids count on, with the counters. */
function holdBudgetsSql(kind: Db["kind"]): string {
  return `SELECT b.hold_id, b.counter_id, b.amount, ${COUNTER} FROM hold_budgets b
    JOIN budget_counters c ON c.id = b.counter_id WHERE ${inListSql(kind, "b.hold_id", "$1")}`;
}

/** Reads the leases of processes ($1) of accounts ($2), with the counters. */
function budgetLeasesSql(kind: Db["kind"]): string {
  return `SELECT l.owner, l.account_id, l.amount, ${COUNTER} FROM budget_leases l JOIN budget_counters c ON c.id = l.counter_id
    WHERE ${inListSql(kind, "l.owner", "$1")} AND ${inListSql(kind, "l.account_id", "$2")}`;
}

/** Reads the leases of budgets that operations may change. Most change none. */
function budgetLeaseRead(kind: Db["kind"], ops: readonly LedgerOp[]): Reads {
  const owners = new Set<string>();
  const accounts = new Set<string>();
  for (const op of ops) {
    const isLease = op.kind === "return" || (op.kind === "lease" && op.budgets !== undefined);
    const owner = isLease
      ? op.owner
      : op.kind === "settle" && op.budgets !== undefined
        ? op.reserved?.owner
        : undefined;
    if (owner === undefined) continue;
    owners.add(owner);
    accounts.add(op.accountId);
  }
  if (owners.size === 0) return {};
  const params = [owners, accounts].map((names) => listValue(kind, [...names].sort()));
  return { budgetLeases: { sql: budgetLeasesSql(kind), params } };
}

function toBudgetLease(row: SqlRow): BudgetLease {
  return {
    owner: String(row.owner),
    accountId: String(row.account_id),
    counter: String(row.id),
    amount: BigInt(row.amount as number),
  };
}

/** Lists the counters of new holds and leases, and of reservations. */
function countersHeldOn(op: LedgerOp): readonly string[] {
  if (op.kind === "return") return op.holds.flatMap(({ budgets = [] }) => budgets.map(({ counter }) => counter));
  const isRead = op.kind === "hold" || op.kind === "lease" || (op.kind === "settle" && op.reserved !== undefined);
  if (!isRead || op.budgets === undefined) return [];
  const reserved = op.kind === "settle" ? (op.reserved?.budgets ?? []) : [];
  return [...op.budgets, ...reserved].map(({ counter }) => counter);
}

/** Lists holds that may count on budgets. A settlement says so. */
function holdsToEnd(op: LedgerOp): readonly string[] {
  if (op.kind === "void") return [op.holdId];
  return op.kind === "settle" && op.budgets !== undefined ? [op.holdId] : [];
}

export function toCounter(row: SqlRow): BudgetCounter {
  const parts = JSON.parse(String(row.parts_json)) as readonly (readonly [number, string])[];
  return {
    id: String(row.id),
    spent: BigInt(row.spent as number),
    held: BigInt(row.held as number),
    leased: BigInt(row.leased as number),
    parts: parts.map(([startMs, amount]) => ({ startMs, amount: BigInt(amount) })),
    version: Number(row.version),
  };
}

/** Adds to each hold what it counts on. */
export function withBudgets(holds: readonly Hold[], rows: readonly SqlRow[] = []): readonly Hold[] {
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
    leased: integer(({ leased }) => leased),
    parts_json: text(({ parts }) => JSON.stringify(parts.map(({ startMs, amount }) => [startMs, String(amount)]))),
    version: integer(({ version }) => version),
    counted: integer((counter) => spentSince(counter, 0)),
    counted_to: integer(({ parts }) => parts.at(-1)?.startMs ?? 0),
  },
  onConflict: `ON CONFLICT (id) DO UPDATE SET spent = excluded.spent, held = excluded.held, leased = excluded.leased,
    parts_json = excluded.parts_json, version = excluded.version, counted = excluded.counted,
    counted_to = excluded.counted_to WHERE budget_counters.version = excluded.version - 1`,
};

/** Every change of a lease also changes its counter, whose version guards both. */
const LEASES: InsertShape<BudgetLease> = {
  table: "budget_leases",
  columns: {
    owner: text(({ owner }) => owner),
    account_id: text(({ accountId }) => accountId),
    counter_id: text(({ counter }) => counter),
    amount: integer(({ amount }) => amount),
  },
  onConflict: "ON CONFLICT (owner, counter_id) DO UPDATE SET amount = excluded.amount",
};

/** Makes the statements that write counters and the budgets of new holds. */
export function createBudgetWriter(kind: Db["kind"]) {
  const holdBudgets = bulkInsert(kind, HOLD_BUDGETS);
  const counters = bulkInsert(kind, COUNTERS);
  const leases = bulkInsert(kind, LEASES);
  return ({ newHolds, counters: changed, budgetLeases }: LedgerChanges): readonly Statement[] => {
    if (changed.length === 0) return [];
    // One order for all processes, so that none waits for another one that waits for it.
    const inOrder = [...changed].sort((a, b) => (a.id < b.id ? -1 : 1));
    const kept = budgetLeases.filter(({ amount }) => amount > 0n);
    const held = newHolds.flatMap(({ id, budgets = [] }) => budgets.map((one) => ({ ...one, holdId: id })));
    return [
      ...(held.length === 0 ? [] : [holdBudgets.statement(held)]),
      { ...counters.statement(inOrder), expectRows: inOrder.length },
      // A batch at once would write and delete the same row, which PostgreSQL does not.
      ...(kept.length === 0 ? [] : [leases.statement(kept)]),
      ...budgetLeases
        .filter(({ amount }) => amount === 0n)
        .map(({ owner, counter }) => ({
          sql: "DELETE FROM budget_leases WHERE owner = $1 AND counter_id = $2",
          params: [owner, counter],
        })),
    ];
  };
}
