// Settles a response: the tokens it used (or an estimate), their cost, the savings against the baseline, and the one
// charge in the ledger. Behaviour 7.

import { inputTokensPossible } from "../billing/estimate.ts";
import { baselinePriceOf } from "../catalog/catalog.ts";
import { promptTokens, type Usage, type UsageProblemReason } from "../core/chat.ts";
import type { Decision } from "../core/decision.ts";
import type { ChargedUsage, StoredAnswer } from "../core/ledger.ts";
import type { HostedModel } from "../core/model.ts";
import {
  type ChargedLine,
  costNano,
  costPico,
  type NanoUsd,
  type ServiceTier,
  type TokenBuckets,
} from "../core/money.ts";
import { type PricedUsage, priceOf, type RateCard } from "../core/price.ts";
import type { CostRecord } from "../core/requests/records.ts";
import type { WholeResponse } from "../formats/format.ts";
import type { MediaUse } from "../formats/media-use.ts";
import { outputTokensOf } from "../formats/provider/output-meter.ts";
import type { ServiceOutcome } from "../formats/service/service-object.ts";
import { baselineCost, savedShare } from "../routing/cost.ts";
import { chargedBudgets } from "./budgets.ts";
import type { Call } from "./call.ts";
import { noteTokens } from "./rates.ts";
import { type Reservation, spendPeriodStartMs } from "./reserve.ts";
import { nativePictureModels } from "./search/native-pictures.ts";
import type { Services } from "./services.ts";

/** The delivery of a provider, and the call it belongs to. */
export interface Delivered {
  readonly call: Call;
  readonly reservation: Reservation;
  /** The model as the host that answered serves it: that host's price is charged. */
  readonly model: HostedModel;
  /** The service tier with a price of its own that the host was asked for; undefined for the usual one. */
  readonly askedTier: ServiceTier | undefined;
  /** Usage as the provider reported it, if at all. */
  readonly usage: Usage | null;
  /** An estimate of what came from the provider, for where usage is missing. */
  readonly outputTokens: number;
  /** Usage that was reported counts the whole answer, not what had come of it at some moment. */
  readonly isCounted: boolean;
  readonly outcome: ChargedUsage["outcome"];
}

/** The assessment of a response: usage, charge and savings, before anything is booked. */
export interface Assessment extends ServiceOutcome {
  /** Token counts as the client sees them. */
  readonly usage: Usage;
  readonly charge: NanoUsd;
  readonly record: ChargedUsage;
  /** The tier that the host was asked for, where it answered at one with another price; `default` is the usual one. */
  readonly tierInsteadOf?: ServiceTier | "default";
  /** Says that the provider named no tier although one was asked for. */
  readonly isTierUntold?: true;
}

interface WholeDelivery extends Pick<Delivered, "call" | "reservation" | "model" | "askedTier"> {
  readonly whole: WholeResponse;
}

/** A whole answer that the client gets, or has to pay for. */
export function deliveredWhole({ call, reservation, model, askedTier, whole }: WholeDelivery): Delivered {
  const { usage } = whole;
  const isOutputCounted = usage !== null && usage.buckets.output > 0;
  const uncounted = call.request.media?.outputTokens ?? outputTokensOf(whole.outputText);
  const outputTokens = isOutputCounted ? 0 : uncounted;
  // By name: to copy the rest of an object takes 8 µs.
  return { call, reservation, model, askedTier, usage, outputTokens, isCounted: true, outcome: "complete" };
}

export function assess(given: Delivered, services: Services): Assessment {
  const { catalog, usageProblem } = services;
  const delivered = withoutForeignUnits(given);
  const { call, reservation, model, usage, outcome } = delivered;
  const bounds = boundsOf(delivered);
  const { buckets, isEstimated } = measure(delivered, bounds.outputTokens);
  const reason = problemOf(delivered, bounds);
  if (reason !== null) {
    const { requestId } = call;
    usageProblem({ requestId, provider: model.provider, model: model.id, reason, counted: countedBy(usage), bounds });
  }
  const counted = withOwnUnits(withPictures(delivered, services), call.request.media);
  const { baseline, markupPpm } = catalog;
  const charged = tiersPossible(delivered).map((tier) => {
    // The price of the moment at which a line was sent to a host.
    const card = call.native?.price ?? (model.price as RateCard);
    const at = priceOf(card, pricedUsage(counted, buckets, tier));
    return { serviceTier: tier, price: at, charge: costNano(buckets, at, markupPpm) };
  });
  const { serviceTier, price, charge } = charged.reduce((one, other) => (other.charge > one.charge ? other : one));
  const assessment: { -readonly [Name in keyof Assessment]: Assessment[Name] } = {
    usage: isEstimated ? estimatedUsage(buckets) : (usage as Usage),
    isUsageEstimated: isEstimated,
    isFallback: isFallback(model.id, reservation.decision),
    host: hostShown(model, reservation),
    savings: savedShare(charge, baselineCost(buckets, baseline)),
    charge,
    record: {
      requestId: call.requestId,
      model: model.id,
      provider: model.provider,
      buckets,
      isEstimated,
      price,
      markupPpm,
      outcome,
    },
  };
  if (serviceTier !== undefined) assessment.serviceTier = serviceTier;
  if (charged.length > 1) assessment.isTierUntold = true;
  else if (!isSameTier(delivered, serviceTier)) assessment.tierInsteadOf = delivered.askedTier ?? "default";
  return assessment;
}

