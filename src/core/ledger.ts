// Types of the ledger. A wallet has posted money, part of it on hold and part of it leased to processes. The rest is
// available and never below zero. Money moves only in transactions whose entries sum to zero.

import type * as Budgets from "./budgets/counter.ts";
import type { NanoUsd, Price, TokenBuckets } from "./money.ts";

export interface Wallet {
  readonly accountId: string;
  readonly posted: NanoUsd;
  readonly held: NanoUsd;
  /** Set aside for processes, which reserve from it in memory. What they do not use comes back. */
  readonly leased: NanoUsd;
  /** Grows when leases are wanted back, and when what a silent process has is ended for it. */
  readonly epoch: number;
  /** Number of transactions of the wallet, and the hash of the last one. Each hash includes the one before. */
  readonly sequence: number;
  readonly hash: string;
}

/** Returns the wallet of an account that never had any money. */
export function emptyWallet(accountId: string): Wallet {
  return { accountId, posted: 0n, held: 0n, leased: 0n, epoch: 0, sequence: 0, hash: "" };
}

/** `expired`: released because the process that took it had died. */
export type HoldState = "open" | "settled" | "voided" | "expired";

export interface Hold {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly amount: NanoUsd;
  readonly state: HoldState;
  /** Says that the key has a spend limit, so that its spending is counted. */
  readonly isLimited: boolean;
  /** Nothing of the wallet is reserved: the charge is covered by an automatic grant. */
  readonly isMetered: boolean;
  readonly budgets?: readonly Budgets.BudgetHold[];
  /** The process that took it, where that may be another than the one that writes it. */
  readonly owner?: string;
  /** Set for the hold of a batch, whose `amount` is what is left for lines that have not begun. */
  readonly shared?: SharedHold;
}

/** A hold that other holds are taken from, and given back to. */
export interface SharedHold {
  /** Amount that open holds of lines have from it. */
  readonly lent: NanoUsd;
  /** True if lines may cost no more than the batch has on hold. Otherwise they may use other credits as well. */
  readonly isCapped: boolean;
}

/** Credits of an account that a process may reserve for requests without asking the store again. */
export interface CreditLease {
  readonly owner: string;
  readonly accountId: string;
  readonly amount: NanoUsd;
}

/** Amounts that a key with a spend limit has spent and has on hold, in total and before the current period. */
export interface KeySpend {
  readonly keyId: string;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  /** 0 when everything counts. */
  readonly periodStartMs: number;
  readonly spentBefore: NanoUsd;
}

export type LedgerBook = "wallet" | "clearing" | "revenue" | "absorbed";

export interface LedgerEntry {
  readonly book: LedgerBook;
  readonly amount: NanoUsd;
}

/** `grant`: covers one charge of a metered account, and is booked with it. */
export const TRANSACTION_KINDS = ["topup", "adjustment", "charge", "grant"] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

export interface Transaction {
  readonly id: string;
  readonly kind: TransactionKind;
  readonly accountId: string;
  readonly sequence: number;
  readonly entries: readonly LedgerEntry[];
  /** Posted money of the wallet afterwards. */
  readonly balanceAfter: NanoUsd;
  readonly holdId: string | null;
  readonly note: string | null;
  /**
   * Person who made the entry: an e-mail, or the access that was used. Null for the gateway, and for entries of older
   * versions.
   */
  readonly actor: string | null;
  readonly hash: string;
}

/** Usage of a request and its price, enough to compute the charge again. */
export interface ChargedUsage {
  readonly requestId: string;
  readonly model: string;
  readonly provider: string;
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
  readonly price: Price;
  readonly markupPpm: number;
  readonly outcome: "complete" | "client-gone";
}

export interface HoldOp {
  readonly kind: "hold";
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** Amounts that would do, best first; the first one that is available is held. */
  readonly amounts: readonly NanoUsd[];
  /** Least to hold when the balance covers no amount; the hold is then all that is available. Null refuses. */
  readonly atLeast: NanoUsd | null;
  readonly spendLimit: NanoUsd | null;
  /** Says that the account is metered, so that no balance refuses the hold. */
  readonly isMetered: boolean;
  /** Start of the limit's period: money spent before it no longer counts. 0: everything counts. */
  readonly periodStartMs: number;
  readonly budgets?: readonly Budgets.BudgetTerm[];
  /** Asks for the refusal `leased` where leases would cover the amount, so that they can be returned first. */
  readonly mayRecall?: boolean;
  /** The process that takes it, where another one writes it. */
  readonly owner?: string;
  /** Says that the holds of lines are taken from this one. */
  readonly shared?: Pick<SharedHold, "isCapped">;
}

