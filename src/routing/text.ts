// Sentences of routing: the steps in `reasoning`, why a model is left out, and refusals. A step begins in lower case and
// has no semicolon, because `reasoning` joins its steps with them.

import type { Category } from "../core/decision.ts";
import type { Endpoint } from "../core/model.ts";
import type { HostOrder } from "../core/requests/controls.ts";
import { TIERS, type Tier } from "../core/tiers.ts";

// adjust.ts
export const bounds = {
  nothing: "nothing",
  requestedFloor: "requested floor",
  codeQuality: "code quality slider",
  chatQuality: "chat quality slider",
  profileFloor: "profile floor",
  profileCodeQuality: "profile code quality",
  profileChatQuality: "profile chat quality",
  requestedCeiling: "requested ceiling",
  profileCeiling: "profile ceiling",
  unsure: "low confidence",
  historyFloor: "history floor",
  cascade: "cascade",
} as const;
export const raised = (because: string, from: Tier, to: Tier) => `${because} raised ${from} to ${to}`;
export const lowered = (because: string, from: Tier, to: Tier) => `${because} lowered ${from} to ${to}`;
export const escalated = (evidence: readonly string[], from: Tier, to: Tier) =>
  `raised from ${from} to ${to}: ${evidence.join(" and ")}`;

export const escalationPrice = (usd: string) => `which costs about ${usd} more for this request`;

// sessions/evidence.ts
export const userComplained = "the user said the answer was wrong";
export const earlierEvidence = "earlier failures in this task";
export const callRepeated = "the same tool call was repeated";
export const callsFailed = (count: number) => `${count} tool calls failed in a row`;
export const editFailedAgain = "the same edit failed again";
export const checkStillFails = (name: string, failing: number) =>
  `${name} still fails after a change (${failing === 1 ? "1 failure" : `${failing} failures`})`;
export const answerEmpty = "the previous answer was empty";
export const answerCutOff = "the previous answer was cut off";

// chain.ts
export const notConnected = "no configured provider or no price";
export const tierUsedInstead = (unable: Tier, used: Tier, missing: string | null) =>
  missing === null
    ? `no model is connected for ${unable}, so ${used} was used`
    : `no model of the ${unable} chain ${missing}, so ${used} was used`;
export const noneConnected = (ceiling: Tier | null) =>
  ceiling === null
    ? "No model is connected to this gateway."
    : `No model is connected for ${upTo(ceiling)}. Raise the ceiling.`;
export const noneCapable = (missing: string, ceiling: Tier | null) =>
  `No connected model${ceiling === null ? "" : ` for ${upTo(ceiling)}`} ${missing}.`;
/** For the operator, as is the next one. */
export const connectModel = (ceiling: Tier | null) =>
  ceiling === null ? "Add a provider key or a model under Providers." : "Add a model under Providers, Chains.";
export const enable = (capabilities: readonly string[]) =>
  `Enable ${capabilities.map((name) => `"${name}"`).join(" and ")} for a model under Providers.`;
export const maxCost = (usd: number) => `max cost ${usd} USD`;
export const tooDear = (usd: number) => `estimated cost exceeds ${usd} USD`;
export const minimumScore = (score: number) => `minimum function-calling score ${score}`;
export const scoreTooLow = (score: number) => `function-calling score is below ${score} or unknown`;
export const forcedTool = "forced tool";
export const takesNoForcedTool = "cannot be forced to call a tool";
export const filtersIgnored = (filters: readonly string[]) =>
  `${filters.join(" and ")} ignored: no model qualifies, so the full chain is used`;
export const coolingDown = (models: readonly string[]) =>
  `cooling down after failures, tried last: ${models.join(", ")}`;
export const preferred = (model: string, because: string) => `${model} is preferred: ${because}`;
export const staysInLoop = (model: string) => `stays with ${model}, which made the open tool call`;

function upTo(ceiling: Tier): string {
  return ceiling === TIERS[0] ? ceiling : `${ceiling} or below`;
}

// needs.ts
export const supports = (capability: string) => `supports ${capability}`;
export const lacks = (capability: string) => `no ${capability}`;
export const lacksForProfile = (capability: string) => `no ${capability}, which the profile requires`;
export const takesContent = (type: string) => `takes content of the type ${JSON.stringify(type)}`;
export const takesNoContent = (type: string) => `cannot be sent content of the type ${JSON.stringify(type)}`;
export const isAllowed = "is on the profile's allow list";
export const notAllowed = "not allowed by the profile";
export const isNotBlocked = "is left by the profile's block list";
export const blocked = "blocked by the profile";
export const speaks = (format: string, because: string) =>
  `is at a provider that uses the ${format} format (${because})`;
export const speaksOther = (format: string, because: string) =>
  `provider does not use the ${format} format: ${because}`;