/** Pictures that the provider made for its model have the price of an image model, the dearest that it may be. */
function withPictures({ call, model, usage }: Delivered, { catalog }: Services): Usage | null {
  if (usage?.imageTool === undefined) return usage;
  const { imageTool } = usage;
  const named = { model: call.request.imageAsk?.model ?? null };
  const rates = nativePictureModels(named, catalog, model.provider).map(({ price }) =>
    costPico(imageTool.buckets, priceOf(price as RateCard, imageTool)),
  );
  const line: ChargedLine = { unit: "image", count: 1, rate: Math.max(0, ...rates) };
  return { ...usage, pictures: [...(usage.pictures ?? []), line] };
}

/** The usage that is charged: the provider's own in most cases, as it is. */
function pricedUsage(
  counted: Partial<PricedUsage> | undefined,
  buckets: TokenBuckets,
  serviceTier: ServiceTier | undefined,
): PricedUsage {
  if (counted?.buckets === buckets && counted.serviceTier === serviceTier) return counted as PricedUsage;
  const known = { ...counted, buckets };
  return serviceTier === undefined ? known : { ...known, serviceTier };
}

/** Counts of images or characters alone are none for a model that is paid by tokens. */
function withoutForeignUnits(delivered: Delivered): Delivered {
  const { call, model, usage } = delivered;
  if (usage === null || call.request.media === undefined || isFree(model)) return delivered;
  const hasTokens = promptTokens(usage.buckets) + usage.buckets.output > 0;
  return hasTokens ? delivered : { ...delivered, usage: null };
}

/** Minutes and characters are ours to count where the provider told nothing of them: it may write tokens instead. */
function withOwnUnits(usage: Usage | null, media: MediaUse | undefined): Partial<PricedUsage> | undefined {
  if (usage === null || media === undefined) return usage ?? media?.counted;
  const { minute = 0, characters = 0 } = { ...media.counted.parts, ...usage.parts };
  return minute + characters === 0 ? usage : { ...usage, parts: { ...usage.parts, minute, characters } };
}

/**
 * The tier that the provider reports. An answer without counts is charged at the one that was asked for. Where counts come
 * without a tier, the provider may bill the usual one or the one that was asked for, and the dearer of them is charged.
 */
function tiersPossible({ call, model, askedTier, usage }: Delivered): readonly (ServiceTier | undefined)[] {
  // Hosts write the usual tier into the answers of their batches, and charge the price of batches.
  if (usage === null || call.native !== undefined) return [askedTier];
  const isUntold = usage.serviceTier === undefined && usage.isTierTold !== true;
  return isUntold && askedTier !== undefined && model.price?.tiers?.[askedTier] !== undefined
    ? [undefined, askedTier]
    : [usage.serviceTier];
}

/** Tells whether the tier that is charged has the price of the one that was asked for. */
function isSameTier({ model, askedTier }: Delivered, charged: ServiceTier | undefined): boolean {
  const tiers = model.price?.tiers;
  return (askedTier && tiers?.[askedTier]) === (charged && tiers?.[charged]);
}

/** Tells whether another model answered than the one selected. */
export function isFallback(answeredBy: string, { model }: Pick<Decision, "model">): boolean {
  return answeredBy !== model;
}

/** The host to show; null where the decision had no choice of hosts. */
export function hostShown({ host }: HostedModel, { decision }: Reservation): string | null {
  return decision.hosts === undefined ? null : host;
}

/** A client that disconnected has seen no final counts, so only complete responses can miss them. */
function problemOf(delivered: Delivered, bounds: TokenCounts): UsageProblemReason | null {
  const { model, usage, outcome, outputTokens, isCounted } = delivered;
  // A free answer need not be counted, and moderation never is.
  if (usage === null) return outcome === "complete" && !isFree(model) ? "missing" : null;
  if (exceeds(usage, bounds)) return "excessive";
  return isCounted && usage.buckets.output === 0 && outputTokens > 0 ? "output_missing" : null;
}

function isFree({ price }: HostedModel): boolean {
  return price?.input === 0 && price.output === 0;
}

function countedBy(usage: Usage | null): TokenCounts | null {
  return usage === null ? null : { inputTokens: promptTokens(usage.buckets), outputTokens: usage.buckets.output };
}

