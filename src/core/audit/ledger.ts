// Rows that an audit of the ledger reads, and its findings.

import type { Charge, Transaction, Wallet } from "../ledger.ts";

/** A transaction as the audit reads it. Transactions never change, so a wallet in use can be checked. */
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
  /** The sum of its leases. */
  readonly leases: bigint;
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
  readonly auditEntries: number;
  /** The first rows that do not fit, each as a sentence. */
  readonly problems: readonly string[];
}