export const hasContext = (tokens: number) => `has a context window of ${tokens} tokens`;
export const contextTooSmall = (window: number, tokens: number) =>
  `context window of ${window} tokens is too small for about ${tokens}`;

// needs.ts: requirements
export const answersIn = (places: readonly string[]) => `answers in ${places.join(" or ")} alone`;
export const answersElsewhere = (host: string, regions: readonly string[], places: readonly string[]) =>
  regions.length === 0
    ? `${host} does not say where it answers, and ${places.join(" or ")} is required`
    : `${host} answers in ${regions.join(", ")}, and ${places.join(" or ")} is required`;
export const keepsNothing = "keeps no content (zero retention)";
export const mayKeep = (host: string) => `${host} may keep content, and zero retention is required`;
export const isAtProvider = (names: readonly string[]) => `is served by ${names.join(" or ")}`;
export const atOtherProvider = (provider: string, names: readonly string[]) =>
  `served by ${provider}, and only ${names.join(" or ")} may serve it`;
export const isNotAtProvider = (names: readonly string[]) => `is served by another provider than ${names.join(" or ")}`;
export const atExcludedProvider = (provider: string) => `served by ${provider}, which is excluded`;
export const noHostLeft = (model: string, sentence: string) => `No host of ${JSON.stringify(model)} ${sentence}.`;

export const anyOf = (missing: readonly string[]) => missing.join(" or ");
export const allAtOnce = (missing: readonly string[]) => `${missing.join(" and ")} at once`;

// hosts.ts
export const hostCoolingDown = (host: string) => `${host} (cooling down)`;
export const onlyHost = (host: string) => `host: ${host} (the only one that can take this request)`;
export const orderOfRequest = "in the order of the request";
export const firstHost = (
  host: string,
  order: HostOrder | typeof orderOfRequest,
  firstTokenMs: number | null,
  others: readonly string[],
) => {
  const observed = firstTokenMs === null ? "" : `, first token observed after ${firstTokenMs} ms`;
  return `host: ${host} (${order}${observed}), ${others.length === 1 ? "fallback" : "fallbacks"} ${others.join(", ")}`;
};

// latency.ts
export const maxLatency = (ms: number) => `max latency ${ms} ms`;
export const tooSlow = (observedMs: number, host: string, maxMs: number) =>
  `first token after ${observedMs} ms at ${host}, above ${maxMs} ms`;
export const hostsLeftOut = (model: string, because: readonly string[]) =>
  `left out of ${model}: ${because.join(", ")}`;
export const latencyIgnored = (limit: string, model: string) => `${limit} ignored: no host of ${model} qualifies`;

// direct.ts
export const auto = "Auto";
export const modelRequired = 'Profile "direct" needs a model id in "model". See GET /v1/models.';
export const notForThisKey = "not available to this key";
export const modelLeftOut = ({ model, removedBecause }: { readonly model: string; readonly removedBecause: string }) =>
  `left ${model} out of 'models': ${removedBecause}`;
export const seeChatModels = "GET /v1/models lists the chat models.";
// With "direct", the model "auto" would be refused as well.
const letRouterChoose = 'See GET /v1/models. Or leave out "service_profile" and send "auto" as the model.';
export const namedNotOffered = `The model that 'model' names isn't available to this key. ${letRouterChoose}`;
export const notOffered = (model: string, meant: string | null) =>
  `Model ${JSON.stringify(model)} isn't available to this key. ${meant === null ? "" : `Did you mean ${JSON.stringify(meant)}? `}${letRouterChoose}`;

export const withoutPrice = (model: string) =>
  `Model ${JSON.stringify(model)} has no price, so it can't be called. GET /v1/models lists the models that can.`;

// named.ts
export const namedByRequest = (model: string) => `the request names ${model}`;
export const canUse = (models: string) => `This key can use ${models}.`;
export const andOthers = (models: string) => `${models} and others`;
export const endpointModelRequired = (choice: string) => `'model' is required. ${choice}`;
export const noSuchModel = (model: string, endpoint: Endpoint) =>
  `There is no model ${JSON.stringify(model)} for ${endpoint}. `;
export const noneForEndpoint = (endpoint: Endpoint) => `No model for ${endpoint} is connected.`;
/** For the operator. */
export const connectForEndpoint = (endpoint: Endpoint) =>
  `Add one under 'models:' with 'capabilities: [${endpoint}]' and a price.`;
export const wrongEndpoint = (model: string, own: string, endpoint: string, choice: string) =>
  `${model} is a model for ${own}, not for ${endpoint}. ${choice}`;

// decide.ts
export const tierRequired = 'Profile "tier" needs a tier.';
export const classified = (score: number, tier: Tier, signals: readonly string[]) =>
  `score ${score.toFixed(2)} (${tier}): ${signals.join(", ")}`;
