// Request records: what is kept of a request that is over. No prompt and no answer, but for `content`, which is there
// only when the operator asked for it.

import { promptTokens } from "../chat.ts";
import type { Decision } from "../decision.ts";
import type { ToolScenario } from "../model.ts";
import type { NanoUsd, Price, ServiceTier, TokenBuckets } from "../money.ts";
import type { SessionState } from "../session.ts";
import type { CascadeStep } from "./cascade.ts";
import { timeInBase36 } from "./time-text.ts";

export interface AttemptRecord {
  readonly model: string;
  readonly provider: string;
  /** Names the key that was used; absent where the provider has only one. */
  readonly keyId?: string;
  /** From the beginning of the request. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly outcome: "answered" | "failed" | "client-gone";
  readonly status: number | null;
  /** Name of the kind of failure; null for an answer. */
  readonly failure: string | null;
  /** The provider's own words about it; where they may repeat the prompt, kept only with content. */
  readonly reason: string | null;
  readonly droppedFields: readonly string[];
  /** Descriptions of fields that conversion changed or left out for this model. */
  readonly conversions: readonly string[];
}

/** The price that savings are counted at, in USD per million tokens, and the day of the price. */
export interface BaselinePrice {
  readonly input: number;
  readonly output: number;
  readonly asOf: string;
}

/** Usage and prices of an answer, enough to compute its cost again. */
export interface CostRecord {
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
  readonly price: Price;
  readonly markupPpm: number;
  readonly charge: NanoUsd;
  /** The same tokens at the price of the baseline model, without markup. */
  readonly baseline: NanoUsd;
  readonly baselineModel: string;
  /** Absent where the model was named, which saves nothing, and in older records. */
  readonly baselinePrice?: BaselinePrice;
  readonly holdId: string;
  /** The provider's service tier that was charged; absent for the usual one. */
  readonly serviceTier?: ServiceTier;
}

/** Tool calls of an answer, and how many of them could be used. */
export interface ToolCallCheck {
  readonly calls: number;
  /** The arguments are a JSON object. */
  readonly parsed: number;
  /** The name is one of the tools offered. */
  readonly known: number;
  /** Both, and every required property is there. */
  readonly valid: number;
}

export interface ContentRecord {
  readonly request: string;
  readonly isRequestCut: boolean;
  readonly answer: string;
  readonly isAnswerCut: boolean;
}

/** Content as it is stored, with the text of this turn alone, which searches look at. */
export interface NewContent extends ContentRecord {
  readonly prompt: string;
  /** The beginning of what was asked. */
  readonly preview: string;
}

/** Measures of a request as they are read back: groups become `group.name`, zeros are left out. */
export type Features = Readonly<Record<string, number>>;

/** Labels that callers give a request, by name. */
export type Tags = Readonly<Record<string, string>>;

export const NO_TAGS: Tags = Object.freeze({});

/** Labels of a request that name its user and its purpose. */
export interface RequestLabels {
  /** The caller's own end user; null when it names none. */
  readonly user: string | null;
  readonly tags: Tags;
}

export interface RequestRecord extends RequestLabels {
  readonly id: string;
  /** Value of X-Request-Id, which a caller may use twice. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The saved profile that the key had then; null when it had none. */
  readonly profileId: string | null;
  /** Team and person of the key then; null for none. */
  readonly teamId: string | null;
  readonly memberId: string | null;
  readonly atMs: number;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  /** Message that the client got; null for a response, and where the message may quote text that is not kept. */
  readonly errorMessage: string | null;
  /** Advice that only the operator can act on; absent for none. */
  readonly operatorMessage?: string;
  readonly isStream: boolean;
  readonly decision: Decision | null;
  readonly attempts: readonly AttemptRecord[];
  readonly answeredBy: { readonly model: string; readonly provider: string } | null;
  /** Another model answered than the one selected. */
  readonly isFallback: boolean;
  /** Overhead as the report of the call has it. */
  readonly overheadMs: number | null;
  readonly hold: NanoUsd | null;
  readonly cost: CostRecord | null;
  /** The answers of a cascade, whose charges make up the charge of the request. Absent without one. */
  readonly cascade?: readonly CascadeStep[] | undefined;
  readonly latencyMs: number;
  readonly firstContentMs: number | null;
  readonly ending: string | null;
  /** A short opaque id of the conversation, never the client's own text; null where there is none. */
  readonly session: string | null;
  readonly sessionState: SessionState | null;
  /** Numbers for learning later, by name; some of them in groups. */
  readonly features: object | null;
  readonly toolCalls: ToolCallCheck | null;
  readonly content: NewContent | null;
}

