// The tables of the ledger. Operations are posted to balances in memory, or to balances read under lock. One transaction
// writes the changes of a batch.

import { BATCH_OWNER, sharedHoldOf } from "../../core/batches/holds.ts";
import type { Db, SqlRow, Statement } from "../../core/db.ts";
import {
  type CreditLease,
  emptyWallet,
  type Hold,
  type HoldState,
  type LedgerOp,
  type LedgerOutcome,
  type LedgerState,
  type LedgerStore,
  leaseKey,
  type Posting,
  type Transaction,
  type Wallet,
} from "../../core/ledger.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { clockSql, forUpdateSql, inListSql, listValue } from "../dialect.ts";
import { budgetReads, toBudgetState, withBudgets } from "./budget-counters.ts";
import { KEY_SPEND, toKeySpend } from "./key-spends.ts";
import { LedgerMemory } from "./memory.ts";
import { forgetProcess, HOLDS_NOTHING, LEASED } from "./processes.ts";
import { createLedgerWriter } from "./write.ts";

/** `owner` names this run of this process, so a restart is another owner. */
export function createLedgerStore(db: Db, owner: string, memory = new LedgerMemory()): LedgerStore {
  const commit = createCommit(db, owner, memory);
  const clock = clockSql(db.kind);
  const isSilent = `(p.seen_at IS NULL OR $2 = 0 OR p.seen_at <= ${clock} - $2)`;
  return {
    commitsMax: COMMITS_MAX[db.kind],
    commit,
    async balance(accountId) {
      const [row] = await db.query(`SELECT ${WALLET} FROM wallets WHERE account_id = $1`, [accountId]);
      return row === undefined ? emptyWallet(accountId) : toWallet(row);
    },
    async epochs() {
      const rows = await db.query(
        `SELECT w.account_id, w.epoch FROM (${LEASED}) l JOIN wallets w ON w.account_id = l.account_id WHERE l.owner = $1`,
        [owner],
      );
      return new Map(rows.map((row) => [String(row.account_id), Number(row.epoch)]));
    },
    async orphans(silentMs) {
      const rows = await db.query(
        `SELECT ${HOLD} FROM holds h LEFT JOIN processes p ON p.id = h.owner
         WHERE h.state = 'open' AND h.owner NOT IN ($1, '${BATCH_OWNER}') AND ${isSilent} ORDER BY h.created_at LIMIT ${ORPHANS_MAX}`,
        [owner, silentMs],
      );
      return rows.map(toHold);
    },
    async orphanLeases(silentMs) {
      const rows = await db.query(
        `SELECT l.owner, l.account_id, CAST(SUM(l.amount) AS BIGINT) AS amount FROM (${LEASED}) l LEFT JOIN processes p ON p.id = l.owner
         WHERE l.owner <> $1 AND ${isSilent} GROUP BY l.owner, l.account_id ORDER BY l.owner LIMIT ${ORPHANS_MAX}`,
        [owner, silentMs],
      );
      return rows.map(toLease);
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
    async forgetGone(isGone) {
      const ids = (await db.query("SELECT id FROM processes")).map(({ id }) => String(id));
      const gone = ids.filter((id) => id !== owner && isGone(id));
      for (const id of gone) await forgetProcess(db, id);
    },
    async leave() {
      await db.query(`DELETE FROM processes WHERE id = $1 AND ${HOLDS_NOTHING}`, [owner]);
    },
  };
}

/** Commits that run at once: the next is prepared while one is written. A thread or a connection keeps their order. */
const COMMITS_MAX: Readonly<Record<Db["kind"], number>> = { sqlite: 6, postgres: 2 };

/**
 * Commits from memory if the memory suffices, otherwise under lock. The memory is ahead of the store: after a failed
 * commit, the store rejects all batches that were based on it. A rejected batch is read and posted again in its order.
 */
function createCommit(db: Db, owner: string, memory: LedgerMemory): LedgerStore["commit"] {
  const { send, readAndWrite } = createWays(db, owner, memory);
  /** Batches without an outcome yet. A rejected batch stays here until it was tried again. */
  const sent = new Set<Promise<unknown>>();
  let rejected = 0;
  const inTurn = createTurns();

  /** Tries a rejected batch again. Later batches wait, because leases must learn of outcomes in order. */
  function tryAgain(error: unknown, again: () => Promise<readonly LedgerOutcome[]>) {
    if (!(error instanceof BatchRejected)) throw error;
    memory.readFirst();
    rejected += 1;
    return again().finally(() => {
      rejected -= 1;
    });
  }

  async function sendOrRead(ops: readonly LedgerOp[], post: Posting, pass: () => void) {
    const read = async (earlier: Iterable<Promise<unknown>>) => {
      await Promise.allSettled(earlier);
      return readAndWrite(ops, post);
    };
    const isAlone = db.kind === "postgres" && mustBeAlone(ops);
    if (isAlone || rejected > 0) await Promise.allSettled(sent);
    const sending = send(ops, post);
    if (sending === null) return read(sent).catch((error) => tryAgain(error, () => read(sent)));
    const earlier = [...sent];
    const ended = sending.written.then(
      () => sending.outcomes,
      (error) => tryAgain(error, () => read(earlier)),
    );
    const over = ended.finally(() => sent.delete(over));
    sent.add(over);
    if (!isAlone) pass();
    return over;
  }

  return (ops, post) =>
    inTurn((pass) => sendOrRead(ops, post, pass)).catch((error) => {
      memory.forget();
      throw error;
    });
}

/** The two ways to commit a batch. */
function createWays(db: Db, owner: string, memory: LedgerMemory) {
  const write = createLedgerWriter(db.kind, owner);
  return { send, readAndWrite };

  /** Posts a batch to the memory and sends it. Returns null, and sends nothing, if the batch needs a read first. */
  function send(ops: readonly LedgerOp[], post: Posting) {
    const state = memory.recall(ops);
    if (state === null) return null;
    const { outcomes, changes } = post(state, ops);
    // A refused operation writes nothing, so the store would not notice that the memory is out of date.
    if (!outcomes.every(isDone) || !ops.every((op, index) => isUncurbed(op, outcomes[index]))) return null;
    const statements = write({ state, changes });
    // A repeated operation must not be answered before the first one is written.
    if (statements.length === 0) return null;
    memory.learn(state, changes);
    // db.batch locks wallets in one order. batchAtOnce does not, and two processes could deadlock.
    const written: Promise<unknown> = changes.wallets.length <= 1 ? db.batchAtOnce(statements) : db.batch(statements);
    return { outcomes, written };
  }

  async function readAndWrite(ops: readonly LedgerOp[], post: Posting) {
    const reads = readsFor(db.kind, ops);
    const { outcomes, changes, state } = await db.readThenWrite(Object.values(reads), (answers) => {
      const found = Object.fromEntries(Object.keys(reads).map((name, index) => [name, answers[index] ?? []]));
      const read = toState(found);
      const posted = post(read, ops);
      return { writes: write({ state: read, changes: posted.changes }), result: { ...posted, state: read } };
    });
    memory.learn(state, changes);
    return outcomes;
  }
}

/** Runs work one after the other. Each piece says when the next may begin. */
function createTurns(): <T>(work: (pass: () => void) => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const before = turn;
    let pass: () => void = () => undefined;
    turn = new Promise<void>((resolve) => {
      pass = resolve;
    });
    await before;
    try {
      return await work(pass);
    } finally {
      pass();
    }
  };
}

