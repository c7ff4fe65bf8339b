// Budgets: what the requests of an account may cost in a period. Reads are from memory, because every request asks.

import { randomBytes } from "node:crypto";
import type { Page } from "../../core/accounts.ts";
import type { Budget, BudgetStore } from "../../core/budgets/budget.ts";
import { GatewayError } from "../../core/errors.ts";
import { checkedName } from "../../core/names.ts";
import type { UserStore } from "../../core/people.ts";
import { TIERS } from "../../core/tiers.ts";
import type { Directory } from "../directory.ts";
import { isTimeZone } from "./periods.ts";
import { createStandings, type Standings } from "./standings.ts";

export type BudgetContent = Pick<
  Budget,
  | "name"
  | "scope"
  | "value"
  | "amount"
  | "period"
  | "isRolling"
  | "timeZone"
  | "isHard"
  | "requestsPerMinute"
  | "tokensPerMinute"
>;

/** The person or program that changes a budget. Owners cannot touch those of operators. */
export interface BudgetAuthor {
  readonly accountId: string;
  readonly isOperator: boolean;
}

export interface Budgets extends Standings {
  /** From memory, for every request. */
  of(accountId: string): readonly Budget[];
  create(author: BudgetAuthor, content: BudgetContent): Promise<Budget>;
  /** Returns null when the account has no such budget. */
  replace(author: BudgetAuthor, id: string, content: BudgetContent): Promise<Budget | null>;
  /** False when the account has no such budget. */
  delete(author: BudgetAuthor, id: string): Promise<boolean>;
  get(accountId: string, id: string): Promise<Budget | null>;
  list(accountId: string, page: Page): Promise<readonly Budget[]>;
}

export interface BudgetsOptions {
  readonly store: BudgetStore;
  /** Users are not in memory, as teams and keys are. */
  readonly users: Pick<UserStore, "byId" | "emailsOf">;
  readonly directory: Directory;
  readonly now?: () => number;
}

/** Every request looks at all of them. */
const BUDGETS_MAX = 200;
const NO_BUDGETS: readonly Budget[] = [];

export function createBudgets({ store, users, directory, now = Date.now }: BudgetsOptions): Budgets {
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
  const checked = async (content: BudgetContent, accountId: string): Promise<BudgetContent> => {
    const { scope, value } = content;
    const isStranger = scope === "member" && value !== null && (await users.byId(value))?.accountId !== accountId;
    if (isStranger) throw bad("value", `The account has no user '${value}'. List its users with /api/users.`);
    return checkedContent(content, accountId, directory);
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
      const body = await checked(content, accountId);
      await directory.catchUp();
      if (of(accountId).length >= BUDGETS_MAX) throw tooMany();
      const atMs = now();
      const id = `budget_${randomBytes(12).toString("hex")}`;
      const times = { createdAtMs: atMs, updatedAtMs: atMs };
      const budget = { id, accountId, ...body, isByOperator: isOperator, ...times };
      await store.insert(budget);
      return written(budget);
    },
    async replace(author, id, content) {
      const old = await changeable(author, id);
      if (old === null) return null;
      const budget = { ...old, ...(await checked(content, author.accountId)), updatedAtMs: now() };
      return written((await store.update(budget)) ? budget : null);
    },
    async delete(author, id) {
      if ((await changeable(author, id)) === null) return false;
      return written(await store.delete(author.accountId, id, now()));
    },
    get: find,
    list: (accountId, page) => store.list(accountId, page),
    ...createStandings({ store, users, directory, now }),
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
  if (scope === "team" && value !== null && directory.team(value)?.accountId !== accountId) {
    throw bad("value", `The account has no team '${value}'. List its teams with /api/teams.`);
  }
  if (scope === "tier" && value !== null && !TIERS.some((tier) => tier === value)) {
    throw bad("value", `'${value}' is no tier. Tiers are ${TIERS.join(", ")}.`);
  }
  // Keys that replace each other count together.
  const counted = scope === "key" && value !== null ? (directory.keyById(value)?.spendKeyId ?? value) : value;
  return { ...content, name, value: counted };
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
