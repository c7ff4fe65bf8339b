// The ledger as a pure function: state and operations in, outcomes and changes out. Every decision about money is made
// here and asserts the invariants; the store only reads and writes rows.

import type { BudgetRefusal, BudgetTerm } from "../core/budgets/counter.ts";
import type {
  Charge,
  Hold,
  HoldOp,
  HoldOutcome,
  KeySpend,
  LeaseOp,
  LeaseOutcome,
  LedgerChanges,
  LedgerOp,
  LedgerOutcome,
  LedgerState,
  MoveOp,
  MoveOutcome,
  ReservedHold,
  ReturnOp,
  ReturnOutcome,
  SettleOp,
  SettleOutcome,
  VoidOp,
  VoidOutcome,
  Wallet,
} from "../core/ledger.ts";
import {
  blockingBudget,
  countBudgets,
  countReserved,
  holdBudgets,
  keepReserved,
  leaseBudgets,
  least,
  returnBudgets,
  spentSoftly,
  tightestBudget,
} from "./budgets.ts";
import { assert, availableIn, BALANCE_MAX, Draft, holding } from "./draft.ts";
import { availableFor, lend, poolOf, type SharedPool, takeBack } from "./shared-holds.ts";

/** Applies the operations in order. Returns an outcome for each, and the changes that the store must write. */
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
    case "lease":
      return lease(draft, op);
    case "return":
      return giveBack(draft, op);
  }
}

/** Takes a hold. Repeating the operation returns the same hold, so a commit whose outcome was lost may be repeated. */
function hold(draft: Draft, op: HoldOp): HoldOutcome {
  const known = draft.hold(op.id);
  if (known !== undefined) {
    // Two requests on one hold would get two responses for one charge.
    assert(known.state === "open" && known.accountId === op.accountId, "a hold's id cannot be used again");
    return { state: "held", amount: known.amount };
  }
  const wallet = draft.wallet(op.accountId);
  const pool = poolOf(draft, op);
  const available = pool === null ? availableIn(wallet) : availableFor(pool, wallet);
  const spend = inPeriod(draft.keySpend(op.keyId), op.periodStartMs);
  const spendable = op.spendLimit === null ? null : op.spendLimit - (spend.spent - spend.spentBefore) - spend.held;
  const isMetered = op.isMetered && draft.hasWallet(op.accountId);
  const { budgets = NO_BUDGETS } = op;
  const recallBudgets = op.mayRecall === true && budgets.length > 0;
  const blocking = blockingBudget(draft, budgets, { leases: "spent" });
  if (blocking !== null) {
    const isLeased = recallBudgets && blockingBudget(draft, budgets, { leases: "left" }) === null;
    return isLeased ? recallLeases(draft, op, available) : { state: "refused", reason: "budget", budget: blocking };
  }
  const budget = tightestBudget(draft, budgets, { leases: "spent" });
  const unleased = recallBudgets ? tightestBudget(draft, budgets, { leases: "left" }) : budget;
  const isBounded = !isMetered || pool?.shared.isCapped === true;
  const usable = isBounded ? lower(available, spendable) : (spendable ?? BALANCE_MAX);
  const leasedToo = isBounded && pool?.shared.isCapped !== true ? wallet.leased : 0n;
  const usableLater = lower(usable + leasedToo, spendable);
  const amount = grantable(op, usable, budget);
  const recalled = op.mayRecall ? grantable(op, usableLater, unleased) : null;
  if (recalled !== null && (amount === null || recalled > amount)) return recallLeases(draft, op, available);
  if (amount === null) {
    const isBudget = budget !== null && grantable(op, usable, null) !== null;
    if (isBudget) return { state: "refused", reason: "budget", budget };
    return refuse(op, { wallet, available, spendable, pool });
  }
  const spentBudgets = spentSoftly(draft, budgets);
  const taken = pool === null ? 0n : lend(draft, pool, amount);
  if (!op.isMetered) draft.putWallet(holding(wallet, wallet.held + amount - taken));
  draft.addHold({
    id: op.id,
    accountId: op.accountId,
    keyId: op.keyId,
    amount,
    state: "open",
    isLimited: op.spendLimit !== null,
    isMetered: op.isMetered,
    ...(budgets.length === 0 ? {} : { budgets: holdBudgets(draft, budgets, amount) }),
    ...(op.owner === undefined ? {} : { owner: op.owner }),
    ...(op.shared === undefined ? {} : { shared: { lent: 0n, ...op.shared } }),
  });
  if (op.spendLimit !== null) draft.putKeySpend({ ...spend, held: spend.held + amount });
  return spentBudgets.length === 0 ? { state: "held", amount } : { state: "held", amount, spentBudgets };
}