export interface SettleOp {
  readonly kind: "settle";
  readonly holdId: string;
  readonly accountId: string;
  readonly charge: NanoUsd;
  readonly usage: ChargedUsage;
  /**
   * Start of the period of the key's limit. The charge counts in this period, even if the hold was taken in the last
   * one.
   */
  readonly periodStartMs: number;
  /** The budgets that the charge counts on, of those that its hold counts on. Absent where there are none. */
  readonly budgets?: readonly Budgets.BudgetWindow[];
  /** The stored answer of an idempotent request, kept in the same transaction as its charge. */
  readonly answer: StoredAnswer | null;
  /** Hold that was reserved in memory; the store learns of it with the charge. Absent where the store has the hold. */
  readonly reserved?: ReservedHold;
}

/** A hold that a process took without the store, from a lease or for a metered account. */
export interface ReservedHold {
  readonly owner: string;
  readonly keyId: string;
  readonly amount: NanoUsd;
  readonly isMetered: boolean;
  readonly budgets?: readonly Budgets.BudgetHold[];
  /** Says that the store cannot have any part of the hold yet. */
  readonly isFresh: boolean;
}

export interface VoidOp {
  readonly kind: "void";
  readonly holdId: string;
  readonly accountId: string;
  readonly isExpiry: boolean;
  /** Key of a hold that may or may not have been taken. With the key, the store refuses a hold that arrives later. */
  readonly keyId?: string;
  /** Ends an expired hold as well, so that no late settlement can charge it. */
  readonly isFinal?: true;
}

/** Money in from outside (positive) or a correction (either sign). The id makes it happen once. */
export interface MoveOp {
  readonly kind: "move";
  readonly id: string;
  readonly transactionKind: "topup" | "adjustment";
  readonly accountId: string;
  readonly amount: NanoUsd;
  readonly note: string | null;
  readonly actor: string | null;
  /** Asks for the refusal `leased` where leases would cover the amount, so that they can be returned first. */
  readonly mayRecall?: boolean;
}

/** Fills the lease of a process up to its share of what is available, unless the share is less than `atLeast`. */
export interface LeaseOp {
  readonly kind: "lease";
  readonly owner: string;
  readonly accountId: string;
  readonly atLeast: NanoUsd;
  /** The wallet's epoch as the process last saw it; null when it never did. Where that is over, the lease is refused. */
  readonly epoch: number | null;
  readonly budgets?: readonly Budgets.WantedLease[];
}

/** Ends a lease. What was reserved from it becomes holds of the store. Saying so twice does no harm. */
export interface ReturnOp {
  readonly kind: "return";
  readonly owner: string;
  readonly accountId: string;
  readonly holds: readonly Pick<Hold, "id" | "keyId" | "amount" | "budgets">[];
  /** Says that the lease ends for a process that is dead, or seems to be. */
  readonly isExpiry: boolean;
}

export type LedgerOp = HoldOp | SettleOp | VoidOp | MoveOp | LeaseOp | ReturnOp;

export interface StoredAnswer {
  readonly idempotencyId: string;
  readonly contentType: string;
  /** In a settlement, what the store of answers made of it: never readable. */
  readonly text: string;
}

export type HoldOutcome =
  | { readonly state: "held"; readonly amount: NanoUsd; readonly spentBudgets?: readonly string[] }
  | { readonly state: "refused"; readonly reason: "budget"; readonly budget: Budgets.BudgetRefusal }
  | {
      readonly state: "refused";
      /** `leased`: less was available than wanted, and leases could make up for it. `max-cost`: that of a batch. */
      readonly reason: "insufficient" | "on-hold" | "spend-limit" | "max-cost" | "leased";
      readonly available: NanoUsd;
    };

export type SettleOutcome =
  | {
      readonly state: "settled";
      readonly paid: NanoUsd;
      readonly absorbed: NanoUsd;
      /** For a hold that was reserved in memory: what is left of the lease, and what is available beside it. */
      readonly lease?: { readonly left: NanoUsd; readonly available: NanoUsd; readonly epoch: number };
      readonly budgetsLeft?: Budgets.CounterAmounts;
    }
  | { readonly state: "already-resolved" };

export type VoidOutcome = { readonly state: "voided" | "already-resolved" };

export type MoveOutcome =
  | { readonly state: "moved" | "already-moved"; readonly transaction: Transaction }
  | {
      readonly state: "refused";
      /** `leased`: less is available than is to be taken, and leases could make up for it. */
      readonly reason: "insufficient" | "other-amount" | "too-large" | "no-account" | "leased";
    };

/** `amount` is the lease afterwards. `recalled`: leases were wanted back since the process last asked. */
export type LeaseOutcome =
  | {
      readonly state: "leased";
      readonly amount: NanoUsd;
      readonly epoch: number;
      readonly budgets?: Budgets.CounterAmounts;
      /** Soft ones of the budgets that a lease was wanted of. */
      readonly spentBudgets?: readonly string[];
    }
  | { readonly state: "refused"; readonly reason: "scarce" | "recalled"; readonly epoch: number };

export type ReturnOutcome = { readonly state: "returned" };

