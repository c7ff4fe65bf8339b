// The statements of a ledger batch: few, with many rows each. Their SQL does not depend on the number of rows.

import type { Db, SqlValue, Statement } from "../../core/db.ts";
import type { Charge, CreditLease, Hold, LedgerChanges, LedgerState, Transaction, Wallet } from "../../core/ledger.ts";
import {
  type BulkInsert,
  bulkInsert,
  clockSql,
  flag,
  freeText,
  type InsertShape,
  inListSql,
  integer,
  listValue,
  text,
} from "../dialect.ts";
import { createBudgetWriter } from "./budget-counters.ts";

/** Changes of a batch, and the state from which they were computed. */
interface Posted {
  readonly state: LedgerState;
  readonly changes: LedgerChanges;
}

/** Makes the statements that apply the changes in one transaction. */
export type LedgerWriter = (posted: Posted) => readonly Statement[];

/** `owner` names the process that takes the holds. */
export function createLedgerWriter(kind: Db["kind"], owner: string): LedgerWriter {
  const holds = bulkInsert(kind, holdShape(owner));
  const leases = bulkInsert(kind, LEASES);
  const budgets = createBudgetWriter(kind);
  const transactions = bulkInsert(kind, TRANSACTIONS);
  const entries = bulkInsert(kind, ENTRIES);
  const actors = bulkInsert(kind, ACTORS);
  const charges = bulkInsert(kind, CHARGES);
  return ({ state, changes }) => [
    ...walletStatements(changes, state),
    ...resolveStatements(kind, changes.resolvedHolds),
    ...sharedStatements(kind, changes, state),
    ...insertAll(holds, changes.newHolds),
    ...spendStatements(changes, state),
    ...budgets(changes),
    ...endStatements(changes.leases.filter(isOver)),
    ...insertAll(
      leases,
      changes.leases.filter((lease) => !isOver(lease)),
    ),
    ...insertAll(transactions, changes.transactions),
    ...insertAll(entries, entriesOf(changes.transactions)),
    ...insertAll(actors, changes.transactions.filter(isByHand)),
    ...insertAll(charges, changes.charges),
    ...answerStatements(changes),
  ];
}

/** Makes no statement if there are no rows. */
function insertAll<Item>(insert: BulkInsert<Item>, items: readonly Item[]): readonly Statement[] {
  return items.length === 0 ? [] : [insert.statement(items)];
}

/** Writes wallets by compare-and-set: a wallet that changed since it was read undoes the whole batch. */
function walletStatements({ wallets }: LedgerChanges, state: LedgerState): readonly Statement[] {
  const inOrder = [...wallets].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  return inOrder.map(({ accountId, posted, held, leased, epoch, sequence, hash }) => {
    const before = state.wallets.get(accountId) as Wallet;
    return {
      sql: `UPDATE wallets SET posted = $2, held = $3, leased = $4, epoch = $5, sequence = $6, hash = $7
            WHERE account_id = $1 AND posted = $8 AND held = $9 AND leased = $10 AND epoch = $11 AND sequence = $12 AND hash = $13`,
      params: [accountId, posted, held, leased, epoch, sequence, hash, ...valuesOf(before)],
      expectRows: 1,
    };
  });
}

function valuesOf({ posted, held, leased, epoch, sequence, hash }: Wallet): readonly SqlValue[] {
  return [posted, held, leased, epoch, sequence, hash];
}

/** Resolves holds by compare-and-set: a hold that another process has resolved undoes the whole batch. */
function resolveStatements(kind: Db["kind"], holds: readonly Hold[]): readonly Statement[] {
  if (holds.length === 0) return [];
  return (["settled", "voided", "expired"] as const).flatMap((state) => {
    const ids = holds.filter((hold) => hold.state === state).map(({ id }) => id);
    if (ids.length === 0) return [];
    const from = state === "expired" ? "state = 'open'" : "state IN ('open', 'expired')";
    const set = `UPDATE holds SET state = '${state}', resolved_at = ${clockSql(kind)}`;
    return [
      {
        sql: `${set} WHERE ${inListSql(kind, "id", "$1")} AND ${from}`,
        params: [listValue(kind, ids)],
        expectRows: ids.length,
      },
    ];
  });
}

