// The ledger without a database: a store in memory that applies what `post` decides, the audit of it, and operations in
// their shortest form.

import { post } from "../../../src/billing/post.ts";
import { verifyLedger } from "../../../src/billing/verify.ts";
import type { AuditedTransaction, LedgerAudit } from "../../../src/core/audit/ledger.ts";
import { type BudgetCounter, type BudgetLease, budgetLeaseKey } from "../../../src/core/budgets/counter.ts";
import type {
  Charge,
  ChargedUsage,
  CreditLease,
  Hold,
  HoldOp,
  KeySpend,
  LedgerOp,
  LedgerOutcome,
  LedgerStore,
  MoveOp,
  SettleOp,
  StoredAnswer,
  Transaction,
  VoidOp,
  Wallet,
} from "../../../src/core/ledger.ts";
import { leaseKey } from "../../../src/core/ledger.ts";
import { costNano } from "../../../src/core/money.ts";

const PRICE = { input: 1_000, output: 2_000, cacheRead: 100, cacheWrite: 1_250 };

/** With the price above, a thousand pico-USD a token, this many nano-USD are this many tokens. */
export function usageOf(nano: number, requestId = "request"): ChargedUsage {
  return {
    requestId,
    model: "model",
    provider: "provider",
    buckets: { input: nano, cacheRead: 0, cacheWrite: 0, output: 0 },
    isEstimated: false,
    price: PRICE,
    markupPpm: 0,
    outcome: "complete",
  };
}

export function topUp(id: string, amount: bigint, accountId = "a"): MoveOp {
  return { kind: "move", id, transactionKind: "topup", accountId, amount, note: null, actor: null };
}

export function hold(id: string, amount: bigint, changes: Partial<HoldOp> = {}): HoldOp {
  return {
    kind: "hold",
    id,
    accountId: "a",
    keyId: "key",
    amounts: [amount],
    atLeast: null,
    spendLimit: null,
    isMetered: false,
    periodStartMs: 0,
    ...changes,
  };
}

export function settle(holdId: string, nano: number, changes: Partial<SettleOp> = {}): SettleOp {
  const usage = usageOf(nano, holdId);
  const charge = costNano(usage.buckets, usage.price, usage.markupPpm);
  return { kind: "settle", holdId, accountId: "a", charge, usage, periodStartMs: 0, answer: null, ...changes };
}

export function release(holdId: string, changes: Partial<VoidOp> = {}): VoidOp {
  return { kind: "void", holdId, accountId: "a", isExpiry: false, ...changes };
}

export interface MemoryLedger extends LedgerStore {
  readonly wallets: Map<string, Wallet>;
  readonly holds: Map<string, Hold>;
  readonly keySpends: Map<string, KeySpend>;
  readonly counters: Map<string, BudgetCounter>;
  readonly budgetLeases: Map<string, BudgetLease>;
  readonly leases: Map<string, CreditLease>;
  readonly transactions: Map<string, Transaction>;
  readonly charges: Map<string, Charge>;
  readonly answers: StoredAnswer[];
  readonly owners: Map<string, string>;
  /** The same data as another process sees it. */
  as(owner: string): LedgerStore;
}

/** `hold owners` are known, so that a process can find the holds of the others. */
export function createMemoryLedger(accountIds: readonly string[] = ["a", "b"]): MemoryLedger {
  const wallets = new Map<string, Wallet>();
  const holds = new Map<string, Hold>();
  const keySpends = new Map<string, KeySpend>();
  const counters = new Map<string, BudgetCounter>();
  const budgetLeases = new Map<string, BudgetLease>();
  const leases = new Map<string, CreditLease>();
  const transactions = new Map<string, Transaction>();
  const charges = new Map<string, Charge>();
  const answers: StoredAnswer[] = [];
  const owners = new Map<string, string>();
  const as = (owner: string): LedgerStore => ({
    commitsMax: 1,
    async commit(ops, posting) {
      for (const op of ops) {
        const isReserved =
          (op.kind === "settle" && op.reserved !== undefined) || (op.kind === "return" && op.holds.length > 0);
        const isFirst = op.kind === "move" || isReserved || (op.kind === "hold" && op.isMetered);
        if (isFirst && accountIds.includes(op.accountId) && !wallets.has(op.accountId))
          wallets.set(op.accountId, emptyWallet(op.accountId));
      }
      const charged = [...charges.values()].filter(({ isReserved }) => isReserved).map(toSettledHold);
      const known = new Map([...holds, ...charged.map((one) => [one.id, one] as const)]);
      const state = { wallets, holds: known, keySpends, counters, budgetLeases, leases, moves: transactions };
      const { outcomes, changes } = posting(state, ops);
      for (const wallet of changes.wallets) wallets.set(wallet.accountId, wallet);
      for (const one of changes.newHolds) {
        if (holds.has(one.id)) throw new Error(`hold ${one.id} exists`);
        holds.set(one.id, one);
        owners.set(one.id, one.owner ?? owner);
      }
      for (const one of [...changes.resolvedHolds, ...changes.sharedHolds]) holds.set(one.id, one);
      for (const spend of changes.keySpends) keySpends.set(spend.keyId, spend);
      for (const counter of changes.counters) counters.set(counter.id, counter);
      for (const lease of changes.budgetLeases) budgetLeases.set(budgetLeaseKey(lease), lease);
      for (const lease of changes.leases) leases.set(leaseKey(lease), lease);
      for (const transaction of changes.transactions) transactions.set(transaction.id, transaction);
      for (const charge of changes.charges) charges.set(charge.holdId, charge);
      answers.push(...changes.answers);
      return outcomes;
    },
    balance: async (accountId) => wallets.get(accountId) ?? emptyWallet(accountId),
    epochs: async () => {
      const own = [...leases.values()].filter((one) => one.amount > 0n && one.owner === owner);
      return new Map(own.map(({ accountId }) => [accountId, wallets.get(accountId)?.epoch ?? 0]));
    },
    // Nobody here is forgotten while they hold something, so nothing belongs to nobody.
    orphans: async (silentMs) =>
      [...holds.values()].filter(
        ({ id, state }) => state === "open" && owners.get(id) !== owner && silentMs < 1_000_000_000,
      ),
    orphanLeases: async (silentMs) =>
      [...leases.values()].filter((one) => one.amount > 0n && one.owner !== owner && silentMs < 1_000_000_000),
    beat: async () => undefined,
    forgetSilent: async () => undefined,
    forgetGone: async () => undefined,
    leave: async () => undefined,
  });
  return {
    wallets,
    holds,
    keySpends,
    counters,
    budgetLeases,
    leases,
    transactions,
    charges,
    answers,
    owners,
    as,
    ...as("me"),
  };
}

