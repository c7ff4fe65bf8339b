// /api/explore: any metric by one or two dimensions over any range, as JSON or CSV.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { baselineNamed } from "../../catalog/catalog.ts";
import { formatUsd } from "../../core/money.ts";
import {
  DIMENSIONS,
  type Explored,
  type ExploreQuery,
  type ExploreRow,
  type ExploreValue,
  METRICS,
  type Metric,
} from "../../core/requests/explore.ts";
import { invalid } from "../../formats/json/fields.ts";
import type { OperatorContext } from "../context.ts";
import { json, query, textContent } from "../openapi/operation.ts";
import { AnyText, baselineFields, Integer, listed, named, nullable, type Shape, Time } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { caughtUp } from "../v1/record.ts";
import { isoTime, oneOf, queryOf } from "./exchange.ts";
import { csvRow } from "./export.ts";
import { checkRange, DEFAULT_RANGE_MS, filterOf, filters, timeOf } from "./requests/filter.ts";
import { type ApiRoute, get, sentAs } from "./route.ts";

const METRIC_NAMES = Object.keys(METRICS) as readonly Metric[];
/** Limit of values, which is several times what a chart can tell apart. */
const TOP_MAX = 50;
const TOP_DEFAULT = 10;
const FORMATS = ["json", "csv"] as const;
/** Tags are named by their callers. */
const TAG_NAME = /^tag:[^\p{Cc}\p{Cs},]{1,100}$/u;
const NAME = `(${DIMENSIONS.join("|")}|tag:[^,]{1,100})`;

/** A value of a dimension. Keys and profiles have a label, which is their name. */
const ValueSchema = Type.Object({
  // A time is the beginning of its hour or day. Null for requests that have no such thing, and for `other`.
  value: nullable(AnyText),
  label: Type.Optional(AnyText),
  other: Type.Optional(Type.Boolean({ description: "Everything that is not among the first `top`." })),
});

/** `value` is decimal text: a count, USD, or milliseconds. Null for a percentile of too few. */
export const ExploreSchema = named("Explore", {
  data: Type.Array(Type.Object({ by: Type.Array(ValueSchema), value: nullable(AnyText), requests: Integer })),
  next: Type.Null(),
  metric: listed(METRIC_NAMES),
  by: Type.Array(AnyText),
  // The number of values of each dimension, with those in `other`.
  values: Type.Array(Integer),
  from: Time,
  to: Time,
  source: listed(["totals", "requests"], {
    description: "`requests`: read from the request log, which is kept for a shorter time than the totals.",
  }),
  ...baselineFields,
});
type WrittenExplore = Shape<typeof ExploreSchema>;

export const EXPLORE_ROUTES: readonly ApiRoute[] = [
  get("explore", "/api/explore", {
    summary: "One metric by one or two dimensions; hours and days are whole and in UTC",
    access: "explore",
    parameters: [
      query("metric", Type.Enum([...METRIC_NAMES], { default: "requests" })),
      query(
        "by",
        Type.String({ default: "day", pattern: `^${NAME}(,${NAME})?$` }),
        `One or two of ${DIMENSIONS.join(", ")} and tag:NAME, as in day,model.`,
      ),
      query(
        "top",
        Type.Integer({ minimum: 1, maximum: TOP_MAX, default: TOP_DEFAULT }),
        "How many values of a dimension are shown on their own.",
      ),
      query("format", Type.Enum([...FORMATS], { default: "json" })),
      ...filters,
    ],
    response: sentAs(json(ExploreSchema), textContent("text/csv")),
    async handle({ request, reply }, edge) {
      const format = oneOf("format", queryOf(request, "format") ?? "json", FORMATS);
      const wanted = await wantedOf(request, edge);
      await caughtUp(edge.records);
      const explored = await edge.records.explore.read(wanted);
      const emails = await emailsOf(wanted, explored, edge);
      const written = write(wanted, explored, { ...edge, emails });
      if (format === "json") return reply.send(written);
      const days = [written.from, written.to].map((time) => time.slice(0, 10)).join("-");
      const name = `explore-${wanted.metric}-${days}.csv`;
      return reply
        .type("text/csv; charset=utf-8; header=present")
        .header("content-disposition", `attachment; filename="${name}"`)
        .send(toCsv(written));
    },
  }),
];

async function wantedOf(request: FastifyRequest, edge: OperatorContext): Promise<ExploreQuery> {
  const metric = oneOf("metric", queryOf(request, "metric") ?? "requests", METRIC_NAMES);
  const by = byOf(queryOf(request, "by") ?? "day");
  const toMs = timeOf(request, "to") ?? edge.now();
  const fromMs = timeOf(request, "from") ?? toMs - DEFAULT_RANGE_MS[by.includes("hour") ? "hour" : "day"];
  checkRange({ fromMs, toMs, step: by.includes("hour") ? "hour" : "day" });
  const { fromMs: _fromMs, toMs: _toMs, ...filter } = await filterOf(request, edge);
  return { filter, fromMs, toMs, metric, by, top: topOf(request) };
}

