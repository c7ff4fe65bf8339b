// Spending of budgets, read from their counters.

import type { Budget, BudgetStore } from "../../core/budgets/budget.ts";
import { type BudgetCounter, counterId, counterOf, newCounter, spentSince } from "../../core/budgets/counter.ts";
import type { NanoUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import type { UserStore } from "../../core/people.ts";
import type { Directory } from "../directory.ts";
import { periodAt, renewsAtMs } from "./periods.ts";

/** Spending of a budget, or of one value of it, and the rest. */
export interface BudgetStanding {
  /** The team, member, key, tag, end user, model or tier; empty for an account. */
  readonly value: string;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  /** Below zero where the budget was lowered, or an answer cost more than was on hold. */
  readonly left: NanoUsd;
  /** Spending from this time on counts. */
  readonly fromMs: number;
  readonly renewsAtMs: number;
}

export interface BudgetValue {
  readonly budget: Budget;
  readonly value: string;
}

/** A budget, or a value of it, with its spending. */
export interface UsedBudget {
  readonly budget: Budget;
  readonly standing: BudgetStanding;
  /** Spent share of the amount, in whole percent. */
  readonly percent: number;
}

export interface Standings {
  /** Reads these values, in their order. */
  standings(wanted: readonly BudgetValue[]): Promise<readonly BudgetStanding[]>;
  /** Reads the values that have spent most, of a budget that counts each for itself. */
  topStandings(budget: Budget): Promise<readonly BudgetStanding[]>;
  /** Reads what has spent at least this share of a budget in its period, from 0 to 100. Of many values, the first 20. */
  from(percent: number): Promise<readonly UsedBudget[]>;
  /** Names of teams and keys, and addresses of members, by their ids. Other values have none. */
  labels(budget: Budget, values: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface StandingsOptions {
  readonly store: Pick<BudgetStore, "counters" | "countersOf" | "countersFrom">;
  /** Users are not in memory, as teams and keys are. */
  readonly users: Pick<UserStore, "emailsOf">;
  readonly directory: Pick<Directory, "team" | "keyById" | "budgets">;
  readonly now: () => number;
}

/** Values read at a time for the list of those that have spent most in the period. */
const VALUES_READ = 200;
const VALUES_SHOWN = 20;

export function createStandings({ store, users, directory, now }: StandingsOptions): Standings {
  return {
    async standings(wanted) {
      const counters = await store.counters(wanted.map(({ budget, value }) => counterId(budget.id, value)));
      return wanted.map((one) => {
        const id = counterId(one.budget.id, one.value);
        return standingOf(one, counters.get(id) ?? newCounter(id), now());
      });
    },
    topStandings: (budget) => topOf(budget, store, now()),
    async from(percent) {
      const counters = await store.countersFrom(percent, now());
      const used = counters.flatMap((counter) => {
        const { budgetId, value } = counterOf(counter.id);
        const budget = directory.budgets(counter.accountId)?.find(({ id }) => id === budgetId);
        if (budget === undefined || budget.amount === 0n) return [];
        const standing = standingOf({ budget, value }, counter, now());
        return [{ budget, standing, percent: Number((standing.spent * 100n) / budget.amount) }];
      });
      const reached = used.filter((one) => one.percent >= percent).sort((a, b) => b.percent - a.percent);
      // A client that names end users or tags as it likes must not make an event for each of them.
      const shown = new Map<string, number>();
      return reached.filter(({ budget: { id } }) => {
        const count = (shown.get(id) ?? 0) + 1;
        shown.set(id, count);
        return count <= VALUES_SHOWN;
      });
    },
    labels: (budget, values) => labelsOf(budget, { values, users, directory }),
  };
}

/** A rolling period may be over in part since a counter changed, so reading goes on while one further down may have spent more. */
async function topOf(
  budget: Budget,
  store: Pick<BudgetStore, "countersOf">,
  atMs: number,
): Promise<readonly BudgetStanding[]> {
  const { fromMs } = periodAt(budget, atMs);
  let top: readonly BudgetStanding[] = [];
  for (let after: BudgetCounter | null = null; ; ) {
    const page: readonly BudgetCounter[] = await store.countersOf(budget.id, { fromMs, limit: VALUES_READ, after });
    const standings = page.map((counter) => standingOf({ budget, value: counterOf(counter.id).value }, counter, atMs));
    const inUse = [...top, ...standings].filter(({ spent, held }) => spent > 0n || held > 0n);
    top = inUse.sort((a, b) => (a.spent < b.spent ? 1 : -1)).slice(0, VALUES_SHOWN);
    after = page.at(-1) ?? null;
    if (after === null || page.length < VALUES_READ) return top;
    if (spentSince(after, 0) <= (top[VALUES_SHOWN - 1]?.spent ?? -1n)) return top;
  }
}

interface LabelContext extends Pick<StandingsOptions, "users" | "directory"> {
  readonly values: readonly string[];
}

async function labelsOf({ accountId, scope }: Budget, { values, users, directory }: LabelContext) {
  if (scope === "member") return users.emailsOf(accountId, values);
  const named = (id: string) =>
    scope === "team" ? directory.team(id) : scope === "key" ? directory.keyById(id) : undefined;
  const found = values.map((id) => [id, named(id)] as const);
  return new Map(found.flatMap(([id, one]) => (one === undefined ? [] : [[id, shownName(one.name)] as const])));
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
