// GET /api/usage: totals by hour, by day or over the whole range, from the rollups; and how many requests each provider
// failed.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { formatUsd } from "../../core/money.ts";
import { OVERHEAD_BOUNDS_MS, percentileMs } from "../../core/requests/latency-buckets.ts";
import {
  USAGE_GROUPS,
  USAGE_STEPS,
  type UsageGroup,
  type UsageQuery,
  type UsageRow,
  type UsageStep,
} from "../../core/requests/log.ts";
import { invalid } from "../../formats/wire/fields.ts";
import type { Edge } from "../context.ts";
import { flagOf, groupFilterOf, oneOf, timeOf } from "./requests/filter.ts";
import { accountOf, isoTime, queryOf } from "./requests/one.ts";
import { caughtUp } from "./requests/pending-writes.ts";

const HOUR_MS = 60 * 60 * 1000;
export const DEFAULT_RANGE_MS: Readonly<Record<UsageStep, number>> = {
  hour: 24 * HOUR_MS,
  day: 30 * 24 * HOUR_MS,
  total: 24 * HOUR_MS,
};
/** So that an answer stays a page and not a book. */
const HOURLY_RANGE_MAX_MS = 62 * 24 * HOUR_MS;

export function registerUsage(api: FastifyInstance, edge: Edge): void {
  const { records } = edge;
  api.get("/api/usage", async (request) => {
    const { step, group, rangeMs } = divisionOf(request);
    const toMs = timeOf(request, "to") ?? edge.now();
    const query: UsageQuery = {
      ...groupFilterOf(request),
      accountId: await accountOf(request, edge),
      fromMs: timeOf(request, "from") ?? toMs - rangeMs,
      toMs,
      step,
      group,
      hasSpread: flagOf(request, "latency") ?? true,
    };
    checkRange(query);
    await caughtUp(records);
    const { rows, fromMs, toMs: endMs } = await records.usage.read(query);
    const data = rows.map((row) => ({ ...writeUsage(row), ...(group === null ? {} : { [group]: row.group }) }));
    return { data, next: null, from: isoTime(fromMs), to: isoTime(endMs), by: step, group };
  });
  api.get("/api/usage/failures", async (request) => {
    const step = oneOf("by", queryOf(request, "by") ?? "day", USAGE_STEPS);
    const key = groupFilterOf(request).keyId;
    const toMs = timeOf(request, "to") ?? edge.now();
    const fromMs = timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step];
    const query = { accountId: await accountOf(request, edge), fromMs, toMs, step };
    checkRange(query);
    await caughtUp(records);
    const found = await records.usage.failures({ ...query, ...(key === undefined ? {} : { keyId: key }) });
    const data = found.rows.map(({ startMs, provider, requests }) => ({ start: isoTime(startMs), provider, requests }));
    return { data, next: null, from: isoTime(found.fromMs), to: isoTime(found.toMs), by: step };
  });
}

interface Division {
  readonly step: UsageStep;
  readonly group: UsageGroup | null;
  /** Where the question names no beginning. */
  readonly rangeMs: number;
}

/** `by`: a step, a group, or both with a comma between them; a group alone is over the whole range. */
function divisionOf(request: FastifyRequest): Division {
  const words = (queryOf(request, "by") ?? "day").split(",").map((word) => oneOf("by", word, BY));
  const [step, ...otherSteps] = words.filter((word) => isIn(USAGE_STEPS, word));
  const [named, ...otherGroups] = words.filter((word) => isIn(USAGE_GROUPS, word));
  if (otherSteps.length > 0 || otherGroups.length > 0) {
    throw invalid("by", "'by' takes one of hour, day, total and one of model, tier, key, status.");
  }
  const group = queryOf(request, "group");
  return {
    step: step ?? "total",
    group: group === null ? (named ?? null) : oneOf("group", group, USAGE_GROUPS),
    rangeMs: DEFAULT_RANGE_MS[step ?? "day"],
  };
}

const BY = [...USAGE_STEPS, ...USAGE_GROUPS] as const;

function isIn<Word extends string>(words: readonly Word[], word: string): word is Word {
  return words.includes(word as Word);
}

export function checkRange({ fromMs, toMs, step }: Pick<UsageQuery, "fromMs" | "toMs" | "step">): void {
  if (fromMs >= toMs) throw invalid("from", "'from' must be before 'to'.");
  if (step === "hour" && toMs - fromMs > HOURLY_RANGE_MAX_MS) {
    throw invalid("by", "By the hour, the range may be 62 days at most; ask by day.");
  }
}

function writeUsage(row: UsageRow): object {
  const { requests, charge, baseline, latencies, firstContents } = row;
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
      p50Ms: percentileMs(latencies, 0.5),
      p95Ms: percentileMs(latencies, 0.95),
    },
    firstContent: { p50Ms: percentileMs(firstContents, 0.5), p95Ms: percentileMs(firstContents, 0.95) },
    overhead: writeOverhead(row),
  };
}

/** The gateway's own part of the time to first content, and the average of the whole beside it. */
function writeOverhead({ overheads, overheadMsSum, firstContentMsSum }: UsageRow): object {
  const counted = overheads.reduce((sum, count) => sum + count, 0);
  const average = (sum: number): number | null => (counted === 0 ? null : Math.round((sum / counted) * 10) / 10);
  return {
    averageMs: average(overheadMsSum),
    firstContentAverageMs: average(firstContentMsSum),
    p50Ms: percentileMs(overheads, 0.5, OVERHEAD_BOUNDS_MS),
    p95Ms: percentileMs(overheads, 0.95, OVERHEAD_BOUNDS_MS),
  };
}
