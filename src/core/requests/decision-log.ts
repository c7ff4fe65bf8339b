// Decisions of the past with what came of them, for looking at them again under other rules.

import type { Decision } from "../decision.ts";
import type { NanoUsd, TokenBuckets } from "../money.ts";

export interface PastRequest {
  readonly requestId: string;
  readonly atMs: number;
  readonly decision: Decision;
  /** Numbers that were measured of the request, by name. */
  readonly features: Readonly<Record<string, number>> | null;
  /** Who answered, what was used and what it came to; null when nobody did. */
  readonly answer: { readonly model: string; readonly buckets: TokenBuckets; readonly charge: NanoUsd } | null;
}

export interface DecisionLog {
  /** The newest requests of the account that were routed. */
  recent(accountId: string, limit: number): Promise<readonly PastRequest[]>;
}
