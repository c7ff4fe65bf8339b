// Counters of budgets in the ledger: what was spent in a budget's period, and what running requests have on hold. The
// ledger changes them in the same transaction as the wallet.

import type { NanoUsd } from "../money.ts";

/** An amount that was spent from a time on: a whole calendar period, or a part of a rolling one. */
interface SpentPart {
  readonly startMs: number;
  readonly amount: NanoUsd;
}

export interface BudgetCounter {
  /** See `counterId`. */
  readonly id: string;
  /** In total, since the counter was made. */
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  /** Set aside for processes, as with wallets. */
  readonly leased: NanoUsd;
  /** Parts of the period, oldest first. Older ones are dropped. */
  readonly parts: readonly SpentPart[];
  /**
   * Grows by one with every write. The first is the start of a period, so that a counter that was deleted and is made again
   * never has the version that somebody remembers.
   */
  readonly version: number;
}

/** The period of a counter as an operation sees it: parts from `fromMs` on count, and money spent now is part `partMs`. */
export interface BudgetWindow {
  readonly counter: string;
  readonly fromMs: number;
  readonly partMs: number;
}

/** A budget that holds for a request. */
export interface BudgetTerm extends BudgetWindow {
  readonly limit: NanoUsd;
  readonly isHard: boolean;
  /** The most that the request can count here, where that is less than its hold. Null: all that is on hold. */
  readonly most: NanoUsd | null;
}

/** The part of a hold that counts on a budget. */
export interface BudgetHold {
  readonly counter: string;
  readonly amount: NanoUsd;
}

/** An amount of a budget that a process may reserve for requests of an account without asking the store again. */
export interface BudgetLease {
  readonly owner: string;
  readonly accountId: string;
  readonly counter: string;
  readonly amount: NanoUsd;
}

export function budgetLeaseKey({ owner, counter }: Pick<BudgetLease, "owner" | "counter">): string {
  return `${owner} ${counter}`;
}

/** Rows of budgets that the operations of a batch refer to. */
export interface BudgetState {
  readonly counters: ReadonlyMap<string, BudgetCounter>;
  /** By `budgetLeaseKey`. */
  readonly budgetLeases: ReadonlyMap<string, BudgetLease>;
}

/** Changes of such rows, for the store to write. */
export interface BudgetChanges {
  readonly counters: readonly BudgetCounter[];
  readonly budgetLeases: readonly BudgetLease[];
}

/** A budget whose lease is to be filled, unless the share is less than `atLeast`. */
export interface WantedLease extends Pick<BudgetTerm, "counter" | "limit" | "fromMs" | "isHard"> {
  readonly atLeast: NanoUsd;
}

/** Amounts by counter. */
export type CounterAmounts = ReadonlyMap<string, NanoUsd>;

/** A budget that refused a hold, for the message. */
export interface BudgetRefusal {
  readonly counter: string;
  /** Rest that can still be spent; below zero where the budget was lowered. */
  readonly left: NanoUsd;
  /** Amount that running requests have on hold. */
  readonly held: NanoUsd;
  /** Start of the oldest part that counts; null where nothing was spent. */
  readonly sinceMs: number | null;
}

/** Names the counter of a budget, or of one value of a budget that counts each value for itself. */
export function counterId(budgetId: string, value: string): string {
  return `${budgetId} ${value}`;
}

/** Reads the budget and the value from the id of a counter. */
export function counterOf(id: string): { readonly budgetId: string; readonly value: string } {
  const at = id.indexOf(" ");
  return { budgetId: id.slice(0, at), value: id.slice(at + 1) };
}

export function newCounter(id: string, fromMs = 0): BudgetCounter {
  return { id, spent: 0n, held: 0n, leased: 0n, parts: [], version: fromMs };
}

/** Sums up what counts from this time on. */
export function spentSince({ parts }: BudgetCounter, fromMs: number): NanoUsd {
  let sum = 0n;
  for (const { startMs, amount } of parts) if (startMs >= fromMs) sum += amount;
  return sum;
}