export const classifiedInVain = (score: number, tier: Tier, signals: readonly string[]) =>
  `score ${score.toFixed(2)} (${tier}) not used: ${signals.join(", ")}`;
export const unknownIgnored = (fields: readonly string[]) => `unknown fields ignored: ${fields.join(", ")}`;
export const modelHonoured = (model: string | null) => `model ${model} requested and allowed by the key's profile`;
export const tierFixed = (tier: Tier | null) => `tier ${tier} set by the request`;
export const modelFixed = (model: string | null) => `model ${model} set by the request`;

// replay.ts
export const firstInChain = (model: string, tier: Tier) => `${model} is first in the ${tier} chain`;
export const evidenceOfFailure = "evidence of failure";
export const scoreFallsIn = (score: number, tier: Tier) => `score ${score.toFixed(2)} falls in ${tier}`;
export const categoryFloor = (category: Category) => `category floor (${category})`;

// sessions/stay.ts
export interface Saving {
  readonly to: string;
  readonly from: string;
  readonly saved: string;
  readonly cachedTokens: string;
}
export const staysOn = ({ to, from, saved, cachedTokens }: Saving, isStay: boolean) =>
  `${isStay ? "stays on" : "uses"} ${to}: ${cachedTokens} cached tokens make it ${saved} cheaper than ${from}`;
export const atHost = (model: string, host: string) => `${model} at ${host}`;
interface WholeCost {
  readonly to: string;
  readonly cost: string;
  readonly turns: number;
  readonly readPct: number;
  readonly other: string;
  readonly otherCost: string;
}
export const wholeCost = ({ to, cost, turns, readPct, other, otherCost }: WholeCost) =>
  `uses ${to}: this turn ${turns === 0 ? "costs" : `and about ${turns} more cost`} ${cost} there${readPct === 0 ? "" : ` (${readPct}% of the prompt expected from the cache)`}, ${otherCost} with ${other}`;
export const keepsOrder = ({ to, cost, other, otherCost }: Pick<WholeCost, "to" | "cost" | "other" | "otherCost">) =>
  `keeps ${to} first, as the chain is configured (${cost} for this turn and those expected, ${otherCost} with ${other})`;
export const countsAsEqual = (model: string, other: string) =>
  `${model} counts as equal to ${other} at calling tools: their scores differ less than they may be wrong`;
export const switches = ({ to, from, saved, cachedTokens }: Saving) =>
  `switches from ${from} to ${to}: ${saved} cheaper, even counting the ${cachedTokens} tokens cached for ${from}`;

// effort.ts
export const effortAsked = (model: string, effort: string) => `${model} is asked for effort ${effort}`;
export const effortKept = (model: string, effort: string) =>
  `${model} keeps effort ${effort}, with which its prompt is cached`;

// tools/scores.ts
export const orderedByScore = (scenario: string) => `ordered by function-calling score for ${scenario}`;
interface ScoreChange {
  readonly now: number;
  readonly before: number | null;
}
export const scoreLowered = (model: string, { now, before }: ScoreChange, because: string) =>
  `ranked ${model} with score ${now} instead of ${before}: ${because}`;
export const unusableCalls = (unusable: number, calls: number) =>
  `${unusable} of its ${calls} observed tool calls were unusable`;

// classifier/: the signals of a prompt
export const signals = {
  expertWords: "expert vocabulary",
  everydayWords: "everyday vocabulary",
  manyDetails: "many details",
  fewDetails: "few details",
  proof: "asks for a proof or derivation",
  design: "system design",
  expert: "specialist field",
  reasoning: "asks for analysis",
  constraint: "several constraints",
  steps: "several steps",
  brief: "asks for a short answer",
  smallTalk: "small talk",
  long: "long request",
  short: "short request",
  questions: "several questions",
  list: "list of points",
  formulas: "formulas",
  arithmetic: "plain arithmetic",
  code: "code in the request",
  stakes: "health, rights or savings at stake",
} as const;
/** Reasons beside the question. */
export const parts = {
  context: "pasted text counts one tier at most",
  material: "the system prompt names a simple task",
  task: "the system prompt names a hard task",
  image: "an image to work with",
  file: "a file to read",
  audio: "sound to listen to",
} as const;
export const categories: Readonly<Record<Category, string>> = {
  chitchat: signals.smallTalk,
  simple_qa: "short question",
  math: "mathematics",
  coding_general_debugging_refactoring_testing: "coding task",
  reasoning: "reasoning or analysis",
  creative_writing: "creative writing",
  writing: "everyday writing",
  summarization: "summary",
  translation: "translation",
  extraction: "extraction",
  general: "general request",
};
