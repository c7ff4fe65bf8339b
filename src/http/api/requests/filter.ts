// The filters of the log and of its totals, read from the query: what does not fit is refused, not ignored.

import type { FastifyRequest } from "fastify";
import { CATEGORIES, ROUTING_PROFILES } from "../../../core/decision.ts";
import { type NanoUsd, parseUsd } from "../../../core/money.ts";
import type { RequestFilter, StatusFilter } from "../../../core/requests/log.ts";
import { ANSWERED_AT } from "../../../core/requests/records.ts";
import { isTier, TIERS } from "../../../core/tiers.ts";
import { invalid } from "../../../formats/wire/fields.ts";
import { queryOf } from "./one.ts";

/** Asks for requests that have no tier, or that no model answered. */
const NONE = "none";

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

/** What the totals can be narrowed by, too. */
export function groupFilterOf(request: FastifyRequest): Pick<Narrowing, "tier" | "model" | "keyId"> {
  const tier = queryOf(request, "tier");
  const key = queryOf(request, "key");
  return {
    ...(tier === null ? {} : { tier: tierOf(tier) }),
    ...wordFilterOf(request, "model", "model"),
    ...(key === null ? {} : { keyId: storable("key", key) }),
  };
}

export function timeOf(request: FastifyRequest, name: "from" | "to"): number | null {
  const text = queryOf(request, name);
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isInteger(ms) && ms >= 0 && /^\d{4}-/.test(text)) return ms;
  throw invalid(name, `'${name}' must be a time in ISO 8601, such as 2026-01-31T00:00:00Z.`);
}

export function oneOf<Word extends string>(name: string, given: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  throw invalid(name, `'${name}' must be one of ${words.join(", ")}.`);
}

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

export function flagOf(request: FastifyRequest, name: string): boolean | null {
  const text = queryOf(request, name);
  return text === null ? null : oneOf(name, text, ["true", "false"]) === "true";
}

/** One of them, or several with commas between. */
function answeredOf(request: FastifyRequest): Pick<Narrowing, "answeredAt"> {
  const text = queryOf(request, "answered");
  if (text === null) return {};
  return { answeredAt: [...new Set(text.split(",").map((word) => oneOf("answered", word, ANSWERED_AT)))] };
}

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
  if (text === "error" || text === "broken") return { kind: text };
  if (/^[1-5]xx$/i.test(text)) return { kind: "class", hundreds: Number(text[0]) };
  if (/^[1-5]\d\d(,[1-5]\d\d){0,19}$/.test(text)) return { kind: "exact", statuses: text.split(",").map(Number) };
  throw invalid(
    "status",
    "'status' must be a status such as 402, several as 401,404, a class as 4xx, error or broken.",
  );
}

function requestIdStartOf(text: string): string {
  if (/^[\w.=-]{1,200}$/.test(text)) return text;
  throw invalid("q", "'q' must be the beginning of a request id.");
}

/** PostgreSQL cannot even compare with text that has a NUL in it. */
function storable(name: string, text: string): string {
  if (text.length <= 300 && !text.includes("\u0000")) return text;
  throw invalid(name, `'${name}' is not the id of one.`);
}
