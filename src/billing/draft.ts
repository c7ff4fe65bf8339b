// The state of a batch while it is posted: the rows that were read, and the changes so far. Every write asserts the
// invariants of the ledger, so that no bug elsewhere can store a negative wallet.

import { hash } from "node:crypto";
import { type BudgetCounter, type BudgetLease, budgetLeaseKey, newCounter } from "../core/budgets/counter.ts";
import type {
  Charge,
  CreditLease,
  HeldAnswer,
  Hold,
  HoldState,
  KeySpend,
  LedgerBook,
  LedgerChanges,
  LedgerEntry,
  LedgerState,
  StoredAnswer,
  Transaction,
  Wallet,
} from "../core/ledger.ts";
import { emptyWallet, leaseKey } from "../core/ledger.ts";

/** The largest balance a wallet may have, and the largest charge: far above any use, far below where 64 bits end. */
export const BALANCE_MAX = 1_000_000_000n * 1_000_000_000n;

type NewTransaction = Omit<Transaction, "sequence" | "balanceAfter" | "hash">;

/** The draft of one batch. Its changes are read once. */
export class Draft {
  readonly #state: LedgerState;
  readonly #wallets = new Map<string, Wallet>();
  readonly #newHolds = new Map<string, Hold>();
  readonly #resolvedHolds = new Map<string, Hold>();
  readonly #sharedHolds = new Map<string, Hold>();
  readonly #keySpends = new Map<string, KeySpend>();
  readonly #counters = new Map<string, BudgetCounter>();
  readonly #budgetLeases = new Map<string, BudgetLease>();
  readonly #leases = new Map<string, CreditLease>();
  readonly #transactions = new Map<string, Transaction>();
  readonly #charges: Charge[] = [];
  readonly #answers: HeldAnswer[] = [];

  constructor(state: LedgerState) {
    this.#state = state;
  }

  /** False for accounts that do not exist. */
  hasWallet(accountId: string): boolean {
    return this.#state.wallets.has(accountId);
  }

  wallet(accountId: string): Wallet {
    return this.#wallets.get(accountId) ?? this.#state.wallets.get(accountId) ?? emptyWallet(accountId);
  }

  putWallet(wallet: Wallet): void {
    assert(this.hasWallet(wallet.accountId), "a wallet that was not read cannot be written");
    assert(wallet.held >= 0n, "a wallet cannot hold less than nothing");
    assert(wallet.leased >= 0n, "a wallet cannot lease out less than nothing");
    assert(availableIn(wallet) >= 0n, "a wallet's available amount cannot be below zero");
    assert(wallet.posted <= BALANCE_MAX, "a wallet cannot have more than the largest balance");
    this.#wallets.set(wallet.accountId, wallet);
  }

  hold(id: string): Hold | undefined {
    return (
      this.#sharedHolds.get(id) ?? this.#resolvedHolds.get(id) ?? this.#newHolds.get(id) ?? this.#state.holds.get(id)
    );
  }

  /** Sets the amounts of the hold of a batch. */
  putShared(hold: Hold): void {
    assert(hold.amount >= 0n, "a hold cannot be negative");
    assert((hold.shared?.lent ?? 0n) >= 0n, "the hold of a batch cannot have lent less than nothing");
    this.#sharedHolds.set(hold.id, hold);
  }

  /** True if the hold is a row of the store, or becomes one with this batch. */
  hasStored(id: string): boolean {
    return this.#newHolds.has(id) || this.#state.holds.has(id);
  }

  addHold(hold: Hold): void {
    assert(hold.amount >= 0n, "a hold cannot be negative");
    this.#newHolds.set(hold.id, hold);
  }

  /** Ends a hold. A hold of the same batch is written once, in its last state, and a hold of a lease never. */
  resolveHold(hold: Hold, state: HoldState): void {
    const { id, accountId, keyId, amount, isLimited, isMetered, owner, budgets } = hold;
    if (hold.shared !== undefined) {
      this.putShared({ ...hold, state });
      return;
    }
    const ended: Hold =
      owner === undefined
        ? { id, accountId, keyId, amount, state, isLimited, isMetered }
        : { id, accountId, keyId, amount, state, isLimited, isMetered, owner };
    this.#resolvedHolds.set(id, budgets === undefined ? ended : { ...ended, budgets });
  }