function byOf(text: string): readonly string[] {
  const names = text.split(",");
  for (const name of names) if (!TAG_NAME.test(name)) oneOf("by", name, DIMENSIONS);
  const times = names.filter((name) => name === "hour" || name === "day");
  if (names.length <= 2 && new Set(names).size === names.length && times.length <= 1) return names;
  throw invalid("by", TEXT.invalidDimensions);
}

function topOf(request: FastifyRequest): number {
  const text = queryOf(request, "top") ?? String(TOP_DEFAULT);
  const top = Number(text);
  if (/^\d{1,2}$/.test(text) && top >= 1 && top <= TOP_MAX) return top;
  throw invalid("top", TEXT.invalidTop(TOP_MAX));
}

/** Addresses of the members among the values. They are not in memory, unlike other names. */
async function emailsOf(
  { by, filter }: ExploreQuery,
  { rows }: Explored,
  { users }: OperatorContext,
): Promise<ReadonlyMap<string, string>> {
  const at = by.indexOf("member");
  const ids = rows.flatMap((row) => (typeof row.by[at]?.value === "string" ? [row.by[at].value] : []));
  return users.emailsOf(filter.accountId, [...new Set(ids)]);
}

interface WriteContext extends OperatorContext {
  /** Addresses of members, by their id. */
  readonly emails: ReadonlyMap<string, string>;
}

function write({ metric, by, filter }: ExploreQuery, explored: Explored, edge: WriteContext): WrittenExplore {
  const { rows, values, fromMs, toMs, source } = explored;
  const labelOf = (name: string, value: string): string | null => {
    if (name === "key") return edge.keys.nameOf(filter.accountId, value);
    if (name === "member") return edge.emails.get(value) ?? null;
    if (name === "team") return edge.teams.nameOf(filter.accountId, value);
    return name === "keyProfile" ? edge.profiles.nameOf(filter.accountId, value) : null;
  };
  return {
    data: inOrder(rows).map((row) => ({
      by: row.by.map((each, at) => writeValue(each, (value) => labelOf(by[at] ?? "", value))),
      value: typeof row.value === "bigint" ? formatUsd(row.value) : row.value === null ? null : String(row.value),
      requests: row.requests,
    })),
    next: null,
    metric,
    by,
    values,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    source,
    ...baselineNamed(edge.services().catalog),
  };
}

function writeValue({ value, isOther }: ExploreValue, labelOf: (value: string) => string | null) {
  if (isOther) return { value: null, other: true };
  if (typeof value !== "string") return { value: isoTime(value) };
  const label = labelOf(value);
  return label === null ? { value } : { value, label };
}

/** Times from the first to the last; other values by their sum over all rows, the largest first, and the rest last. */
function inOrder(rows: readonly ExploreRow[]): readonly ExploreRow[] {
  const places = [0, 1].map((at) => {
    const sums = new Map<string, number>();
    for (const { by, value } of rows) {
      const name = nameOf(by[at]);
      sums.set(name, (sums.get(name) ?? 0) + Number(value ?? 0));
    }
    return sums;
  });
  const placeOf = (row: ExploreRow, at: number): number => {
    const { value, isOther } = row.by[at] ?? { value: null, isOther: false };
    if (typeof value === "number") return value;
    return isOther ? Number.MAX_VALUE : -(places[at]?.get(nameOf(row.by[at])) ?? 0);
  };
  return [...rows].sort((a, b) => placeOf(a, 0) - placeOf(b, 0) || placeOf(a, 1) - placeOf(b, 1));
}

function nameOf(value: ExploreValue | undefined): string {
  return JSON.stringify([value?.value, value?.isOther]);
}

/** A dimension with labels has a column more. */
function toCsv({ by, metric, data }: WrittenExplore): string {
  const isLabelled = (name: string): boolean => name === "key" || name === "keyProfile";
  const head = by.flatMap((name) => (isLabelled(name) ? [name, `${name}Name`] : [name]));
  const rows = data.map((row) => [
    ...by.flatMap((name, at) => {
      const { value, label, other } = row.by[at] ?? { value: null };
      const shown = other === true ? "(other)" : value;
      return isLabelled(name) ? [shown, label ?? null] : [shown];
    }),
    row.value,
    row.requests,
  ]);
  return [csvRow([...head, metric, "requests"]), ...rows.map(csvRow)].join("");
}
