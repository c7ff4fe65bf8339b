// Endpoints other than chat: nothing is classified or ranked. The request names its model, and this finds it.

import { type Catalog, isUsable } from "../catalog/catalog.ts";
import { findModel } from "../catalog/model-names.ts";
import { type ChatRequest, contentText } from "../core/chat.ts";
import { type Constraints, type Controls, type Decision, NO_CONTROLS, type RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { Endpoint, Model } from "../core/model.ts";
import { costNano } from "../core/money.ts";
import { type PricedUsage, priceOf } from "../core/price.ts";
import type { HostOrder } from "../core/requests/controls.ts";
import { chooseHosts } from "./chain.ts";
import { costAt, estimateTextsTokens } from "./cost.ts";
import {
  ableHosts,
  constraintNeeds,
  describeNeeds,
  hostsMeeting,
  type Need,
  type Scoped,
  scopedNeeds,
} from "./needs.ts";
import * as TEXT from "./text.ts";

interface LikelyUse {
  readonly counted: Pick<PricedUsage, "parts" | "images">;
  readonly outputTokens: number;
}

export interface NamedQuestion {
  readonly endpoint: Endpoint;
  /** The model of the request; null where the request names none. */
  readonly model: string | null;
  readonly chat: ChatRequest;
  /** Input that came as token ids. */
  readonly tokenIds: number;
  /** Units beside tokens that the request is likely to use, with its output tokens; absent for none. */
  readonly used?: LikelyUse | undefined;
  readonly constraints: Constraints;
  readonly hostOrder?: HostOrder | null;
  /** Asked for by the request in another gateway's words. */
  readonly hostWishes?: Pick<Controls, "providersFirst" | "isOneHost">;
  /** Required by the request itself. */
  readonly residency?: Scoped;
  readonly restingModels?: RoutingQuestion["restingModels"];
}

export function decideNamed(question: NamedQuestion, catalog: Catalog): Decision {
  const model = namedModel(question, catalog);
  const { chat, constraints, hostOrder = null, hostWishes = {}, restingModels = new Map() } = question;
  const controls = { ...NO_CONTROLS, hostOrder, ...hostWishes };
  const hostQuestion = { chat, controls, constraints, restingModels };
  const hostsOf = () => hostsMeeting(needsOf(question, catalog), model, catalog);
  const { first, hosts } = chooseHosts([model], hostsOf, { question: hostQuestion, catalog });
  const texts = question.chat.messages.map(({ content }) => contentText(content));
  const input = question.tokenIds + estimateTextsTokens(texts);
  const buckets = { input, cacheRead: 0, cacheWrite: 0, output: 0 };
  const costEstimate = costAt(first, buckets, catalog.markupPpm);
  return {
    tier: model.tier,
    confidence: 1,
    model: model.id,
    category: "general",
    method: "direct",
    reasoning: TEXT.namedByRequest(model.id),
    isNamed: true,
    costEstimate,
    baselineCost: costEstimate,
    savings: 0,
    chain: [model.id],
    ...(hosts === null ? {} : { hosts }),
    profile: "direct",
    historyFloor: null,
    toolScenario: null,
    toolScore: null,
    candidates: [{ model: model.id, removedBecause: null }],
    estimatedTokens: { input, output: 0 },
  };
}

/** All that a key with these constraints may ask for at their endpoints. What a profile requires of chat does not count. */
export function namedModels(constraints: Constraints, catalog: Catalog): readonly Model[] {
  const needs = constraintNeeds({ ...constraints, capabilities: [] }, catalog);
  return endpointModels(catalog).filter((model) => hostsMeeting(needs, model, catalog).length > 0);
}

function endpointModels(catalog: Catalog): readonly Model[] {
  return [...catalog.models.values()].filter((model) => model.endpoint !== null && isUsable(catalog, model));
}

function needsOf({ constraints, residency = {} }: NamedQuestion, catalog: Catalog): readonly Need[] {
  const ofProfile = constraintNeeds({ ...constraints, capabilities: [] }, catalog);
  return [...ofProfile, ...scopedNeeds(residency, catalog)];
}

/** Throws a 400 where models of the endpoint are connected and none is where profile and request require it. */
function requireHost({ endpoint, constraints, residency = {} }: NamedQuestion, catalog: Catalog): void {
  const needs = [...scopedNeeds(constraints, catalog), ...scopedNeeds(residency, catalog)];
  if (needs.length === 0) return;
  const models = endpointModels(catalog).filter((model) => model.endpoint === endpoint);
  const isLeft = ({ hosts }: Model): boolean => ableHosts(needs, hosts).length > 0;
  if (models.length === 0 || models.some(isLeft)) return;
  const sentence = describeNeeds(needs, models)?.sentence ?? "";
  throw new GatewayError("badRequest", TEXT.noneCapable(sentence, null), { code: "no_capable_model" });
}

function namedModel(question: NamedQuestion, catalog: Catalog): Model {
  const { endpoint, model: id } = question;
  requireHost(question, catalog);
  const needs = needsOf(question, catalog);
  const isOffered = (model: Model): boolean =>
    model.endpoint === endpoint && hostsMeeting(needs, model, catalog).length > 0;
  const offered = endpointModels(catalog).filter(isOffered);
  const [first] = offered;
  const known = findModel(catalog, id ?? "");
  const chosen = id === AUTO && CHEAPEST.has(endpoint) ? cheapest(offered, question) : undefined;
  const named = chosen ?? (id === null && DEFAULTED.has(endpoint) ? first : offered.find((model) => model === known));
  if (named !== undefined) return named;
  const choice = first === undefined ? TEXT.noneForEndpoint(endpoint) : TEXT.canUse(idsOf(offered));
  if (id === null && first !== undefined) {
    const message = TEXT.endpointModelRequired(choice);
    throw new GatewayError("badRequest", message, { code: "model_required", param: "model" });
  }
  if (known !== undefined && known.endpoint !== endpoint) throw wrongEndpoint(known, endpoint, choice);
  const missing = id === null ? "" : TEXT.noSuchModel(id.slice(0, ID_SHOWN), endpoint);
  const operator = first === undefined ? { operator: TEXT.connectForEndpoint(endpoint) } : {};
  const details = { code: "model_not_found", param: "model", logged: choice, ...operator };
  throw new GatewayError("notFound", `${missing}${choice}`, details);
}

/** Endpoints whose clients name no model, because their vendor has one for everything. */
const DEFAULTED: ReadonlySet<Endpoint> = new Set(["moderation"]);
/** Endpoints whose models do the same, so that `auto` takes the cheapest one for the request. */
const CHEAPEST: ReadonlySet<Endpoint> = new Set(["images", "transcription"]);
const AUTO = "auto";

/** By what the request is likely to cost at each. */
function cheapest(models: readonly Model[], question: NamedQuestion): Model | undefined {
  const { tokenIds, used } = question;
  const costs = models.flatMap((model) => {
    if (model.price === null || used === undefined) return [];
    const buckets = { input: tokenIds, cacheRead: 0, cacheWrite: 0, output: used.outputTokens };
    return [{ model, cost: costNano(buckets, priceOf(model.price, { ...used.counted, buckets }), 0) }];
  });
  return costs.sort((one, other) => Number(one.cost - other.cost))[0]?.model;
}

const ID_SHOWN = 200;
const IDS_SHOWN = 20;

function idsOf(models: readonly Model[]): string {
  const shown = models.slice(0, IDS_SHOWN).map(({ id }) => id);
  return shown.length < models.length ? TEXT.andOthers(shown.join(", ")) : shown.join(", ");
}

export function wrongEndpoint({ id, endpoint: own }: Model, endpoint: Endpoint | "chat", choice: string): GatewayError {
  const message = TEXT.wrongEndpoint(id, own ?? "chat", endpoint, choice);
  return new GatewayError("badRequest", message, { code: "wrong_endpoint", param: "model" });
}
