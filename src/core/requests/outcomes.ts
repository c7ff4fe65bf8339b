// Outcomes: samples of requests that a second model answered as well, after the client had its answer. They show whether a
// cheaper model is good enough. The second call is the operator's cost and never part of a wallet.

import type { NanoUsd } from "../money.ts";
import type { Tier } from "../tiers.ts";

/**
 * `same`: the same answer. `same_tool`: the same tools with other arguments. `unclear`: two longer texts, which no
 * comparison by machine can judge.
 */
export const VERDICTS = ["same", "same_tool", "different", "unclear"] as const;
export type SampleVerdict = (typeof VERDICTS)[number];

/** One answer in figures. The cost is the provider's, without markup. */
export interface AnswerFigures {
  readonly model: string;
  readonly outputTokens: number;
  readonly latencyMs: number;
  readonly cost: NanoUsd;
}

export interface ShadowSample {
  /** Id of the request in the request log. */
  readonly id: string;
  readonly accountId: string;
  readonly profileId: string;
  readonly atMs: number;
  readonly tier: string;
  readonly category: string;
  readonly live: AnswerFigures;
  readonly second: AnswerFigures;
  readonly verdict: SampleVerdict;
  /** The share of words that both texts have, 0 to 1; null where tool calls were compared. */
  readonly similarity: number | null;
  /** Answer of the second model; null unless content is stored. */
  readonly answer: string | null;
}

/** A sample with what people and applications said of the answer that was delivered. */
export interface MarkedSample extends Omit<ShadowSample, "accountId" | "answer"> {
  readonly requestId: string;
  readonly markedTier: Tier | null;
  readonly score: number | null;
}

/** The budget of a profile on one day. */
interface ShadowDay {
  readonly profileId: string;
  /** Date like 2026-01-31. */
  readonly day: string;
}

export interface OutcomeStore {
  /** Counts the amount against the day, unless that would exceed the limit; over all processes. */
  take(day: ShadowDay, amount: NanoUsd, limit: NanoUsd): Promise<boolean>;
  /** Replaces what was taken by what it came to. */
  settle(day: ShadowDay, taken: NanoUsd, cost: NanoUsd): Promise<void>;
  /** Returns the money that was counted against a day, by profile. */
  spentOn(day: string): Promise<ReadonlyMap<string, NanoUsd>>;
  add(sample: ShadowSample): Promise<void>;
  /** The newest samples of the account since then. */
  samples(accountId: string, fromMs: number, limit: number): Promise<readonly MarkedSample[]>;
}

/** Answer of a second model to the same request, compared with the delivered answer. */
export type StoredSample = Pick<ShadowSample, "second" | "verdict" | "similarity" | "answer">;