  keySpend(keyId: string): KeySpend {
    return this.#keySpends.get(keyId) ?? this.#state.keySpends.get(keyId) ?? unspent(keyId);
  }

  putKeySpend(spend: KeySpend): void {
    assert(spend.held >= 0n, "a key cannot hold less than nothing");
    assert(spend.spentBefore <= spend.spent, "a key cannot have spent more before its period than ever");
    this.#keySpends.set(spend.keyId, spend);
  }

  /** `fromMs` is the start of the period, for a counter that is new. */
  counter(id: string, fromMs?: number): BudgetCounter {
    return this.#counters.get(id) ?? this.#state.counters.get(id) ?? newCounter(id, fromMs);
  }

  putCounter(counter: BudgetCounter): void {
    assert(counter.held >= 0n, "a budget cannot hold less than nothing");
    assert(counter.leased >= 0n, "a budget cannot lease out less than nothing");
    assert(counter.spent >= 0n, "a budget cannot have spent less than nothing");
    const { id, spent, held, leased, parts, version } = counter;
    const written = this.#counters.get(id)?.version ?? version + 1;
    this.#counters.set(id, { id, spent, held, leased, parts, version: written });
  }

  /** Leases of budgets that a process has of an account. */
  budgetLeasesOf({ owner, accountId }: Pick<CreditLease, "owner" | "accountId">): readonly BudgetLease[] {
    const all = [...this.#state.budgetLeases.values()].map((lease) => this.budgetLease(lease) ?? lease);
    return all.filter((lease) => lease.owner === owner && lease.accountId === accountId && lease.amount > 0n);
  }

  budgetLease(key: Pick<BudgetLease, "owner" | "counter">): BudgetLease | undefined {
    const name = budgetLeaseKey(key);
    return this.#budgetLeases.get(name) ?? this.#state.budgetLeases.get(name);
  }

  /** Sets the amount of a lease, and moves the difference from or to the counter. */
  putBudgetLease(lease: BudgetLease, fromMs?: number): void {
    assert(lease.amount >= 0n, "a lease cannot be negative");
    const change = lease.amount - (this.budgetLease(lease)?.amount ?? 0n);
    if (change === 0n) return;
    const counter = this.counter(lease.counter, fromMs);
    this.putCounter({ ...counter, leased: counter.leased + change });
    this.noteBudgetLease(lease);
  }

  /** Sets the amount of a lease whose counter has been written. */
  noteBudgetLease(lease: BudgetLease): void {
    this.#budgetLeases.set(budgetLeaseKey(lease), lease);
  }

  lease(key: Pick<CreditLease, "owner" | "accountId">): CreditLease | undefined {
    const name = leaseKey(key);
    return this.#leases.get(name) ?? this.#state.leases.get(name);
  }

  /** Sets the amount of a lease, and moves the difference from or to the wallet. */
  putLease(lease: CreditLease): void {
    assert(lease.amount >= 0n, "a lease cannot be negative");
    const change = lease.amount - (this.lease(lease)?.amount ?? 0n);
    const { accountId, posted, held, leased, epoch, sequence, hash } = this.wallet(lease.accountId);
    this.putWallet({ accountId, posted, held, leased: leased + change, epoch, sequence, hash });
    this.#leases.set(leaseKey(lease), lease);
  }

  /** Recalls all leases: each process notices with its next operation, because its copy of the wallet is out of date. */
  beginEpoch(accountId: string): void {
    const wallet = this.wallet(accountId);
    this.putWallet({ ...wallet, epoch: wallet.epoch + 1 });
  }

  /** The top-up or adjustment that is booked under this id. */
  move(id: string): Transaction | undefined {
    return this.#transactions.get(id) ?? this.#state.moves.get(id);
  }

  /** Appends the transaction to the chain of its wallet and posts its wallet entry. */
  addTransaction(added: NewTransaction, charge: Charge | null = null): Transaction {
    const { id, kind, accountId, entries, holdId, note, actor } = added;
    let sum = 0n;
    for (const { amount } of entries) sum += amount;
    assert(sum === 0n, "entries must sum to zero");
    const wallet = this.wallet(accountId);
    const sequence = wallet.sequence + 1;
    const posted = wallet.posted + amountIn(entries, "wallet");
    const placed = { id, kind, accountId, entries, holdId, note, actor, sequence, balanceAfter: posted, hash: "" };
    const last = transactionHash(placed, charge, wallet.hash);
    placed.hash = last;
    const transaction: Transaction = placed;
    this.#transactions.set(id, transaction);
    if (charge !== null) this.#charges.push(charge);
    const { held, leased, epoch } = wallet;
    this.putWallet({ accountId, posted, held, leased, epoch, sequence, hash: last });
    return transaction;
  }

  addAnswer(answer: StoredAnswer, { id: holdId, owner }: Hold): void {
    this.#answers.push({ ...answer, holdId, owner: owner ?? null });
  }

  /** All rows that the store writes, in one transaction. */
  changes(): LedgerChanges {
    return {
      wallets: [...this.#wallets.values()],
      newHolds: [...this.#newHolds.values()].map((hold) => this.hold(hold.id) ?? hold),
      resolvedHolds: [...this.#resolvedHolds.values()].filter(({ id }) => this.#state.holds.has(id)),
      sharedHolds: [...this.#sharedHolds.values()].filter(({ id }) => this.#state.holds.has(id)),
      keySpends: [...this.#keySpends.values()],
      counters: [...this.#counters.values()],
      budgetLeases: [...this.#budgetLeases.values()],
      leases: [...this.#leases.values()],
      transactions: [...this.#transactions.values()],
      charges: this.#charges,
      answers: this.#answers,
    };
  }
}

/** Hashes a transaction with its charge and the previous hash, so a changed row breaks the chain of the wallet. */
export function transactionHash(
  transaction: Omit<Transaction, "hash">,
  charge: Charge | null,
  previousHash: string,
): string {
  const { id, kind, accountId, sequence, entries, balanceAfter, holdId, note } = transaction;
  const fields: HashedField[] = [previousHash, id, kind, accountId, sequence, String(balanceAfter), holdId, note];
  let moved = 0;
  for (const { amount } of entries) if (amount !== 0n) moved += 1;
  fields.push(moved);
  for (const book of BOOKS) fields.push(String(amountIn(entries, book)));
  if (charge !== null) pushCharge(fields, charge);
  return hash("sha256", JSON.stringify(fields));
}

/** Returns zero if the book has no entry. */
export function amountIn(entries: readonly LedgerEntry[], wantedBook: LedgerBook): bigint {
  for (const { book, amount } of entries) if (book === wantedBook) return amount;
  return 0n;
}

/** Amounts are hashed as text: JSON has no integers of 64 bits. */
type HashedField = string | number | boolean | null;

/** The order is part of every hash and must never change. */
const BOOKS: readonly LedgerBook[] = ["wallet", "clearing", "revenue", "absorbed"];

/** The order is part of every hash and must never change. */
function pushCharge(fields: HashedField[], { keyId, usage, charge, paid, absorbed }: Charge): void {
  const { requestId, model, provider, buckets, isEstimated, price, markupPpm, outcome } = usage;
  fields.push(
    keyId,
    requestId,
    model,
    provider,
    isEstimated,
    outcome,
    buckets.input,
    buckets.cacheRead,
    buckets.cacheWrite,
    buckets.output,
    price.input,
    price.output,
    price.cacheRead,
    price.cacheWrite,
    markupPpm,
    String(charge),
    String(paid),
    String(absorbed),
  );
  // Charges of earlier versions have none, and their hashes must not change.
  for (const { unit, count, rate } of price.lines ?? []) fields.push(unit, count, rate);
}

export function holding({ accountId, posted, leased, epoch, sequence, hash }: Wallet, held: bigint): Wallet {
  return { accountId, posted, held, leased, epoch, sequence, hash };
}

/** Credit that is neither on hold nor leased. */
export function availableIn({ posted, held, leased }: Wallet): bigint {
  return posted - held - leased;
}

function unspent(keyId: string): KeySpend {
  return { keyId, spent: 0n, held: 0n, periodStartMs: 0, spentBefore: 0n };
}

export function assert(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(`ledger invariant: ${message}`);
}
