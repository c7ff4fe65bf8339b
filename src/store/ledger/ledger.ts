// The ledger's tables: a batch's operations are posted to what is remembered or, under lock, read; what they change is
// written in one transaction.

import type { Db, SqlRow, Statement } from "../../core/db.ts";
import type {
  Hold,
  HoldState,
  LedgerOp,
  LedgerOutcome,
  LedgerState,
  LedgerStore,
  Posting,
  Transaction,
  Wallet,
} from "../../core/ledger.ts";
import { BatchRefused } from "../../core/store-errors.ts";
import { clockSql, forUpdateSql, inListSql, listValue } from "../dialect.ts";
import { KEY_SPEND, toKeySpend } from "./key-spends.ts";
import { LedgerMemory } from "./memory.ts";
import { forgetProcesses } from "./processes.ts";
import { createLedgerWriter } from "./write.ts";

/** `owner` names this run of this process: a restart is another owner. */
export function createLedgerStore(db: Db, owner: string, memory = new LedgerMemory()): LedgerStore {
  const clock = clockSql(db.kind);
  const write = createLedgerWriter(db.kind, owner);

  /** Null when it has to be read first; then nothing was written. */
  async function commitFromMemory(ops: readonly LedgerOp[], post: Posting): Promise<readonly LedgerOutcome[] | null> {
    const state = memory.recall(ops);
    if (state === null) return null;
    const { outcomes, changes } = post(state, ops);
    // Nothing of a refusal is written, so nothing would tell that what is remembered is out of date.
    if (!outcomes.every(isDone) || !ops.every((op, index) => isUncurbed(op, outcomes[index]))) return null;
    const statements = write({ state, changes });
    // In a batch wallets are locked in one order; at once, with several, two processes might lock them crosswise.
    if (changes.wallets.length === 1) await db.batchAtOnce(statements);
    else await db.batch(statements);
    memory.learn(state, changes);
    return outcomes;
  }

  async function commitAfterReading(ops: readonly LedgerOp[], post: Posting): Promise<readonly LedgerOutcome[]> {
    const reads = readsFor(db.kind, ops);
    const { outcomes, changes, state } = await db.readThenWrite(Object.values(reads), (answers) => {
      const found = Object.fromEntries(Object.keys(reads).map((name, index) => [name, answers[index] ?? []]));
      const read = toState(found);
      const posted = post(read, ops);
      return {
        writes: write({ state: read, changes: posted.changes }),
        result: { ...posted, state: read },
      };
    });
    memory.learn(state, changes);
    return outcomes;
  }

  return {
    async commit(ops, post) {
      try {
        return (await commitFromMemory(ops, post)) ?? (await commitAfterReading(ops, post));
      } catch (error) {
        memory.forget();
        if (!(error instanceof BatchRefused)) throw error;
        memory.surprise();
        return commitAfterReading(ops, post);
      }
    },
    async balance(accountId) {
      const [row] = await db.query(`SELECT ${WALLET} FROM wallets WHERE account_id = $1`, [accountId]);
      return row === undefined ? { accountId, posted: 0n, held: 0n, sequence: 0, hash: "" } : toWallet(row);
    },
    async orphans(silentMs) {
      const rows = await db.query(
        `SELECT ${HOLD} FROM holds h LEFT JOIN processes p ON p.id = h.owner
         WHERE h.state = 'open' AND h.owner <> $1 AND (p.seen_at IS NULL OR $2 = 0 OR p.seen_at <= ${clock} - $2)
         ORDER BY h.created_at LIMIT ${ORPHANS_MAX}`,
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
    async forgetSilent(silentMs) {
      await db.query(
        `DELETE FROM processes WHERE id <> $1 AND ($2 = 0 OR seen_at <= ${clock} - $2) AND ${HOLDS_NOTHING}`,
        [owner, silentMs],
      );
    },
    forgetGone: (isGone) => forgetProcesses(db, (id) => id !== owner && isGone(id)),
    async leave() {
      await db.query(`DELETE FROM processes WHERE id = $1 AND ${HOLDS_NOTHING}`, [owner]);
    },
  };
}

function isDone({ state }: LedgerOutcome): boolean {
  return state !== "refused" && state !== "already-resolved";
}

/** A limit may have been reset by hand, which no wallet tells of: less is granted only by what was just read. */
function isUncurbed(op: LedgerOp, outcome: LedgerOutcome | undefined): boolean {
  if (op.kind !== "hold" || op.spendLimit === null || outcome?.state !== "held") return true;
  return outcome.amount >= (op.amounts[0] ?? 0n);
}

const HOLDS_NOTHING = "NOT EXISTS (SELECT 1 FROM holds WHERE holds.owner = processes.id AND holds.state = 'open')";

const ORPHANS_MAX = 500;
const WALLET = "account_id, posted, held, sequence, hash";
// By name: a prepared statement that says `*` fails as soon as a newer version adds a column.
const MOVE = "t.id, t.kind, t.account_id, t.sequence, t.balance_after, t.hold_id, t.note, t.hash";
const HOLD = "h.id, h.account_id, h.key_id, h.amount, h.state, h.is_limited";

type ReadName = "newWallets" | "wallets" | "holds" | "keySpends" | "moves";

/** What has to be read for these operations, in the order in which it must be. */
function readsFor(kind: Db["kind"], ops: readonly LedgerOp[]): Readonly<Partial<Record<ReadName, Statement>>> {
  const moves = ops.filter((op) => op.kind === "move");
  const holdIds = ops.flatMap((op) => (op.kind === "hold" ? [op.id] : op.kind === "move" ? [] : [op.holdId]));
  const limitedKeys = ops.flatMap((op) => (op.kind === "hold" && op.spendLimit !== null ? [op.keyId] : []));
  const read = (name: ReadName, values: readonly string[], sql: string) =>
    values.length === 0 ? {} : { [name]: { sql, params: [listValue(kind, unique(values))] } };
  const movedAccounts = moves.map(({ accountId }) => accountId);
  return {
    // A wallet is made with its first money, for accounts that exist. First, since a row that is not there cannot be locked.
    ...read(
      "newWallets",
      movedAccounts,
      `INSERT INTO wallets (${WALLET}) SELECT id, 0, 0, 0, '' FROM accounts WHERE ${inListSql(kind, "id", "$1")}
       ORDER BY id ON CONFLICT (account_id) DO NOTHING`,
    ),
    // In order, and before the rest: every batch that touches a wallet or its holds passes this lock.
    ...read(
      "wallets",
      ops.map(({ accountId }) => accountId),
      `SELECT ${WALLET} FROM wallets WHERE ${inListSql(kind, "account_id", "$1")} ORDER BY account_id${forUpdateSql(kind)}`,
    ),
    ...read(
      "holds",
      holdIds,
      `SELECT ${HOLD}, ${KEY_SPEND} FROM holds h
       LEFT JOIN key_spends k ON h.is_limited = 1 AND k.key_id = h.key_id WHERE ${inListSql(kind, "h.id", "$1")}`,
    ),
    ...read(
      "keySpends",
      limitedKeys,
      `SELECT k.key_id, ${KEY_SPEND} FROM key_spends k WHERE ${inListSql(kind, "k.key_id", "$1")}`,
    ),
    ...read(
      "moves",
      moves.map(({ id }) => id),
      `SELECT ${MOVE}, a.actor, e.book, e.amount FROM ledger_transactions t JOIN ledger_entries e
       ON e.account_id = t.account_id AND e.sequence = t.sequence LEFT JOIN ledger_actors a ON a.transaction_id = t.id WHERE ${inListSql(kind, "t.id", "$1")}`,
    ),
  };
}

function toState(found: Readonly<Partial<Record<ReadName, readonly SqlRow[]>>>): LedgerState {
  const { wallets = [], holds = [], keySpends = [], moves = [] } = found;
  const limited = [...holds.filter(({ spent }) => spent !== null), ...keySpends];
  const moveIds = unique(moves.map(({ id }) => String(id)));
  const rowsOf = (id: string): readonly SqlRow[] => moves.filter((row) => row.id === id);
  return {
    wallets: new Map(wallets.map((row) => [String(row.account_id), toWallet(row)])),
    holds: new Map(holds.map((row) => [String(row.id), toHold(row)])),
    keySpends: new Map(limited.map((row) => [String(row.key_id), toKeySpend(row)])),
    moves: new Map(moveIds.map((id) => [id, toTransaction(rowsOf(id)[0] as SqlRow, rowsOf(id))])),
  };
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

export function toWallet(row: SqlRow): Wallet {
  return {
    accountId: String(row.account_id),
    posted: BigInt(row.posted as number),
    held: BigInt(row.held as number),
    sequence: Number(row.sequence),
    hash: String(row.hash),
  };
}

export function toHold(row: SqlRow): Hold {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    keyId: String(row.key_id),
    amount: BigInt(row.amount as number),
    state: row.state as HoldState,
    isLimited: Number(row.is_limited) === 1,
  };
}

/** With the entries of this transaction and no others. */
export function toTransaction(row: SqlRow, entries: readonly SqlRow[]): Transaction {
  return {
    id: String(row.id),
    kind: row.kind as Transaction["kind"],
    accountId: String(row.account_id),
    sequence: Number(row.sequence),
    balanceAfter: BigInt(row.balance_after as number),
    holdId: row.hold_id === null ? null : String(row.hold_id),
    note: row.note === null ? null : String(row.note),
    actor: row.actor == null ? null : String(row.actor),
    hash: String(row.hash),
    entries: entries.map(({ book, amount }) => ({
      book: book as Transaction["entries"][number]["book"],
      amount: BigInt(amount as number),
    })),
  };
}
