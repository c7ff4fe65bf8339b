// /api/keys: API keys, their limits and what they have spent. The text of a key is shown once, when it is created.

import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { keyStatus } from "../../accounts/keys.ts";
import type { Spent } from "../../accounts/spending.ts";
import { baselineNamed } from "../../catalog/catalog.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  KEY_SORTS,
  KEY_STATUSES,
  type KeyChange,
  type KeyRecord,
  type KeySearch,
  SPEND_RESETS,
} from "../../core/keys.ts";
import { decimalText, formatUsd, type NanoUsd, parseUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import type { KeyDay } from "../../core/requests/log.ts";
import { invalid } from "../../formats/json/fields.ts";
import type { OperatorContext } from "../context.ts";
import { actorOf } from "../exchange/identity.ts";
import { query } from "../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  GivenTime,
  Integer,
  listed,
  Name,
  named,
  nullable,
  optional,
  type Shape,
  strict,
  Time,
  Usd,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { accountOf, idOf, isoTime, listPage, missing, oneOf, PLAIN_ID, pageOf, paging, queryOf } from "./exchange.ts";
import { type ApiRoute, del, get, patch, post } from "./route.ts";

/** One text for the request and the response. */
const RESETS = "When the limit resets: never, or at 00:00 UTC daily, on Mondays, or on the first of the month.";

/** A key as it is shown. Its text is not among the fields: only its hash is stored. */
const keyFields = {
  id: AnyText,
  name: AnyText,
  // The first characters, for people to recognise the key by.
  prefix: AnyText,
  status: listed(KEY_STATUSES),
  // The id of the saved profile that is applied to its requests.
  profile: nullable(AnyText),
  // The key's own limit; null where the limit of the server applies.
  requestsPerMinute: nullable(Integer),
  spendLimitUsd: nullable(AnyText),
  spendReset: listed(SPEND_RESETS, { description: RESETS }),
  spentUsd: nullable(Type.String({ description: "Of the limit, since it was last reset; null without one." })),
  // The time from which spend counts; null counts everything since the key has a limit.
  spentSince: nullable(Time),
  spendResetsAt: nullable(Time),
  expiresAt: nullable(Time),
  revokedAt: nullable(Time),
  // Kept in memory first; another process sees it up to a minute later.
  lastUsedAt: nullable(Time),
  createdAt: Time,
};
export const KeySchema = named("Key", keyFields);

/** The time that the usage of a key is shown over. */
const USAGE_MS = 30 * 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A key in a list or on its own page, with what it did lately. */
export const ListedKeySchema = named("ListedKey", {
  ...keyFields,
  profileName: nullable(Type.String({ description: "Null without a profile, and where it was deleted." })),
  last30Days: Type.Object({
    from: Time,
    requests: Integer,
    errors: Integer,
    chargeUsd: AnyText,
    savedUsd: AnyText,
    ...baselineFields,
    // One value for each day from `from` to today, in UTC.
    requestsPerDay: Type.Array(Integer),
    chargeUsdPerDay: Type.Array(AnyText),
  }),
});
export const KeyPageSchema = named("KeyPage", {
  data: Type.Array(ListedKeySchema),
  next: nullable(AnyText),
  total: Type.Integer({ description: "How many keys the search finds, on all pages." }),
});

/** Text that people type; longer than any name is of no use. */
const SEARCH_MAX = 200;
const SEARCH = /^\P{Cc}*$/u;
/** Each in both directions. */
const SORTS = KEY_SORTS.flatMap((sort) => [sort, `-${sort}`]);

/** More are several calls. */
const REVOKED_MAX = 500;
const RevocationSchema = strict("KeyRevocation", {
  ids: Type.Array(Type.String({ minLength: 1, maxLength: SEARCH_MAX }), { minItems: 1, maxItems: REVOKED_MAX }),
});
const RevokedSchema = named("RevokedKeys", {
  data: Type.Array(
    Type.Object({
      id: AnyText,
      result: listed(["revoked", "not_found"], { description: "A key that was revoked before stays so." }),
    }),
  ),
});
/** The only response that contains the text of a key. */
export const CreatedKeySchema = named("CreatedKey", { ...keyFields, key: Type.String({ pattern: "^sk-service-" }) });

/** More than one process can serve; a larger number is a typing error. */
const REQUESTS_PER_MINUTE_MAX = 1_000_000;
/** Limits of a key. Null removes a limit. A limit that is left out stays as it is or, for a new key, is not set. */
const limits = {
  profile: optional(AnyText),
  requestsPerMinute: optional(Type.Integer({ minimum: 1, maximum: REQUESTS_PER_MINUTE_MAX })),
  spendLimitUsd: optional(Usd),
  spendReset: Type.Optional(Type.Enum([...SPEND_RESETS], { description: RESETS })),
  expiresAt: optional(GivenTime),
};
const NewKeySchema = strict("NewKey", { name: Name, ...limits });
const KeyChangeSchema = strict("KeyChange", { name: Type.Optional(Name), ...limits }, { minProperties: 1 });

/** Thirty days: longer, and the old key is simply a second key. */
const GRACE_HOURS_MAX = 30 * 24;
/** Time for which the old key keeps working beside the new one. */
const RotationSchema = strict("Rotation", {
  graceHours: Type.Optional(Type.Number({ minimum: 0, maximum: GRACE_HOURS_MAX, default: 0 })),
});

/** Keys are never deleted, only revoked: requests and the ledger refer to them. */
export const KEY_ROUTES: readonly ApiRoute[] = [
  // The body is checked before the account, so that its errors are reported first.
  post("createKey", "/api/keys", {
    summary: "Create an API key; its text is shown once",
    body: NewKeySchema,
    example: { name: "production" },
    status: 201,
    response: CreatedKeySchema,
    async handle({ request, body }, edge) {
      const wanted = body();
      const { key, text } = await edge.keys.create({
        accountId: await accountOf(request, edge),
        name: wanted.name,
        profileId: wanted.profile ?? null,
        requestsPerMinute: wanted.requestsPerMinute ?? null,
        spendLimitNano: readAmount(wanted.spendLimitUsd ?? null, "spendLimitUsd"),
        spendReset: wanted.spendReset ?? "never",
        expiresAtMs: readFuture(wanted.expiresAt ?? null, edge.now()),
      });
      return { ...(await showKey(key, edge)), key: text };
    },
  }),
  // Revoked and expired keys are listed too, unless `status` narrows.
  get("listKeys", "/api/keys", {
    summary: "The keys of an account: searched, filtered and sorted, with their usage of 30 days",
    parameters: [
      query(
        "q",
        Type.String({ maxLength: SEARCH_MAX, pattern: SEARCH.source }),
        "A part of the name, the beginning of the key, or an id.",
      ),
      query("status", Type.Enum([...KEY_STATUSES])),
      query(
        "profile",
        Type.String({ pattern: PLAIN_ID.source }),
        "The id of a profile, or `none` for keys without one.",
      ),
      query("sort", Type.Enum(SORTS, { default: "-created" }), "`-` for descending. Spend is that of 30 days."),
      ...paging,
    ],
    response: KeyPageSchema,
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const search = searchOf(request, edge.now());
      const wanted = pageOf(request);
      const { data, next } = await listPage(
        wanted,
        (each) => edge.keys.list(accountId, each, search),
        (key) => key,
      );
      return { data: await showListed(accountId, data, edge), next, total: await edge.keys.count(accountId, search) };
    },
  }),
  get("getKey", "/api/keys/:id", {
    summary: "One key with its usage of 30 days",
    response: ListedKeySchema,
    async handle({ request }, edge) {
      const id = idOf(request, "key");
      const accountId = await accountOf(request, edge);
      const key = await edge.keys.get(accountId, id);
      const [shown] = key === null ? [] : await showListed(accountId, [key], edge);
      if (shown === undefined) throw missing("key", id);
      return shown;
    },
  }),
  patch("changeKey", "/api/keys/:id", {
    summary: "Change a key's name, profile or limits; omitted fields stay, null removes a limit",
    body: KeyChangeSchema,
    example: { profile: null, requestsPerMinute: 120 },
    response: KeySchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const id = idOf(request, "key");
      const change = toChange(body(), edge.now());
      const changed = await edge.keys.change(await accountOf(request, edge), id, change);
      if (changed === null) throw missing("key", id);
      return showKey(changed, edge);
    },
  }),
  // Takes effect at once in this process, and in the others within their next refresh.
  del("revokeKey", "/api/keys/:id", {
    summary: "Revoke a key",
    async handle({ request }, edge) {
      const id = idOf(request, "key");
      const revoked = await edge.keys.revoke(await accountOf(request, edge), [id]);
      if (revoked.length === 0) throw missing("key", id);
    },
  }),
  post("revokeKeys", "/api/keys/revoke", {
    summary: "Revoke several keys at once; the response says for each id what became of it",
    body: RevocationSchema,
    example: { ids: ["key_3f0c", "key_91ab"] },
    response: RevokedSchema,
    async handle({ request, body }, edge) {
      const ids = [...new Set(body().ids)];
      const known = ids.filter((id) => PLAIN_ID.test(id));
      const revoked = new Set(await edge.keys.revoke(await accountOf(request, edge), known));
      edge.log.info({ event: "keys.revoked", keys: revoked.size, actor: actorOf(request) }, "keys revoked");
      return { data: ids.map((id) => ({ id, result: revoked.has(id) ? "revoked" : "not_found" })) };
    },
  }),
  // The new key has the profile and the limits of the old one.
  post("rotateKey", "/api/keys/:id/rotate", {
    summary: "Rotate a key: create its replacement; the old one expires after the grace period",
    body: RotationSchema,
    example: { graceHours: 24 },
    status: 201,
    response: CreatedKeySchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const id = idOf(request, "key");
      const { graceHours = 0 } = body();
      const made = await edge.keys.rotate(await accountOf(request, edge), id, Math.round(graceHours * 3_600_000));
      if (made === null) throw missing("key", id);
      return { ...(await showKey(made.key, edge)), key: made.text };
    },
  }),
  post("resetSpend", "/api/keys/:id/reset-spend", {
    summary: "Reset a key's spend to zero before its period ends",
    response: KeySchema,
    errors: [409],
    async handle({ request }, edge) {
      const id = idOf(request, "key");
      const key = await edge.keys.active(await accountOf(request, edge), id);
      if (key === null) throw missing("key", id);
      const spent = await edge.spending.reset(key);
      edge.log.info({ event: "key.spend_reset", keyId: id, actor: actorOf(request) }, "key spend reset");
      return writeKey(key, spent, edge.now());
    },
  }),
];

