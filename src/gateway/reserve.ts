// Reserves credits before the first byte goes to a provider: one hold for the whole chain. A balance that does not
// cover the chain may cover part of it, or a shorter response. Behaviour 7.

import {
  affordableOutput,
  holdAmounts,
  leastUseful,
  type Quote,
  type QuoteInput,
  quoteChain,
} from "../billing/estimate.ts";
import { type Retirement, retirementOf } from "../catalog/retirement.ts";
import { type Decision, effortOf } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { KeyRecord } from "../core/keys.ts";
import { nextPeriodMs, periodStartMs } from "../core/keys.ts";
import type { HoldOp, HoldOutcome } from "../core/ledger.ts";
import type { HostedModel } from "../core/model.ts";
import { formatUsd, type NanoUsd } from "../core/money.ts";
import { NO_NOTES, type Note } from "../core/requests/notes.ts";
import { timeInBase36 } from "../core/requests/time-text.ts";
import { EXPECTED_OUTPUT_TOKENS, thinkingTokens } from "../routing/cost.ts";
import { hostedModelsOf } from "../routing/hosts.ts";
import { randomHex } from "../telemetry/trace-context.ts";
import { budgetNotes, budgetSpent, budgetsOf, budgetTerms, type CountedBudget, modelsLeft } from "./budgets.ts";
import type { Call } from "./call.ts";
import type { Services } from "./services.ts";
import * as TEXT from "./text.ts";

export interface Reservation {
  readonly holdId: string;
  readonly accountId: string;
  readonly amount: NanoUsd;
  /** The decision, narrowed to the models that the hold covers. */
  readonly decision: Decision;
  /** Models of the decision at every host where they may be tried, in that order. */
  readonly models: readonly HostedModel[];
  /** The output cap per choice to send to each host, by host key, where the balance makes one necessary. */
  readonly outputCaps: ReadonlyMap<string, number>;
  /** Notes for the answer about what the balance and budgets do not cover. */
  readonly notes: readonly Note[];
  /** The end of a model that the request names. Null while it is far, and for routed requests, which go on without it. */
  readonly retirement: Retirement | null;
  /** The counters of budgets that the hold counts on; null without any. */
  readonly budgets: readonly CountedBudget[] | null;
}

/** Running requests settle within moments, so their reserved credits are worth a quick retry. */
const ON_HOLD_RETRY_SECONDS = 1;
/** Marks the answer to a line that costs more than is left of the price that the caller of its batch named. */
export const MAX_COST_HEADER = "x-batch-max-cost";
const NO_CAPS: ReadonlyMap<string, number> = new Map();

export async function reserve(call: Call, decision: Decision, services: Services): Promise<Reservation> {
  // A hold that was refused leaves nothing behind, so another trial may have its id.
  const holdId = (await call.nextHoldId?.()) ?? newHoldId(services.now());
  for (let trial = decision; ; ) {
    const asked = askedHold(call, { decision: trial, holdId }, services);
    const outcome = await services.ledger.hold(asked.terms);
    const next = withoutSpent(asked, outcome);
    if (next === null) return reservationOf(outcome, { asked, wanted: decision }, services);
    trial = next;
  }
}

/** Drops a model whose own budget is spent, while the chain has others. */
function withoutSpent({ decision, budgets }: AskedHold, outcome: HoldOutcome): Decision | null {
  if (budgets === null || outcome.state !== "refused" || outcome.reason !== "budget") return null;
  const chain = modelsLeft(decision, outcome.budget, budgets);
  if (chain === null) return null;
  const dropped = decision.chain.filter((id) => !chain.includes(id)).join(", ");
  return { ...adjusted(decision, TEXT.leftOutByBudget(dropped)), chain, model: chain[0] as string };
}

/** The most that each model of a decision could cost. */
export function quotesOf(
  call: Pick<Call, "request" | "format">,
  decision: Decision,
  services: Pick<Services, "catalog">,
): { readonly input: QuoteInput; readonly quotes: readonly Quote[] } {
  const input: QuoteInput = {
    models: hostedModelsOf(decision, services.catalog),
    chat: call.request.chat,
    bodyBytes: call.request.batch?.bytes ?? call.request.source.bytes.length,
    isBatch: call.request.batch !== undefined,
    media: call.request.media?.most,
    mayCacheLong: call.format.mayCacheLong(call.request),
    expectedOutputTokens: EXPECTED_OUTPUT_TOKENS[decision.tier],
    effortTokens: (model) => thinkingTokens(model, effortOf(decision, model.id)),
    markupPpm: services.catalog.markupPpm,
  };
  return { input, quotes: quoteChain(input) };
}

