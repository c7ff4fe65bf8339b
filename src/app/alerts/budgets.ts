// Events of budgets: 80% spent, and spent. Each once in the period of the budget.

import type { Budgets } from "../../accounts/budgets/budgets.ts";
import type { UsedBudget } from "../../accounts/budgets/standings.ts";
import type { EventSource } from "../../alerting/watch.ts";
import type { AccountStore } from "../../core/accounts.ts";
import type { Observation } from "../../core/alerts/kinds.ts";
import { isForEach } from "../../core/budgets/budget.ts";
import { counterId } from "../../core/budgets/counter.ts";
import { usdNumber } from "../../core/money.ts";

interface BudgetSourceOptions {
  readonly budgets: Pick<Budgets, "from" | "labels">;
  readonly accounts: Pick<AccountStore, "get">;
}

const WARNING_PERCENT = 80;
/** A hard budget refuses requests that no longer fit, so that it is hardly ever spent to the last cent. */
const REFUSING_PERCENT = 99;

export function budgetSource({ budgets, accounts }: BudgetSourceOptions): EventSource {
  return {
    async look() {
      const used = await budgets.from(WARNING_PERCENT);
      return Promise.all(used.map((one) => observationOf(one, { budgets, accounts })));
    },
  };
}

/** The period of the calendar is part of the subject, so that the next one is another event. */
async function observationOf(used: UsedBudget, { budgets, accounts }: BudgetSourceOptions): Promise<Observation> {
  const { budget, standing, percent } = used;
  const { id, accountId, amount, isHard, isRolling } = budget;
  const { value, spent, fromMs, renewsAtMs } = standing;
  const label = isForEach(budget) ? ((await budgets.labels(budget, [value])).get(value) ?? value) : null;
  const data = {
    account: (await accounts.get(accountId))?.name ?? accountId,
    budget: label === null ? budget.name : `${budget.name} (${label})`,
    spentUsd: cents(spent),
    amountUsd: cents(amount),
    renewsAt: `${new Date(renewsAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC`,
  };
  const subject = `${counterId(id, value)}${isRolling ? "" : ` ${fromMs}`}`;
  if (percent >= (isHard ? REFUSING_PERCENT : 100)) {
    const effect = isHard ? "requests are refused" : "requests go on";
    return { kind: "budget.spent", accountId, subject, data: { ...data, effect } };
  }
  return { kind: "budget.warning", accountId, subject, data: { ...data, percent: String(percent) } };
}

/** Small budgets need more than cents. */
function cents(amount: bigint): string {
  const usd = usdNumber(amount);
  return usd !== 0 && Math.abs(usd) < 1 ? usd.toPrecision(2) : usd.toFixed(2);
}
