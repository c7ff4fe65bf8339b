// Remembers the ledger's rows in this process, so that most batches need no read.

import { isOfBatch } from "../../core/batches/holds.ts";
import { type BudgetCounter, type BudgetLease, budgetLeaseKey } from "../../core/budgets/counter.ts";
import {
  type CreditLease,
  type Hold,
  type KeySpend,
  type LedgerChanges,
  type LedgerOp,
  type LedgerState,
  leaseKey,
  type ReservedHold,
  type Transaction,
  type Wallet,
} from "../../core/ledger.ts";

/** Batches that read first after another process changed a wallet, because more changes are likely. */
const READS_AFTER_CONFLICT = 100;
/** Wallets, key spends and counters together. Beyond this, the memory is emptied. */
const REMEMBERED_MAX = 10_000;

/**
 * Keeps the wallets, open holds and key spends that this process last wrote. Every write names the remembered wallet. If
 * another process changed that wallet, the store rejects the batch, and it is read again.
 */
export class LedgerMemory {
  readonly #wallets = new Map<string, Wallet>();
  /** Open holds of this process, one for each running request. */
  readonly #holds = new Map<string, Hold>();
  readonly #keySpends = new Map<string, KeySpend>();
  readonly #counters = new Map<string, BudgetCounter>();
  readonly #budgetLeases = new Map<string, BudgetLease>();
  /** Leases of this process, and leases of others that it has ended. */
  readonly #leases = new Map<string, CreditLease>();
  readonly #readsAfterConflict: number;
  #readsLeft = 0;

  constructor(readsAfterConflict = READS_AFTER_CONFLICT) {
    this.#readsAfterConflict = readsAfterConflict;
  }

  /** Returns the state that these operations refer to; null if a part is not remembered. */
  recall(ops: readonly LedgerOp[]): LedgerState | null {
    if (this.#readsLeft > 0) {
      this.#readsLeft -= 1;
      return null;
    }
    if (!ops.every((op) => this.#knows(op))) return null;
    return {
      wallets: this.#wallets,
      holds: this.#holds,
      keySpends: this.#keySpends,
      counters: this.#counters,
      budgetLeases: this.#budgetLeases,
      leases: this.#leases,
      moves: NO_MOVES,
    };
  }

  /** Learns the state of a batch and its committed changes. */
  learn(
    state: LedgerState,
    { wallets, newHolds, resolvedHolds, keySpends, counters, budgetLeases, leases }: LedgerChanges,
  ): void {
    if (this.#wallets.size + this.#keySpends.size + this.#counters.size > REMEMBERED_MAX) this.forget();
    if (state.wallets !== this.#wallets) {
      // Another process has written, so other remembered rows of the account may be out of date too.
      if ([...state.wallets.values()].some((wallet) => this.#isNews(wallet))) this.forget();
      copy(state.wallets, this.#wallets);
    }
    if (state.keySpends !== this.#keySpends) copy(state.keySpends, this.#keySpends);
    if (state.counters !== this.#counters) copy(state.counters, this.#counters);
    if (state.budgetLeases !== this.#budgetLeases) copy(state.budgetLeases, this.#budgetLeases);
    if (state.leases !== this.#leases) copy(state.leases, this.#leases);
    for (const wallet of wallets) this.#wallets.set(wallet.accountId, wallet);
    for (const hold of newHolds) if (hold.state === "open" && !isOfBatch(hold.id)) this.#holds.set(hold.id, hold);
    for (const { id } of resolvedHolds) this.#holds.delete(id);
    for (const spend of keySpends) this.#keySpends.set(spend.keyId, spend);
    for (const counter of counters) this.#counters.set(counter.id, counter);
    for (const lease of budgetLeases) this.#budgetLeases.set(budgetLeaseKey(lease), lease);
    for (const lease of leases) this.#leases.set(leaseKey(lease), lease);
  }

  forget(): void {
    this.#wallets.clear();
    this.#holds.clear();
    this.#keySpends.clear();
    this.#counters.clear();
    this.#budgetLeases.clear();
    this.#leases.clear();
  }

  /** Reads first for a while, because another process writes to the same wallets. */
  readFirst(): void {
    this.forget();
    this.#readsLeft = this.#readsAfterConflict;
  }

  #isNews(wallet: Wallet): boolean {
    const known = this.#wallets.get(wallet.accountId);
    return known !== undefined && WALLET_FIELDS.some((field) => known[field] !== wallet[field]);
  }

  #knows(op: LedgerOp): boolean {
    // A lease or its end may write nothing, so the store would not notice that the memory is out of date.
    if (op.kind === "move" || op.kind === "lease" || op.kind === "return") return false;
    // The wallet does not show that another line of the batch has begun.
    if (isOfBatch("id" in op ? op.id : op.holdId)) return false;
    if (!this.#wallets.has(op.accountId)) return false;
    if (op.kind === "hold") return (op.spendLimit === null || this.#knowsSpend(op)) && this.#knowsCounters(op);
    const hold = this.#holds.get(op.holdId);
    if (hold !== undefined) return (!hold.isLimited || this.#knowsSpend(hold)) && this.#knowsCounters(hold);
    return op.kind === "settle" && op.reserved !== undefined && this.#knowsReserved(op, op.reserved);
  }

  /** False for a repeated operation: only the store knows whether the first attempt was committed. */
  #knowsReserved({ accountId }: LedgerOp, { owner, isMetered, isFresh, budgets = [] }: ReservedHold): boolean {
    if (!isFresh || !(isMetered || this.#leases.has(leaseKey({ owner, accountId })))) return false;
    // A soft budget that is spent is reserved from without a lease.
    return budgets.every(
      ({ counter, amount }) =>
        this.#counters.has(counter) && (amount === 0n || this.#budgetLeases.has(budgetLeaseKey({ owner, counter }))),
    );
  }

  /** False for metered holds, as with key spends. */
  #knowsCounters({
    budgets,
    isMetered,
  }: Pick<Hold, "isMetered"> & { readonly budgets?: readonly { readonly counter: string }[] }): boolean {
    return budgets === undefined || (!isMetered && budgets.every(({ counter }) => this.#counters.has(counter)));
  }

  /** False for metered holds: their wallet does not show that another process counted on the same key. */
  #knowsSpend({ keyId, isMetered }: Pick<Hold, "keyId" | "isMetered">): boolean {
    return !isMetered && this.#keySpends.has(keyId);
  }
}

const WALLET_FIELDS = ["posted", "held", "leased", "epoch", "sequence", "hash"] as const;

/** No moves: each happens once, so its id must be looked up. */
const NO_MOVES: ReadonlyMap<string, Transaction> = new Map();

function copy<Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>): void {
  for (const [name, value] of from) to.set(name, value);
}