/** Asks all processes for their leases. The operation is repeated when they are back. */
function recallLeases(draft: Draft, { accountId }: HoldOp, available: bigint): HoldOutcome {
  draft.beginEpoch(accountId);
  return { state: "refused", reason: "leased", available };
}

const NO_BUDGETS: readonly BudgetTerm[] = [];

/**
 * Begins a period with the first operation that names it. A process with a slow clock stays in the current period. So do
 * settlements queued by older versions, which name no period. Holds are carried over, so that charges within one period
 * never exceed the limit.
 */
function inPeriod(spend: KeySpend, periodStartMs: number): KeySpend {
  return periodStartMs > spend.periodStartMs ? { ...spend, periodStartMs, spentBefore: spend.spent } : spend;
}

function lower(available: bigint, spendable: bigint | null): bigint {
  return spendable !== null && spendable < available ? spendable : available;
}

/** Grants nothing on an empty wallet, not even for a free model. Behaviour 7.4. A spent budget lets free models through. */
function grantable({ amounts, atLeast }: HoldOp, usable: bigint, budget: BudgetRefusal | null): bigint | null {
  if (usable <= 0n) return null;
  const most = budget === null || budget.left > usable ? usable : budget.left;
  const fitting = amounts.find((amount) => amount <= most || amount === 0n);
  if (fitting !== undefined) return fitting;
  return atLeast !== null && atLeast <= most ? most : null;
}

/** Refuses with a reason. The key's spend limit comes first, since more credits would not help then. */
function refuse(op: HoldOp, { wallet, available, spendable, pool }: Shortage): HoldOutcome {
  const enough = op.atLeast ?? op.amounts.at(-1) ?? 0n;
  const wouldFit = op.isMetered || grantable(op, available, null) !== null;
  if (spendable !== null && wouldFit) return { state: "refused", reason: "spend-limit", available: spendable };
  // Running lines give back what they do not need, which may be enough.
  if (pool !== null && pool.shared.lent > 0n) return { state: "refused", reason: "on-hold", available };
  if (pool?.shared.isCapped === true) return { state: "refused", reason: "max-cost", available };
  const isOnHold = wallet.held + wallet.leased > 0n && wallet.posted > 0n && wallet.posted >= enough;
  return { state: "refused", reason: isOnHold ? "on-hold" : "insufficient", available };
}

/** Amounts in which a hold was not available. */
interface Shortage {
  readonly wallet: Wallet;
  readonly available: bigint;
  readonly spendable: bigint | null;
  readonly pool: SharedPool | null;
}

/** Charges a hold. An expired hold is charged from the available credit: a late settlement is no refund. */
function settle(draft: Draft, op: SettleOp): SettleOutcome {
  assert(op.charge >= 0n && op.charge <= BALANCE_MAX, "a charge is neither negative nor larger than any balance");
  const held = draft.hold(op.holdId);
  if (held === undefined && op.reserved !== undefined) return settleReserved(draft, op, op.reserved);
  if (held === undefined || (held.state !== "open" && held.state !== "expired")) return { state: "already-resolved" };
  assert(held.accountId === op.accountId, "a hold is resolved under the account it was taken for");
  const wallet = draft.wallet(held.accountId);
  const freed = held.state === "open" ? held.amount : 0n;
  const pool = poolOf(draft, held);
  if (!held.isMetered) draft.putWallet(holding(wallet, wallet.held - freed - (pool?.hold.amount ?? 0n)));
  const most = pool?.shared.isCapped === true ? freed + pool.hold.amount : null;
  const { paid, absorbed } = bookCharge(draft, op, { held, most });
  if (pool !== null) takeBack(draft, pool, { held, freed, paid });
  countSpend(draft, held, { freed, paid, periodStartMs: op.periodStartMs });
  countBudgets(draft, held, { paid, windows: op.budgets ?? [] });
  return { state: "settled", paid, absorbed };
}