function askedHold(
  call: Call,
  { decision, holdId: id }: { readonly decision: Decision; readonly holdId: string },
  services: Services,
): AskedHold {
  const { key } = call.caller;
  const { input, quotes } = quotesOf(call, decision, services);
  const amounts = holdAmounts(quotes);
  const { spendKeyId: keyId, accountId, spendLimitNano: spendLimit } = key;
  const atLeast = leastUseful(quotes, input);
  const periodStartMs = spendPeriodStartMs(key, services.now());
  const isMetered = services.billingModeOf(accountId) === "metered";
  const terms = { id, accountId, keyId, amounts, atLeast, spendLimit, isMetered, periodStartMs };
  const budgets = budgetsOf(call, decision, services);
  if (budgets === null) return { call, decision, quotes, input, terms, budgets };
  const limited = { ...terms, budgets: budgetTerms(budgets, quotes, services.now()) };
  return { call, decision, quotes, input, terms: limited, budgets };
}

/** The hold that the ledger was asked for, and its purpose. */
interface AskedHold {
  readonly call: Call;
  readonly decision: Decision;
  readonly quotes: readonly Quote[];
  readonly input: QuoteInput;
  readonly terms: Omit<HoldOp, "kind">;
  readonly budgets: readonly CountedBudget[] | null;
}

/** `wanted` is the decision before models were left out because of their budgets. */
function reservationOf(
  outcome: HoldOutcome,
  { asked, wanted }: { readonly asked: AskedHold; readonly wanted: Decision },
  services: Services,
): Reservation {
  const { call, decision, quotes, input, terms, budgets } = asked;
  const { id: holdId, accountId, amounts, atLeast } = terms;
  if (outcome.state === "refused") {
    const needed = atLeast ?? (amounts.at(-1) as NanoUsd);
    if (outcome.reason === "budget") {
      throw budgetSpent(outcome.budget, { counted: budgets ?? [], caller: call.caller, needed, nowMs: services.now() });
    }
    const resetsAtMs = nextPeriodMs(call.caller.key.spendReset, services.now());
    throw noCredit(outcome, { needed, resetsAtMs, outputCapField: call.format.outputCapField });
  }
  const { amount } = outcome;
  const fitted = coverable({ decision, quotes, amount, input });
  if (fitted.decision !== decision) {
    const { model, reasoning } = fitted.decision;
    services.log.info(
      { event: "reservation.chain_shortened", requestId: call.requestId, model, reasoning },
      "balance does not cover the whole chain",
    );
  }
  const models = fitted.decision === decision ? input.models : hostedModelsOf(fitted.decision, services.catalog);
  const retirement = namedRetirement(fitted.decision, services);
  const { outputCaps } = fitted;
  const isAsWanted = fitted.decision.model === wanted.model && outcome.spentBudgets === undefined;
  const notes = isAsWanted ? NO_NOTES : balanceNotes(outcome, { asked, wanted, model: fitted.decision.model });
  return { holdId, accountId, amount, decision: fitted.decision, outputCaps, models, notes, retirement, budgets };
}

/** Notes about models that the balance and budgets leave out, and about soft budgets that are spent. */
function balanceNotes(
  { spentBudgets }: Extract<HoldOutcome, { readonly state: "held" }>,
  {
    asked: { decision, budgets },
    wanted,
    model,
  }: { readonly asked: AskedHold; readonly wanted: Decision; readonly model: string },
): readonly Note[] {
  return [
    ...(model === decision.model ? NO_NOTES : [cheaperNote(decision)]),
    ...(decision.model === wanted.model ? NO_NOTES : [overBudgetNote(wanted)]),
    ...(spentBudgets === undefined ? NO_NOTES : budgetNotes(spentBudgets, budgets ?? [])),
  ];
}

/** Tells from memory alone that an account has credits; false says nothing. */
export function hasCredits(
  accountId: string,
  { ledger, billingModeOf }: Pick<Services, "ledger" | "billingModeOf">,
): boolean {
  return billingModeOf(accountId) === "metered" || ledger.leased(accountId) > 0n;
}

/** For a body that is large enough to be worth the look before it is read. The hold decides what it really costs. */
export async function requireCredits(accountId: string, { ledger }: Pick<Services, "ledger">): Promise<void> {
  const { posted, held } = await ledger.balance(accountId);
  if (posted > held) return;
  if (posted > 0n) throw onHold(TEXT.allReserved);
  throw insufficient(TEXT.noCreditsLeft());
}

/** The start of the current spend period of a key; 0 where its limit never resets. */
export function spendPeriodStartMs({ spendLimitNano, spendReset }: KeyRecord, nowMs: number): number {
  return spendLimitNano === null ? 0 : periodStartMs(spendReset, nowMs);
}

function cheaperNote({ model }: Decision): Note {
  return { code: "chain_shortened_by_balance", message: TEXT.chainShortened(model) };
}

function overBudgetNote({ model }: Decision): Note {
  return { code: "model_over_budget", message: TEXT.modelOverBudget(model) };
}

