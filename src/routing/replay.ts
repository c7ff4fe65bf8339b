// Replays past requests under another policy: which ones would change, at what cost and why. Works from notes of that
// time instead of prompts; the notes only say that there were images. Pure.

import type { Catalog } from "../catalog/catalog.ts";
import { type ChatRequest, promptTokens } from "../core/chat.ts";
import {
  type Category,
  type Constraints,
  type Decision,
  NO_CONTROLS,
  type RoutingQuestion,
  type ToolCallsSeen,
} from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { HostedModel, Model } from "../core/model.ts";
import type { NanoUsd, TokenBuckets } from "../core/money.ts";
import { isSamePrice } from "../core/price.ts";
import type { PastRequest } from "../core/requests/log.ts";
import { higherTier, TIERS, type Tier } from "../core/tiers.ts";
import { type Placement, placeAuto, placeForced } from "./adjust.ts";
import { buildChain, type Chain } from "./chain.ts";
import { CODING } from "./classifier/rules.ts";
import { bucketsOf, costAt } from "./cost.ts";
import { controlsUnder, directChain } from "./direct.ts";
import { saferTier } from "./safer.ts";
import { isLaterTurn, type ReplayedSessions } from "./sessions/replayed.ts";
import { keyOf } from "./sessions/stay.ts";
import * as TEXT from "./text.ts";

/** A changed policy. Fields that are left out keep what was decided then. */
export interface Policy {
  /** The rules of the key's profile. */
  readonly constraints: Constraints;
  /** Catalogue with the chains, prices and unsure tier of the policy. */
  readonly catalog: Catalog;
  /** Bounds between the tiers on the score, rising: one less than there are tiers. */
  readonly bounds?: readonly number[];
  /** A confidence below this counts as unsure. */
  readonly sureFrom?: number;
  /** Tiers that a category is never placed below. */
  readonly categoryFloors?: Readonly<Partial<Record<Category, Tier>>>;
  readonly toolCallsSeen?: ToolCallsSeen;
  /** The catalogue in use. Where the policy has another price or markup, even a request that stays is priced again. */
  readonly inUse?: Catalog;
}

type ReplayOutcome =
  | { readonly state: "routed"; readonly tier: Tier; readonly model: string; readonly cost: NanoUsd | null }
  | { readonly state: "refused" };

export interface Replayed {
  readonly past: PastRequest;
  readonly next: ReplayOutcome;
  readonly isChanged: boolean;
  /** Reasons in words; empty where nothing changes. */
  readonly because: readonly string[];
}

/** `sessions`: what came before in the conversations of the replay, the requests of which come in order. */
export function replay(past: PastRequest, policy: Policy, sessions: ReplayedSessions | null = null): Replayed {
  const { decision } = past;
  try {
    const { start, chain, notes, keyId } = routeAgain(past, policy, sessions);
    const model = chain.models[0] as Model;
    const cost = costOf(past, chain, { policy, isKnown: sessions?.knows(past) === true });
    sessions?.note(past, { host: chain.first, keyId, tier: chain.tier, catalog: policy.inUse ?? policy.catalog });
    const next = { state: "routed", tier: chain.tier, model: model.id, cost } as const;
    const isChanged = next.tier !== decision.tier || next.model !== decision.model;
    if (!isChanged) return { past, next, isChanged, because: [] };
    const because = [...start, ...notes, ...chain.notes];
    return { past, next, isChanged, because: because.length > 0 ? because : [TEXT.firstInChain(model.id, chain.tier)] };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { past, next: { state: "refused" }, isChanged: true, because: [error.message] };
  }
}

interface Route {
  /** Reasons for another starting tier; empty where the tier is as before. */
  readonly start: readonly string[];
  readonly chain: Chain;
  readonly notes: readonly string[];
  /** The key that the session would use; null where the host has no choice of keys. */
  readonly keyId: string | null;
}

function routeAgain(past: PastRequest, policy: Policy, sessions: ReplayedSessions | null): Route {
  const { constraints, catalog, toolCallsSeen = new Map() } = policy;
  const { profile, model, toolScenario: scenario, estimatedTokens, controls: asked } = past.decision;
  const controls = asked ?? { ...NO_CONTROLS, profile, model: profile === "direct" ? model : null };
  const chat = shapeOf(past);
  const sessionView = sessions?.viewOf(past, policy.inUse ?? catalog) ?? null;
  const loopModel = past.decision.session?.isLoop === true ? (sessionView?.last?.model ?? model) : null;
  const question: RoutingQuestion = {
    ...{ chat, controls, constraints, restingModels: new Map(), toolCallsSeen, sessionView, loopModel },
    session: () => past.decision.session?.id ?? past.requestId,
  };
  const isDirect = controlsUnder(constraints, controls).profile === "direct";
  const inputTokens = estimatedTokens.input;
  const keyAt = ({ first }: Chain) => keyOf(first, sessionView?.last ?? null, { question, catalog });
  if (isDirect) {
    const chain = directChain({ question, catalog, inputTokens });
    return { start: [], chain, notes: [], keyId: keyAt(chain) };
  }
  const { start, placement } = place(past.decision, question, policy);
  const chain = buildChain({ question, catalog, placement, scenario, inputTokens });
  return { start, chain, notes: placement.notes, keyId: keyAt(chain) };
}

