// Routing in one screen: the order of the steps and how a decision explains itself. Pure: the same question and
// catalogue give the same decision.

import { type Catalog, chainOf } from "../catalog/catalog.ts";
import type { Controls, Decision, RoutingQuestion } from "../core/decision.ts";
import { GatewayError } from "../core/errors.ts";
import type { HostedModel, Model } from "../core/model.ts";
import { type NanoUsd, roughUsd, usdNumber } from "../core/money.ts";
import type { DecidedSession, SessionView } from "../core/session.ts";
import { TIERS, type Tier, tierRank } from "../core/tiers.ts";
import { type Placement, placeAuto, placeForced } from "./adjust.ts";
import { type Ask, newestAsk } from "./ask.ts";
import { buildChain, type Chain, type ChainInput } from "./chain.ts";
import type { Classification } from "./classifier/rules.ts";
import { type Estimate, estimateCost, estimateInputTokens } from "./cost.ts";
import { controlsUnder, directChain } from "./direct.ts";
import { chooseEfforts, expectedEffort } from "./effort.ts";
import { findHistoryFloor } from "./history.ts";
import { usableHosts } from "./hosts.ts";
import { judge } from "./judge.ts";
import { saferTier } from "./safer.ts";
import { type Escalation, findEscalation } from "./sessions/evidence.ts";
import { sessionState } from "./sessions/stay.ts";
import * as TEXT from "./text.ts";
import { detectScenario } from "./tools/scenario.ts";
import { toolScoreOf } from "./tools/scores.ts";

export function decide(question: RoutingQuestion, catalog: Catalog): Decision {
  const { chat } = question;
  const controls = controlsUnder(question.constraints, question.controls);
  const { profile } = controls;
  const ask = newestAsk(chat.messages);
  const { weights } = catalog;
  const { prompt, classification, parts } = judge(chat, ask, weights);
  const scenario = detectScenario({ chat, prompt, category: classification.category, weights });
  const historyFloor =
    profile === "auto" ? findHistoryFloor({ messages: chat.messages, askIndex: ask.index, prompt, weights }) : null;
  const inputTokens = estimateInputTokens(chat);
  const escalation = escalate({ question, profile, ask, historyFloor });
  const placement =
    profile === "direct" ? null : place({ question, classification, historyFloor, escalation, catalog });
  const size = { question, catalog, inputTokens };
  const chain =
    placement === null ? directChain(size) : buildChain({ question, catalog, inputTokens, placement, scenario });
  const model = chain.models[0] as Model;
  const effort = chooseEfforts(chain, { question, catalog });
  const { tier, first } = chain;
  const estimate = estimateCost({ chat, inputTokens, tier, model: first, effort: effort.first, catalog });
  const moves = placement === null ? [] : movesOf(placement, estimate, size);
  const notes = [...moves, ...chain.notes, ...(effort.note === null ? [] : [effort.note]), ...unknownNotes(controls)];
  const decision: { -readonly [Name in keyof Decision]: Decision[Name] } = {
    tier,
    confidence: profile === "auto" ? classification.confidence : 1,
    model: model.id,
    category: classification.category,
    method: profile === "auto" ? classification.method : profile,
    reasoning: explain(classification, question, notes),
    costEstimate: estimate.cost,
    baselineCost: estimate.baselineCost,
    savings: estimate.savings,
    chain: chain.models.map(({ id }) => id),
    profile,
    historyFloor,
    toolScenario: scenario,
    toolScore: scenario === null ? null : toolScoreOf(model, scenario),
    candidates: chain.candidates,
    estimatedTokens: { input: inputTokens, output: estimate.output },
    classifiedTier: classification.tier,
    score: classification.score,
    isSure: classification.isSure,
    adjustments: [...moves, ...chain.adjustments],
    controls: question.controls,
    measures: prompt.signals,
  };
  if (classification.weakModelFails !== undefined) decision.weakModelFails = classification.weakModelFails;
  if (parts.length > 0) decision.parts = parts;
  if (estimate.serviceTier !== undefined) decision.serviceTier = estimate.serviceTier;
  if (placement !== null && placement.floor !== null) decision.lowestTier = placement.floor;
  if (chain.hosts !== undefined) decision.hosts = chain.hosts;
  if (effort.efforts !== undefined) decision.efforts = effort.efforts;
  if (effort.askedEffort !== undefined) decision.askedEffort = effort.askedEffort;
  if (question.sessionView) {
    const raised = { escalation: placement?.escalated ?? 0, task: escalation.task };
    decision.session = decidedSession(question.sessionView, chain, raised);
  }
  return decision;
}

interface PlaceInput {
  readonly question: RoutingQuestion;
  readonly classification: Classification;
  readonly historyFloor: Tier | null;
  readonly escalation: Escalation;
  readonly catalog: Catalog;
}

