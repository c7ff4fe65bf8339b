// Budgets: what the requests of an account may cost in a period. Reads are from memory, because every request asks.

import { randomBytes } from "node:crypto";
import type { Page } from "../../core/accounts.ts";
import type { Budget, BudgetStore } from "../../core/budgets/budget.ts";
import { type BudgetCounter, counterId, newCounter, spentSince } from "../../core/budgets/counter.ts";
import { GatewayError } from "../../core/errors.ts";
import type { NanoUsd } from "../../core/money.ts";
import { checkedName } from "../../core/names.ts";
import { TIERS } from "../../core/tiers.ts";
import type { Directory } from "../directory.ts";
import { isTimeZone, periodAt, renewsAtMs } from "./periods.ts";

export type BudgetContent = Pick<
  Budget,
  "name" | "scope" | "value" | "amount" | "period" | "isRolling" | "timeZone" | "isHard"
>;

/** The person or program that changes a budget. Owners cannot touch those of operators. */
export interface BudgetAuthor {
  readonly accountId: string;
  readonly isOperator: boolean;
}

/** Spending of a budget, or of one value of it, and the rest. */
export interface BudgetStanding {
  /** The key, tag, end user, model or tier; empty for an account. */
  readonly value: string;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  /** Below zero where the budget was lowered, or an answer cost more than was on hold. */
  readonly left: NanoUsd;
  /** Spending from this time on counts. */
  readonly fromMs: number;
  readonly renewsAtMs: number;
}

export interface Budgets {
  /** From memory, for every request. */
  of(accountId: string): readonly Budget[];
  create(author: BudgetAuthor, content: BudgetContent): Promise<Budget>;
  /** Returns null when the account has no such budget. */
  replace(author: BudgetAuthor, id: string, content: BudgetContent): Promise<Budget | null>;
  /** False when the account has no such budget. */
  delete(author: BudgetAuthor, id: string): Promise<boolean>;
  get(accountId: string, id: string): Promise<Budget | null>;
  list(accountId: string, page: Page): Promise<readonly Budget[]>;
  /** Reads these values, in their order. */
  standings(wanted: readonly BudgetValue[]): Promise<readonly BudgetStanding[]>;
  /** Reads the values that have spent most, of a budget that counts each for itself. */
  topStandings(budget: Budget): Promise<readonly BudgetStanding[]>;
}

export interface BudgetValue {
  readonly budget: Budget;
  readonly value: string;
}

export interface BudgetsOptions {
  readonly store: BudgetStore;
  readonly directory: Directory;
  readonly now?: () => number;
}

/** Every request looks at all of them. */
const BUDGETS_MAX = 200;
const NO_BUDGETS: readonly Budget[] = [];
/** Values read for the list of those that have spent most in the period. */
const VALUES_READ = 1_000;
const VALUES_SHOWN = 20;