/** Charges a hold that was taken in memory. Only the charge is written. Without its lease, it counts as expired. */
function settleReserved(draft: Draft, op: SettleOp, reserved: ReservedHold): SettleOutcome {
  const { owner, keyId, amount, isMetered, budgets } = reserved;
  const { holdId: id, accountId } = op;
  const leased = isMetered ? 0n : (draft.lease({ owner, accountId })?.amount ?? 0n);
  const left = leased - least(leased, amount, op.charge);
  if (left < leased) draft.putLease({ owner, accountId, amount: left });
  const held: Hold = { id, accountId, keyId, amount, state: "open", isLimited: false, isMetered, owner };
  const { paid, absorbed } = bookCharge(draft, op, { held, most: null });
  const wallet = draft.wallet(accountId);
  const lease = { left, available: availableIn(wallet), epoch: wallet.epoch };
  if (budgets === undefined) return { state: "settled", paid, absorbed, lease };
  const budgetsLeft = countReserved(draft, { owner, accountId, budgets, paid, windows: op.budgets ?? [] });
  return { state: "settled", paid, absorbed, lease, budgetsLeft };
}

/** Books the charge after the amount on hold was freed, and ends the hold. `most` is what its batch may still cost. */
function bookCharge(
  draft: Draft,
  op: SettleOp,
  { held, most }: { readonly held: Hold; readonly most: bigint | null },
): Pick<Charge, "paid" | "absorbed"> {
  const { accountId, keyId, isMetered } = held;
  const free = availableIn(draft.wallet(accountId));
  const payable = isMetered || op.charge < free ? op.charge : free;
  const paid = most !== null && most < payable ? most : payable;
  const absorbed = op.charge - paid;
  draft.resolveHold(held, "settled");
  const { holdId, usage, charge } = op;
  const booked = { holdId, accountId, keyId, usage, charge, paid, absorbed, isReserved: !draft.hasStored(holdId) };
  if (isMetered && paid > 0n) draft.addTransaction(grantTransaction(booked));
  draft.addTransaction(chargeTransaction(booked), booked);
  if (op.answer !== null) draft.addAnswer(op.answer, held);
  return { paid, absorbed };
}

/** A lease is this fraction of the available credit, so that several processes can have one. */
const LEASE_PARTS = 8n;

/** Grants a lease only if the wallet has plenty, so that others can do without the leased credit. */
function lease(draft: Draft, { owner, accountId, atLeast, epoch: seen, budgets }: LeaseOp): LeaseOutcome {
  const wallet = draft.wallet(accountId);
  const { epoch } = wallet;
  if (seen !== null && seen !== epoch) return { state: "refused", reason: "recalled", epoch };
  const current = draft.lease({ owner, accountId })?.amount ?? 0n;
  const share = (availableIn(wallet) + current) / LEASE_PARTS;
  if (share < atLeast || share === 0n) return { state: "refused", reason: "scarce", epoch };
  if (share > current) draft.putLease({ owner, accountId, amount: share });
  const amount = share > current ? share : current;
  if (budgets === undefined) return { state: "leased", amount, epoch };
  return { state: "leased", amount, epoch, ...leaseBudgets(draft, { owner, accountId }, budgets) };
}

