// Routing decisions: what routing is asked and what it decides.

import type { ChatRequest } from "./chat.ts";
import type { FormatName, HostedModel, ToolScenario } from "./model.ts";
import type { NanoUsd, ServiceTier } from "./money.ts";
import {
  type AskedValues,
  PROFILE_CONTROLS,
  REQUEST_CONTROLS,
  type Residency,
  type ROUTING_PROFILES,
  type RuleValues,
  unsetValues,
} from "./requests/controls.ts";
import type { Effort, Efforts } from "./requests/effort.ts";
import type { DecidedSession, SessionView } from "./session.ts";
import type { Tier } from "./tiers.ts";

export const CATEGORIES = [
  "chitchat",
  "simple_qa",
  "math",
  "coding_general_debugging_refactoring_testing",
  "reasoning",
  "creative_writing",
  "writing",
  "summarization",
  "translation",
  "extraction",
  "general",
] as const;
export type Category = (typeof CATEGORIES)[number];

/** The routing fields of one request, read and checked. `forcedTier` is set when the profile is `tier`. */
export interface Controls extends AskedValues {
  readonly model: string | null;
  /** Fields that look like controls and are none, as a typo makes them. Absent where there are none. */
  readonly unknown?: readonly string[];
  /** Requirements in the words of another gateway. They hold beside the others. */
  readonly required?: readonly Residency[];
  /** Models that are tried after the one that is named. They count where that one does. */
  readonly fallbacks?: readonly string[];
  /** Providers whose hosts are tried first, in this order. */
  readonly providersFirst?: readonly string[];
  /** No other host of a model is tried than its first. */
  readonly isOneHost?: true;
}

export const NO_CONTROLS = { ...unsetValues(REQUEST_CONTROLS), model: null } as unknown as Controls;

/** The saved constraints that a key's profile puts on every request made with it. */
export interface Constraints extends RuleValues {
  /** Requirements of further scopes, the key and its teams. All of them hold. */
  readonly required?: readonly Residency[];
}

export const NO_CONSTRAINTS = unsetValues(PROFILE_CONTROLS) as unknown as Constraints;

export interface RoutingQuestion {
  readonly chat: ChatRequest;
  readonly controls: Controls;
  readonly constraints: Constraints;
  /** Routes whose breaker is open now, with the reason; they are tried last. */
  readonly restingModels: ReadonlyMap<string, string>;
  /** Recent response times of hosts, by route; a host that is missing was not observed. */
  readonly hostSpeeds?: HostSpeeds;
  /** Names the conversation, so that its requests go to one host. Asked only where it matters. */
  readonly session?: () => string;
  /** View of the conversation. Without a view, each request is decided for itself. */
  readonly sessionView?: SessionView | null;
  /** Observed tool calls of the models. Without observations, the scores of the catalogue count as they are. */
  readonly toolCallsSeen?: ToolCallsSeen;
  /** The tier of one attempt of a cascade, as a bound from above or below. Absent for the tier of the request itself. */
  readonly cascade?: CascadeBounds | undefined;
  /** The model that made the tool call whose result this is; it goes on where that is possible. */
  readonly loopModel?: string | null;
  /** Set when only a provider of this wire format can serve the request, with what makes it so. */
  readonly nativeFormat?: AskedFormat | null;
  /** Tells whether content of this type can be sent to the model at all. Left out, any can. */
  readonly takesPart?: (model: HostedModel, type: string) => boolean;
  /** Set when a provider of this wire format does more of what is asked than any other; it is tried first. */
  readonly preferredFormat?: AskedFormat | null;
}

/** At most one of both is a tier. */
export interface CascadeBounds {
  readonly floor: Tier | null;
  readonly ceiling: Tier | null;
}

export interface AskedFormat {
  readonly format: FormatName;
  readonly because: string;
}

/** Observed response times of a host; zero where none is known. */
export interface HostSpeed {
  /** Until the first token of a stream. */
  readonly firstMs: number;
  /** Until the head of an answer that was not streamed, which many hosts send only when the answer is complete. */
  readonly headMs?: number;
  readonly tokensPerSecond: number;
}

