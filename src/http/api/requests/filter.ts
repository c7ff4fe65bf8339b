// The filters of the request log and of its totals, read from the query. A filter that does not fit is an error; it is
// never ignored.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type NanoUsd, parseUsd, USD_TEXT } from "../../../core/money.ts";
import { FILTER_FIELDS, type FieldFilter, type FilterName, type LoggedField } from "../../../core/requests/fields.ts";
import type { NumberRange, RequestFilter, StatusFilter, UsageQuery, UsageStep } from "../../../core/requests/log.ts";
import { ANSWERED_AT } from "../../../core/requests/records.ts";
import { invalid } from "../../../formats/json/fields.ts";
import type { OperatorContext } from "../../context.ts";
import { ownMemberOf } from "../../exchange/identity.ts";
import { type Parameter, query } from "../../openapi/operation.ts";
import { Flag, GIVEN_TIME, GivenTime } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { accountOf, oneOf, queryOf } from "../exchange.ts";

/** Asks for requests that have no tier, or that no model answered. */
const NONE = "none";
/** Longer than any id. */
const ID_MAX = 300;
const Id = Type.String({ maxLength: ID_MAX, pattern: "^[^\\u0000]*$" });
const Amount = Type.String({ pattern: USD_TEXT.source, examples: ["0.001"] });
/** A status, several, a class, or a word; at most twenty, which is more than there are. */
const STATUS = /^(error|broken|[1-5][xX]{2}|[1-5]\d\d(,[1-5]\d\d){0,19})$/;
/** Characters of request ids. */
const REQUEST_ID_START = /^[\w.=-]{1,200}$/;
/** More than any request takes. */
const WHOLE_MAX = 1e12;
const Whole = Type.Integer({ minimum: 0, maximum: WHOLE_MAX });

/** The parameters that `timeOf` reads. */
export const range: readonly Parameter[] = [
  query("from", GivenTime, "Requests that began at this time or later, in ISO 8601."),
  query("to", GivenTime, "Requests that began before this time."),
];

type FilterFields = typeof FILTER_FIELDS;

function only(...names: readonly FilterName[]): FilterFields {
  return FILTER_FIELDS.filter(({ name }) => names.includes(name));
}

/** Fields that totals know. */
const GROUP_FIELDS = only("tier", "model", "keyId");
/** Fields that conversations know. */
const SESSION_FIELDS = only("user", "keyId");

/** The parameters that `fieldFilterOf` reads. */
function fieldFilters(fields: FilterFields): readonly Parameter[] {
  return fields.map((field) => {
    const { api, kind, values, about } = field;
    const schema = kind === "flag" ? Flag : values === undefined ? Id : Type.Enum([...values, NONE]);
    return query(api, schema, mayBeNone(field) ? `${about} \`${NONE}\` finds requests without.` : about);
  });
}

function mayBeNone({ kind }: LoggedField): boolean {
  return kind === "optionalText" || kind === "freeText";
}

/** Totals of provider failures know no other filter. */
export const keyFilters = fieldFilters(only("keyId"));

export const sessionFilters = fieldFilters(SESSION_FIELDS);

/** The parameters that `groupFilterOf` reads. */
export const groupFilters = fieldFilters(GROUP_FIELDS);

