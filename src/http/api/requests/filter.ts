// The filters of the request log and of its totals, read from the query. A filter that does not fit is an error; it is
// never ignored.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { CATEGORIES, ROUTING_PROFILES } from "../../../core/decision.ts";
import { type NanoUsd, parseUsd, USD_TEXT } from "../../../core/money.ts";
import type { RequestFilter, StatusFilter, UsageQuery, UsageStep } from "../../../core/requests/log.ts";
import { ANSWERED_AT } from "../../../core/requests/records.ts";
import { isTier, TIERS } from "../../../core/tiers.ts";
import { invalid } from "../../../formats/wire/fields.ts";
import { type Parameter, query } from "../../openapi/operation.ts";
import { Flag, GIVEN_TIME, GivenTime } from "../../openapi/schema.ts";
import { oneOf, queryOf } from "../exchange.ts";

/** Asks for requests that have no tier, or that no model answered. */
const NONE = "none";
/** Longer than any id. */
const ID_MAX = 300;
const Id = Type.String({ maxLength: ID_MAX, pattern: "^[^\\u0000]*$" });
const Amount = Type.String({ pattern: USD_TEXT.source, examples: ["0.001"] });
/** A status, several, a class, or a word; at most twenty, which is more than there are. */
const STATUS = /^(error|broken|[1-5][xX]{2}|[1-5]\d\d(,[1-5]\d\d){0,19})$/;
const REQUEST_ID_START = "^[\\w.=-]{0,200}$";
const REQUEST_ID_START_PATTERN = new RegExp(REQUEST_ID_START);

/** The parameters that `timeOf` reads. */
export const range: readonly Parameter[] = [
  query("from", GivenTime, "Requests that began at this time or later."),
  query("to", GivenTime, "Requests that began before this time."),
];

/** Totals of provider failures know no other filter. */
export const keyFilter = query("key", Id, "The id of a key.");

/** The parameters that `groupFilterOf` reads. */
export const groupFilters: readonly Parameter[] = [
  query("tier", Type.Enum([...TIERS, NONE]), "`none`: refused before a tier was found."),
  query("model", Id, "The model that answered; `none`: no model did."),
  keyFilter,
];

/** The parameters that `filterOf` reads. */
export const filters: readonly Parameter[] = [
  ...range,
  ...groupFilters,
  query(
    "status",
    Type.String({ pattern: STATUS.source }),
    "A status (402), several (401,404), a class (4xx), `broken` (streams), or `error`: all that failed.",
  ),
  query("provider", Id, "The provider whose model answered; `none`: no model did."),
  query("keyProfile", Id, "The id of the saved profile that the key had; `none`: it had none."),
  query("profile", Type.Enum([...ROUTING_PROFILES, NONE]), "How it asked to be routed."),
  query("fallback", Flag, "Whether another model than the one selected answered."),
  query(
    "answered",
    Type.String({ pattern: `^(${ANSWERED_AT.join("|")})(,(${ANSWERED_AT.join("|")}))*$`, examples: ["second,later"] }),
    `Which attempt answered: ${ANSWERED_AT.join(", ")}, or several, comma-separated; \`none\`: all attempts failed.`,
  ),
  query("failed", Id, "A provider that failed it, so that a fallback was needed or none was left."),
  query(
    "adjusted",
    Flag,
    "Whether more than the prompt decided: a floor, a ceiling, money, a missing ability, an open tool call, a fallback.",
  ),
  query("costFrom", Amount, "What was charged, in USD: at least this."),
  query("costTo", Amount, "What was charged, in USD: less than this."),
  query("category", Type.Enum([...CATEGORIES]), "What kind of request it was."),
  query("q", Type.String({ pattern: REQUEST_ID_START }), "The beginning of a request id."),
];

/** In milliseconds, as all times here. */
const HOUR_MS = 60 * 60 * 1000;
/** The range where a query names no beginning. */
export const DEFAULT_RANGE_MS: Readonly<Record<UsageStep, number>> = {
  hour: 24 * HOUR_MS,
  day: 30 * 24 * HOUR_MS,
  total: 24 * HOUR_MS,
};
/** Keeps an hourly response below 1,500 rows a group. */
const HOURLY_RANGE_MAX_MS = 62 * 24 * HOUR_MS;

/** The account comes from the identity, not from the filter. */
type Narrowing = Omit<RequestFilter, "accountId">;

/** With the times of the range. */
export function filterOf(request: FastifyRequest): Narrowing {
  const [fromMs, toMs] = [timeOf(request, "from"), timeOf(request, "to")];
  return {
    ...narrowingOf(request),
    ...(fromMs === null ? {} : { fromMs }),
    ...(toMs === null ? {} : { toMs }),
  };
}