/**
 * Tells whether nothing may run beside these operations on PostgreSQL. Several wallets use another connection. A delayed
 * hold could be written after its release; a charge could not, because its retry changes the wallet.
 */
function mustBeAlone(ops: readonly LedgerOp[]): boolean {
  return ops.some(({ kind, accountId }) => kind === "hold" || accountId !== ops[0]?.accountId);
}

/** True if the operation changed a row, so that the store would have noticed a wrong memory. */
function isDone({ state }: LedgerOutcome): boolean {
  return state !== "refused" && state !== "already-resolved";
}

/** False if a spend limit reduced the hold: the limit may have been reset by hand, so it must be read again. */
function isUncurbed(op: LedgerOp, outcome: LedgerOutcome | undefined): boolean {
  if (op.kind !== "hold" || op.spendLimit === null || outcome?.state !== "held") return true;
  return outcome.amount >= (op.amounts[0] ?? 0n);
}

/** Orphans released at once, so that recovery after a crash does not block the database. */
const ORPHANS_MAX = 500;
/** Columns that `toWallet` reads. */
const WALLET = "account_id, posted, held, leased, epoch, sequence, hash";
// Names the columns: a prepared statement with `*` fails when a newer version adds one.
const MOVE = "t.id, t.kind, t.account_id, t.sequence, t.balance_after, t.hold_id, t.note, t.hash";
const HOLD = "h.id, h.account_id, h.key_id, h.amount, h.state, h.is_limited, h.is_metered, h.lent, h.is_capped";
const LEASE = "l.owner, l.account_id, l.amount";