/** The most that the request can use. A provider that counts more is logged, since its count may be wrong. */
function boundsOf(delivered: Delivered): TokenCounts {
  const { chat, source, batch } = delivered.call.request;
  const bytes = batch?.bytes ?? source.bytes.length;
  return { inputTokens: inputTokensPossible(chat, bytes), outputTokens: outputTokensMax(delivered) };
}

function measure(delivered: Delivered, outputMax: number): Metered {
  const { reservation, usage, isCounted } = delivered;
  const outputTokens = Math.min(delivered.outputTokens, outputMax);
  const hasUncountedOutput = usage?.buckets.output === 0 && outputTokens > 0;
  const metered = meter({
    usage: isCounted && hasUncountedOutput ? null : usage,
    estimate: { inputTokens: reservation.decision.estimatedTokens.input, outputTokens },
  });
  // Usage reported early in a stream lags behind what was delivered when the client disconnected.
  if (isCounted || metered.buckets.output >= outputTokens) return metered;
  return { buckets: { ...metered.buckets, output: outputTokens }, isEstimated: true };
}

function outputTokensMax({ call, reservation, model, usage }: Delivered): number {
  const { maxOutputTokens, choiceCount } = call.request.chat;
  const cap = reservation.outputCaps.get(model.hostKey) ?? maxOutputTokens ?? model.maxOutput;
  return Math.min(cap, model.maxOutput) * choiceCount * (usage?.ownSearches?.rounds ?? 1);
}

/** The charge, as the report tells it. */
export interface Settlement {
  readonly usage: Usage;
  readonly cost: CostRecord;
}

/** Charges a client that disconnected for what the provider had sent by then. */
export function chargeDisconnected(received: Omit<Delivered, "outcome">, services: Services): Promise<Settlement> {
  const delivered: Delivered = { ...received, outcome: "client-gone" };
  return book(delivered, assess(delivered, services), null, services);
}

/** Books the charge before the end of the response is sent. A store that is away only delays it. */
export async function book(
  { call, reservation }: Delivered,
  { charge, record, usage, serviceTier }: Assessment,
  answer: StoredAnswer | null,
  { ledger, rates, log, catalog, now }: Services,
): Promise<Settlement> {
  const { holdId, accountId } = reservation;
  const { buckets, isEstimated, price, markupPpm } = record;
  const periodStartMs = spendPeriodStartMs(call.caller.key, now());
  const settlement = { holdId, accountId, charge, usage: record, periodStartMs, answer };
  const { budgets } = reservation;
  const booked = await ledger.settle(
    budgets === null ? settlement : { ...settlement, budgets: chargedBudgets(budgets, record.model, now()) },
  );
  noteTokens(budgets, record, { rates });
  if (booked.state === "settled" && booked.absorbed > 0n) {
    log.warn(
      { event: "charge.exceeded_balance", requestId: call.requestId, absorbedNano: String(booked.absorbed) },
      "response cost more than the balance",
    );
  }
  if (booked.state === "already-resolved") {
    log.error(
      { event: "charge.hold_resolved", requestId: call.requestId, holdId },
      "response could not be charged: its hold was already resolved",
    );
  }
  const { isNamed } = reservation.decision;
  const baseline = isNamed ? charge : baselineCost(buckets, catalog.baseline);
  const baselineModel = isNamed ? record.model : catalog.baseline.id;
  const baselinePrice = isNamed ? null : baselinePriceOf(catalog);
  const cost: { -readonly [Name in keyof CostRecord]: CostRecord[Name] } = {
    buckets,
    isEstimated,
    price,
    markupPpm,
    charge,
    baseline,
    baselineModel,
    holdId,
  };
  if (baselinePrice !== null) cost.baselinePrice = baselinePrice;
  if (serviceTier !== undefined) cost.serviceTier = serviceTier;
  return { usage, cost };
}

// Usage as providers report it, put into disjoint token buckets. What is missing is estimated from what was delivered, within
// the bounds of the request.

interface Metered {
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
}

interface MeterInput {
  readonly usage: Usage | null;
  /** Stands in where usage is missing. */
  readonly estimate: TokenCounts;
}

interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function meter({ usage, estimate }: MeterInput): Metered {
  if (usage !== null) return { buckets: usage.buckets, isEstimated: false };
  return {
    buckets: { input: estimate.inputTokens, cacheRead: 0, cacheWrite: 0, output: estimate.outputTokens },
    isEstimated: true,
  };
}

/**
 * More than the request seems to allow. Hosts that search the web or think apart from the cap do count more, and bill it;
 * so it is charged like any other usage, and the operator hears of it.
 */
function exceeds({ buckets }: Usage, { inputTokens, outputTokens }: TokenCounts): boolean {
  return promptTokens(buckets) > inputTokens || buckets.output > outputTokens;
}

/** Usage where the provider reported nothing that can be true. */
export function estimatedUsage(buckets: TokenBuckets): Usage {
  return { buckets, longCacheWrite: 0, reasoning: 0 };
}
