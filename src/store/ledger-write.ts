// Writes the changes of a ledger batch: a few statements with many rows each, however many operations the batch has.

import type { Charge, Hold, LedgerChanges, Wallet } from "../core/ledger.ts";
import type { Queryable, SqlValue } from "../core/ports.ts";

interface WriteContext {
  readonly owner: string;
  /** SQL for the database's clock. */
  readonly clock: string;
  readonly known: ReadonlyMap<string, Wallet>;
}

export async function writeChanges(tx: Queryable, changes: LedgerChanges, context: WriteContext): Promise<void> {
  await writeWallets(tx, changes.wallets, context.known);
  await resolveHolds(tx, changes.resolvedHolds, context.clock);
  await insertHolds(tx, changes.newHolds, context);
  for (const { keyId, spent, held } of changes.keySpends) {
    await tx.query(
      `INSERT INTO key_spends (key_id, spent, held) VALUES ($1, $2, $3)
       ON CONFLICT (key_id) DO UPDATE SET spent = excluded.spent, held = excluded.held`,
      [keyId, spent, held],
    );
  }
  await insertTransactions(tx, changes, context.clock);
  await insertCharges(tx, changes.charges, context.clock);
  for (const { idempotencyId, contentType, text } of changes.answers) {
    await tx.query("UPDATE idempotent_requests SET content_type = $2, answer_text = $3 WHERE id = $1", [
      idempotencyId,
      contentType,
      text,
    ]);
  }
}

async function writeWallets(tx: Queryable, wallets: readonly Wallet[], known: WriteContext["known"]): Promise<void> {
  for (const { accountId, posted, held, sequence, hash } of wallets) {
    const sql = known.has(accountId)
      ? "UPDATE wallets SET posted = $2, held = $3, sequence = $4, hash = $5 WHERE account_id = $1"
      : "INSERT INTO wallets (account_id, posted, held, sequence, hash) VALUES ($1, $2, $3, $4, $5)";
    await tx.query(sql, [accountId, posted, held, sequence, hash]);
  }
}

/** Compare-and-set on the state: a hold that someone else has resolved undoes the whole batch. */
async function resolveHolds(tx: Queryable, holds: readonly Hold[], clock: string): Promise<void> {
  for (const state of ["settled", "voided", "expired"] as const) {
    const ids = holds.filter((hold) => hold.state === state).map(({ id }) => id);
    if (ids.length === 0) continue;
    const places = ids.map((_, index) => `$${index + 1}`).join(", ");
    const from = state === "settled" ? "state IN ('open', 'expired')" : "state = 'open'";
    const rows = await tx.query(
      `UPDATE holds SET state = '${state}', resolved_at = ${clock} WHERE id IN (${places}) AND ${from} RETURNING id`,
      ids,
    );
    if (rows.length !== ids.length) throw new Error("ledger invariant: a hold was resolved by someone else");
  }
}

async function insertHolds(tx: Queryable, holds: readonly Hold[], { owner, clock }: WriteContext): Promise<void> {
  const rows = holds.map(({ id, accountId, keyId, amount, state, isLimited }) => [
    id,
    accountId,
    keyId,
    amount,
    state,
    isLimited ? 1 : 0,
    owner,
  ]);
  const columns = "id, account_id, key_id, amount, state, is_limited, owner, created_at";
  await insertRows(tx, `INSERT INTO holds (${columns})`, rows, clock);
}

async function insertTransactions(tx: Queryable, { transactions }: LedgerChanges, clock: string): Promise<void> {
  const rows = transactions.map(({ id, kind, accountId, sequence, balanceAfter, holdId, note, hash }) => [
    id,
    kind,
    accountId,
    sequence,
    balanceAfter,
    holdId,
    note,
    hash,
  ]);
  const columns = "id, kind, account_id, sequence, balance_after, hold_id, note, hash, created_at";
  await insertRows(tx, `INSERT INTO ledger_transactions (${columns})`, rows, clock);
  const entries = transactions.flatMap(({ accountId, sequence, entries: own }) =>
    own.filter(({ amount }) => amount !== 0n).map(({ book, amount }) => [accountId, sequence, book, amount]),
  );
  await insertRows(tx, "INSERT INTO ledger_entries (account_id, sequence, book, amount)", entries, null);
}

async function insertCharges(tx: Queryable, charges: readonly Charge[], clock: string): Promise<void> {
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
    JSON.stringify(usage.price),
    usage.markupPpm,
    usage.outcome,
    charge,
    paid,
    absorbed,
  ]);
  const columns =
    "hold_id, request_id, account_id, key_id, model, provider, input_tokens, cache_read_tokens, cache_write_tokens, " +
    "output_tokens, is_estimated, price_json, markup_ppm, outcome, charge, paid, absorbed, created_at";
  await insertRows(tx, `INSERT INTO charges (${columns})`, rows, clock);
}

/** One INSERT for all rows; `last` is SQL for one more column, the same in each. */
async function insertRows(
  tx: Queryable,
  head: string,
  rows: readonly (readonly SqlValue[])[],
  last: string | null,
): Promise<void> {
  if (rows.length === 0) return;
  let place = 0;
  const tuples = rows.map((row) => {
    const places = row.map(() => {
      place += 1;
      return `$${place}`;
    });
    return `(${[...places, ...(last === null ? [] : [last])].join(", ")})`;
  });
  await tx.query(`${head} VALUES ${tuples.join(", ")}`, rows.flat());
}
