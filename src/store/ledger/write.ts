// The statements that a ledger batch writes. There are few, with many rows each, and their SQL does not depend on the
// number of rows.

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

/** The changes of a batch, and the state that they were computed from. */
interface Posted {
  readonly state: LedgerState;
  readonly changes: LedgerChanges;
}

/** The statements that apply the changes, all in one transaction. */
export type LedgerWriter = (posted: Posted) => readonly Statement[];

/** `owner` is the process that takes the holds. */
export function createLedgerWriter(kind: Db["kind"], owner: string): LedgerWriter {
  const holds = bulkInsert(kind, holdShape(owner));
  const leases = bulkInsert(kind, LEASES);
  const transactions = bulkInsert(kind, TRANSACTIONS);
  const entries = bulkInsert(kind, ENTRIES);
  const actors = bulkInsert(kind, ACTORS);
  const charges = bulkInsert(kind, CHARGES);
  return ({ state, changes }) => [
    ...walletStatements(changes, state),
    ...resolveStatements(kind, changes.resolvedHolds),
    ...insertAll(holds, changes.newHolds),
    ...spendStatements(changes, state),
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

/** No statement for no rows. */
function insertAll<Item>(insert: BulkInsert<Item>, items: readonly Item[]): readonly Statement[] {
  return items.length === 0 ? [] : [insert.statement(items)];
}

/** Compare-and-set: a wallet that is no longer what the changes were made from undoes the whole batch. */
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

/** Compare-and-set on the state: a hold that someone else has resolved undoes the whole batch. */
function resolveStatements(kind: Db["kind"], holds: readonly Hold[]): readonly Statement[] {
  if (holds.length === 0) return [];
  return (["settled", "voided", "expired"] as const).flatMap((state) => {
    const ids = holds.filter((hold) => hold.state === state).map(({ id }) => id);
    if (ids.length === 0) return [];
    const from = state === "settled" ? "state IN ('open', 'expired')" : "state = 'open'";
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

/** New holds. The owner is this process, so that recovery can tell whose they are. */
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
    },
    clockColumn: "created_at",
  };
}

/** One row per key with a spend limit. */
function spendStatements({ keySpends }: LedgerChanges, state: LedgerState): readonly Statement[] {
  return keySpends.map(({ keyId, spent, held, periodStartMs, spentBefore }) => {
    // Only where a period began: one that was begun by hand meanwhile, which no wallet tells of, must stay.
    const before = state.keySpends.get(keyId);
    const isBegun = periodStartMs !== (before?.periodStartMs ?? 0);
    const begun = isBegun ? [periodStartMs, spentBefore] : [null, null];
    // A wallet may be what it was although another process changed this meanwhile: one hold for another.
    return {
      sql: SPEND,
      params: [keyId, spent, held, ...begun, before?.spent ?? 0n, before?.held ?? 0n],
      expectRows: 1,
    };
  });
}

/** One text for both: PostgreSQL keeps a prepared statement for each way in which a batch mixes several. */
const SPEND = `INSERT INTO key_spends (key_id, spent, held, period_start, spent_before)
  VALUES ($1, $2, $3, COALESCE(CAST($4 AS BIGINT), 0), COALESCE(CAST($5 AS BIGINT), 0))
  ON CONFLICT (key_id) DO UPDATE SET spent = excluded.spent, held = excluded.held,
  period_start = COALESCE(CAST($4 AS BIGINT), key_spends.period_start),
  spent_before = COALESCE(CAST($5 AS BIGINT), key_spends.spent_before)
  WHERE key_spends.spent = $6 AND key_spends.held = $7`;

/** Every change of a lease changes its wallet too, whose compare-and-set guards it. */
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

/** Append-only: triggers of the database reject every change of these rows. */
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

/** One side of a transaction, with the transaction it belongs to. */
interface OwnEntry {
  readonly transaction: Transaction;
  readonly entry: Transaction["entries"][number];
}

/** The sides of transactions: append-only as well, and summing to zero for each. */
const ENTRIES: InsertShape<OwnEntry> = {
  table: "ledger_entries",
  columns: {
    account_id: text(({ transaction }) => transaction.accountId),
    sequence: integer(({ transaction }) => transaction.sequence),
    book: text(({ entry }) => entry.book),
    amount: integer(({ entry }) => entry.amount),
  },
};

/** Without sides of zero, which say nothing. */
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

/** Charges have no actor: nobody makes them by hand. */
function isByHand({ actor }: Transaction): boolean {
  return actor !== null;
}

/** Charges with everything needed to compute them again. */
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
 * Only into the request that this hold was taken for: after a late settlement the key may have been used again, by another
 * process. PostgreSQL cannot store the character zero, and no settlement may fail because of it.
 */
function answerStatements({ answers }: LedgerChanges): readonly Statement[] {
  return answers.map(({ holdId, owner, idempotencyId, contentType, text }) => ({
    sql: `UPDATE idempotent_requests SET content_type = $2, answer_text = $3
          WHERE id = $1 AND answer_text IS NULL AND owner = COALESCE(CAST($5 AS TEXT), (SELECT owner FROM holds WHERE id = $4))`,
    params: [idempotencyId, contentType, text.replaceAll("\0", ""), holdId, owner],
  }));
}
