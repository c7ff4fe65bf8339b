// The request log for reading: single requests, totals by hour and day, and feedback about wrong tiers.

import type { Page } from "../accounts.ts";
import type { Decision } from "../decision.ts";
import type { NanoUsd, TokenBuckets } from "../money.ts";
import type { Tier } from "../tiers.ts";
import type { CostRange } from "./buckets.ts";
import type { CascadeStep } from "./cascade.ts";
import type { FieldFilter, RequestSummary } from "./fields.ts";
import type { StoredSample } from "./outcomes.ts";
import type {
  AnsweredAt,
  AttemptRecord,
  ContentRecord,
  CostRecord,
  Features,
  ToolCallCheck,
  ToolCallTally,
} from "./records.ts";

export interface RequestFilter extends FieldFilter {
  readonly accountId: string;
  readonly fromMs?: number;
  /** Not included itself. */
  readonly toMs?: number;
  readonly status?: StatusFilter;
  /** Any of these. */
  readonly answeredAt?: readonly AnsweredAt[];
  /** A provider that failed it. */
  readonly failedProvider?: string;
  /** Range of charges, which leaves out requests without a charge. */
  readonly cost?: CostRange;
  /** In milliseconds. */
  readonly latency?: NumberRange;
  /** All tokens of a request together. */
  readonly tokens?: NumberRange;
  /** A tag that it has; with any value where that is null. */
  readonly tag?: { readonly name: string; readonly value: string | null };
  /** The beginning of a request id. */
  readonly requestIdStart?: string;
  /** Words of prompt and answer, as far as those are kept. */
  readonly words?: string;
}

/** An open end is no bound. */
export interface NumberRange {
  readonly from?: number;
  /** Not included itself. */
  readonly to?: number;
}

/** Sort orders of the log: the largest or newest first, or the other way round. */
export const REQUEST_SORTS = ["time", "cost", "latency", "tokens"] as const;
export type RequestSort = (typeof REQUEST_SORTS)[number];

/** A page in an order other than by time, too. */
export interface SortedPage extends Page {
  readonly sort?: RequestSort;
  readonly isAscending?: boolean;
}

/** Sums over all requests of a filter. A failed request saved nothing, so its baseline is its charge. */
export interface RequestSums {
  readonly requests: number;
  readonly errors: number;
  readonly charge: NanoUsd;
  readonly baseline: NanoUsd;
  readonly tokens: number;
}

export type StatusFilter =
  /** Any of these. */
  | { readonly kind: "exact"; readonly statuses: readonly number[] }
  /** 4 for 400 to 499. */
  | { readonly kind: "class"; readonly hundreds: number }
  /** Whatever counts as an error in the totals, broken streams included. */
  | { readonly kind: "error" }
  /** Answers that began well and broke off on a provider's or our side. */
  | { readonly kind: "broken" };

export interface StoredRequest {
  readonly summary: RequestSummary;
  readonly detail: RequestDetail;
  readonly content: ContentRecord | null;
  readonly feedback: Feedback | null;
  readonly appFeedback: AppFeedback | null;
  readonly sample: StoredSample | null;
}

/** Details of a request that its row in the log does not have. */
export interface RequestDetail {
  readonly decision: Decision | null;
  readonly attempts: readonly AttemptRecord[];
  readonly hold: NanoUsd | null;
  readonly cost: Pick<CostRecord, "price" | "markupPpm" | "baselineModel" | "baselinePrice" | "holdId"> | null;
  /** The answers of a cascade, in order; null without one. */
  readonly cascade: readonly CascadeStep[] | null;
  readonly features: Features | null;
  readonly toolCalls: ToolCallCheck | null;
  readonly errorMessage: string | null;
  readonly operatorMessage: string | null;
}

/** A person's word that a request belonged to another tier. */
export interface Feedback {
  readonly tier: Tier;
  readonly note: string | null;
  readonly atMs: number;
}

/** Feedback that an application sent about an answer. */
export interface AppFeedback {
  /** From 0, useless, to 1, right; null where only a tier is given. */
  readonly score: number | null;
  /** Tier that would have been right, as the application says. */
  readonly tier: Tier | null;
  readonly comment: string | null;
  /** The key that it was sent with. */
  readonly keyId: string;
  readonly atMs: number;
}

/** Feedback with the features of its request. It is kept longer than the request. */
export interface MarkedRequest {
  readonly id: string;
  /** Tier that would have been right, as a person says, or else an application. */
  readonly tier: Tier;
  readonly decidedTier: string;
  readonly category: string;
  readonly features: Features;
  readonly atMs: number;
}

/** A request of a conversation; `reasoning` is null where nothing was decided. */
export interface LoggedTurn {
  readonly summary: RequestSummary;
  readonly reasoning: string | null;
  /** Thread of the decision; null before the first answer, and for sessions with a name. */
  readonly thread: number | null;
}

export interface RequestLog {
  /** `after` is the id of the last request of the page before. */
  list(filter: RequestFilter, page: SortedPage): Promise<readonly RequestSummary[]>;
  sums(filter: RequestFilter): Promise<RequestSums>;
  /** The newest turns of a conversation, oldest first, with the words of their decisions. */
  turns(accountId: string, session: string, limit: number): Promise<readonly LoggedTurn[]>;
  /** Tells whether any request id of the account begins with this text. */
  hasRequestId(accountId: string, start: string): Promise<boolean>;
  /** By its own id or by its request id, then the newest; null when the account has no such request. */
  find(accountId: string, id: string): Promise<StoredRequest | null>;
  /** Counts the requests of a filter in each hour or day that has some, oldest first. Covers whole hours and days. */
  histogram(filter: RequestFilter, span: HistogramSpan): Promise<Histogram>;
  /** Keeps the mark with the features of the request, beyond the time the request itself is kept. */
  mark(accountId: string, recordId: string, feedback: Feedback): Promise<void>;
  /** The same with the word of an application, which stands beside that of a person. */
  rate(accountId: string, recordId: string, feedback: AppFeedback): Promise<void>;
  /** Marks of all accounts, newest request first; those without a tier or of requests that were never classified are left out. */
  marks(page: Page): Promise<readonly MarkedRequest[]>;
}

