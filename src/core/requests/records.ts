// Request records: what is kept of a request that is over. No prompt and no answer, but for `content`, which is there
// only when the operator asked for it.

import { promptTokens } from "../chat.ts";
import type { Decision } from "../decision.ts";
import type { ToolScenario } from "../model.ts";
import type { NanoUsd, Price, TokenBuckets } from "../money.ts";
import type { SessionState } from "../session.ts";
import { timeInBase36 } from "./time-text.ts";

export interface AttemptRecord {
  readonly model: string;
  readonly provider: string;
  /** Which of the provider's keys; absent where there are not several. */
  readonly keyId?: string;
  /** From the beginning of the request. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly outcome: "answered" | "failed" | "client-gone";
  readonly status: number | null;
  /** What kind of failure it was; null for an answer. */
  readonly failure: string | null;
  /** The provider's own words about it; where they may repeat the prompt, kept only with content. */
  readonly reason: string | null;
  readonly droppedFields: readonly string[];
  /** What conversion changed or left out for this model, in words. */
  readonly conversions: readonly string[];
}

/** What an answer came to, enough to compute it again. */
export interface CostRecord {
  readonly buckets: TokenBuckets;
  readonly isEstimated: boolean;
  readonly price: Price;
  readonly markupPpm: number;
  readonly charge: NanoUsd;
  /** The same tokens at the price of the baseline model, without markup. */
  readonly baseline: NanoUsd;
  readonly baselineModel: string;
  readonly holdId: string;
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

/** As it is written: with the text of this turn alone, which is what is searched. */
export interface NewContent extends ContentRecord {
  readonly prompt: string;
  /** The beginning of what was asked. */
  readonly preview: string;
}

/** As they are read back: groups become `group.name`, zeros are left out. */
export type Features = Readonly<Record<string, number>>;

/** What callers label a request with, by name. */
export type Tags = Readonly<Record<string, string>>;

export const NO_TAGS: Tags = Object.freeze({});

/** What a request says about whom and what it is for. */
export interface RequestLabels {
  /** The caller's own end user; null when it names none. */
  readonly user: string | null;
  readonly tags: Tags;
}

export interface RequestRecord extends RequestLabels {
  readonly id: string;
  /** As in X-Request-Id; a caller may use one twice. */
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The saved profile that the key had then; null when it had none. */
  readonly profileId: string | null;
  readonly atMs: number;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  /** What the client was told; null for a response, and where it may quote what is not kept. */
  readonly errorMessage: string | null;
  readonly isStream: boolean;
  readonly decision: Decision | null;
  readonly attempts: readonly AttemptRecord[];
  readonly answeredBy: { readonly model: string; readonly provider: string } | null;
  /** Another model answered than the one selected. */
  readonly isFallback: boolean;
  /** As in the report of the call. */
  readonly overheadMs: number | null;
  readonly hold: NanoUsd | null;
  readonly cost: CostRecord | null;
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

/** Whether the request counts as failed: rejected, unanswered, or interrupted by a provider or by us. */
export function isFailed({ status, ending }: Pick<RequestRecord, "status" | "ending">): boolean {
  return status >= 400 || ending === "provider-broke" || ending === "gateway-broke";
}

/**
 * Whether more than the prompt decided: a floor or a ceiling, an ability that a tier lacks, money, an open tool call, a
 * model that is cooling down, or that the first choice failed.
 */
export function isAdjusted({ isFallback, decision }: Pick<RequestRecord, "isFallback" | "decision">): boolean {
  return isFallback || (decision?.adjustments?.length ?? 0) > 0;
}

/** All tokens of a request, read and written. */
export function tokensOf(buckets: TokenBuckets | null): number {
  return buckets === null ? 0 : promptTokens(buckets) + buckets.output;
}

/** Which attempt brought the response; `none`: every one failed. */
export const ANSWERED_AT = ["first", "second", "later", "none"] as const;
export type AnsweredAt = (typeof ANSWERED_AT)[number];

interface AttemptSummary {
  readonly attempts: number;
  /** Null when nobody answered. */
  readonly model: string | null;
  readonly status: number;
}

/** Null where no provider was asked, it rejected the request as wrong, or the client disconnected before a response. */
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

/** Of one account, per model and scenario; old calls fade as new ones come. */
export interface ToolCallTally extends ToolCallCheck {
  readonly accountId: string;
  readonly model: string;
  readonly scenario: ToolScenario;
}