/** Names of the reads of a batch. */
type ReadName =
  | "newWallets"
  | "wallets"
  | "holds"
  | "charged"
  | "keySpends"
  | "heldBudgets"
  | "counters"
  | "budgetLeases"
  | "leases"
  | "moves";

/** Lists the reads that these operations need, in the required order. */
function readsFor(kind: Db["kind"], ops: readonly LedgerOp[]): Readonly<Partial<Record<ReadName, Statement>>> {
  const moves = ops.filter((op) => op.kind === "move");
  const holdIds = ops.flatMap(holdIdsOf);
  const leases = ops.flatMap(leaseOf);
  const limitedKeys = ops.flatMap((op) => (op.kind === "hold" && op.spendLimit !== null ? [op.keyId] : []));
  const read = (name: ReadName, values: readonly string[], sql: string) =>
    values.length === 0 ? {} : { [name]: { sql, params: [listValue(kind, unique(values))] } };
  const walletsNeeded = ops.filter(needsWallet);
  return {
    // Existing accounts get a wallet with their first money or metered call. This comes first, because a missing row
    // cannot be locked.
    ...read(
      "newWallets",
      walletsNeeded.map(({ accountId }) => accountId),
      `INSERT INTO wallets (${WALLET}) SELECT id, 0, 0, 0, 0, 0, '' FROM accounts WHERE ${inListSql(kind, "id", "$1")}
       ORDER BY id ON CONFLICT (account_id) DO NOTHING`,
    ),
    // Locks wallets in order and before the rest. Every batch that touches a wallet or its holds takes this lock.
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
    // The store knows a hold of a lease only by its charge.
    ...read(
      "charged",
      ops.flatMap(reservedIdsOf),
      `SELECT hold_id, account_id, key_id FROM charges WHERE is_reserved = 1 AND ${inListSql(kind, "hold_id", "$1")}`,
    ),
    ...read(
      "keySpends",
      limitedKeys,
      `SELECT k.key_id, ${KEY_SPEND} FROM key_spends k WHERE ${inListSql(kind, "k.key_id", "$1")}`,
    ),
    ...budgetReads(kind, ops),
    ...(leases.length === 0 ? {} : { leases: leaseRead(kind, leases) }),
    ...read(
      "moves",
      moves.map(({ id }) => id),
      `SELECT ${MOVE}, a.actor, e.book, e.amount FROM ledger_transactions t JOIN ledger_entries e
       ON e.account_id = t.account_id AND e.sequence = t.sequence LEFT JOIN ledger_actors a ON a.transaction_id = t.id WHERE ${inListSql(kind, "t.id", "$1")}`,
    ),
  };
}

function holdIdsOf(op: LedgerOp): readonly string[] {
  if (op.kind === "return") return op.holds.map(({ id }) => id);
  if (op.kind !== "hold" && !("holdId" in op)) return [];
  const id = op.kind === "hold" ? op.id : op.holdId;
  const shared = sharedHoldOf(id);
  return shared === null ? [id] : [id, shared];
}

