// What the gateway's /api answers, as far as the dashboard reads it. Amounts are decimal text in USD, times ISO 8601.

import type { Controls } from "../src/core/decision.ts";
import type { Capability, ToolScenario, ToolScores } from "../src/core/model.ts";
import type { TokenBuckets } from "../src/core/money.ts";
import type { AnsweredCounts } from "../src/core/requests/log.ts";
import type { AttemptRecord, ContentRecord, ToolCallCheck } from "../src/core/requests/records.ts";

export interface List<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

export interface Account {
  readonly id: string;
  readonly name: string;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly status: string;
  readonly profile: string | null;
  readonly requestsPerMinute: number | null;
  readonly spendLimitUsd: string | null;
  readonly spendReset: string;
  readonly spentUsd: string | null;
  readonly spentSince: string | null;
  readonly spendResetsAt: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

export interface NewKey extends Key {
  /** Its text, this once. */
  readonly key: string;
}

export interface Rules {
  readonly tierFloor: string | null;
  readonly tierCeiling: string | null;
  readonly capabilities: readonly Capability[];
  readonly maxCostUsd: string | null;
  readonly bfclMin: number | null;
  readonly codeQuality: number | null;
  readonly chatQuality: number | null;
  readonly allowedModels: readonly string[] | null;
  readonly blockedModels: readonly string[];
}

export interface Profile extends Rules {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Credits {
  readonly postedUsd: string;
  readonly heldUsd: string;
  readonly availableUsd: string;
}

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly owned_by: string;
  readonly context_length: number;
  readonly max_output_tokens: number;
  readonly pricing: { readonly prompt: string | null; readonly completion: string | null };
  readonly service: { readonly tiers: readonly string[]; readonly bfcl: ToolScores | null; readonly priceAsOf: string };
  readonly provider: string;
  readonly tier: string;
  readonly chains: readonly ChainPlace[];
  readonly capabilities: readonly Capability[];
  readonly priceSource: string;
  readonly isRoutable: boolean;
  readonly health: ModelHealth;
  readonly toolCalls: readonly SeenToolCalls[];
}

/** 1 is asked first. */
export interface ChainPlace {
  readonly tier: string;
  readonly place: number;
  readonly of: number;
}

/** What the account saw of a model's tool calls in one scenario, and what it does to the score. */
export interface SeenToolCalls extends ToolCallCheck {
  readonly scenario: ToolScenario;
  readonly staticScore: number | null;
  readonly blendedScore: number | null;
  readonly basis: "account" | "everyone";
}

export interface HealthState {
  readonly state: "closed" | "half-open" | "open" | "resting";
  readonly since: string;
  readonly nextTryAt: string | null;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
}

export interface ModelHealth extends HealthState {
  readonly isResting: boolean;
}

export interface Provider {
  readonly id: string;
  readonly health: HealthState | null;
  readonly credential: HealthState | null;
}

export interface Latency {
  readonly averageMs?: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** The gateway's own part of the time to first content. */
export interface Overhead extends Pick<Latency, "p50Ms" | "p95Ms"> {
  readonly averageMs: number | null;
  /** Of the same requests, the whole. */
  readonly firstContentAverageMs: number | null;
}

export interface Usage {
  readonly start: string;
  readonly group: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly fallbacks: number;
  readonly answered: AnsweredCounts;
  readonly tokens: TokenBuckets;
  readonly chargeUsd: string;
  readonly baselineUsd: string;
  readonly savedUsd: string;
  readonly latency: Latency;
  readonly firstContent: Latency;
  readonly overhead: Overhead;
}

export interface RequestLine {
  readonly id: string;
  readonly requestId: string;
  readonly createdAt: string;
  readonly route: string;
  readonly status: number;
  readonly error: boolean;
  readonly errorCode: string | null;
  readonly stream: boolean;
  readonly key: string;
  readonly tier: string | null;
  readonly classifiedTier: string | null;
  readonly category: string | null;
  readonly profile: string | null;
  readonly keyProfile: string | null;
  readonly toolScenario: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly fallback: boolean;
  readonly adjusted: boolean;
  readonly attempts: number;
  readonly failedProviders: readonly string[];
  readonly tokens: TokenBuckets | null;
  readonly usageEstimated: boolean;
  readonly chargeUsd: string | null;
  readonly baselineUsd: string | null;
  readonly savedUsd: string | null;
  readonly latencyMs: number;
  readonly firstContentMs: number | null;
  readonly ending: string | null;
}

export interface Candidate {
  readonly model: string;
  readonly removedBecause: string | null;
  readonly restingBecause?: string;
  /** Only where it is estimated now, as in the playground. */
  readonly costUsd?: string;
}

export interface Decision {
  readonly tier: string;
  readonly classifiedTier?: string | null;
  readonly score?: number | null;
  readonly confidence: number;
  readonly model: string;
  readonly category: string;
  readonly method: string;
  readonly reasoning: string;
  readonly chain: readonly string[];
  readonly profile: string;
  readonly historyFloor: string | null;
  readonly toolScenario: string | null;
  readonly bfclScore: number | null;
  readonly savings: number;
  readonly costEstimateUsd: string | null;
  readonly baselineCostUsd: string | null;
  readonly candidates: readonly Candidate[];
  readonly estimatedTokens: { readonly input: number; readonly output: number };
  /** What the request asked for, where it asked for something. */
  readonly controls?: Partial<Controls>;
}

export interface RequestDetail extends Omit<RequestLine, "attempts"> {
  readonly attemptCount: number;
  readonly attempts: readonly AttemptRecord[];
  readonly decision: Decision | null;
  readonly overheadMs: number | null;
  readonly money: {
    readonly holdUsd: string | null;
    readonly chargeUsd: string | null;
    readonly baselineUsd: string | null;
    readonly savedUsd: string | null;
    readonly baselineModel: string | null;
    readonly price: Readonly<Record<string, number | null>> | null;
    readonly markup: number | null;
    readonly ledgerId: string | null;
  };
  readonly toolCalls: ToolCallCheck | null;
  readonly content: ContentRecord | null;
  readonly feedback: { readonly tier: string; readonly note: string | null; readonly createdAt: string } | null;
}
