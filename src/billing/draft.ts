// The state of a batch while it is being posted: what was read, overlaid with what has changed so far.

import { createHash } from "node:crypto";
import type {
  Charge,
  Hold,
  HoldState,
  KeySpend,
  LedgerChanges,
  LedgerState,
  StoredAnswer,
  Transaction,
  Wallet,
} from "../core/ledger.ts";

type NewTransaction = Omit<Transaction, "sequence" | "balanceAfter" | "hash">;

export class Draft {
  readonly #state: LedgerState;
  readonly #wallets = new Map<string, Wallet>();
  readonly #newHolds = new Map<string, Hold>();
  readonly #resolvedHolds = new Map<string, Hold>();
  readonly #keySpends = new Map<string, KeySpend>();
  readonly #transactions = new Map<string, Transaction>();
  readonly #charges: Charge[] = [];
  readonly #answers: StoredAnswer[] = [];

  constructor(state: LedgerState) {
    this.#state = state;
  }

  wallet(accountId: string): Wallet {
    const empty = { accountId, posted: 0n, held: 0n, sequence: 0, hash: "" };
    return this.#wallets.get(accountId) ?? this.#state.wallets.get(accountId) ?? empty;
  }

  putWallet(wallet: Wallet): void {
    assert(wallet.held >= 0n, "a wallet cannot hold less than nothing");
    assert(wallet.posted - wallet.held >= 0n, "a wallet's available amount cannot be below zero");
    this.#wallets.set(wallet.accountId, wallet);
  }

  hold(id: string): Hold | undefined {
    return this.#resolvedHolds.get(id) ?? this.#newHolds.get(id) ?? this.#state.holds.get(id);
  }

  addHold(hold: Hold): void {
    assert(hold.amount >= 0n, "a hold cannot be negative");
    this.#newHolds.set(hold.id, hold);
  }

  resolveHold(hold: Hold, state: HoldState): void {
    this.#resolvedHolds.set(hold.id, { ...hold, state });
  }

  keySpend(keyId: string): KeySpend {
    return this.#keySpends.get(keyId) ?? this.#state.keySpends.get(keyId) ?? { keyId, spent: 0n, held: 0n };
  }

  putKeySpend(spend: KeySpend): void {
    assert(spend.held >= 0n, "a key cannot hold less than nothing");
    this.#keySpends.set(spend.keyId, spend);
  }

  move(id: string): Transaction | undefined {
    return this.#transactions.get(id) ?? this.#state.moves.get(id);
  }

  /** Puts the transaction at the end of its wallet's chain and posts its wallet entry. */
  addTransaction(wanted: NewTransaction): Transaction {
    assert(wanted.entries.reduce((sum, { amount }) => sum + amount, 0n) === 0n, "entries must sum to zero");
    const wallet = this.wallet(wanted.accountId);
    const change = wanted.entries.find(({ book }) => book === "wallet")?.amount ?? 0n;
    const placed = { ...wanted, sequence: wallet.sequence + 1, balanceAfter: wallet.posted + change };
    const transaction = { ...placed, hash: transactionHash(placed, wallet.hash) };
    this.#transactions.set(transaction.id, transaction);
    const { sequence, balanceAfter: posted, hash } = transaction;
    this.putWallet({ ...wallet, posted, sequence, hash });
    return transaction;
  }

  addCharge(charge: Charge): void {
    this.#charges.push(charge);
  }

  addAnswer(answer: StoredAnswer): void {
    this.#answers.push(answer);
  }

  changes(): LedgerChanges {
    const isNew = (id: string): boolean => this.#newHolds.has(id);
    return {
      wallets: [...this.#wallets.values()],
      newHolds: [...this.#newHolds.values()].map((hold) => this.#resolvedHolds.get(hold.id) ?? hold),
      resolvedHolds: [...this.#resolvedHolds.values()].filter(({ id }) => !isNew(id)),
      keySpends: [...this.#keySpends.values()],
      transactions: [...this.#transactions.values()],
      charges: this.#charges,
      answers: this.#answers,
    };
  }
}

/** Each transaction's hash includes the one before it, so a changed row breaks the chain of its wallet. */
export function transactionHash(transaction: Omit<Transaction, "hash">, previousHash: string): string {
  const { id, kind, accountId, sequence, entries, balanceAfter, holdId, note } = transaction;
  const amounts = entries
    .filter(({ amount }) => amount !== 0n)
    .map(({ book, amount }) => `${book}=${amount}`)
    .sort();
  const text = JSON.stringify([
    previousHash,
    id,
    kind,
    accountId,
    sequence,
    amounts,
    String(balanceAfter),
    holdId,
    note,
  ]);
  return createHash("sha256").update(text).digest("hex");
}

function assert(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(`ledger invariant: ${message}`);
}