export interface HistogramSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: "hour" | "day";
}

export interface Histogram {
  readonly bars: readonly HistogramBar[];
  /** The time that is really covered. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HistogramBar {
  readonly startMs: number;
  readonly requests: number;
  readonly errors: number;
}

export const USAGE_STEPS = ["hour", "day", "total"] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

export const USAGE_GROUPS = ["model", "tier", "key", "status"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery extends Pick<RequestFilter, "accountId" | "tier" | "model" | "keyId"> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: UsageStep;
  readonly group: UsageGroup | null;
  /** False leaves out how latencies are spread, which is most of the work; left out itself, true. */
  readonly hasSpread?: boolean;
}

/** The times of every request that a row counts. */
interface UsageTimes {
  readonly latenciesMs: readonly number[];
  readonly firstContentsMs: readonly number[];
}

export interface UsageTotals {
  readonly requests: number;
  readonly errors: number;
  readonly fallbacks: number;
  readonly answered: AnsweredCounts;
  readonly buckets: TokenBuckets;
  readonly charge: NanoUsd;
  readonly baseline: NanoUsd;
  readonly latencyMsSum: number;
  /** Number of requests in each bucket of LATENCY_BOUNDS_MS, and last of those beyond; empty when not asked for. */
  readonly latencies: readonly number[];
  readonly firstContents: readonly number[];
  /** This and the next of the same requests: those that had content from a provider. */
  readonly firstContentMsSum: number;
  readonly overheadMsSum: number;
  /** By OVERHEAD_BOUNDS_MS. */
  readonly overheads: readonly number[];
}

/** Requests by the try that answered; `unknown` are those from before this was counted. */
export type AnsweredCounts = Readonly<Record<AnsweredAt | "unknown", number>>;

export interface UsageRow extends UsageTotals {
  /** Times of single requests; null where there are too many to read, or some of the requests are deleted. */
  readonly times: UsageTimes | null;
  readonly startMs: number;
  /** The model, tier, key or status; null when not grouped, and for requests that have none. */
  readonly group: string | null;
}

export interface UsageLog {
  /** The rows, and the time they really cover: whole hours or days. */
  read(
    query: UsageQuery,
  ): Promise<{ readonly rows: readonly UsageRow[]; readonly fromMs: number; readonly toMs: number }>;
  /** The keys that cost most, the dearest first; over whole hours or days, as a total is. */
  topKeys(
    query: Pick<UsageQuery, "accountId" | "keyId" | "fromMs" | "toMs">,
    most: number,
  ): Promise<readonly KeyUsage[]>;
  /** The days of these keys since that time, which is the beginning of a day; oldest first. */
  ofKeys(accountId: string, keyIds: readonly string[], fromMs: number): Promise<ReadonlyMap<string, readonly KeyDay[]>>;
  /** Sums up the use of each profile since that time, which is the beginning of a day; as long as requests are kept. */
  ofProfiles(accountId: string, fromMs: number): Promise<ReadonlyMap<string, ProfileUsage>>;
  /**
   * Counts the requests that each provider failed, divided as the rows above. A request that two providers failed
   * counts twice.
   */
  failures(
    query: FailureQuery,
  ): Promise<{ readonly rows: readonly FailureRow[]; readonly fromMs: number; readonly toMs: number }>;
}

export type ProfileUsage = Pick<UsageTotals, "requests" | "charge" | "baseline">;

/** Sums over the requests of one key. */
export interface KeyUsage {
  readonly keyId: string;
  readonly requests: number;
  readonly errors: number;
  readonly charge: NanoUsd;
  readonly baseline: NanoUsd;
}

/** Sums over the requests of a key on one day (UTC). */
export interface KeyDay extends Omit<KeyUsage, "keyId"> {
  readonly startMs: number;
}

export type FailureQuery = Pick<UsageQuery, "accountId" | "keyId" | "fromMs" | "toMs" | "step">;

export interface FailureRow {
  readonly startMs: number;
  readonly provider: string;
  readonly requests: number;
}

export interface ToolCallLog {
  ofAccount(accountId: string): Promise<readonly ToolCallTally[]>;
  /** Returns the tallies of every account that has seen so many calls of a model in a scenario. */
  withAtLeast(calls: number): Promise<readonly ToolCallTally[]>;
  /**
   * All accounts together. Each counts for at most so many calls, by its share of usable ones; those of the account that
   * has the most unusable ones are all taken as usable, so that it takes a second to say the same.
   */
  shared(mostPerAccount: number): Promise<readonly Omit<ToolCallTally, "accountId" | "parsed" | "known">[]>;
}

/** A past decision with what came of it, for replay under other rules. */
export interface PastRequest {
  readonly requestId: string;
  /** The saved profile of its key. */
  readonly profileId: string | null;
  readonly atMs: number;
  readonly decision: Decision;
  /** Numbers that were measured of the request, by name. */
  readonly features: Readonly<Record<string, number>> | null;
  /** Model that answered, what it used and its charge; null when none answered. */
  readonly answer: { readonly model: string; readonly buckets: TokenBuckets; readonly charge: NanoUsd } | null;
}

export interface DecisionLog {
  /** The newest requests of the account that were routed. */
  recent(accountId: string, limit: number): Promise<readonly PastRequest[]>;
}
