// Limits per minute of the budgets that hold for a request. They are checked before anything is reserved, and refuse with a
// 429 that names the budget.

import { isForEach } from "../core/budgets/budget.ts";
import { promptTokens } from "../core/chat.ts";
import type { Decision } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { TokenBuckets } from "../core/money.ts";
import { budgetsOf, type CountedBudget, shownValue } from "./budgets.ts";
import type { Call } from "./call.ts";
import type { Services } from "./services.ts";
import * as TEXT from "./text.ts";

/** Counts the request where limits allow it. A model's own limits count requests that try the model first. */
export async function requireRates(call: Call, decision: Decision, services: Services): Promise<void> {
  const counted = limitedOf(budgetsOf(call, decision, services), decision.model);
  if (counted.length === 0) return;
  // Tokens first, because asking for them counts nothing.
  for (const one of counted) {
    const limit = one.budget.tokensPerMinute;
    const seconds = limit === null ? 0 : await services.rates.tokensWait(one.counter, limit);
    if (seconds > 0) throw tooMany(one, { call, seconds, allowed: TEXT.tokens(limit) });
  }
  for (const one of counted) {
    const limit = one.budget.requestsPerMinute;
    const seconds = limit === null ? 0 : await services.rates.request(one.counter, limit);
    if (seconds > 0) throw tooMany(one, { call, seconds, allowed: TEXT.requests(limit) });
  }
}

/** Counts the tokens of an answer. Cached ones count like all others. */
export function noteTokens(
  budgets: readonly CountedBudget[] | null,
  { model, buckets }: { readonly model: string; readonly buckets: TokenBuckets },
  { rates }: Pick<Services, "rates">,
): void {
  for (const { budget, counter } of limitedOf(budgets, model)) {
    if (budget.tokensPerMinute !== null) rates.note(counter, promptTokens(buckets) + buckets.output);
  }
}

const NONE: readonly CountedBudget[] = [];

function limitedOf(counted: readonly CountedBudget[] | null, model: string): readonly CountedBudget[] {
  if (counted === null) return NONE;
  const isLimited = ({ budget }: CountedBudget): boolean =>
    budget.requestsPerMinute !== null || budget.tokensPerMinute !== null;
  return counted.filter((one) => isLimited(one) && (one.model === null || one.model === model));
}

interface Excess {
  readonly call: Call;
  readonly seconds: number;
  readonly allowed: string;
}

function tooMany({ budget, counter }: CountedBudget, { call, seconds, allowed }: Excess): GatewayError {
  const value = isForEach(budget) ? shownValue(budget, { counter }, call.caller) : null;
  const message = TEXT.budgetRateLimited(TEXT.budgetName(budget.name, value), allowed, seconds);
  return new GatewayError("rateLimited", message, { code: "budget_rate_limited", retryAfterSeconds: seconds });
}
