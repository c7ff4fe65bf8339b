// Plans a cascade: what can be checked of the answer, and which two tiers may answer. The tier below the decided one begins
// if that is much cheaper; otherwise the decided one begins, and the tier above it is asked after a failure.

import { type ChatRequest, forcesTool } from "../../core/chat.ts";
import { type CascadeBounds, type Constraints, type Controls, type Decision, effortOf } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { type NanoUsd, usdNumber } from "../../core/money.ts";
import { pricedTier } from "../../core/price.ts";
import type { CascadeCheck, CascadeChecks, CascadeWebhooks } from "../../core/requests/cascade.ts";
import type { Note } from "../../core/requests/notes.ts";
import { TIERS, type Tier, tierRank } from "../../core/tiers.ts";
import { toChatOf } from "../../formats/bridge.ts";
import { type AnswerChecks, namesOf, readChecks } from "../../formats/checks/answer.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import { costAt, EXPECTED_OUTPUT_TOKENS, thinkingTokens, tokensAt } from "../../routing/cost.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import { openCallIds } from "../../routing/sessions/session.ts";
import type { Call } from "../call.ts";
import type { Services } from "../services.ts";
import * as TEXT from "../text.ts";

export interface CascadePlan {
  /** The second one is carried out only where the answer to the first fails its check. */
  readonly decisions: readonly [first: Decision, second: Decision];
  readonly checks: AnswerChecks;
  /** The names of the checks, in the order in which they run. */
  readonly names: readonly CascadeCheck[];
  /** The profile whose webhook is asked once the other checks have passed; null for none. */
  readonly webhookProfile: string | null;
  /** USD that both answers may cost together; null where nothing limits it. */
  readonly maxCostUsd: number | null;
}

/** A plan, or the reason why the request is answered as if it had asked for no cascade. */
export type PlannedCascade =
  | { readonly state: "planned"; readonly plan: CascadePlan }
  | { readonly state: "unused"; readonly because: string };

interface PlannedCall extends Pick<Call, "format" | "request"> {
  /** The id of the key's profile; null without one. */
  readonly profile: string | null;
  readonly constraints: Constraints;
}
/** Decides the same request within other bounds. */
type RouteWithin = (bounds: CascadeBounds) => Decision;

interface Planning extends Pick<Services, "catalog"> {
  readonly cascadeWebhooks: Pick<CascadeWebhooks, "has">;
  readonly routeWithin: RouteWithin;
}

/** A first answer at half the price pays even where every other one fails. By hand, no experiment recorded. */
const CHEAP_SHARE = 2n;

/** The cascade that a request or its profile asks for; null for none. */
export function askedCascade(
  { cascade: own }: Pick<Controls, "cascade">,
  { cascade: ofProfile }: Pick<Constraints, "cascade">,
): true | CascadeChecks | null {
  const asked = own ?? ofProfile;
  return asked === false ? null : asked;
}

/** Returns null for a request that asks for no cascade. */
export function planCascade(
  call: PlannedCall,
  decision: Decision,
  { catalog, cascadeWebhooks, routeWithin }: Planning,
): PlannedCascade | null {
  const { controls, chat } = call.request;
  const { profile, constraints } = call;
  const asked = askedCascade(controls, constraints);
  if (asked === null) return null;
  if (chat.isStream) return unused(TEXT.cascadeOfStream);
  if (decision.profile !== "auto") return unused(TEXT.cascadeOfFixed(decision.profile));
  const checks = readChecks(
    chatBodyOf(call, decision, catalog),
    asked === true ? {} : asked,
    forcesTool(chat.toolChoice),
  );
  const webhookProfile = cascadeWebhooks.has(profile) ? profile : null;
  const names = webhookProfile === null ? namesOf(checks) : [...namesOf(checks), "webhook" as const];
  if (names.length === 0) return unused(TEXT.cascadeUnchecked);
  // An open tool loop stays with its model, so no tier below begins.
  const lower = openCallIds(chat.messages).length === 0 ? below(decision, { chat, catalog, routeWithin }) : null;
  const decisions = lower ?? above(decision, routeWithin);
  if (decisions === null) return unused(TEXT.cascadeWithoutTier);
  const maxCostUsd = leastOf(controls.maxCostUsd, constraints.maxCostUsd);
  if (exceeds(decisions[0].costEstimate + decisions[1].costEstimate, maxCostUsd)) {
    return unused(TEXT.cascadeTooDear(maxCostUsd as number));
  }
  return { state: "planned", plan: { decisions, checks, names, webhookProfile, maxCostUsd } };
}

