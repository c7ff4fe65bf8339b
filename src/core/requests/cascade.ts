// Cascades: a cheaper model answers first, the answer is checked, and only one that fails goes to the next tier.

import type { CancelSignal } from "../cancellation.ts";
import type { NanoUsd, TokenBuckets } from "../money.ts";
import type { Tier } from "../tiers.ts";

/** Checks that a request names. What it does not name is taken from the request: its schema and its tools. */
export interface CascadeChecks {
  /** A JSON Schema for the answer's text, in place of the request's own. */
  readonly json_schema?: Readonly<Record<string, unknown>>;
  /** A regular expression that the answer's text must match. */
  readonly pattern?: string;
  /** False leaves tool calls unchecked. */
  readonly tool_calls?: boolean;
}

/** The control of a request, as it was sent: on or off, or on with checks. */
export type CascadeControl = boolean | CascadeChecks;

/** In the order in which they run. */
export const CASCADE_CHECKS = ["json_schema", "json", "tool_calls", "pattern", "webhook"] as const;
export type CascadeCheck = (typeof CASCADE_CHECKS)[number];

/** One answer of a cascade, as log and client see it. */
export interface CascadeStep {
  readonly tier: Tier;
  readonly model: string;
  readonly provider: string;
  readonly isPassed: boolean;
  /** The check that failed; null where none did. */
  readonly failedCheck: CascadeCheck | null;
  /** Names the fault in words that may quote the request's schema; null where there is none. */
  readonly reason: string | null;
  readonly charge: NanoUsd;
  readonly buckets: TokenBuckets;
  readonly holdId: string;
}

/** Webhooks of the operator that check answers, by profile. */
export interface CascadeWebhooks {
  has(profileId: string | null): boolean;
  /** Never rejects: a webhook that cannot be asked does not let the answer pass. */
  ask(profileId: string, question: WebhookQuestion, signal: CancelSignal): Promise<WebhookVerdict>;
}

/** The body that a webhook gets. */
export interface WebhookQuestion {
  readonly requestId: string;
  readonly profile: string;
  readonly tier: Tier;
  readonly model: string;
  /** One for each choice of the answer. */
  readonly answers: readonly WebhookAnswer[];
}

export interface WebhookAnswer {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
}

export interface WebhookVerdict {
  readonly isPassed: boolean;
  readonly reason: string;
}
