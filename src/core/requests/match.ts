// A filter of the request log applied to one request, for the live log. The stores do the same in SQL, and a
// test holds the two together. Words are not looked for: a line does not have the texts.

import type { NanoUsd } from "../money.ts";
import type { CostRange } from "./buckets.ts";
import { FILTER_FIELDS, type RequestSummary } from "./fields.ts";
import type { NumberRange, RequestFilter, StatusFilter } from "./log.ts";
import { answeredAtOf, type Tags, tokensOf } from "./records.ts";

export function matchesFilter(filter: RequestFilter, line: RequestSummary): boolean {
  return (
    isWithin(filter, line.atMs) &&
    FILTER_FIELDS.every(({ name }) => filter[name] === undefined || filter[name] === line[name]) &&
    (filter.answeredAt === undefined || filter.answeredAt.some((at) => at === answeredAtOf(line))) &&
    (filter.failedProvider === undefined || line.failedProviders.includes(filter.failedProvider)) &&
    (filter.status === undefined || hasStatus(filter.status, line)) &&
    (filter.cost === undefined || hasCost(filter.cost, line.charge)) &&
    isInRange(filter.latency, line.latencyMs) &&
    isInRange(filter.tokens, tokensOf(line.buckets)) &&
    hasTag(filter.tag, line.tags) &&
    line.requestId.startsWith(filter.requestIdStart ?? "")
  );
}

const ERROR_STATUS = 400;

function isWithin({ fromMs = 0, toMs = Number.POSITIVE_INFINITY }: RequestFilter, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}

function isInRange({ from = 0, to = Number.POSITIVE_INFINITY }: NumberRange = {}, value: number): boolean {
  return value >= from && value < to;
}

function hasTag(tag: RequestFilter["tag"], tags: Tags): boolean {
  return tag === undefined || (Object.hasOwn(tags, tag.name) && (tag.value ?? tags[tag.name]) === tags[tag.name]);
}

function hasStatus(filter: StatusFilter, { status, isError }: RequestSummary): boolean {
  if (filter.kind === "error") return isError;
  if (filter.kind === "broken") return isError && status < ERROR_STATUS;
  return filter.kind === "exact" ? filter.statuses.includes(status) : Math.floor(status / 100) === filter.hundreds;
}

function hasCost({ from = 0n, to }: CostRange, charge: NanoUsd | null): boolean {
  return charge !== null && charge >= from && (to === undefined || charge < to);
}
