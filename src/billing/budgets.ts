// Budgets in a batch of the ledger: what they leave for a hold, and what holds and charges count on them. Pure, like the
// posting of wallets.

import {
  type BudgetCounter,
  type BudgetHold,
  type BudgetRefusal,
  type BudgetTerm,
  type BudgetWindow,
  spentSince,
} from "../core/budgets/counter.ts";
import type { Hold } from "../core/ledger.ts";
import type { Draft } from "./draft.ts";

/** Terms of the hard budgets that count a whole hold, or only a part of it. */
function hardTerms(terms: readonly BudgetTerm[], isWhole: boolean): readonly BudgetTerm[] {
  return terms.filter(({ isHard, most }) => isHard && (most === null) === isWhole);
}

/** Finds a budget that cannot cover its part of the hold, so that the request must do without that part. */
export function blockingBudget(draft: Draft, terms: readonly BudgetTerm[]): BudgetRefusal | null {
  for (const term of hardTerms(terms, false)) {
    const found = refusalOf(draft, term);
    if ((term.most as bigint) > 0n && (term.most as bigint) > found.left) return found;
  }
  return null;
}

/** Finds the budget that leaves least for the whole hold. */
export function tightestBudget(draft: Draft, terms: readonly BudgetTerm[]): BudgetRefusal | null {
  let tightest: BudgetRefusal | null = null;
  for (const term of hardTerms(terms, true)) {
    const found = refusalOf(draft, term);
    if (tightest === null || found.left < tightest.left) tightest = found;
  }
  return tightest;
}

function refusalOf(draft: Draft, term: BudgetTerm): BudgetRefusal {
  const counter = draft.counter(term.counter);
  const left = term.limit - spentSince(counter, term.fromMs) - counter.held;
  const oldest = counter.parts.find(({ startMs, amount }) => startMs >= term.fromMs && amount > 0n);
  return { counter: counter.id, left, held: counter.held, sinceMs: oldest?.startMs ?? null };
}

/** Names the soft budgets that are spent. */
export function spentSoftly(draft: Draft, terms: readonly BudgetTerm[]): readonly string[] {
  const spent = terms.filter(
    (term) => !term.isHard && spentSince(draft.counter(term.counter), term.fromMs) >= term.limit,
  );
  return spent.map(({ counter }) => counter);
}

/** Puts a hold on its budgets. */
export function holdBudgets(draft: Draft, terms: readonly BudgetTerm[], amount: bigint): readonly BudgetHold[] {
  return terms.map((term) => {
    const part = term.most !== null && term.most < amount ? term.most : amount;
    const counter = draft.counter(term.counter);
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
  const parts = counter.parts.filter(({ startMs }) => startMs >= fromMs);
  const last = parts.at(-1);
  const isLast = last !== undefined && last.startMs >= partMs;
  const grown = isLast ? { startMs: last.startMs, amount: last.amount + paid } : { startMs: partMs, amount: paid };
  return { ...counter, spent: counter.spent + paid, parts: [...(isLast ? parts.slice(0, -1) : parts), grown] };
}