interface Placed {
  readonly start: readonly string[];
  readonly placement: Placement;
}

function place(decision: Decision, { controls, constraints }: RoutingQuestion, policy: Policy): Placed {
  const { profile, tier, category, historyFloor, confidence, score, isSure = true } = decision;
  if (profile === "tier") return { start: [], placement: placeForced(controls.forcedTier ?? tier, constraints) };
  const { tier: startTier, start } = startingTier(decision, policy);
  const isUnsure = policy.sureFrom === undefined ? !isSure : confidence < policy.sureFrom;
  const placement = placeAuto({
    tier: startTier,
    isCoding: category === CODING,
    unsureFloor: isUnsure ? saferTier({ tier: startTier, score }, policy.catalog.unsureTier) : null,
    historyFloor,
    escalation: { tiers: decision.session?.escalation ?? 0, because: [TEXT.evidenceOfFailure] },
    controls,
    constraints,
  });
  return { start, placement };
}

function startingTier(decision: Decision, { bounds, categoryFloors = {} }: Policy) {
  const { tier, classifiedTier = tier, score, category } = decision;
  const start: string[] = [];
  let starting = classifiedTier;
  if (bounds !== undefined && score !== undefined) {
    starting = TIERS[bounds.filter((bound) => score >= bound).length] as Tier;
    if (starting !== classifiedTier) start.push(TEXT.scoreFallsIn(score, starting));
  }
  const floored = higherTier(starting, categoryFloors[category] ?? starting);
  if (floored !== starting) start.push(TEXT.raised(TEXT.categoryFloor(category), starting, floored));
  return { tier: floored, start };
}

/** A request of the same shape: what routing asks of it beyond its words. */
function shapeOf({ features, decision }: PastRequest): ChatRequest {
  const image = { role: "user", content: [{ type: "image_url" }] } as const;
  const tool = { name: "", description: "", parameters: null };
  return {
    messages: (features?.attachments ?? 0) > 0 ? [image] : [],
    tools: decision.toolScenario === null ? [] : [tool],
    toolChoice: null,
    isStream: false,
    wantsUsage: false,
    maxOutputTokens: features?.outputCap || null,
    choiceCount: features?.choices ?? 1,
  };
}

interface Repricing {
  readonly policy: Policy;
  /** True when the replay has an earlier turn of the conversation. */
  readonly isKnown: boolean;
}

/** The charge of then where nothing changes, even if it was a fallback's or at an older price. */
function costOf(past: PastRequest, { first: model, offer }: Chain, { policy, isKnown }: Repricing): NanoUsd | null {
  const { decision, answer } = past;
  const { catalog } = policy;
  if (answer === null || model.price === null) return null;
  const isSame = answer.model === model.id || decision.model === model.id;
  if (isSame && !isRepriced(model, policy)) return answer.charge;
  const isSession = decision.session !== undefined;
  const buckets = isSession ? sessionBuckets(model, past, isKnown ? (offer?.cachedTokens ?? 0) : null) : answer.buckets;
  return costAt(model, buckets, catalog.markupPpm);
}

/**
 * In a conversation, another model or host has only that cached which earlier turns of the replay left there. Before its
 * first turn in the replay, the other rules would have applied too: it has cached what was read then (`cached` is null).
 */
function sessionBuckets(
  host: HostedModel,
  { decision, features, answer }: PastRequest,
  cached: number | null,
): TokenBuckets {
  const { cacheRead = 0, output = 0 } = answer?.buckets ?? {};
  const prompt = answer === null ? 0 : promptTokens(answer.buckets);
  const isCached = host.cache !== undefined && prompt >= host.cache.tokensMin;
  const read = isCached ? Math.min(cached ?? cacheRead, prompt) : 0;
  const isTalk = decision.toolScenario !== null || isLaterTurn(features);
  return bucketsOf(host, { prompt, cached: read, output, isMarked: isTalk || decision.session?.isPrefixSeen === true });
}

function isRepriced({ id, host, price }: HostedModel, { catalog, inUse = catalog }: Policy): boolean {
  const known = inUse.models.get(id)?.hosts.find((each) => each.host === host)?.price ?? null;
  return inUse.markupPpm !== catalog.markupPpm || !isSamePrice(known, price);
}