function toSettledHold({ holdId: id, accountId, keyId }: Charge): Hold {
  return { id, accountId, keyId, amount: 0n, state: "settled", isLimited: false, isMetered: false };
}

function emptyWallet(accountId: string): Wallet {
  return { accountId, posted: 0n, held: 0n, leased: 0n, epoch: 0, sequence: 0, hash: "" };
}

/** What an auditor finds, and what only this store can tell. */
export async function problemsOf(ledger: MemoryLedger): Promise<readonly string[]> {
  const { problems } = await verifyLedger(auditOf(ledger));
  const wrong = [...ledger.charges.values()].filter(
    ({ holdId, isReserved }) => (ledger.holds.get(holdId)?.state ?? null) !== (isReserved ? null : "settled"),
  );
  return [...problems, ...wrong.map(({ holdId }) => `charge of ${holdId}, which is not settled`)];
}

function auditOf(ledger: MemoryLedger): LedgerAudit {
  const all = [...ledger.transactions.values()].sort((a, b) => a.sequence - b.sequence);
  return {
    wallets: async () =>
      [...ledger.wallets.values()].map((wallet) => {
        const open = [...ledger.holds.values()].filter(
          ({ accountId, state }) => accountId === wallet.accountId && state === "open",
        );
        const openHolds = open.reduce((sum, { amount, isMetered }) => sum + (isMetered ? 0n : amount), 0n);
        const leases = [...ledger.leases.values()].filter(({ accountId }) => accountId === wallet.accountId);
        const leased = leases.reduce((sum, { amount }) => sum + amount, 0n);
        return { wallet, openHolds, openHoldCount: open.length, leases: leased };
      }),
    transactions: async (accountId, after, upTo) =>
      all
        .filter((one) => one.accountId === accountId && one.sequence > after && one.sequence <= upTo)
        .map(
          (transaction): AuditedTransaction => ({
            transaction,
            charge: ledger.charges.get(transaction.holdId ?? "") ?? null,
            holdState: ledger.holds.get(transaction.holdId ?? "")?.state ?? null,
          }),
        ),
    strays: async () => [
      ...[...ledger.counters.values()].flatMap(({ id, held }) => {
        const open = [...ledger.holds.values()].filter(({ state }) => state === "open");
        const own = open.flatMap(({ budgets = [] }) => budgets.filter(({ counter }) => counter === id));
        const sum = own.reduce((total, { amount }) => total + amount, 0n);
        return sum === held ? [] : [`counter ${id} says ${held} on hold`];
      }),
      ...[...ledger.keySpends.values()].flatMap(({ keyId, spent, held }) => {
        const own = [...ledger.holds.values()].filter((one) => one.keyId === keyId && one.isLimited);
        const openAmount = own.reduce((sum, { state, amount }) => sum + (state === "open" ? amount : 0n), 0n);
        const paid = own.reduce((sum, { id }) => sum + (ledger.charges.get(id)?.paid ?? 0n), 0n);
        return openAmount === held && paid === spent ? [] : [`key ${keyId} says ${spent} and ${held}`];
      }),
    ],
  };
}

/** Each operation in a commit of its own; what throws has the outcome null and changed nothing. */
export async function runEach(
  store: LedgerStore,
  ops: readonly LedgerOp[],
): Promise<readonly (LedgerOutcome | null)[]> {
  const outcomes: (LedgerOutcome | null)[] = [];
  for (const op of ops) {
    const outcome = await store.commit([op], post).then(
      ([one]) => one ?? null,
      () => null,
    );
    outcomes.push(outcome);
  }
  return outcomes;
}
