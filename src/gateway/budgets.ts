// Budgets of one request: which of the account's budgets count it, and on which counters. A budget of a model counts each
// model of the chain until it is known which one answers.

import { type Period, periodAt, renewsAtMs } from "../accounts/budgets/periods.ts";
import type { Quote } from "../billing/estimate.ts";
import { type Budget, isForEach } from "../core/budgets/budget.ts";
import {
  type BudgetRefusal,
  type BudgetTerm,
  type BudgetWindow,
  counterId,
  counterOf,
} from "../core/budgets/counter.ts";
import type { Decision } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import type { Note } from "../core/requests/notes.ts";
import type { RequestLabels } from "../core/requests/records.ts";
import type { Call, Caller } from "./call.ts";
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
    const facts = { caller: call.caller, tier: decision.tier, labels };
    for (const value of countedValues(budget, facts)) addCounted(found, budget, value, null);
  }
  return found.length === 0 ? null : found;
}

function addCounted(found: CountedBudget[], budget: Budget, value: string, model: string | null): void {
  if (!isForEach(budget) && budget.scope !== "tag" && budget.scope !== "account" && budget.value !== value) return;
  found.push({ budget, counter: counterId(budget.id, value), model });
}

interface Facts {
  readonly caller: Pick<Caller, "key" | "teams">;
  readonly tier: string;
  readonly labels: RequestLabels | null;
}

const NONE: readonly string[] = [];

/** The values of the request that the budget may count: two for a team inside another, one or none in other scopes. */
export function countedValues({ scope, value }: Budget, { caller, tier, labels }: Facts): readonly string[] {
  switch (scope) {
    case "account":
      return [""];
    case "team":
      return caller.teams.map(({ id }) => id);
    case "member":
      return caller.key.memberId === null ? NONE : [caller.key.memberId];
    case "key":
      return [caller.key.spendKeyId];
    case "tier":
      return [tier];
    case "endUser":
      return labels?.user == null ? NONE : [labels.user];
    case "tag":
      return tagOf(value ?? "", labels);
    case "model":
      return NONE;
  }
}

function tagOf(tag: string, labels: RequestLabels | null): readonly string[] {
  const [name = "", wanted] = splitTag(tag);
  const given = labels !== null && Object.hasOwn(labels.tags, name) ? labels.tags[name] : undefined;
  return given === undefined || (wanted !== undefined && wanted !== given) ? NONE : [`${name}=${given}`];
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

interface RefusedRequest {
  readonly counted: readonly CountedBudget[];
  readonly caller: Pick<Caller, "teams">;
  readonly needed: NanoUsd;
  readonly nowMs: number;
}

/** The 402 of a spent budget: names it, what is left and when it renews. */
export function budgetSpent(refusal: BudgetRefusal, { counted, caller, needed, nowMs }: RefusedRequest): GatewayError {
  const { budget } = counted.find(({ counter }) => counter === refusal.counter) as CountedBudget;
  const { left, held, sinceMs } = refusal;
  const isOnHold = left + held >= needed;
  const message = TEXT.budgetSpent({
    name: TEXT.budgetName(budget.name, isForEach(budget) ? shownValue(budget, refusal, caller) : null),
    needed: formatUsd(needed),
    left: formatUsd(left > 0n ? left : 0n),
    amount: formatUsd(budget.amount),
    held: isOnHold ? formatUsd(held) : null,
    renewsAtMs: renewsAtMs(budget, nowMs, sinceMs),
  });
  const retry = isOnHold ? { retryAfterSeconds: ON_HOLD_RETRY_SECONDS } : {};
  return new GatewayError("noCredit", message, { code: "budget_exceeded", ...retry });
}

/** Names the value that has spent its amount. Ids of members say nothing to them, so that a team is shown by its name. */
export function shownValue(
  { scope }: Budget,
  { counter }: Pick<BudgetRefusal, "counter">,
  { teams }: Pick<Caller, "teams">,
): string | null {
  const { value } = counterOf(counter);
  if (scope === "member") return null;
  return teams.find(({ id }) => scope === "team" && id === value)?.name ?? value;
}
