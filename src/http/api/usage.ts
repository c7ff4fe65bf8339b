// /api/usage: totals by hour, by day or over the whole range, and how many requests each provider failed.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { baselineNamed } from "../../catalog/catalog.ts";
import { formatUsd } from "../../core/money.ts";
import { estimatedPercentileMs, OVERHEAD_BOUNDS_MS, percentileMs } from "../../core/requests/buckets.ts";
import {
  USAGE_GROUPS,
  USAGE_STEPS,
  type UsageGroup,
  type UsageQuery,
  type UsageRow,
  type UsageStep,
} from "../../core/requests/log.ts";
import { invalid } from "../../formats/json/fields.ts";
import { query } from "../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  Integer,
  listed,
  named,
  nullable,
  type Shape,
  Time,
  Tokens,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { caughtUp } from "../v1/record.ts";
import { accountOf, isoTime, oneOf, queryOf } from "./exchange.ts";
import {
  checkRange,
  DEFAULT_RANGE_MS,
  flagOf,
  groupFilterOf,
  groupFilters,
  keyFilters,
  range,
  timeOf,
} from "./requests/filter.ts";
import { type ApiRoute, get } from "./route.ts";

/** Exact for a thousand requests, else estimated. Null of fewer than 20 among more, and when they were not asked for. */
const percentiles = { p50Ms: nullable(Integer), p95Ms: nullable(Integer) };

type Percentiles = Readonly<Record<keyof typeof percentiles, number | null>>;

/** Requests by the attempt that answered them. */
const Answered = Type.Object({
  first: Integer,
  second: Integer,
  later: Integer,
  none: Integer,
  unknown: Type.Integer({ description: "Older requests without attempt counts. `none`: all attempts failed." }),
});

/** The gateway's own share of the time to first content. */
const Overhead = Type.Object({
  averageMs: nullable(Type.Number()),
  firstContentAverageMs: nullable(Type.Number()),
  ...percentiles,
});

/** One row of totals: a step of time, a group, or both. */
export const UsageSchema = Type.Object({
  start: Time,
  // The group of the row; null when rows are not grouped, and for requests without such a value.
  group: nullable(AnyText),
  requests: Integer,
  errors: Integer,
  fallbacks: Integer,
  answered: Answered,
  tokens: Tokens,
  chargeUsd: AnyText,
  baselineUsd: AnyText,
  savedUsd: AnyText,
  latency: Type.Object({ averageMs: Integer, ...percentiles }),
  firstContent: Type.Object(percentiles),
  overhead: Overhead,
});

/** The range that was really covered: whole hours or days, so it may be wider than asked. */
const covered = { next: Type.Null(), from: Time, to: Time, by: listed(USAGE_STEPS) };
const UsagePageSchema = named("UsagePage", {
  data: Type.Array(UsageSchema),
  ...covered,
  group: nullable(AnyText),
  ...baselineFields,
});
/** A request that two providers failed counts for both. */
export const FailurePageSchema = named("FailurePage", {
  data: Type.Array(Type.Object({ start: Time, provider: AnyText, requests: Integer })),
  ...covered,
});

/** `by` takes a step, a group, or one of each. */
const BY = [...USAGE_STEPS, ...USAGE_GROUPS] as const;
const [STEP, GROUP] = [USAGE_STEPS.join("|"), USAGE_GROUPS.join("|")];
const BY_PATTERN = `^((${STEP})(,(${GROUP}))?|(${GROUP})(,(${STEP}))?)$`;