function reservedIdsOf(op: LedgerOp): readonly string[] {
  if (op.kind === "return") return op.holds.map(({ id }) => id);
  return op.kind === "settle" && op.reserved !== undefined ? [op.holdId] : [];
}

function leaseRead(kind: Db["kind"], leases: readonly Pick<CreditLease, "owner" | "accountId">[]): Statement {
  const owners = unique(leases.map(({ owner }) => owner));
  const accounts = unique(leases.map(({ accountId }) => accountId));
  return {
    sql: `SELECT ${LEASE} FROM leases l WHERE ${inListSql(kind, "l.owner", "$1")} AND ${inListSql(kind, "l.account_id", "$2")}`,
    params: [listValue(kind, owners), listValue(kind, accounts)],
  };
}

function leaseOf(op: LedgerOp): readonly Pick<CreditLease, "owner" | "accountId">[] {
  if (op.kind === "lease" || op.kind === "return") return [op];
  return op.kind === "settle" && op.reserved !== undefined
    ? [{ owner: op.reserved.owner, accountId: op.accountId }]
    : [];
}

/** True if the operation may be the first of its wallet. */
function needsWallet(op: LedgerOp): boolean {
  if (op.kind === "hold") return op.isMetered;
  if (op.kind === "return") return op.holds.length > 0;
  return op.kind === "move" || (op.kind === "settle" && op.reserved !== undefined);
}

/** Reads the rows into the state that operations are posted to. */
function toState(found: Readonly<Partial<Record<ReadName, readonly SqlRow[]>>>): LedgerState {
  const { wallets = [], holds = [], charged = [], keySpends = [], leases = [], moves = [] } = found;
  const limited = [...holds.filter(({ spent }) => spent !== null), ...keySpends];
  const moveIds = unique(moves.map(({ id }) => String(id)));
  const rowsOf = (id: string): readonly SqlRow[] => moves.filter((row) => row.id === id);
  return {
    wallets: new Map(wallets.map((row) => [String(row.account_id), toWallet(row)])),
    holds: new Map(
      [...withBudgets(holds.map(toHold), found.heldBudgets), ...charged.map(toChargedHold)].map((hold) => [
        hold.id,
        hold,
      ]),
    ),
    keySpends: new Map(limited.map((row) => [String(row.key_id), toKeySpend(row)])),
    ...toBudgetState(found),
    leases: new Map(leases.map(toLease).map((lease) => [leaseKey(lease), lease])),
    moves: new Map(moveIds.map((id) => [id, toTransaction(rowsOf(id)[0] as SqlRow, rowsOf(id))])),
  };
}

/** Removes duplicates and sorts, so that equal ids make equal text and are locked in one order. */
function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

export function toWallet(row: SqlRow): Wallet {
  return {
    accountId: String(row.account_id),
    posted: BigInt(row.posted as number),
    held: BigInt(row.held as number),
    leased: BigInt(row.leased as number),
    epoch: Number(row.epoch),
    sequence: Number(row.sequence),
    hash: String(row.hash),
  };
}

function toHold(row: SqlRow): Hold {
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    keyId: String(row.key_id),
    amount: BigInt(row.amount as number),
    state: row.state as HoldState,
    isLimited: Number(row.is_limited) === 1,
    isMetered: Number(row.is_metered) === 1,
    ...(row.lent == null ? {} : { shared: { lent: BigInt(row.lent), isCapped: Number(row.is_capped) === 1 } }),
  };
}

/** Makes a settled hold without an amount. */
function toChargedHold(row: SqlRow): Hold {
  const [id, accountId, keyId] = [row.hold_id, row.account_id, row.key_id].map(String) as [string, string, string];
  return { id, accountId, keyId, amount: 0n, state: "settled", isLimited: false, isMetered: false };
}

function toLease(row: SqlRow): CreditLease {
  return { owner: String(row.owner), accountId: String(row.account_id), amount: BigInt(row.amount as number) };
}

/** Reads a transaction. `entries` belong to it alone. */
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
