// The ledger's tables: reads what a batch refers to under lock, writes what it changes, all in one transaction.

import type {
  Hold,
  HoldState,
  KeySpend,
  LedgerOp,
  LedgerState,
  LedgerStore,
  Transaction,
  Wallet,
} from "../core/ledger.ts";
import type { Db, Queryable, Row } from "../core/ports.ts";
import { clockSql, forUpdateSql } from "./dialect.ts";
import { writeChanges } from "./ledger-write.ts";

/** `owner` names this run of this process: a restart is another owner. */
export function createLedgerStore(db: Db, owner: string): LedgerStore {
  const clock = clockSql(db.kind);
  return {
    commit: (ops, post) =>
      db.transaction(async (tx) => {
        const state = await readState(tx, ops, db.kind);
        const { outcomes, changes } = post(state, ops);
        await writeChanges(tx, changes, { owner, clock, known: state.wallets });
        return outcomes;
      }),
    async balance(accountId) {
      const [row] = await db.query("SELECT * FROM wallets WHERE account_id = $1", [accountId]);
      return row === undefined ? { accountId, posted: 0n, held: 0n, sequence: 0, hash: "" } : toWallet(row);
    },
    async orphans(silentMs) {
      const rows = await db.query(
        `SELECT holds.* FROM holds LEFT JOIN processes ON processes.id = holds.owner
         WHERE holds.state = 'open' AND holds.owner <> $1 AND (processes.seen_at IS NULL OR processes.seen_at <= ${clock} - $2)
         ORDER BY holds.created_at LIMIT 500`,
        [owner, silentMs],
      );
      return rows.map(toHold);
    },
    async beat() {
      await db.query(
        `INSERT INTO processes (id, seen_at) VALUES ($1, ${clock}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
        [owner],
      );
    },
  };
}

async function readState(tx: Queryable, ops: readonly LedgerOp[], kind: Db["kind"]): Promise<LedgerState> {
  const accountIds = unique(ops.map(({ accountId }) => accountId));
  const holdIds = unique(ops.flatMap((op) => (op.kind === "settle" || op.kind === "void" ? [op.holdId] : [])));
  const newHoldIds = unique(ops.flatMap((op) => (op.kind === "hold" ? [op.id] : [])));
  const moveIds = unique(ops.flatMap((op) => (op.kind === "move" ? [op.id] : [])));
  // Wallets first and in order: every batch that touches a wallet or its holds passes this lock.
  const wallets = await select(tx, "wallets", "account_id", accountIds, ` ORDER BY account_id${forUpdateSql(kind)}`);
  const holds = await select(tx, "holds", "id", [...holdIds, ...newHoldIds]);
  const holdRecords = new Map(holds.map((row) => [String(row.id), toHold(row)]));
  const limitedKeys = unique([
    ...ops.flatMap((op) => (op.kind === "hold" && op.spendLimit !== null ? [op.keyId] : [])),
    ...[...holdRecords.values()].flatMap((hold) => (hold.isLimited ? [hold.keyId] : [])),
  ]);
  const spends = await select(tx, "key_spends", "key_id", limitedKeys);
  return {
    wallets: new Map(wallets.map((row) => [String(row.account_id), toWallet(row)])),
    holds: holdRecords,
    keySpends: new Map(spends.map((row) => [String(row.key_id), toKeySpend(row)])),
    moves: await readMoves(tx, moveIds),
  };
}

async function readMoves(tx: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Transaction>> {
  const moves = new Map<string, Transaction>();
  for (const row of await select(tx, "ledger_transactions", "id", ids)) {
    const entries = await tx.query("SELECT * FROM ledger_entries WHERE account_id = $1 AND sequence = $2", [
      row.account_id ?? null,
      row.sequence ?? null,
    ]);
    moves.set(String(row.id), toTransaction(row, entries));
  }
  return moves;
}

async function select(
  tx: Queryable,
  table: string,
  column: string,
  values: readonly string[],
  suffix = "",
): Promise<readonly Row[]> {
  if (values.length === 0) return [];
  const places = values.map((_, index) => `$${index + 1}`).join(", ");
  return tx.query(`SELECT * FROM ${table} WHERE ${column} IN (${places})${suffix}`, values);
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

export function toWallet(row: Row): Wallet {
  return {
    accountId: String(row.account_id),
    posted: BigInt(row.posted as number),
    held: BigInt(row.held as number),
    sequence: Number(row.sequence),
    hash: String(row.hash),
  };
}

export function toHold(row: Row): Hold {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    keyId: String(row.key_id),
    amount: BigInt(row.amount as number),
    state: row.state as HoldState,
    isLimited: Number(row.is_limited) === 1,
  };
}

function toKeySpend(row: Row): KeySpend {
  return { keyId: String(row.key_id), spent: BigInt(row.spent as number), held: BigInt(row.held as number) };
}

/** With the entries of this transaction and no others. */
export function toTransaction(row: Row, entries: readonly Row[]): Transaction {
  return {
    id: String(row.id),
    kind: row.kind as Transaction["kind"],
    accountId: String(row.account_id),
    sequence: Number(row.sequence),
    balanceAfter: BigInt(row.balance_after as number),
    holdId: row.hold_id === null ? null : String(row.hold_id),
    note: row.note === null ? null : String(row.note),
    hash: String(row.hash),
    entries: entries.map(({ book, amount }) => ({
      book: book as Transaction["entries"][number]["book"],
      amount: BigInt(amount as number),
    })),
  };
}
