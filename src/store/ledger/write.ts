// What a ledger batch changes, as statements: a few with many rows each, their texts the same however many there are.

import type { Db, SqlValue, Statement } from "../../core/db.ts";
import type { Charge, Hold, LedgerChanges, LedgerState, Wallet } from "../../core/ledger.ts";
import type { Price } from "../../core/money.ts";
import { clockSql, type InsertShape, inListSql, insertRows, listValue } from "../dialect.ts";

export interface Posted {
  /** What the changes were made from. */
  readonly state: LedgerState;
  readonly changes: LedgerChanges;
  readonly owner: string;
}

export function writeStatements(kind: Db["kind"], { state, changes, owner }: Posted): readonly Statement[] {
  return [
    ...walletStatements(changes, state),
    ...resolveStatements(kind, changes.resolvedHolds),
    ...holdStatements(kind, changes.newHolds, owner),
    ...spendStatements(changes, state),
    ...transactionStatements(kind, changes),
    ...chargeStatements(kind, changes.charges),
    ...answerStatements(changes),
  ];
}

/** Compare-and-set: a wallet that is no longer what the changes were made from undoes the whole batch. */
function walletStatements({ wallets }: LedgerChanges, state: LedgerState): readonly Statement[] {
  const inOrder = [...wallets].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  return inOrder.map(({ accountId, posted, held, sequence, hash }) => {
    const before = state.wallets.get(accountId) as Wallet;
    return {
      sql: `UPDATE wallets SET posted = $2, held = $3, sequence = $4, hash = $5
            WHERE account_id = $1 AND posted = $6 AND held = $7 AND sequence = $8 AND hash = $9`,
      params: [accountId, posted, held, sequence, hash, before.posted, before.held, before.sequence, before.hash],
      expectRows: 1,
    };
  });
}