function place({ question, classification, historyFloor, escalation, catalog }: PlaceInput): Placement {
  const { controls, constraints, cascade } = question;
  const { tier, isCoding, isSure } = classification;
  const unsureFloor = isSure ? null : saferTier(classification, catalog.unsureTier);
  if (controls.profile === "auto") {
    return placeAuto({ tier, isCoding, unsureFloor, historyFloor, escalation, controls, constraints, cascade });
  }
  if (controls.forcedTier !== null) return placeForced(controls.forcedTier, constraints);
  throw new GatewayError("badRequest", TEXT.tierRequired, { code: "tier_required" });
}

interface EscalateInput {
  readonly question: RoutingQuestion;
  readonly profile: Decision["profile"];
  readonly ask: Ask;
  readonly historyFloor: Tier | null;
}

/** A tier or model that the request fixes is never raised. */
function escalate({ question, profile, ask, historyFloor }: EscalateInput): Escalation {
  const { chat, controls, constraints, sessionView } = question;
  const policy = profile === "auto" ? (controls.escalate ?? constraints.escalate ?? "normal") : "off";
  const last = sessionView?.last ?? null;
  return findEscalation({ messages: chat.messages, ask, policy, isFollowUp: historyFloor !== null, last });
}

/** Notes about the tier. A rise names its price, so that a session's timeline shows it. */
function movesOf(
  placement: Placement,
  { cost }: Estimate,
  size: Pick<ChainInput, "question" | "inputTokens" | "catalog">,
): readonly string[] {
  const { notes, escalated } = placement;
  return escalated === 0 ? notes : [...notes, ...priceOfRise(placement, cost, size)];
}

/** The difference to the first model of the tier below the rise. */
function priceOfRise(
  placement: Placement,
  cost: NanoUsd,
  { question, inputTokens, catalog }: Pick<ChainInput, "question" | "inputTokens" | "catalog">,
): readonly string[] {
  const { chat } = question;
  const tier = TIERS[tierRank(placement.tier) - placement.escalated] as Tier;
  const below = chainOf(catalog, tier, chat.tools.length > 0).find((each) => usableHosts(each, catalog).length > 0);
  if (below === undefined) return [];
  const [model] = usableHosts(below, catalog) as readonly [HostedModel];
  const effort = expectedEffort(model, { question, catalog, tier });
  const more = cost - estimateCost({ chat, inputTokens, tier, model, effort, catalog }).cost;
  return more > 0n ? [TEXT.escalationPrice(roughUsd(usdNumber(more)))] : [];
}

function decidedSession(
  view: SessionView,
  { models, first, offer }: Chain,
  { escalation, task }: Pick<DecidedSession, "escalation" | "task">,
): DecidedSession {
  const [model] = models as readonly [Model];
  const state = sessionState(view, { model: model.id, hostKey: first.hostKey, escalation, task });
  const { cachedTokens = 0, keyId = null } = offer ?? {};
  const decided: { -readonly [Name in keyof DecidedSession]: DecidedSession[Name] } = {
    id: view.id,
    state,
    cachedTokens,
    keyId,
    escalation,
    task,
    isPrefixSeen: view.cached.length > 0,
  };
  if (view.last !== null) decided.before = view.last;
  if (view.thread !== undefined) decided.thread = view.thread;
  if (view.loop !== null) decided.isLoop = true;
  return decided;
}

/** The `reasoning` of a decision: the score, the strongest signals, then each step that changed tier or chain. */
function explain(
  { score, tier, signals }: Classification,
  question: Pick<RoutingQuestion, "controls" | "constraints">,
  notes: readonly string[],
): string {
  const opening = openingOf(question);
  const say = opening.length === 0 ? TEXT.classified : TEXT.classifiedInVain;
  const classified = say(score, tier, signals);
  const isAll = opening.length === 0 && notes.length === 0;
  return isAll ? classified : [...opening, classified, ...notes].join("; ");
}

/** A misspelled control is dropped like every unknown one, so here is where its client can see that. */
function unknownNotes({ unknown = [] }: Controls): readonly string[] {
  return unknown.length === 0 ? unknown : [TEXT.unknownIgnored(unknown)];
}

// The score is named for the record even where it did not decide.
function openingOf({ controls, constraints }: Pick<RoutingQuestion, "controls" | "constraints">): readonly string[] {
  const { forcedTier, model } = controls;
  const { profile } = controlsUnder(constraints, controls);
  if (profile !== controls.profile) return [TEXT.modelHonoured(model)];
  if (profile === "tier") return [TEXT.tierFixed(forcedTier)];
  if (profile === "direct") return [TEXT.modelFixed(model)];
  return [];
}