/** Writes holds of batches by compare-and-set: the wallet need not change when a line takes its part. */
function sharedStatements(kind: Db["kind"], { sharedHolds }: LedgerChanges, state: LedgerState): readonly Statement[] {
  return sharedHolds.map(({ id, amount, shared, state: end }) => {
    const before = state.holds.get(id) as Hold;
    return {
      sql: `UPDATE holds SET amount = $2, lent = $3, state = $4, resolved_at = CASE WHEN $4 = 'open' THEN NULL ELSE ${clockSql(kind)} END
            WHERE id = $1 AND state = 'open' AND amount = $5 AND lent = $6`,
      params: [id, amount, shared?.lent ?? 0n, end, before.amount, before.shared?.lent ?? 0n],
      expectRows: 1,
    };
  });
}

/** New holds. Recovery finds them by their owner, this process. */
function holdShape(owner: string): InsertShape<Hold> {
  return {
    table: "holds",
    columns: {
      id: text((hold) => hold.id),
      account_id: text((hold) => hold.accountId),
      key_id: text((hold) => hold.keyId),
      amount: integer((hold) => hold.amount),
      state: text((hold) => hold.state),
      is_limited: flag((hold) => hold.isLimited),
      is_metered: flag((hold) => hold.isMetered),
      owner: text((hold) => hold.owner ?? owner),
      lent: integer((hold) => hold.shared?.lent ?? null),
      is_capped: flag((hold) => hold.shared?.isCapped === true),
    },
    clockColumn: "created_at",
  };
}

/** One row per key with a spend limit. */
function spendStatements({ keySpends }: LedgerChanges, state: LedgerState): readonly Statement[] {
  return keySpends.map(({ keyId, spent, held, periodStartMs, spentBefore }) => {
    // Writes the period only if this batch began one. A reset by hand, which no wallet shows, must stay.
    const before = state.keySpends.get(keyId);
    const isBegun = periodStartMs !== (before?.periodStartMs ?? 0);
    const begun = isBegun ? [periodStartMs, spentBefore] : [null, null];
    // Compares the old values too: another process may have swapped one hold for another without changing the wallet.
    return {
      sql: SPEND,
      params: [keyId, spent, held, ...begun, before?.spent ?? 0n, before?.held ?? 0n],
      expectRows: 1,
    };
  });
}

/** One text, whether or not a period begins, because PostgreSQL prepares each mix of statements. */
const SPEND = `INSERT INTO key_spends (key_id, spent, held, period_start, spent_before)
  VALUES ($1, $2, $3, COALESCE(CAST($4 AS BIGINT), 0), COALESCE(CAST($5 AS BIGINT), 0))
  ON CONFLICT (key_id) DO UPDATE SET spent = excluded.spent, held = excluded.held,
  period_start = COALESCE(CAST($4 AS BIGINT), key_spends.period_start),
  spent_before = COALESCE(CAST($5 AS BIGINT), key_spends.spent_before)
  WHERE key_spends.spent = $6 AND key_spends.held = $7`;

/** Leases. Every change of a lease also changes its wallet, whose compare-and-set guards both. */
const LEASES: InsertShape<CreditLease> = {
  table: "leases",
  columns: {
    owner: text((lease) => lease.owner),
    account_id: text((lease) => lease.accountId),
    amount: integer((lease) => lease.amount),
  },
  onConflict: "ON CONFLICT (owner, account_id) DO UPDATE SET amount = excluded.amount",
};

function isOver({ amount }: CreditLease): boolean {
  return amount === 0n;
}

function endStatements(leases: readonly CreditLease[]): readonly Statement[] {
  return leases.map(({ owner, accountId }) => ({
    sql: "DELETE FROM leases WHERE owner = $1 AND account_id = $2",
    params: [owner, accountId],
  }));
}

