// The effort that each model of a chain is asked for. The request's own wish wins, and a session keeps the effort with
// which its prompt is cached, where a cache depends on it and the tier needs no more. Behaviour 5.27.

import { type Catalog, chainOf, effortIn } from "../catalog/catalog.ts";
import type { RoutingQuestion } from "../core/decision.ts";
import type { HostedModel } from "../core/model.ts";
import { EFFORTS, type Effort, type Efforts, USUAL_EFFORTS } from "../core/requests/effort.ts";
import type { Tier } from "../core/tiers.ts";
import { thinkingTokens } from "./cost.ts";
import * as TEXT from "./text.ts";

/** The part of a chain that efforts depend on. */
interface EffortChain {
  readonly tier: Tier;
  readonly models: readonly HostedModel[];
  readonly first: HostedModel;
  readonly offer?: { readonly cachedTokens: number };
}

interface EffortQuestion {
  readonly question: RoutingQuestion;
  readonly catalog: Catalog;
  readonly tier: Tier;
}

/** The effort to expect of a model before sessions are looked at: the request's own, else that of the chain. */
export function expectedEffort(model: HostedModel, { question, catalog, tier }: EffortQuestion): Effort | null {
  const { effort, tools, maxOutputTokens } = question.chat;
  if (effort !== undefined) return effort === "own" ? null : effort;
  if (question.controls.profile === "direct") return null;
  const asked = effortIn(catalog, model, tier, tools.length > 0);
  return asked === null || maxOutputTokens === null ? asked : within(maxOutputTokens, asked, model);
}

/** Thinking counts against the output cap. Half of it is left for the answer, so a small one lowers the effort. */
function within(cap: number, asked: Effort, model: HostedModel): Effort {
  const { efforts = USUAL_EFFORTS } = model.dialect;
  const most = EFFORTS.indexOf(asked);
  const taken = EFFORTS.filter((effort, rank) => rank <= most && efforts.includes(effort));
  return taken.findLast((effort) => thinkingTokens(model, effort) <= cap / 2) ?? taken[0] ?? asked;
}

interface ChosenEfforts {
  /** Absent where no model is asked for any. */
  readonly efforts?: Efforts;
  readonly askedEffort?: Effort;
  /** The effort of the model that is tried first. */
  readonly first: Effort | null;
  readonly note: string | null;
}

export function chooseEfforts(chain: EffortChain, given: Omit<EffortQuestion, "tier">): ChosenEfforts {
  const input = { question: given.question, catalog: given.catalog, tier: chain.tier };
  const { effort: own } = given.question.chat;
  if (own !== undefined) {
    return own === "own" ? { first: null, note: null } : { askedEffort: own, first: own, note: null };
  }
  const expected = effortsOf(chain.models, input);
  const { first } = chain;
  const wanted = expected?.[first.id] ?? null;
  const kept = keptEffort(chain, wanted, given.question);
  const effort = kept ?? wanted;
  const note = effort === null ? null : (kept === null ? TEXT.effortAsked : TEXT.effortKept)(first.id, effort);
  const efforts = kept === null ? expected : { ...expected, [first.id]: kept };
  return efforts === null ? { first: effort, note } : { efforts, first: effort, note };
}

/** Efforts of the catalogue's own chains, which most requests get as they are: each is put together once. */
const USUAL = new WeakMap<readonly HostedModel[], Efforts | null>();

/** Efforts to expect of the models; null where none is asked for any. */
function effortsOf(models: readonly HostedModel[], input: EffortQuestion): Efforts | null {
  const { question, catalog, tier } = input;
  const { tools, maxOutputTokens } = question.chat;
  const isUsual = maxOutputTokens === null && models === chainOf(catalog, tier, tools.length > 0);
  const known = isUsual ? USUAL.get(models) : undefined;
  if (known !== undefined) return known;
  const asked = models.flatMap((model): [string, Effort][] => {
    const effort = expectedEffort(model, input);
    return effort === null ? [] : [[model.id, effort]];
  });
  const efforts = asked.length === 0 ? null : Object.fromEntries(asked);
  if (isUsual) USUAL.set(models, efforts);
  return efforts;
}

/** The effort of the last turn, where another would lose its open tool loop, or a cache that is worth more; else null. */
function keptEffort({ first, offer }: EffortChain, wanted: Effort | null, question: RoutingQuestion): Effort | null {
  const { sessionView, controls } = question;
  const last = sessionView?.last ?? null;
  const { effort } = last ?? {};
  const mayKeep = last?.hostKey === first.hostKey && first.cache?.dependsOnEffort === true;
  if (!mayKeep || effort === undefined || effort === wanted || controls.profile === "direct") return null;
  const { efforts = USUAL_EFFORTS } = first.dialect;
  if (!efforts.includes(effort)) return null;
  if (sessionView?.loop?.hostKey === first.hostKey) return effort;
  // A tier that needs more effort gets it, whatever is cached.
  const isEnough = wanted === null || EFFORTS.indexOf(effort) > EFFORTS.indexOf(wanted);
  return isEnough && savedByCache(first, offer?.cachedTokens ?? 0) > thinkingCost(first, effort, wanted)
    ? effort
    : null;
}

/** In 10⁻¹² USD, as all that follows. */
function savedByCache({ price }: HostedModel, cachedTokens: number): number {
  if (price === null) return 0;
  const { input, cacheRead, cacheWrite } = price;
  return cachedTokens * (Math.max(input, cacheWrite ?? 0) - (cacheRead ?? input));
}

function thinkingCost(model: HostedModel, effort: Effort, wanted: Effort | null): number {
  return (thinkingTokens(model, effort) - thinkingTokens(model, wanted)) * (model.price?.output ?? 0);
}
