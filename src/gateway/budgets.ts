// Budgets of one request: which of the account's budgets count it, and on which counters. A budget of a model counts each
// model of the chain until it is known which one answers.

import { isForEach } from "../accounts/budgets/budgets.ts";
import { type Period, periodAt, renewsAtMs } from "../accounts/budgets/periods.ts";
import type { Quote } from "../billing/estimate.ts";
import type { Budget } from "../core/budgets/budget.ts";
import { type BudgetRefusal, type BudgetTerm, type BudgetWindow, counterId } from "../core/budgets/counter.ts";
import type { Decision } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import type { Note } from "../core/requests/notes.ts";
import type { RequestLabels } from "../core/requests/records.ts";
import type { Call } from "./call.ts";
import { labelsOf } from "./labels.ts";
import type { Services } from "./services.ts";
import * as TEXT from "./text.ts";

/** A counter that a request counts on. */
export interface CountedBudget {
  readonly budget: Budget;
  readonly counter: string;
  /** Counts the request only if this model answers it; null counts it in any case. */
  readonly model: string | null;
}

/** Finds the budgets that hold for a request. Null where there are none, which is decided by one look at a map. */
export function budgetsOf(call: Call, decision: Decision, services: Services): readonly CountedBudget[] | null {
  const budgets = services.budgets.of(call.caller.key.accountId);
  if (budgets.length === 0) return null;
  const found: CountedBudget[] = [];
  let labels: RequestLabels | null = null;
  for (const budget of budgets) {
    if (budget.scope === "model") {
      for (const model of decision.chain) addCounted(found, budget, model, model);
      continue;
    }
    if (budget.scope === "tag" || budget.scope === "endUser") {
      labels ??= labelsOf(call.headers ?? {}, call.request.body, services.endUserHeaders);
    }
    const value = countedValue(budget, { keyId: call.caller.key.id, tier: decision.tier, labels });
    if (value !== null) addCounted(found, budget, value, null);
  }
  return found.length === 0 ? null : found;
}

function addCounted(found: CountedBudget[], budget: Budget, value: string, model: string | null): void {
  if (!isForEach(budget) && budget.scope !== "tag" && budget.scope !== "account" && budget.value !== value) return;
  found.push({ budget, counter: counterId(budget.id, value), model });
}

interface Facts {
  readonly keyId: string;
  readonly tier: string;
  readonly labels: RequestLabels | null;
}

/** The value of the request that the budget counts by; null where the budget does not count the request. */
export function countedValue({ scope, value }: Budget, { keyId, tier, labels }: Facts): string | null {
  if (scope === "account") return "";
  if (scope === "key") return keyId;
  if (scope === "tier") return tier;
  if (scope === "endUser") return labels?.user ?? null;
  if (scope === "model" || value === null) return null;
  const [name = "", wanted] = splitTag(value);
  const given = labels !== null && Object.hasOwn(labels.tags, name) ? labels.tags[name] : undefined;
  if (given === undefined || (wanted !== undefined && wanted !== given)) return null;
  return `${name}=${given}`;
}

function splitTag(tag: string): readonly [string, string?] {
  const at = tag.indexOf("=");
  return at < 0 ? [tag] : [tag.slice(0, at), tag.slice(at + 1)];
}

/** Lists the counters that the ledger checks and counts for a hold. */
export function budgetTerms(
  counted: readonly CountedBudget[],
  quotes: readonly Quote[],
  nowMs: number,
): readonly BudgetTerm[] {
  return counted.map(({ budget, counter, model }) => {
    const { fromMs, partMs } = currentPeriod(budget, nowMs);
    return { counter, limit: budget.amount, isHard: budget.isHard, fromMs, partMs, most: mostOf(model, quotes) };
  });
}

/** The dearest quote of the model; null where the hold is for no other model. */
function mostOf(id: string | null, quotes: readonly Quote[]): NanoUsd | null {
  if (id === null || quotes.every(({ model }) => model.id === id)) return null;
  return quotes.reduce((most, { model, amount }) => (model.id === id && amount > most ? amount : most), 0n);
}

/** The counters that a charge counts on, in the period in which it is booked. */
export function chargedBudgets(
  counted: readonly CountedBudget[],
  answeredBy: string,
  nowMs: number,
): readonly BudgetWindow[] {
  const charged = counted.filter(({ model }) => model === null || model === answeredBy);
  return charged.map(({ budget, counter }) => {
    const { fromMs, partMs } = currentPeriod(budget, nowMs);
    return { counter, fromMs, partMs };
  });
}

/** Asking a calendar costs more than the rest, so each budget keeps its answer until the period is over. */
const periods = new WeakMap<Budget, Period>();

function currentPeriod(budget: Budget, nowMs: number): Period {
  const known = periods.get(budget);
  if (known !== undefined && nowMs >= known.partMs && nowMs < known.untilMs) return known;
  const period = periodAt(budget, nowMs);
  periods.set(budget, period);
  return period;
}

/** The models that a spent budget leaves; null where the budget counts any model, or all of the chain. */
export function modelsLeft(
  decision: Decision,
  { counter }: BudgetRefusal,
  counted: readonly CountedBudget[],
): readonly string[] | null {
  const spent = counted.find((one) => one.counter === counter)?.model ?? null;
  const left = decision.chain.filter((id) => id !== spent);
  return spent === null || left.length === 0 ? null : left;
}

/** Notes about soft budgets that are spent. */
export function budgetNotes(spent: readonly string[], counted: readonly CountedBudget[]): readonly Note[] {
  const budgets = counted.filter(({ counter }) => spent.includes(counter));
  return budgets.map(({ budget }) => ({
    code: "budget_spent",
    message: TEXT.softBudgetSpent(budget.name, formatUsd(budget.amount), budget.period),
  }));
}

/** Running requests settle within moments, so what they have on hold is worth a quick retry. */
const ON_HOLD_RETRY_SECONDS = 1;

/** The 402 of a spent budget: names it, what is left and when it renews. */
export function budgetSpent(
  refusal: BudgetRefusal,
  {
    counted,
    needed,
    nowMs,
  }: { readonly counted: readonly CountedBudget[]; readonly needed: NanoUsd; readonly nowMs: number },
): GatewayError {
  const { budget } = counted.find(({ counter }) => counter === refusal.counter) as CountedBudget;
  const { left, held, sinceMs } = refusal;
  const isOnHold = left + held >= needed;
  const message = TEXT.budgetSpent({
    name: TEXT.budgetName(budget.name, isForEach(budget) ? refusal.counter.slice(budget.id.length + 1) : null),
    needed: formatUsd(needed),
    left: formatUsd(left > 0n ? left : 0n),
    amount: formatUsd(budget.amount),
    held: isOnHold ? formatUsd(held) : null,
    renewsAtMs: renewsAtMs(budget, nowMs, sinceMs),
  });
  const retry = isOnHold ? { retryAfterSeconds: ON_HOLD_RETRY_SECONDS } : {};
  return new GatewayError("noCredit", message, { code: "budget_exceeded", ...retry });
}