/** Reads the search for keys from the query. */
function searchOf(request: FastifyRequest, nowMs: number): KeySearch {
  const given = queryOf(request, "q") ?? "";
  const text = given.trim();
  const status = queryOf(request, "status");
  const profile = queryOf(request, "profile");
  const sort = oneOf("sort", queryOf(request, "sort") ?? "-created", SORTS);
  if (given.length > SEARCH_MAX || !SEARCH.test(given)) {
    throw invalid("q", TEXT.invalidSearch(SEARCH_MAX));
  }
  if (profile !== null && !PLAIN_ID.test(profile)) throw invalid("profile", TEXT.invalidProfile);
  return {
    sort: oneOf("sort", sort.replace("-", ""), KEY_SORTS),
    isAscending: !sort.startsWith("-"),
    spendFromMs: usageFrom(nowMs),
    ...(text === "" ? {} : { text }),
    ...(status === null ? {} : { status: oneOf("status", status, KEY_STATUSES) }),
    ...(profile === null ? {} : { profileId: profile === "none" ? null : profile }),
  };
}

/** The beginning of the first of 30 days. */
export function usageFrom(nowMs: number): number {
  return Math.floor((nowMs - USAGE_MS) / DAY_MS) * DAY_MS;
}

/** A field that is absent stays as it is; null takes a limit away. */
function toChange(body: Static<typeof KeyChangeSchema>, nowMs: number): KeyChange {
  const { name, profile, requestsPerMinute, spendLimitUsd, spendReset, expiresAt } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(profile === undefined ? {} : { profileId: profile }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(spendLimitUsd === undefined ? {} : { spendLimitNano: readAmount(spendLimitUsd, "spendLimitUsd") }),
    ...(spendReset === undefined ? {} : { spendReset }),
    ...(expiresAt === undefined ? {} : { expiresAtMs: readFuture(expiresAt, nowMs) }),
  };
}

