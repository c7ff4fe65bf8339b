// Remembers the ledger's rows in this process, so that most batches need not read them first.

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

/** After another process changed a wallet more changes are likely: for so many batches it is cheaper to read first. */
const READS_AFTER_CONFLICT = 100;
/** Wallets and key spends together; beyond it the memory starts from nothing. */
const REMEMBERED_MAX = 10_000;

/**
 * Keeps the wallets, open holds and key spends that this process last wrote, so that a batch need not read them. Every
 * write names the wallet as it is remembered. If another process has changed it, the batch is rejected and read again.
 */
export class LedgerMemory {
  readonly #wallets = new Map<string, Wallet>();
  /** Open ones, taken by this process: as many as there are requests under way. */
  readonly #holds = new Map<string, Hold>();
  readonly #keySpends = new Map<string, KeySpend>();
  /** Leases of this process, and of others that it has ended. */
  readonly #leases = new Map<string, CreditLease>();
  readonly #readsAfterConflict: number;
  #readsLeft = 0;

  constructor(readsAfterConflict = READS_AFTER_CONFLICT) {
    this.#readsAfterConflict = readsAfterConflict;
  }

  /** Recalls the state that these operations refer to; null if a part is not remembered. */
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
      leases: this.#leases,
      moves: NO_MOVES,
    };
  }

  /** Learns a state that was read and its committed changes. */
  learn(state: LedgerState, { wallets, newHolds, resolvedHolds, keySpends, leases }: LedgerChanges): void {
    if (this.#wallets.size + this.#keySpends.size > REMEMBERED_MAX) this.forget();
    if (state.wallets !== this.#wallets) {
      // Another process has written, so the rest that is remembered of the account may be out of date too.
      if ([...state.wallets.values()].some((wallet) => this.#isNews(wallet))) this.forget();
      copy(state.wallets, this.#wallets);
    }
    if (state.keySpends !== this.#keySpends) copy(state.keySpends, this.#keySpends);
    if (state.leases !== this.#leases) copy(state.leases, this.#leases);
    for (const wallet of wallets) this.#wallets.set(wallet.accountId, wallet);
    for (const hold of newHolds) if (hold.state === "open") this.#holds.set(hold.id, hold);
    for (const { id } of resolvedHolds) this.#holds.delete(id);
    for (const spend of keySpends) this.#keySpends.set(spend.keyId, spend);
    for (const lease of leases) this.#leases.set(leaseKey(lease), lease);
  }

  forget(): void {
    this.#wallets.clear();
    this.#holds.clear();
    this.#keySpends.clear();
    this.#leases.clear();
  }

  /** Another process writes to the same wallets. */
  readFirst(): void {
    this.forget();
    this.#readsLeft = this.#readsAfterConflict;
  }

  #isNews(wallet: Wallet): boolean {
    const known = this.#wallets.get(wallet.accountId);
    return known !== undefined && WALLET_FIELDS.some((field) => known[field] !== wallet[field]);
  }

  #knows(op: LedgerOp): boolean {
    // A lease or its end may write nothing, so nothing would show that the memory is out of date.
    if (op.kind === "move" || op.kind === "lease" || op.kind === "return") return false;
    if (!this.#wallets.has(op.accountId)) return false;
    if (op.kind === "hold") return op.spendLimit === null || this.#knowsSpend(op);
    const hold = this.#holds.get(op.holdId);
    if (hold !== undefined) return !hold.isLimited || this.#knowsSpend(hold);
    return op.kind === "settle" && op.reserved !== undefined && this.#knowsReserved(op, op.reserved);
  }

  /** An operation that was tried before may be in the store, and only the store knows. */
  #knowsReserved({ accountId }: LedgerOp, { owner, isMetered, isFresh }: ReservedHold): boolean {
    return isFresh && (isMetered || this.#leases.has(leaseKey({ owner, accountId })));
  }

  /** Metered holds leave the wallet alone, so the wallet would not tell that another process counted on the same key. */
  #knowsSpend({ keyId, isMetered }: Pick<Hold, "keyId" | "isMetered">): boolean {
    return !isMetered && this.#keySpends.has(keyId);
  }
}

const WALLET_FIELDS = ["posted", "held", "leased", "epoch", "sequence", "hash"] as const;

/** Moves are never remembered: each happens once, and its id must be looked up. */
const NO_MOVES: ReadonlyMap<string, Transaction> = new Map();

function copy<Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>): void {
  for (const [name, value] of from) to.set(name, value);
}