function namedRetirement({ profile, model: id }: Decision, { catalog, now }: Services): Retirement | null {
  const model = profile === "direct" ? catalog.models.get(id) : undefined;
  const retirement = model === undefined ? null : retirementOf(catalog, model, now());
  return retirement?.state === "later" ? null : retirement;
}

interface Fitting {
  readonly decision: Decision;
  readonly quotes: readonly Quote[];
  readonly amount: NanoUsd;
  readonly input: QuoteInput;
}

/** The decision, as far as the hold covers it. */
function coverable(fitting: Fitting): Pick<Reservation, "decision" | "outputCaps"> {
  const { decision, quotes, amount } = fitting;
  if (quotes.every((quote) => quote.amount <= amount)) return { decision, outputCaps: NO_CAPS };
  const covered = quotes.filter((quote) => quote.amount <= amount);
  return covered.length === 0
    ? shortened(fitting)
    : { decision: narrowed(decision, covered, quotes), outputCaps: NO_CAPS };
}

/**
 * Returns a short id, because each charge stores it four times. The id begins with the time, so that the store appends
 * in one place.
 */
function newHoldId(nowMs: number): string {
  return `${timeInBase36(nowMs)}-${randomHex(RANDOM_BYTES)}`;
}

const RANDOM_BYTES = 8;

/** Removes the models and hosts that the balance does not cover; the decision says so. */
function narrowed(decision: Decision, covered: readonly Quote[], quotes: readonly Quote[]): Decision {
  const left = quotes.filter((quote) => !covered.includes(quote)).map(({ model }) => model);
  if (left.length === 0) return decision;
  const chain = decision.chain.filter((id) => covered.some(({ model }) => model.id === id));
  const note = TEXT.leftOut(left.map(({ hostKey }) => hostKey));
  return { ...adjusted(decision, note), chain, model: chain[0] as string, ...narrowedHosts(decision, covered) };
}

function narrowedHosts({ hosts }: Decision, covered: readonly Quote[]): Pick<Decision, "hosts"> {
  if (hosts === undefined) return {};
  const namesOf = (id: string) => covered.filter(({ model }) => model.id === id).map(({ model }) => model.host);
  return { hosts: Object.fromEntries(Object.keys(hosts).map((id) => [id, namesOf(id)])) };
}

/** No model is covered at full length, so each gets the output cap the amount can pay for. */
function shortened({ decision, quotes, amount, input }: Fitting): Pick<Reservation, "decision" | "outputCaps"> {
  const outputCaps = new Map<string, number>();
  for (const quote of quotes) {
    const cap = affordableOutput(quote, amount, input);
    if (cap !== null) outputCaps.set(quote.model.hostKey, cap);
  }
  const buying = narrowed(
    decision,
    quotes.filter(({ model }) => outputCaps.has(model.hostKey)),
    quotes,
  );
  const first = quotes.find(({ model }) => outputCaps.has(model.hostKey)) as Quote;
  const note = TEXT.outputLimited(outputCaps.get(first.model.hostKey));
  return { decision: adjusted(buying, note), outputCaps };
}

function adjusted(decision: Decision, note: string): Decision {
  const { reasoning, adjustments = [] } = decision;
  return { ...decision, reasoning: `${reasoning}; ${note}`, adjustments: [...adjustments, note] };
}

type HoldRefusal = Extract<HoldOutcome, { readonly available: NanoUsd }>;

/** Figures for a 402: the least that would have been enough, and when a spend limit resets. */
interface Shortfall {
  readonly needed: NanoUsd;
  readonly resetsAtMs: number | null;
  readonly outputCapField: string;
}

export function noCredit(
  { reason, available }: HoldRefusal,
  { needed, resetsAtMs, outputCapField }: Shortfall,
): GatewayError {
  const amounts = TEXT.amounts(formatUsd(needed), formatUsd(available > 0n ? available : 0n));
  if (reason === "on-hold") return onHold(TEXT.creditsReserved(amounts));
  if (reason === "spend-limit") {
    const message = TEXT.spendLimitReached(amounts, resetsAtMs);
    return new GatewayError("noCredit", message, { code: "spend_limit_reached" });
  }
  if (reason === "max-cost") {
    const headers = { [MAX_COST_HEADER]: "reached" };
    return new GatewayError("noCredit", TEXT.maxCostReached(amounts), { code: "max_cost_reached", headers });
  }
  // At zero a smaller answer would be refused as well.
  return insufficient(available > 0n ? TEXT.notEnoughCredits(amounts, outputCapField) : TEXT.noCreditsLeft(amounts));
}

function insufficient(message: string): GatewayError {
  return new GatewayError("noCredit", message, { code: "insufficient_credits", operator: TEXT.addCredits() });
}

function onHold(message: string): GatewayError {
  return new GatewayError("noCredit", message, { code: "credits_on_hold", retryAfterSeconds: ON_HOLD_RETRY_SECONDS });
}
