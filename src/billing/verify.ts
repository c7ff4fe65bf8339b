// The audit: computes every wallet again from its transactions, and every charge from its tokens and prices. Names the
// first wrong rows. Locks nothing.

import type { AuditedTransaction, LedgerAudit, LedgerVerdict, WalletCheck } from "../core/audit/ledger.ts";
import type { Charge, Wallet } from "../core/ledger.ts";
import { costNano, type NanoUsd } from "../core/money.ts";
import { amountIn, availableIn, transactionHash } from "./draft.ts";

type VerifyLog = () => Promise<{ readonly entries: number; readonly problems: readonly string[] }>;
const NO_LOG: VerifyLog = async () => ({ entries: 0, problems: [] });

/** Findings that are named, so that a broken ledger does not fill the log. */
const PROBLEMS_MAX = 50;

/** `verifyLog` checks the audit log. */
export async function verifyLedger(audit: LedgerAudit, verifyLog: VerifyLog = NO_LOG): Promise<LedgerVerdict> {
  const { entries: auditEntries, problems: broken } = await verifyLog();
  const problems: string[] = [...broken];
  const checks = await audit.wallets();
  let transactions = 0;
  for (const check of checks) {
    transactions += check.wallet.sequence;
    problems.push(...walletProblems(check), ...(await chainProblems(check.wallet, audit)));
    if (problems.length >= PROBLEMS_MAX) break;
  }
  problems.push(...(await audit.strays()));
  return {
    ok: problems.length === 0,
    accounts: checks.length,
    transactions,
    auditEntries,
    openHolds: checks.reduce((sum, { openHoldCount }) => sum + openHoldCount, 0),
    problems: problems.slice(0, PROBLEMS_MAX),
  };
}

/** Compares a wallet's held and leased amounts with the sums of its open holds and leases. */
function walletProblems({ wallet, openHolds, leases }: WalletCheck): readonly string[] {
  const problems: string[] = [];
  if (wallet.held !== openHolds) {
    problems.push(`wallet ${wallet.accountId} says ${wallet.held} on hold, its open holds are ${openHolds}`);
  }
  if (wallet.leased !== leases) {
    problems.push(`wallet ${wallet.accountId} says ${wallet.leased} leased, its leases are ${leases}`);
  }
  if (availableIn(wallet) < 0n) problems.push(`wallet ${wallet.accountId} is below zero`);
  return problems;
}

/** Walks the chain of a wallet. Stops at the first wrong link, because all links after it are wrong too. */
async function chainProblems(wallet: Wallet, audit: LedgerAudit): Promise<readonly string[]> {
  let previous = { sequence: 0, hash: "", balance: 0n };
  while (previous.sequence < wallet.sequence) {
    const page = await audit.transactions(wallet.accountId, previous.sequence, wallet.sequence);
    if (page.length === 0) return [`wallet ${wallet.accountId} has no transaction number ${previous.sequence + 1}`];
    for (const audited of page) {
      const problem = chargeProblem(audited) ?? linkProblem(audited, previous);
      if (problem !== null) return [`transaction ${audited.transaction.id}: ${problem}`];
      const { sequence, hash, balanceAfter } = audited.transaction;
      previous = { sequence, hash, balance: balanceAfter };
    }
    // Requests go on between two pages of a long wallet.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (wallet.posted !== previous.balance) {
    return [`wallet ${wallet.accountId} says ${wallet.posted}, its transactions come to ${previous.balance}`];
  }
  return wallet.hash === previous.hash ? [] : [`wallet ${wallet.accountId} has another hash than its last transaction`];
}

/** Fields of the previous transaction that the next one depends on. */
interface Link {
  readonly sequence: number;
  readonly hash: string;
  readonly balance: bigint;
}

function linkProblem({ transaction, charge }: AuditedTransaction, previous: Link): string | null {
  const { sequence, entries, balanceAfter, hash } = transaction;
  if (sequence !== previous.sequence + 1) return `number ${previous.sequence + 1} is missing before it`;
  if (entries.reduce((sum, { amount }) => sum + amount, 0n) !== 0n) return "its entries do not sum to zero";
  if (balanceAfter !== previous.balance + amountIn(entries, "wallet"))
    return "its balance does not follow from the one before";
  return transactionHash(transaction, charge, previous.hash) === hash ? null : "it was changed after it was booked";
}

/** Checks that a charge follows from its tokens and prices, and the entries from the charge. */
function chargeProblem({ transaction, charge, holdState }: AuditedTransaction): string | null {
  if (transaction.kind !== "charge") return null;
  if (charge === null) return "its charge is missing or cannot be read";
  if (holdState !== (charge.isReserved ? null : "settled")) return `its hold is ${holdState ?? "missing"}`;
  if (recompute(charge) !== charge.charge) return "its charge is not tokens times price";
  if (charge.paid + charge.absorbed !== charge.charge) return "paid and absorbed do not make up its charge";
  return amountIn(transaction.entries, "wallet") === -charge.paid ? null : "its entries do not match its charge";
}

/** Computes the charge again. Returns null if tokens or prices are not whole numbers. */
function recompute({ usage }: Charge): NanoUsd | null {
  try {
    return costNano(usage.buckets, usage.price, usage.markupPpm);
  } catch {
    return null;
  }
}
