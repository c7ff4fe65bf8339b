// Budgets as they are stored, and the port to read and change them. A budget limits what the requests of an account may
// cost in a period: all of them, or those of one team, member, key, tag, end user, model or tier.

import type { Page } from "../accounts.ts";
import type { NanoUsd } from "../money.ts";
import type { BudgetCounter } from "./counter.ts";

/**
 * Requests that a budget counts. The tier is that of the decision, the model the one that answers. A team inside another
 * counts for both, and a member is the user that the key belongs to.
 */
export const BUDGET_SCOPES = ["account", "team", "member", "key", "tag", "endUser", "model", "tier"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

export const BUDGET_PERIODS = ["day", "week", "month"] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export interface Budget {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scope: BudgetScope;
  /** The id of a team, user or key; a tag, end user, model or tier. Null: each of them has the amount for itself, or the scope is the account. */
  readonly value: string | null;
  readonly amount: NanoUsd;
  readonly period: BudgetPeriod;
  /** The last 24 hours, 7 days or 30 days, in place of a day, week or month of the calendar. */
  readonly isRolling: boolean;
  /** IANA name. Calendar periods begin at midnight there. */
  readonly timeZone: string;
  /** Refuses requests when it is spent. A soft budget only says so. */
  readonly isHard: boolean;
  /** Requests per minute that may begin, for each value where each has the amount for itself. Null: any number. */
  readonly requestsPerMinute: number | null;
  /** Tokens per minute, of prompts and answers. Null: any number. */
  readonly tokensPerMinute: number | null;
  /** Set by an operator, so that the account's owners cannot change it. */
  readonly isByOperator: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface BudgetStore {
  insert(budget: Budget): Promise<void>;
  /** False when the account has no such budget. */
  update(budget: Budget): Promise<boolean>;
  /** False when the account has no such budget. What was counted is kept, because open holds refer to it. */
  delete(accountId: string, id: string, atMs: number): Promise<boolean>;
  all(): Promise<readonly Budget[]>;
  list(accountId: string, page: Page): Promise<readonly Budget[]>;
  /** By the id of the counter, for those that ever counted anything. */
  counters(ids: readonly string[]): Promise<ReadonlyMap<string, BudgetCounter>>;
  /** Counters that may have spent at least this share of their budget, from 0 to 100: what they had spent at their last change. */
  countersFrom(percent: number, nowMs: number): Promise<readonly (BudgetCounter & Pick<Budget, "accountId">)[]>;
  /** Counters of one budget that count each value for itself, in use since `fromMs`: those that had spent most first. */
  countersOf(budgetId: string, page: CounterPage): Promise<readonly BudgetCounter[]>;
}

interface CounterPage {
  readonly fromMs: number;
  readonly limit: number;
  /** The last counter of the page before. */
  readonly after: BudgetCounter | null;
}

/** Longer than the longest period. A counter whose newest part began before is over, whatever its budget. */
export const PERIOD_MAX_MS = 32 * 86_400_000;

/** True where each team, member, key, tag value, end user, model or tier has the amount for itself. */
export function isForEach({ scope, value }: Pick<Budget, "scope" | "value">): boolean {
  return scope !== "account" && (value === null || (scope === "tag" && !value.includes("=")));
}
