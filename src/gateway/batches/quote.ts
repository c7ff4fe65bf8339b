// The most that a request may cost, before it is made: what a batch holds for each of its lines.

import { holdAmounts } from "../../billing/estimate.ts";
import type { Decision } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HoldOp } from "../../core/ledger.ts";
import type { NanoUsd } from "../../core/money.ts";
import type { Call } from "../call.ts";
import { nameModel, planCascadeOf, prepared, route } from "../complete.ts";
import { noCredit, quotesOf } from "../reserve.ts";
import type { Services } from "../services.ts";

/** Amounts for the dearest model of the chain, and for the cheapest one. */
export interface LineQuote {
  readonly most: NanoUsd;
  readonly least: NanoUsd;
}

export const NO_QUOTE: LineQuote = { most: 0n, least: 0n };

export type QuotedCall = Pick<Call, "format" | "request" | "caller" | "headers">;

/** Zero for a request that is refused when its turn comes: that costs nothing. */
export function quoteLine(received: QuotedCall, services: Services): LineQuote {
  try {
    if (received.format.endpoint !== undefined) return quoteOf(received, nameModel(received, services), services);
    const call = prepared(received, services);
    const decision = route(call, services);
    const planned = planCascadeOf(call, decision, services);
    const quote = quoteOf(call, decision, services);
    if (planned?.state !== "planned") return quote;
    // Both answers are held at once, or else a single one.
    const both = planned.plan.decisions.map((one) => quoteOf(call, one, services).most);
    const sum = both.reduce((total, one) => total + one, 0n);
    return { most: sum > quote.most ? sum : quote.most, least: quote.least };
  } catch (error) {
    if (error instanceof GatewayError) return NO_QUOTE;
    throw error;
  }
}

function quoteOf(call: QuotedCall, decision: Decision, services: Services): LineQuote {
  const amounts = holdAmounts(quotesOf(call, decision, services).quotes);
  return { most: amounts[0] ?? 0n, least: amounts.at(-1) ?? 0n };
}

export interface BatchHold extends Pick<HoldOp, "id" | "accountId" | "keyId"> {
  /** The sum over all lines. */
  readonly quote: LineQuote;
  /** Price that the caller names; null for none. */
  readonly maxCost: NanoUsd | null;
}

/**
 * Takes one hold over all lines of a batch. Throws what the caller is told where the credits do not cover it. Returns true
 * if every line is covered, whatever it costs.
 */
export async function holdBatch({ quote, maxCost, ...of }: BatchHold, services: Services): Promise<boolean> {
  const isMetered = services.billingModeOf(of.accountId) === "metered";
  // Nothing limits what the lines of a metered account cost, unless the caller does.
  if (isMetered && maxCost === null) return true;
  // One more than they cost: nothing is granted from an empty hold, not even to lines that cost nothing.
  const capped = (amount: NanoUsd): NanoUsd => (maxCost === null ? amount : maxCost <= amount ? maxCost : amount + 1n);
  // A metered account has no balance that other lines could come from.
  const amounts = isMetered ? [maxCost ?? 0n] : [...new Set([capped(quote.most), capped(quote.least)])];
  const outcome = await services.ledger.hold({
    ...of,
    ...{ amounts, atLeast: null, spendLimit: null, isMetered, periodStartMs: 0 },
    shared: { isCapped: maxCost !== null },
  });
  if (outcome.state === "held") return outcome.amount >= quote.most;
  if (outcome.reason === "budget") throw new Error("a batch counts on no budget by itself");
  const needed = amounts.at(-1) as NanoUsd;
  throw noCredit(outcome, { needed, resetsAtMs: null, outputCapField: "requests" });
}