const TIME_DIGITS = 9;

/** The beginning of the ids of that millisecond: ids sort as the requests began. */
export function recordIdAt(atMs: number): string {
  return `r${timeInBase36(Math.max(0, Math.floor(atMs))).padStart(TIME_DIGITS, "0")}`;
}

/** The time in an id; null when it is none of ours. */
export function recordTimeOf(id: string): number | null {
  const digits = id.slice(1, TIME_DIGITS + 1);
  return /^r[0-9a-z]{9}/.test(id) ? Number.parseInt(digits, 36) : null;
}

/** Tells whether the request counts as failed: rejected, unanswered, or interrupted by a provider or by us. */
export function isFailed({ status, ending }: Pick<RequestRecord, "status" | "ending">): boolean {
  return status >= 400 || ending === "provider-broke" || ending === "gateway-broke";
}

/**
 * Tells whether more than the prompt decided: a floor or a ceiling, an ability that a tier lacks, money, an open tool
 * call, a model that is cooling down, or a failure of the first choice.
 */
export function isAdjusted({ isFallback, decision }: Pick<RequestRecord, "isFallback" | "decision">): boolean {
  return isFallback || (decision?.adjustments?.length ?? 0) > 0;
}

/** All tokens of a request, read and written. */
export function tokensOf(buckets: TokenBuckets | null): number {
  return buckets === null ? 0 : promptTokens(buckets) + buckets.output;
}

/** Attempts that can bring the response; `none`: every one failed. */
export const ANSWERED_AT = ["first", "second", "later", "none"] as const;
export type AnsweredAt = (typeof ANSWERED_AT)[number];

interface AttemptSummary {
  readonly attempts: number;
  /** Model that answered; null when none did. */
  readonly model: string | null;
  readonly status: number;
}

/**
 * Returns null where no provider was asked, a provider rejected the request as wrong, or the client disconnected before
 * a response.
 */
export function answeredAtOf({ attempts, model, status }: AttemptSummary): AnsweredAt | null {
  if (model === null) return attempts > 0 && status >= 500 ? "none" : null;
  if (attempts <= 1) return "first";
  return attempts === 2 ? "second" : "later";
}

export function triedOf({
  attempts,
  answeredBy,
  status,
}: Pick<RequestRecord, "attempts" | "answeredBy" | "status">): AttemptSummary {
  return { attempts: attempts.length, model: answeredBy?.model ?? null, status };
}

const NONE: readonly string[] = [];

/** The providers that failed a request which the first attempt did not answer, each once, in the order they failed. */
export function failedProvidersOf(
  record: Pick<RequestRecord, "attempts" | "answeredBy" | "status">,
): readonly string[] {
  const answeredAt = answeredAtOf(triedOf(record));
  if (answeredAt === null || answeredAt === "first") return NONE;
  const failed = record.attempts.filter(({ outcome }) => outcome === "failed");
  return [...new Set(failed.map(({ provider }) => provider))];
}

/** Counts of one account, per model and scenario; old calls fade as new ones come. */
export interface ToolCallTally extends ToolCallCheck {
  readonly accountId: string;
  readonly model: string;
  readonly scenario: ToolScenario;
}