/** Transactions are append-only: triggers of the database reject every change. */
const TRANSACTIONS: InsertShape<Transaction> = {
  table: "ledger_transactions",
  columns: {
    id: text((transaction) => transaction.id),
    kind: text((transaction) => transaction.kind),
    account_id: text((transaction) => transaction.accountId),
    sequence: integer((transaction) => transaction.sequence),
    balance_after: integer((transaction) => transaction.balanceAfter),
    hold_id: text((transaction) => transaction.holdId),
    note: freeText((transaction) => transaction.note),
    hash: text((transaction) => transaction.hash),
  },
  clockColumn: "created_at",
};

/** One side of a transaction, with the transaction's id. */
interface OwnEntry {
  readonly transaction: Transaction;
  readonly entry: Transaction["entries"][number];
}

/** Sides of transactions: append-only too, and each transaction sums to zero. */
const ENTRIES: InsertShape<OwnEntry> = {
  table: "ledger_entries",
  columns: {
    account_id: text(({ transaction }) => transaction.accountId),
    sequence: integer(({ transaction }) => transaction.sequence),
    book: text(({ entry }) => entry.book),
    amount: integer(({ entry }) => entry.amount),
  },
};

/** Leaves out sides of zero. */
function entriesOf(transactions: readonly Transaction[]): readonly OwnEntry[] {
  const found: OwnEntry[] = [];
  for (const transaction of transactions) {
    for (const entry of transaction.entries) if (entry.amount !== 0n) found.push({ transaction, entry });
  }
  return found;
}

/** Authors of top-ups and adjustments. */
const ACTORS: InsertShape<Transaction> = {
  table: "ledger_actors",
  columns: {
    transaction_id: text((transaction) => transaction.id),
    actor: freeText((transaction) => transaction.actor),
  },
};

/** True for transactions that a person made. Charges have no actor. */
function isByHand({ actor }: Transaction): boolean {
  return actor !== null;
}

/** Charges with all values that are needed to compute them again. */
const CHARGES: InsertShape<Charge> = {
  table: "charges",
  columns: {
    hold_id: text((charge) => charge.holdId),
    request_id: text(({ usage }) => usage.requestId),
    account_id: text((charge) => charge.accountId),
    key_id: text((charge) => charge.keyId),
    model: text(({ usage }) => usage.model),
    provider: text(({ usage }) => usage.provider),
    input_tokens: integer(({ usage }) => usage.buckets.input),
    cache_read_tokens: integer(({ usage }) => usage.buckets.cacheRead),
    cache_write_tokens: integer(({ usage }) => usage.buckets.cacheWrite),
    output_tokens: integer(({ usage }) => usage.buckets.output),
    is_estimated: flag(({ usage }) => usage.isEstimated),
    price_json: text(({ usage }) => JSON.stringify(usage.price)),
    markup_ppm: integer(({ usage }) => usage.markupPpm),
    outcome: text(({ usage }) => usage.outcome),
    charge: integer((charge) => charge.charge),
    paid: integer((charge) => charge.paid),
    absorbed: integer((charge) => charge.absorbed),
    is_reserved: flag((charge) => charge.isReserved),
  },
  clockColumn: "created_at",
};

/**
 * Stores an answer only for the request of this hold: before a late settlement, another process may have used the key
 * again. Removes NUL, which PostgreSQL cannot store, so that no settlement in an outbox of an earlier version fails.
 */
function answerStatements({ answers }: LedgerChanges): readonly Statement[] {
  return answers.map(({ holdId, owner, idempotencyId, contentType, text }) => ({
    sql: `UPDATE idempotent_requests SET content_type = $2, kept = $3
          WHERE id = $1 AND kept IS NULL AND answer_text IS NULL AND owner = COALESCE(CAST($5 AS TEXT), (SELECT owner FROM holds WHERE id = $4))`,
    params: [idempotencyId, contentType, text.replaceAll("\0", ""), holdId, owner],
  }));
}