export type HostSpeeds = ReadonlyMap<string, HostSpeed>;

/** Tool calls of one model in one scenario, and how many of them could be used. */
export interface SeenToolCalls {
  readonly calls: number;
  readonly valid: number;
}

/** Fewer calls than these prove nothing about a model. */
export const TELLING_CALLS = 30;

/** By the model's id. */
export type ToolCallsSeen = ReadonlyMap<string, Readonly<Partial<Record<ToolScenario, SeenToolCalls>>>>;

/** One model that was looked at; `removedBecause` is null for those in the chain. */
export interface Candidate {
  readonly model: string;
  readonly removedBecause: string | null;
  /** Set for a model that is tried last because it, its provider or the key is not well now. */
  readonly restingBecause?: string;
}

/** A part of a request, with the tier that it alone speaks for. */
export interface RequestPart {
  readonly part: (typeof REQUEST_PARTS)[number];
  readonly tier: Tier;
  /** The size of pasted material. */
  readonly characters?: number;
}

export const REQUEST_PARTS = ["question", "context", "system", "image", "file", "audio"] as const;

/** Names of hosts, by the model's id. */
export type HostChoice = Readonly<Record<string, readonly string[]>>;

export interface Decision {
  readonly tier: Tier;
  readonly confidence: number;
  readonly model: string;
  readonly category: Category;
  readonly method: string;
  readonly reasoning: string;
  /** The request named its model on an endpoint that is not routed, so nothing was decided and nothing is recorded of it. */
  readonly isNamed?: true;
  readonly costEstimate: NanoUsd;
  readonly baselineCost: NanoUsd;
  /** Fraction saved against the baseline, 0 to 1. */
  readonly savings: number;
  /** Model ids in the order they are tried. */
  readonly chain: readonly string[];
  /** The hosts to try of each model that has a choice, in order. A model that is not named is tried at its first host. */
  readonly hosts?: HostChoice;
  /** The effort that the chain asks of each model, by id. Absent where it asks none, and where the request has its own. */
  readonly efforts?: Efforts;
  /** The lowest tier that request, profile or evidence of failure ask for. Absent where nothing asks for one. */
  readonly lowestTier?: Tier;
  /** The effort that the request itself asks for. */
  readonly askedEffort?: Effort;
  /** The service tier that the first host is asked for and the estimate counts; absent for the usual one. */
  readonly serviceTier?: ServiceTier;
  /** Absent where sessions play no part. */
  readonly session?: DecidedSession;
  readonly profile: (typeof ROUTING_PROFILES)[number];
  readonly historyFloor: Tier | null;
  readonly toolScenario: ToolScenario | null;
  readonly toolScore: number | null;
  readonly candidates: readonly Candidate[];
  readonly estimatedTokens: { readonly input: number; readonly output: number };
  /** Tier that the classifier chose, before anything moved the request to another one. */
  readonly classifiedTier?: Tier;
  readonly score?: number;
  /** The parts that were weighed; absent where the question is all that there is. */
  readonly parts?: readonly RequestPart[];
  /** The chance that a weak model fails at it, 0 to 1; absent where the rules alone decided. */
  readonly weakModelFails?: number;
  /** Says that the classifier was sure of its tier. */
  readonly isSure?: boolean;
  /** Reasons that moved the tier or the chain after the classifier, in order; also part of the reasoning. */
  readonly adjustments?: readonly string[];
  /** Controls that the request itself set. */
  readonly controls?: Controls;
  /** Measured numbers of the request, by name. Kept for learning. */
  readonly measures?: object;
}

/** The effort that a model is asked for; null where it decides for itself. */
export function effortOf({ efforts, askedEffort }: Decision, model: string): Effort | null {
  if (askedEffort !== undefined) return askedEffort;
  return efforts !== undefined && Object.hasOwn(efforts, model) ? (efforts[model] ?? null) : null;
}