export type LedgerOutcome = HoldOutcome | SettleOutcome | VoidOutcome | MoveOutcome | LeaseOutcome | ReturnOutcome;

/** Everything the operations of one batch refer to, as it stands in the store. */
export interface LedgerState extends Budgets.BudgetState {
  readonly wallets: ReadonlyMap<string, Wallet>;
  readonly holds: ReadonlyMap<string, Hold>;
  readonly keySpends: ReadonlyMap<string, KeySpend>;
  readonly moves: ReadonlyMap<string, Transaction>;
  /** By `leaseKey`. */
  readonly leases: ReadonlyMap<string, CreditLease>;
}

export function leaseKey({ owner, accountId }: Pick<CreditLease, "owner" | "accountId">): string {
  return `${owner} ${accountId}`;
}

export interface Charge {
  readonly holdId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly usage: ChargedUsage;
  readonly charge: NanoUsd;
  readonly paid: NanoUsd;
  readonly absorbed: NanoUsd;
  /** Says that the hold was reserved in memory, so that the store gets only the charge. */
  readonly isReserved: boolean;
}

/** A stored answer and the hold it was made for; with the owner of that where it is written in the same batch. */
export interface HeldAnswer extends StoredAnswer {
  readonly holdId: string;
  readonly owner: string | null;
}

/** Changes of a batch, for the store to write. */
export interface LedgerChanges extends Budgets.BudgetChanges {
  readonly wallets: readonly Wallet[];
  readonly newHolds: readonly Hold[];
  readonly resolvedHolds: readonly Hold[];
  /** Holds of batches with other amounts, which may be resolved as well. They are not in `resolvedHolds`. */
  readonly sharedHolds: readonly Hold[];
  readonly keySpends: readonly KeySpend[];
  readonly leases: readonly CreditLease[];
  readonly transactions: readonly Transaction[];
  readonly charges: readonly Charge[];
  readonly answers: readonly HeldAnswer[];
}

export interface LedgerStore {
  /** Limit of commits that may be under way at once. */
  readonly commitsMax: number;
  /** Reads what the operations refer to under lock, and writes what `post` makes of it, in one transaction. */
  commit(ops: readonly LedgerOp[], post: Posting): Promise<readonly LedgerOutcome[]>;
  balance(accountId: string): Promise<Wallet>;
  /** Returns the epoch of every wallet that this process has a lease of, by account. */
  epochs(): Promise<ReadonlyMap<string, number>>;
  /** Open holds of processes other than this one that have been silent for so long, by the database's clock. */
  orphans(silentMs: number): Promise<readonly Hold[]>;
  /** Leases of such processes. */
  orphanLeases(silentMs: number): Promise<readonly CreditLease[]>;
  /** Says that this process is alive. */
  beat(): Promise<void>;
  /** Forgets other processes that have been silent for so long and hold nothing any more. */
  forgetSilent(silentMs: number): Promise<void>;
  /** Forgets other processes that are certainly gone. Their holds are orphans at once. */
  forgetGone(isGone: (owner: string) => boolean): Promise<void>;
  /** This process ends: it is forgotten, unless it still holds something that others must release. */
  leave(): Promise<void>;
}

export type Posting = (
  state: LedgerState,
  ops: readonly LedgerOp[],
) => { readonly outcomes: readonly LedgerOutcome[]; readonly changes: LedgerChanges };

/** A transaction as it is shown: with its time, and what it was for. */
export interface LedgerLine {
  readonly transaction: Transaction;
  readonly createdAtMs: number;
  readonly requestId: string | null;
  readonly model: string | null;
}

/**
 * Totals of a wallet in one month or day (UTC), signed as in the ledger: the opening balance and the sums make the
 * closing balance.
 */
export interface LedgerPeriod {
  /** `2026-11`, or `2026-11-30` for a day. */
  readonly id: string;
  readonly entries: number;
  readonly opening: NanoUsd;
  readonly topUps: NanoUsd;
  readonly charges: NanoUsd;
  readonly adjustments: NanoUsd;
  /** Automatic grants, which cover the charges of metered accounts. */
  readonly grants: NanoUsd;
  readonly closing: NanoUsd;
}

export interface LedgerList {
  /**
   * Newest first; `after` is the id of the last transaction of the page before, `from` that of the first to show; of one
   * kind and of one month when they are given.
   */
  list(
    accountId: string,
    page: {
      readonly limit: number;
      readonly after: string | null;
      readonly from?: string | null;
      readonly kind?: TransactionKind | null;
      readonly month?: string | null;
    },
  ): Promise<readonly LedgerLine[]>;
  /** Newest first, none left out between the first transaction and the last; `after` is the last month of the page before. */
  months(
    accountId: string,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<readonly LedgerPeriod[]>;
  /** Newest first, as many as asked for. */
  days(accountId: string, limit: number): Promise<readonly LedgerPeriod[]>;
}