function unused(because: string): PlannedCascade {
  return { state: "unused", because };
}

export function unusedNote(because: string): Note {
  return { code: "cascade_unused", message: TEXT.cascadeUnused(because) };
}

/** Tells whether an amount is more than a request may cost. */
export function exceeds(amount: NanoUsd, maxCostUsd: number | null): boolean {
  return maxCostUsd !== null && usdNumber(amount) > maxCostUsd;
}

function leastOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** The request in the internal shape, with its schema and tools. One that only its own format can say has its tools. */
function chatBodyOf({ format, request }: PlannedCall, decision: Decision, catalog: Services["catalog"]): JsonObject {
  if (format.endpoint !== undefined) return {};
  try {
    return toChatOf(format, request, hostedModelsOf(decision, catalog)[0] as HostedModel).body;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { tools: request.chat.tools.map((tool) => ({ function: tool })) };
  }
}

interface Below extends Pick<Planning, "catalog" | "routeWithin"> {
  readonly chat: ChatRequest;
}

/** The tier below, and then the decided one. */
function below(decision: Decision, { routeWithin, ...sizes }: Below): CascadePlan["decisions"] | null {
  const lower = TIERS[tierRank(decision.tier) - 1];
  const { tier, lowestTier } = decision;
  if (lower === undefined || isBelow(lower, lowestTier)) return null;
  const first = routeWithin({ floor: null, ceiling: lower });
  if (!isBelow(first.tier, tier) || isBelow(first.tier, lowestTier)) return null;
  // The question is the same, so either answer is as long as the decided tier's usually are.
  const isCheap = costOf(first, tier, sizes) * CHEAP_SHARE <= costOf(decision, tier, sizes);
  return isCheap ? [first, decision] : null;
}

function above(decision: Decision, routeWithin: RouteWithin): CascadePlan["decisions"] | null {
  const higher = TIERS[tierRank(decision.tier) + 1];
  if (higher === undefined) return null;
  const second = routeWithin({ floor: higher, ceiling: null });
  // The same model may stand in both tiers with another effort.
  const isOther =
    [second.model, effortOf(second, second.model)].join() !==
    [decision.model, effortOf(decision, decision.model)].join();
  return isBelow(decision.tier, second.tier) && isOther ? [decision, second] : null;
}

function isBelow(tier: Tier, other: Tier | undefined): boolean {
  return other !== undefined && tierRank(tier) < tierRank(other);
}

/**
 * The cost of an answer with the thinking that its effort brings, and with what the first host is expected to have cached: a
 * cold model below may cost more than a warm one. An output cap is a bound here, since it is the same for both.
 */
function costOf(decision: Decision, tier: Tier, { chat, catalog }: Omit<Below, "routeWithin">): NanoUsd {
  const { estimatedTokens, session } = decision;
  const model = hostedModelsOf(decision, catalog)[0] as HostedModel;
  const input = tokensAt(model, estimatedTokens.input);
  const cacheRead = Math.min(session?.cachedTokens ?? 0, input);
  const length = EXPECTED_OUTPUT_TOKENS[tier] + thinkingTokens(model, effortOf(decision, model.id));
  const output = Math.min(length, chat.maxOutputTokens ?? length, model.maxOutput) * Math.max(1, chat.choiceCount);
  const buckets = { input: input - cacheRead, cacheRead, cacheWrite: 0, output };
  return costAt(model, buckets, catalog.markupPpm, pricedTier(model.price, chat.serviceTier));
}
