// What an audit of the ledger reads. Rows of transactions never change, so a wallet can be checked while it is in use.

import type { Charge, Transaction, Wallet } from "./ledger.ts";

/** A transaction with what it was charged for, where it was a charge. */
export interface AuditedTransaction {
  readonly transaction: Transaction;
  readonly charge: Charge | null;
  readonly holdState: string | null;
}

export interface WalletCheck {
  readonly wallet: Wallet;
  /** The sum of its open holds, read in the same statement as the wallet. */
  readonly openHolds: bigint;
  readonly openHoldCount: number;
}

export interface LedgerAudit {
  wallets(): Promise<readonly WalletCheck[]>;
  /** In order, from the one after `afterSequence` up to and including `upToSequence`. */
  transactions(accountId: string, afterSequence: number, upToSequence: number): Promise<readonly AuditedTransaction[]>;
  /** Rows that refer to nothing, or that nothing refers to; each as a sentence. */
  strays(): Promise<readonly string[]>;
}

export interface LedgerVerdict {
  readonly ok: boolean;
  readonly accounts: number;
  readonly transactions: number;
  readonly openHolds: number;
  /** The first rows that do not fit, each as a sentence. */
  readonly problems: readonly string[];
}