/** `param` names the field in the error. */
export function readAmount(given: Static<typeof Usd> | null, param: string): NanoUsd | null {
  if (given === null) return null;
  const amount = parseUsd(typeof given === "number" ? decimalText(given) : given);
  if (amount !== null) return amount;
  throw new GatewayError("badRequest", TEXT.invalidAmount(param), {
    param,
  });
}

/** An end in the past would create a key that never works. */
function readFuture(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isInteger(ms) && ms > nowMs) return ms;
  throw new GatewayError("badRequest", TEXT.invalidExpiry, { param: "expiresAt" });
}

/** Keys with their profile's name and their usage. */
async function showListed(
  accountId: string,
  keys: readonly KeyRecord[],
  edge: OperatorContext,
): Promise<readonly Shape<typeof ListedKeySchema>[]> {
  const fromMs = usageFrom(edge.now());
  const ids = keys.map(({ id }) => id);
  const [shown, days] = await Promise.all([showKeys(keys, edge), edge.records.usage.ofKeys(accountId, ids, fromMs)]);
  return shown.map((key) => ({
    ...key,
    profileName: key.profile === null ? null : edge.profiles.nameOf(accountId, key.profile),
    last30Days: writeDays(days.get(key.id) ?? [], fromMs, edge),
  }));
}

