// The ledger as a pure function: state and operations in, outcomes and changes out. Everything that can go wrong with
// money is decided here; the store only reads and writes what it is told. It asserts its invariants as it goes.

import type {
  Charge,
  Hold,
  HoldOp,
  HoldOutcome,
  KeySpend,
  LedgerChanges,
  LedgerOp,
  LedgerOutcome,
  LedgerState,
  MoveOp,
  MoveOutcome,
  SettleOp,
  SettleOutcome,
  VoidOp,
  VoidOutcome,
  Wallet,
} from "../core/ledger.ts";
import { assert, BALANCE_MAX, Draft } from "./draft.ts";

/** Applies the operations in order. An outcome says what happened to each; the changes are what the store must write. */
export function post(
  state: LedgerState,
  ops: readonly LedgerOp[],
): { outcomes: readonly LedgerOutcome[]; changes: LedgerChanges } {
  const draft = new Draft(state);
  const outcomes = ops.map((op) => apply(draft, op));
  return { outcomes, changes: draft.changes() };
}

function apply(draft: Draft, op: LedgerOp): LedgerOutcome {
  switch (op.kind) {
    case "hold":
      return hold(draft, op);
    case "settle":
      return settle(draft, op);
    case "void":
      return release(draft, op);
    case "move":
      return move(draft, op);
  }
}

/** The same hold asked for again is the same hold: a commit whose outcome was lost may be repeated. */
function hold(draft: Draft, op: HoldOp): HoldOutcome {
  const known = draft.hold(op.id);
  if (known !== undefined) {
    // Two requests on one hold would be one response for nothing.
    assert(known.state === "open" && known.accountId === op.accountId, "a hold's id cannot be used again");
    return { state: "held", amount: known.amount };
  }
  const wallet = draft.wallet(op.accountId);
  const available = wallet.posted - wallet.held;
  const spend = inPeriod(draft.keySpend(op.keyId), op.periodStartMs);
  const spendable = op.spendLimit === null ? null : op.spendLimit - (spend.spent - spend.spentBefore) - spend.held;
  const isMetered = op.isMetered && draft.hasWallet(op.accountId);
  const amount = isMetered ? meteredAmount(op, spendable) : grantable(op, lower(available, spendable));
  if (amount === null) return refuse(op, { wallet, available, spendable });
  if (!op.isMetered) draft.putWallet(holding(wallet, wallet.held + amount));
  draft.addHold({
    id: op.id,
    accountId: op.accountId,
    keyId: op.keyId,
    amount,
    state: "open",
    isLimited: op.spendLimit !== null,
    isMetered: op.isMetered,
  });
  if (op.spendLimit !== null) draft.putKeySpend({ ...spend, held: spend.held + amount });
  return { state: "held", amount };
}

function holding({ accountId, posted, sequence, hash }: Wallet, held: bigint): Wallet {
  return { accountId, posted, held, sequence, hash };
}

/**
 * A period begins with the first operation that knows of it, and none begins twice: a process whose clock is behind goes on
 * in the one under way, and so does a settlement kept by the version before, which names none. What is on hold is carried over, so that charges within one period never exceed the limit.
 */
function inPeriod(spend: KeySpend, periodStartMs: number): KeySpend {
  return periodStartMs > spend.periodStartMs ? { ...spend, periodStartMs, spentBefore: spend.spent } : spend;
}

function lower(available: bigint, spendable: bigint | null): bigint {
  return spendable !== null && spendable < available ? spendable : available;
}

/** The balance does not count, but the key's own limit still does. */
function meteredAmount(op: HoldOp, spendable: bigint | null): bigint | null {
  return spendable === null ? (op.amounts[0] ?? 0n) : grantable(op, spendable);
}

/** Nothing is granted on an empty wallet, not even for a model that costs nothing. Behaviour 7.4. */
function grantable({ amounts, atLeast }: HoldOp, usable: bigint): bigint | null {
  if (usable <= 0n) return null;
  const fitting = amounts.find((amount) => amount <= usable);
  if (fitting !== undefined) return fitting;
  return atLeast !== null && atLeast <= usable ? usable : null;
}

/** Says why: the key's own limit first, since more credits would not help then. */
function refuse(
  op: HoldOp,
  { wallet, available, spendable }: { wallet: Wallet; available: bigint; spendable: bigint | null },
): HoldOutcome {
  const enough = op.atLeast ?? op.amounts.at(-1) ?? 0n;
  const wouldFit = op.isMetered || grantable(op, available) !== null;
  if (spendable !== null && wouldFit) return { state: "refused", reason: "spend-limit", available: spendable };
  const isOnHold = wallet.held > 0n && wallet.posted > 0n && wallet.posted >= enough;
  return { state: "refused", reason: isOnHold ? "on-hold" : "insufficient", available };
}

