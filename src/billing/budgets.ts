// Budgets in a batch of the ledger: what they leave for a hold, and what holds and charges count on them. Pure, like the
// posting of wallets.

import {
  type BudgetCounter,
  type BudgetHold,
  type BudgetRefusal,
  type BudgetTerm,
  type BudgetWindow,
  type CounterAmounts,
  spentSince,
  type WantedLease,
} from "../core/budgets/counter.ts";
import type { CreditLease, Hold } from "../core/ledger.ts";
import type { Draft } from "./draft.ts";

/** Terms of the hard budgets that count a whole hold, or only a part of it. */
function hardTerms(terms: readonly BudgetTerm[], isWhole: boolean): readonly BudgetTerm[] {
  return terms.filter(({ isHard, most }) => isHard && (most === null) === isWhole);
}

/** Counts leases of processes as spent, or as left where they can be returned. */
interface Counting {
  readonly leases: "spent" | "left";
}

/** Finds a budget that cannot cover its part of the hold, so that the request must do without that part. */
export function blockingBudget(draft: Draft, terms: readonly BudgetTerm[], counting: Counting): BudgetRefusal | null {
  for (const term of hardTerms(terms, false)) {
    const found = refusalOf(draft, term, counting);
    if ((term.most as bigint) > 0n && (term.most as bigint) > found.left) return found;
  }
  return null;
}

/** Finds the budget that leaves least for the whole hold. */
export function tightestBudget(draft: Draft, terms: readonly BudgetTerm[], counting: Counting): BudgetRefusal | null {
  let tightest: BudgetRefusal | null = null;
  for (const term of hardTerms(terms, true)) {
    const found = refusalOf(draft, term, counting);
    if (tightest === null || found.left < tightest.left) tightest = found;
  }
  return tightest;
}

function refusalOf(draft: Draft, term: BudgetTerm, { leases }: Counting): BudgetRefusal {
  const counter = draft.counter(term.counter);
  const left = leftIn(counter, term) + (leases === "left" ? counter.leased : 0n);
  const oldest = counter.parts.find(({ startMs, amount }) => startMs >= term.fromMs && amount > 0n);
  return { counter: counter.id, left, held: counter.held, sinceMs: oldest?.startMs ?? null };
}

function leftIn(counter: BudgetCounter, { limit, fromMs }: Pick<BudgetTerm, "limit" | "fromMs">): bigint {
  return limit - spentSince(counter, fromMs) - counter.held - counter.leased;
}

/** Names the soft budgets that are spent. */
export function spentSoftly(draft: Draft, terms: readonly Omit<WantedLease, "atLeast">[]): readonly string[] {
  const spent = terms.filter(
    (term) => !term.isHard && spentSince(draft.counter(term.counter), term.fromMs) >= term.limit,
  );
  return spent.map(({ counter }) => counter);
}

/** Puts a hold on its budgets. */
export function holdBudgets(draft: Draft, terms: readonly BudgetTerm[], amount: bigint): readonly BudgetHold[] {
  return terms.map((term) => {
    const part = term.most !== null && term.most < amount ? term.most : amount;
    const counter = draft.counter(term.counter, term.fromMs);
    draft.putCounter({ ...counter, held: counter.held + part });
    return { counter: term.counter, amount: part };
  });
}

/**
 * Ends a hold on its budgets, and counts what was paid on those that the settlement names. A hold that expired was freed
 * before.
 */
export function countBudgets(
  draft: Draft,
  { budgets = [], state }: Hold,
  { paid, windows }: { readonly paid: bigint; readonly windows: readonly BudgetWindow[] },
): void {
  for (const { counter: id, amount } of budgets) {
    const counter = draft.counter(id);
    const freed = { ...counter, held: state === "open" ? counter.held - amount : counter.held };
    const window = windows.find((one) => one.counter === id);
    draft.putCounter(window === undefined || paid === 0n ? freed : spentIn(freed, window, paid));
  }
}

/** A process with a slow clock adds to the latest part, so that no period begins again. */
function spentIn(counter: BudgetCounter, { fromMs, partMs }: BudgetWindow, paid: bigint): BudgetCounter {
  const { id, spent, held, leased, version } = counter;
  const parts = counter.parts.filter(({ startMs }) => startMs >= fromMs);
  const last = parts.at(-1);
  if (last !== undefined && last.startMs >= partMs) {
    parts[parts.length - 1] = { startMs: last.startMs, amount: last.amount + paid };
  } else parts.push({ startMs: partMs, amount: paid });
  return { id, spent: spent + paid, held, leased, parts, version };
}

/** A lease is this fraction of what is left, so that several processes can have one. */
const LEASE_PARTS = 8n;

interface FilledLeases {
  readonly budgets: CounterAmounts;
  readonly spentBudgets: readonly string[];
}

/** Fills leases of budgets. One that has too little left keeps what it has. Names the soft ones that are spent. */
export function leaseBudgets(
  draft: Draft,
  { owner, accountId }: Pick<CreditLease, "owner" | "accountId">,
  wanted: readonly WantedLease[],
): FilledLeases {
  const amounts = new Map<string, bigint>();
  for (const { atLeast, ...term } of wanted) {
    const { counter, fromMs } = term;
    const current = draft.budgetLease({ owner, counter })?.amount ?? 0n;
    const share = (leftIn(draft.counter(counter), term) + current) / LEASE_PARTS;
    const amount = share >= atLeast && share > current ? share : current;
    draft.putBudgetLease({ owner, accountId, counter, amount }, fromMs);
    amounts.set(counter, amount);
  }
  return { budgets: amounts, spentBudgets: spentSoftly(draft, wanted) };
}

/** A charge whose hold was reserved from leases. */
interface ReservedCharge extends Pick<CreditLease, "owner" | "accountId"> {
  readonly budgets: readonly BudgetHold[];
  readonly windows: readonly BudgetWindow[];
  readonly paid: bigint;
}

/** Counts such a charge. Returns what is left of the leases. */
export function countReserved(draft: Draft, charge: ReservedCharge): CounterAmounts {
  const { owner, accountId, budgets, windows, paid } = charge;
  const left = new Map<string, bigint>();
  for (const { counter, amount } of budgets) {
    const lease = draft.budgetLease({ owner, counter })?.amount ?? 0n;
    const window = windows.find((one) => one.counter === counter);
    const used = window === undefined ? 0n : least(lease, amount, paid);
    left.set(counter, lease - used);
    if (window === undefined || paid === 0n) continue;
    const current = draft.counter(counter, window.fromMs);
    const { id, spent, held, leased, parts, version } = spentIn(current, window, paid);
    // One write for both: this is done for every request.
    draft.putCounter({ id, spent, held, leased: leased - used, parts, version });
    if (used > 0n) draft.noteBudgetLease({ owner, accountId, counter, amount: lease - used });
  }
  return left;
}

export function least(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((lowest, amount) => (amount < lowest ? amount : lowest));
}

/** Ends the leases of budgets that a process has of an account. */
export function returnBudgets(draft: Draft, key: Pick<CreditLease, "owner" | "accountId">): void {
  for (const lease of draft.budgetLeasesOf(key)) draft.putBudgetLease({ ...lease, amount: 0n });
}

/** Puts a reservation from a lease that has ended on its budgets. */
export function keepReserved(draft: Draft, budgets: readonly BudgetHold[]): void {
  for (const { counter: id, amount } of budgets) {
    const counter = draft.counter(id);
    draft.putCounter({ ...counter, held: counter.held + amount });
  }
}