/** A day without requests is a day of zero. */
function writeDays(
  days: readonly KeyDay[],
  fromMs: number,
  { now, services }: Pick<OperatorContext, "now" | "services">,
): Shape<typeof ListedKeySchema>["last30Days"] {
  const byStart = new Map(days.map((day) => [day.startMs, day]));
  const starts = Array.from({ length: Math.floor((now() - fromMs) / DAY_MS) + 1 }, (_, day) => fromMs + day * DAY_MS);
  const charge = days.reduce((sum, day) => sum + day.charge, 0n);
  const baseline = days.reduce((sum, day) => sum + day.baseline, 0n);
  return {
    from: isoTime(fromMs),
    requests: days.reduce((sum, day) => sum + day.requests, 0),
    errors: days.reduce((sum, day) => sum + day.errors, 0),
    chargeUsd: formatUsd(charge),
    savedUsd: formatUsd(baseline - charge),
    ...baselineNamed(services().catalog),
    requestsPerDay: starts.map((start) => byStart.get(start)?.requests ?? 0),
    chargeUsdPerDay: starts.map((start) => formatUsd(byStart.get(start)?.charge ?? 0n)),
  };
}

/** Keys as they are shown, each with what it has spent. */
export async function showKeys(
  keys: readonly KeyRecord[],
  { spending, now }: Pick<OperatorContext, "spending" | "now">,
): Promise<readonly Shape<typeof KeySchema>[]> {
  const spents = await spending.of(keys);
  return keys.map((key) => writeKey(key, spents.get(key.id) ?? null, now()));
}

/** One key with what it has spent. */
async function showKey(key: KeyRecord, { spending, now }: OperatorContext): Promise<Shape<typeof KeySchema>> {
  return writeKey(key, (await spending.of([key])).get(key.id) ?? null, now());
}

/** Also written by the command line, which prints the same JSON. */
export function writeKey(key: KeyRecord, spent: Spent | null, nowMs: number): Shape<typeof KeySchema> {
  return {
    id: key.id,
    name: shownName(key.name),
    prefix: key.prefix,
    status: keyStatus(key, nowMs),
    profile: key.profileId,
    requestsPerMinute: key.requestsPerMinute,
    spendLimitUsd: key.spendLimitNano === null ? null : formatUsd(key.spendLimitNano),
    spendReset: key.spendReset,
    spentUsd: spent === null ? null : formatUsd(spent.spent),
    spentSince: isoTime(spent?.sinceMs ?? null),
    spendResetsAt: isoTime(spent?.resetsAtMs ?? null),
    expiresAt: isoTime(key.expiresAtMs),
    revokedAt: isoTime(key.revokedAtMs),
    lastUsedAt: isoTime(key.lastUsedAtMs),
    createdAt: isoTime(key.createdAtMs),
  };
}