/** Ends a lease. If the lease was lost before, reservations that the wallet no longer covers count as expired holds. */
function giveBack(draft: Draft, { owner, accountId, holds, isExpiry }: ReturnOp): ReturnOutcome {
  returnBudgets(draft, { owner, accountId });
  if ((draft.lease({ owner, accountId })?.amount ?? 0n) > 0n) {
    draft.putLease({ owner, accountId, amount: 0n });
    if (isExpiry) draft.beginEpoch(accountId);
  }
  assert(holds.length === 0 || draft.hasWallet(accountId), "only a wallet can have been reserved from");
  for (const { id, keyId, amount, budgets } of holds) {
    // The hold was settled meanwhile, or stored by an attempt whose outcome was lost.
    if (draft.hold(id) !== undefined) continue;
    const wallet = draft.wallet(accountId);
    const isCovered = amount <= availableIn(wallet);
    if (isCovered) draft.putWallet(holding(wallet, wallet.held + amount));
    const state = isCovered ? "open" : "expired";
    const kept = { id, accountId, keyId, amount, state, isLimited: false, isMetered: false, owner } as const;
    draft.addHold(budgets === undefined ? kept : { ...kept, budgets });
    if (isCovered && budgets !== undefined) keepReserved(draft, budgets);
  }
  return { state: "returned" };
}

/** Books a charge. The operator absorbs the part that the wallet could not pay. */
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

/** Grants the amount of the charge in the same batch, so that a metered wallet does not change. */
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

/** Releases a hold. Releasing twice does no harm: the second finds the hold resolved. */
function release(draft: Draft, op: VoidOp): VoidOutcome {
  const held = draft.hold(op.holdId);
  if (held === undefined && op.keyId !== undefined) return bar(draft, op, op.keyId);
  if (held?.state === "expired" && op.isFinal === true) {
    draft.resolveHold(held, "voided");
    return { state: "voided" };
  }
  if (held?.state !== "open") return { state: "already-resolved" };
  assert(held.accountId === op.accountId, "a hold is resolved under the account it was taken for");
  const wallet = draft.wallet(held.accountId);
  const pool = poolOf(draft, held);
  if (!held.isMetered) draft.putWallet(holding(wallet, wallet.held - held.amount - (pool?.hold.amount ?? 0n)));
  draft.resolveHold(held, op.isExpiry ? "expired" : "voided");
  if (pool !== null) takeBack(draft, pool, { held, freed: held.amount, paid: 0n });
  if (op.isExpiry) draft.beginEpoch(op.accountId);
  countSpend(draft, held, { freed: held.amount, paid: 0n, periodStartMs: 0 });
  countBudgets(draft, held, { paid: 0n, windows: [] });
  return { state: "voided" };
}

/** Blocks the id of a hold that was given up. If that hold is still committed later, the used id undoes it. */
function bar(draft: Draft, { holdId: id, accountId }: VoidOp, keyId: string): VoidOutcome {
  const ended = { state: "voided", isLimited: false, isMetered: false } as const;
  if (draft.hasWallet(accountId)) draft.addHold({ id, accountId, keyId, amount: 0n, ...ended });
  return { state: "voided" };
}

/** The end of a hold: the amount that it frees, the amount paid, and the period in which the payment counts. */
interface Resolution {
  readonly freed: bigint;
  readonly paid: bigint;
  readonly periodStartMs: number;
}

/** Counts the spending of keys with a spend limit. That of other keys is known from their charges. */
function countSpend(draft: Draft, held: Hold, { freed, paid, periodStartMs }: Resolution): void {
  if (!held.isLimited) return;
  const spend = inPeriod(draft.keySpend(held.keyId), periodStartMs);
  draft.putKeySpend({ ...spend, held: spend.held - freed, spent: spend.spent + paid });
}

/** Moves credit once per id. The same id with another amount is refused. */
function move(draft: Draft, op: MoveOp): MoveOutcome {
  const known = draft.move(op.id);
  if (known !== undefined) {
    const wasSame = known.entries.some(({ book, amount }) => book === "wallet" && amount === op.amount);
    return wasSame ? { state: "already-moved", transaction: known } : { state: "refused", reason: "other-amount" };
  }
  if (!draft.hasWallet(op.accountId)) return { state: "refused", reason: "no-account" };
  const wallet = draft.wallet(op.accountId);
  const left = availableIn(wallet) + op.amount;
  if (left < 0n) {
    const isRecalled = op.mayRecall === true && left + wallet.leased >= 0n;
    if (isRecalled) draft.beginEpoch(op.accountId);
    return { state: "refused", reason: isRecalled ? "leased" : "insufficient" };
  }
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