/** Compare-and-set on the state: a hold that someone else has resolved undoes the whole batch. */
function resolveStatements(kind: Db["kind"], holds: readonly Hold[]): readonly Statement[] {
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

const HOLDS: InsertShape = {
  table: "holds",
  columns: {
    id: "TEXT",
    account_id: "TEXT",
    key_id: "TEXT",
    amount: "BIGINT",
    state: "TEXT",
    is_limited: "BIGINT",
    owner: "TEXT",
  },
  clockColumn: "created_at",
};

function holdStatements(kind: Db["kind"], holds: readonly Hold[], owner: string): readonly Statement[] {
  if (holds.length === 0) return [];
  const rows = holds.map(({ id, accountId, keyId, amount, state, isLimited }) => [
    id,
    accountId,
    keyId,
    amount,
    state,
    isLimited ? 1 : 0,
    owner,
  ]);
  return [insertRows(kind, HOLDS, rows)];
}

function spendStatements({ keySpends }: LedgerChanges, state: LedgerState): readonly Statement[] {
  return keySpends.map(({ keyId, spent, held, periodStartMs, spentBefore }) => {
    // Only where a period began: one that was begun by hand meanwhile, which no wallet tells of, must stay.
    const isBegun = periodStartMs !== (state.keySpends.get(keyId)?.periodStartMs ?? 0);
    return { sql: SPEND, params: [keyId, spent, held, ...(isBegun ? [periodStartMs, spentBefore] : [null, null])] };
  });
}

/** One text for both: PostgreSQL keeps a prepared statement for each way in which a batch mixes several. */
const SPEND = `INSERT INTO key_spends (key_id, spent, held, period_start, spent_before)
  VALUES ($1, $2, $3, COALESCE(CAST($4 AS BIGINT), 0), COALESCE(CAST($5 AS BIGINT), 0))
  ON CONFLICT (key_id) DO UPDATE SET spent = excluded.spent, held = excluded.held,
  period_start = COALESCE(CAST($4 AS BIGINT), key_spends.period_start),
  spent_before = COALESCE(CAST($5 AS BIGINT), key_spends.spent_before)`;

const TRANSACTIONS: InsertShape = {
  table: "ledger_transactions",
  columns: {
    id: "TEXT",
    kind: "TEXT",
    account_id: "TEXT",
    sequence: "BIGINT",
    balance_after: "BIGINT",
    hold_id: "TEXT",
    note: "TEXT",
    hash: "TEXT",
  },
  clockColumn: "created_at",
};

const ENTRIES: InsertShape = {
  table: "ledger_entries",
  columns: { account_id: "TEXT", sequence: "BIGINT", book: "TEXT", amount: "BIGINT" },
  clockColumn: null,
};

const ACTORS: InsertShape = {
  table: "ledger_actors",
  columns: { transaction_id: "TEXT", actor: "TEXT" },
  clockColumn: null,
};

function transactionStatements(kind: Db["kind"], { transactions }: LedgerChanges): readonly Statement[] {
  if (transactions.length === 0) return [];
  const rows = transactions.map(({ id, kind: what, accountId, sequence, balanceAfter, holdId, note, hash }) => [
    id,
    what,
    accountId,
    sequence,
    balanceAfter,
    holdId,
    note,
    hash,
  ]);
  const entries: (readonly SqlValue[])[] = [];
  for (const { accountId, sequence, entries: own } of transactions) {
    for (const { book, amount } of own) if (amount !== 0n) entries.push([accountId, sequence, book, amount]);
  }
  return [
    insertRows(kind, TRANSACTIONS, rows),
    insertRows(kind, ENTRIES, entries),
    ...actorStatements(kind, transactions),
  ];
}

/** None for charges, which nobody does by hand. */
function actorStatements(kind: Db["kind"], transactions: LedgerChanges["transactions"]): readonly Statement[] {
  const rows = transactions.flatMap(({ id, actor }) => (actor === null ? [] : [[id, actor]]));
  return rows.length === 0 ? [] : [insertRows(kind, ACTORS, rows)];
}

const CHARGES: InsertShape = {
  table: "charges",
  columns: {
    hold_id: "TEXT",
    request_id: "TEXT",
    account_id: "TEXT",
    key_id: "TEXT",
    model: "TEXT",
    provider: "TEXT",
    input_tokens: "BIGINT",
    cache_read_tokens: "BIGINT",
    cache_write_tokens: "BIGINT",
    output_tokens: "BIGINT",
    is_estimated: "BIGINT",
    price_json: "TEXT",
    markup_ppm: "BIGINT",
    outcome: "TEXT",
    charge: "BIGINT",
    paid: "BIGINT",
    absorbed: "BIGINT",
  },
  clockColumn: "created_at",
};

function chargeStatements(kind: Db["kind"], charges: readonly Charge[]): readonly Statement[] {
  if (charges.length === 0) return [];
  const rows = charges.map(({ holdId, accountId, keyId, usage, charge, paid, absorbed }) => [
    holdId,
    usage.requestId,
    accountId,
    keyId,
    usage.model,
    usage.provider,
    usage.buckets.input,
    usage.buckets.cacheRead,
    usage.buckets.cacheWrite,
    usage.buckets.output,
    usage.isEstimated ? 1 : 0,
    priceText(usage.price),
    usage.markupPpm,
    usage.outcome,
    charge,
    paid,
    absorbed,
  ]);
  return [insertRows(kind, CHARGES, rows)];
}

const priceTexts = new WeakMap<Price, string>();

/** The same few prices come again and again. */
function priceText(price: Price): string {
  const known = priceTexts.get(price);
  if (known !== undefined) return known;
  const text = JSON.stringify(price);
  priceTexts.set(price, text);
  return text;
}

/**
 * Only into the request that this hold was taken for: after a late settlement the key may have been used anew, by another
 * process. PostgreSQL cannot store the character zero, and no settlement may fail because of it.
 */
function answerStatements({ answers }: LedgerChanges): readonly Statement[] {
  return answers.map(({ holdId, idempotencyId, contentType, text }) => ({
    sql: `UPDATE idempotent_requests SET content_type = $2, answer_text = $3
          WHERE id = $1 AND answer_text IS NULL AND owner = (SELECT owner FROM holds WHERE id = $4)`,
    params: [idempotencyId, contentType, text.replaceAll("\0", ""), holdId],
  }));
}