export const USAGE_ROUTES: readonly ApiRoute[] = [
  // Totals come from rollups, not from the request log, which is kept for a shorter time.
  get("getUsage", "/api/usage", {
    summary: "Totals by hour, day or over the range; hours and days are whole and in UTC",
    access: "readTotals",
    parameters: [
      ...range,
      query(
        "by",
        Type.String({ default: "day", pattern: BY_PATTERN }),
        `One of ${BY.join(", ")}; or two, as in day,model.`,
      ),
      query("group", Type.Enum([...USAGE_GROUPS]), "One row for each of these."),
      query("latency", Type.Boolean({ default: true }), "`false` is quicker: percentiles are null."),
      ...groupFilters,
    ],
    response: UsagePageSchema,
    async handle({ request }, edge) {
      const { records } = edge;
      const { step, group, rangeMs } = divisionOf(request);
      const toMs = timeOf(request, "to") ?? edge.now();
      const wanted: UsageQuery = {
        ...groupFilterOf(request),
        accountId: await accountOf(request, edge),
        fromMs: timeOf(request, "from") ?? toMs - rangeMs,
        toMs,
        step,
        group,
        hasSpread: flagOf(request, "latency") ?? true,
      };
      checkRange(wanted);
      await caughtUp(records);
      const { rows, fromMs, toMs: endMs } = await records.usage.read(wanted);
      const data = rows.map((row) => ({ ...writeUsage(row), ...(group === null ? {} : { [group]: row.group }) }));
      return {
        data,
        next: null,
        from: isoTime(fromMs),
        to: isoTime(endMs),
        by: step,
        group,
        ...baselineNamed(edge.services().catalog),
      };
    },
  }),
  get("getProviderFailures", "/api/usage/failures", {
    summary:
      "Failed requests by provider, by hour, day or over the range; a request that failed at two counts for both",
    access: "readTotals",
    parameters: [...range, query("by", Type.Enum([...USAGE_STEPS], { default: "day" })), ...keyFilters],
    response: FailurePageSchema,
    async handle({ request }, edge) {
      const step = oneOf("by", queryOf(request, "by") ?? "day", USAGE_STEPS);
      const { keyId } = groupFilterOf(request);
      const toMs = timeOf(request, "to") ?? edge.now();
      const fromMs = timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step];
      const wanted = { accountId: await accountOf(request, edge), fromMs, toMs, step };
      checkRange(wanted);
      await caughtUp(edge.records);
      const found = await edge.records.usage.failures({ ...wanted, ...(keyId === undefined ? {} : { keyId }) });
      const data = found.rows.map(({ startMs, provider, requests }) => ({
        start: isoTime(startMs),
        provider,
        requests,
      }));
      return { data, next: null, from: isoTime(found.fromMs), to: isoTime(found.toMs), by: step };
    },
  }),
];

interface Division {
  readonly step: UsageStep;
  readonly group: UsageGroup | null;
  /** The range where the query names no beginning. */
  readonly rangeMs: number;
}

/** `by`: a step, a group, or both with a comma between them; a group alone is over the whole range. */
function divisionOf(request: FastifyRequest): Division {
  const words = (queryOf(request, "by") ?? "day").split(",").map((word) => oneOf("by", word, BY));
  const [step, ...otherSteps] = words.filter((word) => isIn(USAGE_STEPS, word));
  const [named, ...otherGroups] = words.filter((word) => isIn(USAGE_GROUPS, word));
  if (otherSteps.length > 0 || otherGroups.length > 0) {
    throw invalid("by", TEXT.invalidUsageBy);
  }
  const group = queryOf(request, "group");
  return {
    step: step ?? "total",
    group: group === null ? (named ?? null) : oneOf("group", group, USAGE_GROUPS),
    rangeMs: DEFAULT_RANGE_MS[step ?? "day"],
  };
}

/** Narrows the type of a word from the query. */
function isIn<Word extends string>(words: readonly Word[], word: string): word is Word {
  return words.includes(word as Word);
}

/** Latencies are rounded to milliseconds; money stays exact. */
export function writeUsage(row: UsageRow): Shape<typeof UsageSchema> {
  const { requests, charge, baseline, latencies, firstContents, times } = row;
  return {
    start: isoTime(row.startMs),
    group: row.group,
    requests,
    errors: row.errors,
    fallbacks: row.fallbacks,
    answered: row.answered,
    tokens: row.buckets,
    chargeUsd: formatUsd(charge),
    baselineUsd: formatUsd(baseline),
    savedUsd: formatUsd(baseline - charge),
    latency: {
      averageMs: Math.round(row.latencyMsSum / Math.max(1, requests)),
      ...writePercentiles(times?.latenciesMs, latencies),
    },
    firstContent: writePercentiles(times?.firstContentsMs, firstContents),
    overhead: writeOverhead(row),
  };
}

/** The gateway's own part of the time to first content, and the average of the whole beside it. */
function writeOverhead({ overheads, overheadMsSum, firstContentMsSum }: UsageRow): Shape<typeof Overhead> {
  const counted = overheads.reduce((sum, count) => sum + count, 0);
  const average = (sum: number): number | null => (counted === 0 ? null : Math.round((sum / counted) * 10) / 10);
  return {
    averageMs: average(overheadMsSum),
    firstContentAverageMs: average(firstContentMsSum),
    p50Ms: estimatedPercentileMs(overheads, 0.5, OVERHEAD_BOUNDS_MS),
    p95Ms: estimatedPercentileMs(overheads, 0.95, OVERHEAD_BOUNDS_MS),
  };
}

/** Computes percentiles from the times where they were read, or else from the counts by bucket. */
function writePercentiles(timesMs: readonly number[] | undefined, counts: readonly number[]): Percentiles {
  const at = (share: number): number | null =>
    timesMs === undefined ? estimatedPercentileMs(counts, share) : percentileMs(timesMs, share);
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}