/** The parameters that `filterOf` reads. */
export const filters: readonly Parameter[] = [
  ...range,
  ...fieldFilters(FILTER_FIELDS),
  query(
    "status",
    Type.String({ pattern: STATUS.source }),
    "A status (`402`), several (`401,404`), a class (`4xx`), `broken` (streams), or `error`: all that failed.",
  ),
  query(
    "answered",
    Type.String({ pattern: `^(${ANSWERED_AT.join("|")})(,(${ANSWERED_AT.join("|")}))*$`, examples: ["second,later"] }),
    `Which attempt answered: ${ANSWERED_AT.join(", ")}, or several, comma-separated; \`none\`: all attempts failed.`,
  ),
  query("failed", Id, "A provider that failed it, so that a fallback was needed or none was left."),
  query("costFrom", Amount, "What was charged, in USD: at least this."),
  query("costTo", Amount, "What was charged, in USD: less than this."),
  query("latencyFrom", Whole, "Latency in milliseconds: at least this."),
  query("latencyTo", Whole, "Latency in milliseconds: less than this."),
  query("tokensFrom", Whole, "All tokens together, read and written: at least this."),
  query("tokensTo", Whole, "All tokens together, read and written: less than this."),
  query("tag", Id, "A tag as `team=search`, or `team` alone for any value."),
  query(
    "q",
    Type.String({ maxLength: ID_MAX }),
    "The beginning of a request id. Where no id begins so: words of prompt and answer, if those are kept.",
  ),
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
type Narrowing = Omit<RequestFilter, "accountId" | "fromMs" | "toMs">;

/** Everything that the query asks for, in the account that the call is about. */
export async function filterOf(request: FastifyRequest, edge: OperatorContext): Promise<RequestFilter> {
  const accountId = await accountOf(request, edge);
  return {
    accountId,
    ...timesOf(request),
    ...fieldFilterOf(request, FILTER_FIELDS),
    ...narrowingOf(request),
    ...(await searchOf(request, edge, accountId)),
    ...ownFilterOf(request),
  };
}

/** Members find their own requests only, whatever else they ask for. */
function ownFilterOf(request: FastifyRequest): Pick<RequestFilter, "memberId"> {
  const own = ownMemberOf(request);
  return own === null ? {} : { memberId: own.id };
}

/** The part of the filter that conversations know. */
export function sessionFilterOf(request: FastifyRequest): Pick<RequestFilter, "fromMs" | "toMs" | "user" | "keyId"> {
  return { ...timesOf(request), ...fieldFilterOf(request, SESSION_FIELDS) };
}

function timesOf(request: FastifyRequest): Pick<RequestFilter, "fromMs" | "toMs"> {
  const [fromMs, toMs] = [timeOf(request, "from"), timeOf(request, "to")];
  return { ...(fromMs === null ? {} : { fromMs }), ...(toMs === null ? {} : { toMs }) };
}

/** One field for both, because people paste an id where they would type words. */
async function searchOf(
  request: FastifyRequest,
  { records }: OperatorContext,
  accountId: string,
): Promise<Pick<Narrowing, "requestIdStart" | "words">> {
  const text = storable("q", queryOf(request, "q")?.trim() ?? "");
  if (text === "") return {};
  const isId = REQUEST_ID_START.test(text) && (await records.requests.hasRequestId(accountId, text));
  return isId ? { requestIdStart: text } : { words: text };
}

function rangeOf<Field extends "latency" | "tokens">(
  request: FastifyRequest,
  field: Field,
): { readonly [Name in Field]?: NumberRange } {
  const [from, to] = [wholeOf(request, `${field}From`), wholeOf(request, `${field}To`)];
  if (from === null && to === null) return {};
  const range: NumberRange = { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
  return { [field]: range } as { [Name in Field]?: NumberRange };
}

function wholeOf(request: FastifyRequest, name: string): number | null {
  const text = queryOf(request, name);
  if (text === null || (/^\d{1,13}$/.test(text) && Number(text) <= WHOLE_MAX))
    return text === null ? null : Number(text);
  throw invalid(name, TEXT.notWhole(name));
}

/** The filters by a field of the log. */
function fieldFilterOf(request: FastifyRequest, fields: FilterFields): FieldFilter {
  const given = fields.flatMap((field) => {
    const text = queryOf(request, field.api);
    return text === null ? [] : [[field.name, filterValueOf(field, text)]];
  });
  return Object.fromEntries(given);
}

function filterValueOf(field: LoggedField, text: string): string | boolean | null {
  const { api, kind, values } = field;
  if (kind === "flag") return oneOf(api, text, ["true", "false"]) === "true";
  const value = values === undefined ? storable(api, text) : oneOf(api, text, [...values, NONE]);
  return mayBeNone(field) && value === NONE ? null : value;
}

/** The part of the filter that totals know, too. */
export function groupFilterOf(request: FastifyRequest): Pick<FieldFilter, "tier" | "model" | "keyId"> {
  return fieldFilterOf(request, GROUP_FIELDS);
}

/** The filters that ask for more than one value of a field. */
function narrowingOf(request: FastifyRequest): Narrowing {
  const [status, failed, tag] = [queryOf(request, "status"), queryOf(request, "failed"), queryOf(request, "tag")];
  const [name = "", ...value] = storable("tag", tag ?? "").split("=");
  return {
    ...costOf(request),
    ...rangeOf(request, "latency"),
    ...rangeOf(request, "tokens"),
    ...(status === null ? {} : { status: statusOf(status) }),
    ...answeredOf(request),
    ...(failed === null ? {} : { failedProvider: storable("failed", failed) }),
    ...(tag === null ? {} : { tag: { name, value: value.length === 0 ? null : value.join("=") } }),
  };
}

/** Date.parse alone would take "1" for the year 2001. */
export function timeOf(request: FastifyRequest, name: "from" | "to"): number | null {
  const text = queryOf(request, name);
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isInteger(ms) && ms >= 0 && GIVEN_TIME.test(text)) return ms;
  throw invalid(name, TEXT.invalidTime(name));
}

/** Throws when the range is empty, or too long to be shown by the hour. */
export function checkRange({ fromMs, toMs, step }: Pick<UsageQuery, "fromMs" | "toMs" | "step">): void {
  if (fromMs >= toMs) throw invalid("from", TEXT.fromAfterTo);
  if (step === "hour" && toMs - fromMs > HOURLY_RANGE_MAX_MS) {
    throw invalid("by", TEXT.tooManyHours);
  }
}

/** Reads a flag; null when absent. The only values are the two words, not 0 and 1. */
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
  throw invalid(name, TEXT.invalidCharge(name));
}

function statusOf(text: string): StatusFilter {
  if (!STATUS.test(text)) {
    throw invalid("status", TEXT.invalidStatus);
  }
  if (text === "error" || text === "broken") return { kind: text };
  if (/x$/i.test(text)) return { kind: "class", hundreds: Number(text[0]) };
  return { kind: "exact", statuses: text.split(",").map(Number) };
}

/** PostgreSQL cannot even compare with text that has a NUL in it. */
function storable(name: string, text: string): string {
  if (text.length <= ID_MAX && !text.includes("\u0000")) return text;
  throw invalid(name, TEXT.notAnId(name));
}