/** Without the times, which a histogram reads for itself. */
export function narrowingOf(request: FastifyRequest): Omit<Narrowing, "fromMs" | "toMs"> {
  const status = queryOf(request, "status");
  const category = queryOf(request, "category");
  const start = queryOf(request, "q");
  const [isFallback, isAdjusted] = [flagOf(request, "fallback"), flagOf(request, "adjusted")];
  const [profile, failed] = [queryOf(request, "profile"), queryOf(request, "failed")];
  return {
    ...groupFilterOf(request),
    ...wordFilterOf(request, "provider", "provider"),
    ...wordFilterOf(request, "keyProfile", "profileId"),
    ...costOf(request),
    ...(profile === null ? {} : { profile: noneOr(oneOf("profile", profile, [...ROUTING_PROFILES, NONE])) }),
    ...(status === null ? {} : { status: statusOf(status) }),
    ...(category === null ? {} : { category: oneOf("category", category, CATEGORIES) }),
    ...(isFallback === null ? {} : { isFallback }),
    ...(isAdjusted === null ? {} : { isAdjusted }),
    ...answeredOf(request),
    ...(failed === null ? {} : { failedProvider: storable("failed", failed) }),
    ...(start === null || start === "" ? {} : { requestIdStart: requestIdStartOf(start) }),
  };
}

/** The part of the filter that totals know, too. */
export function groupFilterOf(request: FastifyRequest): Pick<Narrowing, "tier" | "model" | "keyId"> {
  const tier = queryOf(request, "tier");
  const key = queryOf(request, "key");
  return {
    ...(tier === null ? {} : { tier: tierOf(tier) }),
    ...wordFilterOf(request, "model", "model"),
    ...(key === null ? {} : { keyId: storable("key", key) }),
  };
}

/** Date.parse alone would take "1" for the year 2001. */
export function timeOf(request: FastifyRequest, name: "from" | "to"): number | null {
  const text = queryOf(request, name);
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isInteger(ms) && ms >= 0 && GIVEN_TIME.test(text)) return ms;
  throw invalid(name, `'${name}' must be a time in ISO 8601, such as 2026-01-31T00:00:00Z.`);
}

/** Throws when the range is empty, or too long to be shown by the hour. */
export function checkRange({ fromMs, toMs, step }: Pick<UsageQuery, "fromMs" | "toMs" | "step">): void {
  if (fromMs >= toMs) throw invalid("from", "'from' must be before 'to'.");
  if (step === "hour" && toMs - fromMs > HOURLY_RANGE_MAX_MS) {
    throw invalid("by", "By the hour, the range may be 62 days at most; ask by day.");
  }
}

/** Null asks for requests that have no such thing. */
function noneOr(text: string): string | null {
  return text === NONE ? null : text;
}

function wordFilterOf<Field extends string>(
  request: FastifyRequest,
  name: string,
  field: Field,
): { readonly [Name in Field]?: string | null } {
  const text = queryOf(request, name);
  return (text === null ? {} : { [field]: noneOr(storable(name, text)) }) as { [Name in Field]?: string | null };
}

/** Null when it is not given. Only the two words are taken, no 0 and 1. */
export function flagOf(request: FastifyRequest, name: string): boolean | null {
  const text = queryOf(request, name);
  return text === null ? null : oneOf(name, text, ["true", "false"]) === "true";
}

/** One of them, or several separated by commas. */
function answeredOf(request: FastifyRequest): Pick<Narrowing, "answeredAt"> {
  const text = queryOf(request, "answered");
  if (text === null) return {};
  return { answeredAt: [...new Set(text.split(",").map((word) => oneOf("answered", word, ANSWERED_AT)))] };
}

/** Only requests that were charged are in a range of costs. */
function costOf(request: FastifyRequest): Pick<Narrowing, "cost"> {
  const [from, to] = [amountOf(request, "costFrom"), amountOf(request, "costTo")];
  if (from === null && to === null) return {};
  return { cost: { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) } };
}

function amountOf(request: FastifyRequest, name: string): NanoUsd | null {
  const text = queryOf(request, name);
  if (text === null) return null;
  const amount = parseUsd(text);
  if (amount !== null) return amount;
  throw invalid(name, `'${name}' must be an amount in USD, such as 0.001.`);
}

function tierOf(text: string): string | null {
  if (text === NONE) return null;
  if (isTier(text)) return text;
  throw invalid("tier", `'tier' must be one of ${TIERS.join(", ")} or ${NONE}.`);
}

function statusOf(text: string): StatusFilter {
  if (!STATUS.test(text)) {
    throw invalid(
      "status",
      "'status' must be a status such as 402, several as 401,404, a class as 4xx, error or broken.",
    );
  }
  if (text === "error" || text === "broken") return { kind: text };
  if (/x$/i.test(text)) return { kind: "class", hundreds: Number(text[0]) };
  return { kind: "exact", statuses: text.split(",").map(Number) };
}

/** The characters that a request id can have, so that no wildcard reaches the store. */
function requestIdStartOf(text: string): string {
  if (REQUEST_ID_START_PATTERN.test(text)) return text;
  throw invalid("q", "'q' must be the beginning of a request id.");
}

/** PostgreSQL cannot even compare with text that has a NUL in it. */
function storable(name: string, text: string): string {
  if (text.length <= ID_MAX && !text.includes("\u0000")) return text;
  throw invalid(name, `'${name}' is not the id of one.`);
}
