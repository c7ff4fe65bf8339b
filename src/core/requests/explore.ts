// Explore: one metric of the requests by one or two dimensions over a range of time.

import type { RequestFilter } from "./log.ts";

/** Way in which the values of a metric are computed. */
type MetricKind = "count" | "usd" | "percentile";

export const METRICS = {
  requests: "count",
  errors: "count",
  cost: "usd",
  saved: "usd",
  inputTokens: "count",
  cachedTokens: "count",
  outputTokens: "count",
  latencyP50: "percentile",
  latencyP95: "percentile",
  ttftP50: "percentile",
  ttftP95: "percentile",
} as const satisfies Readonly<Record<string, MetricKind>>;
export type Metric = keyof typeof METRICS;
export type PercentileMetric = { [Name in Metric]: (typeof METRICS)[Name] extends "percentile" ? Name : never }[Metric];

/** Names that filters of the request log have, too; a tag is written `tag:NAME`. */
export const DIMENSIONS = [
  ...["hour", "day", "model", "provider", "tier", "category", "key", "keyProfile", "team", "member"],
  ...["profile", "status", "user", "session", "sessionState"],
] as const;
export const TAG = "tag:";

export interface ExploreQuery {
  readonly filter: Omit<RequestFilter, "fromMs" | "toMs">;
  readonly fromMs: number;
  readonly toMs: number;
  readonly metric: Metric;
  /** One or two, all different. */
  readonly by: readonly string[];
  /** Number of values that are shown of each dimension but time; all others are summed up. */
  readonly top: number;
}

/** A value of a dimension: text, the beginning of an hour or day, or null for requests that have none. */
export interface ExploreValue {
  readonly value: string | number | null;
  /** All values that are not among the first. */
  readonly isOther: boolean;
}

export interface ExploreRow {
  readonly by: readonly ExploreValue[];
  /** Nano-USD, a number, or milliseconds; null for a percentile of too few. */
  readonly value: bigint | number | null;
  readonly requests: number;
}

export interface Explored {
  readonly rows: readonly ExploreRow[];
  /** Number of values of each dimension. */
  readonly values: readonly number[];
  /** Whole hours or days. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Totals are kept for years; requests only as long as the log. */
  readonly source: "totals" | "requests";
}

export interface ExploreLog {
  read(query: ExploreQuery): Promise<Explored>;
}
