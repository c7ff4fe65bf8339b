// GET /api/overview: everything on the first page of the dashboard in one call, so that all its numbers belong to one
// range and one moment.

import { Type } from "typebox";
import { baselineNamed } from "../../../catalog/catalog.ts";
import { formatUsd } from "../../../core/money.ts";
import type { UsageGroup, UsageQuery, UsageRow, UsageStep } from "../../../core/requests/log.ts";
import type { OperatorContext } from "../../context.ts";
import { query } from "../../openapi/operation.ts";
import { AnyText, baselineFields, Flag, listed, named, nullable, type Shape, Time } from "../../openapi/schema.ts";
import { caughtUp } from "../../v1/record.ts";
import { accountOf, isoTime, oneOf, queryOf } from "../exchange.ts";
import { type ApiRoute, get } from "../route.ts";
import { UsageSchema, writeUsage } from "../usage.ts";
import { checkRange, DEFAULT_RANGE_MS, groupFilterOf, keyFilters, range, timeOf } from "./filter.ts";
import { namesOf, RequestLineSchema, writeSummary } from "./line.ts";

const STEPS = ["hour", "day"] as const;
/** Limit of the keys that fit beside a chart. */
const KEYS_MAX = 6;
const ERRORS_MAX = 5;

/** The part of a usage row that rankings and shares are drawn from: with all of it, the answer would be four times as long. */
const ShareSchema = Type.Pick(UsageSchema, ["start", "group", "requests", "errors", "chargeUsd", "savedUsd"]);
const Shares = Type.Array(ShareSchema);
export const OverviewSchema = named("Overview", {
  // Whole hours or days, so it may be wider than asked.
  from: Time,
  to: Time,
  by: listed(STEPS),
  // The sums are null without requests; `before` counts the same length of time just before.
  total: nullable(UsageSchema),
  before: nullable(UsageSchema),
  series: Type.Array(UsageSchema),
  tiers: Shares,
  statuses: Shares,
  models: Shares,
  // The keys that spent most. A key that no longer exists has its id as name.
  keys: Type.Array(Type.Intersect([ShareSchema, Type.Object({ name: AnyText })])),
  errors: Type.Array(RequestLineSchema),
  // The newest request of the account, at any time.
  latest: nullable(RequestLineSchema),
  // True once any request of the account was answered.
  isStarted: Flag,
  ...baselineFields,
});

export const OVERVIEW_ROUTES: readonly ApiRoute[] = [
  get("getOverview", "/api/overview", {
    summary: "Totals, series, rankings and last errors of a range, as the first page of the dashboard shows them",
    access: "readTotals",
    parameters: [...range, query("by", Type.Enum([...STEPS], { default: "hour" })), ...keyFilters],
    response: OverviewSchema,
    async handle({ request }, edge) {
      const step = oneOf("by", queryOf(request, "by") ?? "hour", STEPS);
      const toMs = timeOf(request, "to") ?? edge.now();
      const span = { step, toMs, fromMs: timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[step] };
      checkRange(span);
      const accountId = await accountOf(request, edge);
      await caughtUp(edge.records);
      const { keyId } = groupFilterOf(request);
      const narrowed = { accountId, ...(keyId === undefined ? {} : { keyId }) };
      const [usage, activity] = await Promise.all([
        readUsage({ ...narrowed, ...span }, edge),
        readActivity({ ...narrowed, fromMs: span.fromMs, toMs: span.toMs }, edge),
      ]);
      return { ...usage, ...activity, ...baselineNamed(edge.services().catalog) };
    },
  }),
];

type Narrowed = Pick<UsageQuery, "accountId" | "keyId" | "fromMs" | "toMs">;

/** Percentiles cost most, and only the totals and the series show them. */
async function readUsage(span: Narrowed & { readonly step: "hour" | "day" }, edge: OperatorContext) {
  const { records } = edge;
  const { step } = span;
  const lengthMs = span.toMs - span.fromMs;
  const read = (of: Narrowed, by: UsageStep, group: UsageGroup | null = null) =>
    records.usage.read({ ...of, step: by, group, hasSpread: group === null });
  const [total, before, series, tiers, statuses, models, keys] = await Promise.all([
    read(span, "total"),
    read({ ...span, fromMs: span.fromMs - lengthMs, toMs: span.fromMs }, "total"),
    read(span, step),
    read(span, step, "tier"),
    read(span, step, "status"),
    read(span, "total", "model"),
    records.usage.topKeys(span, KEYS_MAX),
  ]);
  const names = namesOf(edge, span.accountId);
  return {
    from: isoTime(series.fromMs),
    to: isoTime(series.toMs),
    by: step,
    total: first(total.rows),
    before: first(before.rows),
    series: series.rows.map(writeUsage),
    tiers: tiers.rows.map(writeShare),
    statuses: statuses.rows.map(writeShare),
    models: models.rows.map(writeShare),
    keys: keys.map(({ keyId, ...sums }) => ({
      ...writeShare({ ...sums, group: keyId, startMs: models.fromMs }),
      name: names.key(keyId) ?? keyId,
    })),
  };
}

type ShareRow = Pick<UsageRow, "startMs" | "group" | "requests" | "errors" | "charge" | "baseline">;

function writeShare({ startMs, group, requests, errors, charge, baseline }: ShareRow): Shape<typeof ShareSchema> {
  const savedUsd = formatUsd(baseline - charge);
  return { start: isoTime(startMs), group, requests, errors, chargeUsd: formatUsd(charge), savedUsd };
}

/** Totals come as a list of one. */
function first([row]: readonly UsageRow[]): Shape<typeof UsageSchema> | null {
  return row === undefined ? null : writeUsage(row);
}

/** The last errors of the range, and how far the account has come at all. */
async function readActivity(filter: Narrowed, edge: OperatorContext) {
  const { accountId } = filter;
  const { requests } = edge.records;
  const names = namesOf(edge, accountId);
  const one = { limit: 1, after: null };
  const [errors, [latest]] = await Promise.all([
    requests.list({ ...filter, status: { kind: "error" } }, { limit: ERRORS_MAX, after: null }),
    requests.list({ accountId }, one),
  ]);
  // Only where the newest request failed is it unknown whether an older one was answered.
  const isAnswered =
    latest !== undefined &&
    (!latest.isError || (await requests.list({ accountId, status: { kind: "class", hundreds: 2 } }, one)).length > 0);
  return {
    errors: errors.map((line) => writeSummary(line, names)),
    latest: latest === undefined ? null : writeSummary(latest, names),
    isStarted: isAnswered,
  };
}