export function createBudgets({ store, directory, now = Date.now }: BudgetsOptions): Budgets {
  const of = (accountId: string): readonly Budget[] => directory.budgets(accountId) ?? NO_BUDGETS;
  const find = async (accountId: string, id: string): Promise<Budget | null> => {
    await directory.catchUp();
    return of(accountId).find((budget) => budget.id === id) ?? null;
  };
  const changeable = async (author: BudgetAuthor, id: string): Promise<Budget | null> => {
    const budget = await find(author.accountId, id);
    if (budget?.isByOperator === true && !author.isOperator) throw ofOperator();
    return budget;
  };
  /** Other processes read when they are told; this one at once. */
  const written = async <Result>(result: Result): Promise<Result> => {
    directory.noteChange();
    await directory.catchUp();
    return result;
  };
  return {
    of,
    async create({ accountId, isOperator }, content) {
      const checked = checkedContent(content, accountId, directory);
      await directory.catchUp();
      if (of(accountId).length >= BUDGETS_MAX) throw tooMany();
      const atMs = now();
      const id = `budget_${randomBytes(12).toString("hex")}`;
      const times = { createdAtMs: atMs, updatedAtMs: atMs };
      const budget = { id, accountId, ...checked, isByOperator: isOperator, ...times };
      await store.insert(budget);
      return written(budget);
    },
    async replace(author, id, content) {
      const old = await changeable(author, id);
      if (old === null) return null;
      const budget = { ...old, ...checkedContent(content, author.accountId, directory), updatedAtMs: now() };
      return written((await store.update(budget)) ? budget : null);
    },
    async delete(author, id) {
      if ((await changeable(author, id)) === null) return false;
      return written(await store.delete(author.accountId, id, now()));
    },
    get: find,
    list: (accountId, page) => store.list(accountId, page),
    async standings(wanted) {
      const counters = await store.counters(wanted.map(({ budget, value }) => counterId(budget.id, value)));
      return wanted.map((one) => {
        const id = counterId(one.budget.id, one.value);
        return standingOf(one, counters.get(id) ?? newCounter(id), now());
      });
    },
    async topStandings(budget) {
      const counters = await store.countersOf(budget.id, VALUES_READ);
      const standings = counters.map((counter) => {
        const value = counter.id.slice(budget.id.length + 1);
        return standingOf({ budget, value }, counter, now());
      });
      const inUse = standings.filter(({ spent, held }) => spent > 0n || held > 0n);
      return inUse.sort((a, b) => (a.spent < b.spent ? 1 : -1)).slice(0, VALUES_SHOWN);
    },
  };
}

/** True where each key, tag value, end user, model or tier has the amount for itself. */
export function isForEach({ scope, value }: Pick<Budget, "scope" | "value">): boolean {
  return scope !== "account" && (value === null || (scope === "tag" && !value.includes("=")));
}

function standingOf({ budget, value }: BudgetValue, counter: BudgetCounter, atMs: number): BudgetStanding {
  const { fromMs } = periodAt(budget, atMs);
  const spent = spentSince(counter, fromMs);
  const { held } = counter;
  const oldest = counter.parts.find(({ startMs }) => startMs >= fromMs)?.startMs ?? null;
  return {
    ...{ value, spent, held, fromMs },
    left: budget.amount - spent - held,
    renewsAtMs: renewsAtMs(budget, atMs, oldest),
  };
}

/** Length of the longest label of a request. */
const VALUE_CHARS_MAX = 330;

function checkedContent(content: BudgetContent, accountId: string, directory: Directory): BudgetContent {
  const { scope, timeZone } = content;
  const name = checkedName("A budget", content.name);
  const value = content.value?.trim() || null;
  if (!isTimeZone(timeZone))
    throw bad("timeZone", `'${timeZone.slice(0, 60)}' is no time zone. Use an IANA name such as Europe/Berlin.`);
  if (value !== null && (value.length > VALUE_CHARS_MAX || /\p{Cc}/u.test(value))) {
    throw bad("value", `A value is one line of at most ${VALUE_CHARS_MAX} characters.`);
  }
  if (scope === "account" && value !== null) throw bad("value", "A budget of the account has no value.");
  if (scope === "tag" && !/^[^=]+(=.+)?$/.test(value ?? "")) {
    throw bad("value", "Write a tag as 'team=search', or as 'team' to give each of its values the amount for itself.");
  }
  if (scope === "key" && value !== null && directory.keyById(value)?.accountId !== accountId) {
    throw bad("value", `The account has no key '${value}'.`);
  }
  if (scope === "tier" && value !== null && !TIERS.some((tier) => tier === value)) {
    throw bad("value", `'${value}' is no tier. Tiers are ${TIERS.join(", ")}.`);
  }
  return { ...content, name, value };
}

function bad(param: string, message: string): GatewayError {
  return new GatewayError("badRequest", message, { param });
}

function ofOperator(): GatewayError {
  const message = "An operator set this budget, so owners cannot change it. Ask the operator, or add a stricter one.";
  return new GatewayError("forbidden", message, { code: "budget_of_operator" });
}

function tooMany(): GatewayError {
  const message = `The account has ${BUDGETS_MAX} budgets, which is the most. Delete one, or use one that counts each value.`;
  return new GatewayError("conflict", message, { code: "too_many_budgets" });
}