/** An expired hold can still be charged, from what is available: a late settlement is no refund. */
function settle(draft: Draft, op: SettleOp): SettleOutcome {
  const held = draft.hold(op.holdId);
  if (held === undefined || (held.state !== "open" && held.state !== "expired")) return { state: "already-resolved" };
  assert(held.accountId === op.accountId, "a hold is resolved under the account it was taken for");
  assert(op.charge >= 0n && op.charge <= BALANCE_MAX, "a charge is neither negative nor larger than any balance");
  const wallet = draft.wallet(held.accountId);
  const freed = held.state === "open" ? held.amount : 0n;
  const reserved = held.isMetered ? 0n : freed;
  const available = wallet.posted - wallet.held + reserved;
  const paid = held.isMetered || op.charge < available ? op.charge : available;
  const absorbed = op.charge - paid;
  draft.putWallet(holding(wallet, wallet.held - reserved));
  draft.resolveHold(held, "settled");
  countSpend(draft, held, { freed, paid, periodStartMs: op.periodStartMs });
  const { accountId, keyId } = held;
  const charge = { holdId: op.holdId, accountId, keyId, usage: op.usage, charge: op.charge, paid, absorbed };
  if (held.isMetered && paid > 0n) draft.addTransaction(grantTransaction(charge));
  draft.addTransaction(chargeTransaction(charge), charge);
  if (op.answer !== null) draft.addAnswer(op.answer, op.holdId);
  return { state: "settled", paid, absorbed };
}

/** What the wallet could not pay is absorbed by the operator, and booked as that. */
function chargeTransaction({ holdId, accountId, charge, paid, absorbed }: Charge) {
  return {
    id: `charge:${holdId}`,
    kind: "charge" as const,
    accountId,
    entries: [
      { book: "wallet" as const, amount: -paid },
      { book: "absorbed" as const, amount: -absorbed },
      { book: "revenue" as const, amount: charge },
    ],
    holdId,
    note: null,
    actor: null,
  };
}

/** Adds what the charge takes, in the same batch: a metered wallet is afterwards what it was before. */
function grantTransaction({ holdId, accountId, paid }: Charge) {
  return {
    id: `grant:${holdId}`,
    kind: "grant" as const,
    accountId,
    entries: [
      { book: "wallet" as const, amount: paid },
      { book: "clearing" as const, amount: -paid },
    ],
    holdId: null,
    note: null,
    actor: null,
  };
}

/** Releasing twice does no harm: the second finds the hold resolved. */
function release(draft: Draft, op: VoidOp): VoidOutcome {
  const held = draft.hold(op.holdId);
  if (held?.state !== "open") return { state: "already-resolved" };
  assert(held.accountId === op.accountId, "a hold is resolved under the account it was taken for");
  const wallet = draft.wallet(held.accountId);
  if (!held.isMetered) draft.putWallet(holding(wallet, wallet.held - held.amount));
  draft.resolveHold(held, op.isExpiry ? "expired" : "voided");
  countSpend(draft, held, { freed: held.amount, paid: 0n, periodStartMs: 0 });
  return { state: "voided" };
}

/** What ends a hold: what it frees, what is paid, and the period the payment counts in. */
interface Resolution {
  readonly freed: bigint;
  readonly paid: bigint;
  readonly periodStartMs: number;
}

/** Only keys with a spend limit are counted; what a key spends is known from its charges anyway. */
function countSpend(draft: Draft, held: Hold, { freed, paid, periodStartMs }: Resolution): void {
  if (!held.isLimited) return;
  const spend = inPeriod(draft.keySpend(held.keyId), periodStartMs);
  draft.putKeySpend({ ...spend, held: spend.held - freed, spent: spend.spent + paid });
}

/** The id makes a movement happen once; the same id with another amount is refused rather than guessed at. */
function move(draft: Draft, op: MoveOp): MoveOutcome {
  const known = draft.move(op.id);
  if (known !== undefined) {
    const wasSame = known.entries.some(({ book, amount }) => book === "wallet" && amount === op.amount);
    return wasSame ? { state: "already-moved", transaction: known } : { state: "refused", reason: "other-amount" };
  }
  if (!draft.hasWallet(op.accountId)) return { state: "refused", reason: "no-account" };
  const wallet = draft.wallet(op.accountId);
  if (wallet.posted - wallet.held + op.amount < 0n) return { state: "refused", reason: "insufficient" };
  if (wallet.posted + op.amount > BALANCE_MAX) return { state: "refused", reason: "too-large" };
  const transaction = draft.addTransaction({
    id: op.id,
    kind: op.transactionKind,
    accountId: op.accountId,
    entries: [
      { book: "wallet", amount: op.amount },
      { book: "clearing", amount: -op.amount },
    ],
    holdId: null,
    note: op.note,
    actor: op.actor,
  });
  return { state: "moved", transaction };
}
