// /api/keys: API keys, their limits and what they have spent. The text of a key is shown once, when it is created.

import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { isDerived } from "../../accounts/key.ts";
import { GatewayError } from "../../core/errors.ts";
import {
  KEY_SORTS,
  KEY_STATUSES,
  type KeyChange,
  type KeyRecord,
  type KeySearch,
  SPEND_RESETS,
} from "../../core/keys.ts";
import { decimalText, type NanoUsd, parseUsd } from "../../core/money.ts";
import type { User } from "../../core/people.ts";
import { invalid } from "../../formats/json/fields.ts";
import type { OperatorContext } from "../context.ts";
import { actorOf, ownMemberOf } from "../exchange/identity.ts";
import { RequiresSchema, readRequires } from "../openapi/controls.ts";
import { query } from "../openapi/operation.ts";
import { AnyText, GivenTime, listed, Name, named, nullable, optional, strict, Usd } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { accountOf, idOf, listPage, missing, oneOf, PLAIN_ID, pageOf, paging, queryOf } from "./exchange.ts";
import { KeySchema, keyFields, ListedKeySchema, RESETS, showKey, showListed, usageFrom, writeKey } from "./key-json.ts";
import { type ApiRoute, del, get, patch, post } from "./route.ts";

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
  team: optional(Type.String({ description: "The id of a team, whose bounds then hold for its requests." })),
  member: optional(
    Type.String({ description: "The id of the user that it belongs to; without one, it is a service's." }),
  ),
  requires: optional(RequiresSchema),
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

const OWNER_FILTERS = [
  query("team", Type.String({ pattern: PLAIN_ID.source }), "The id of a team, or `none` for keys without one."),
  query("member", Type.String({ pattern: PLAIN_ID.source }), "The id of a user, or `none` for keys of services."),
];

/** Keys are never deleted, only revoked: requests and the ledger refer to them. */
export const KEY_ROUTES: readonly ApiRoute[] = [
  // The body is checked before the account, so that its errors are reported first.
  post("createKey", "/api/keys", {
    summary: "Create an API key; its text is shown once",
    access: "changeKeys",
    body: NewKeySchema,
    example: { name: "production" },
    status: 201,
    response: CreatedKeySchema,
    async handle({ request, body }, edge) {
      const wanted = ownKey(request, body());
      const { key, text } = await edge.keys.create({
        accountId: await accountOf(request, edge),
        name: wanted.name,
        profileId: wanted.profile ?? null,
        teamId: wanted.team ?? null,
        memberId: wanted.member ?? null,
        requires: readRequires(wanted.requires) ?? null,
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
    access: "readKeys",
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
      ...OWNER_FILTERS,
      query("sort", Type.Enum(SORTS, { default: "-created" }), "`-` for descending. Spend is that of 30 days."),
      ...paging,
    ],
    response: KeyPageSchema,
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const search = { ...searchOf(request, edge.now()), ...ownOnly(request) };
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
    access: "readKeys",
    response: ListedKeySchema,
    async handle({ request }, edge) {
      const id = idOf(request, "key");
      const accountId = await accountOf(request, edge);
      const key = reached(request, await edge.keys.get(accountId, id));
      const [shown] = key === null ? [] : await showListed(accountId, [key], edge);
      if (shown === undefined) throw missing("key", id);
      return shown;
    },
  }),
  patch("changeKey", "/api/keys/:id", {
    summary: "Change a key's name, profile or limits; omitted fields stay, null removes a limit",
    access: "changeKeys",
    body: KeyChangeSchema,
    example: { profile: null, requestsPerMinute: 120 },
    response: KeySchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const id = idOf(request, "key");
      const change = toChange(ownChange(request, body()), edge.now());
      const accountId = await accountOf(request, edge);
      await requireReached(request, [id], edge);
      const changed = await edge.keys.change(accountId, id, change);
      if (changed === null) throw missing("key", id);
      return showKey(changed, edge);
    },
  }),
  // Takes effect at once in this process, and in the others within their next refresh.
  del("revokeKey", "/api/keys/:id", {
    summary: "Revoke a key",
    access: "changeKeys",
    async handle({ request }, edge) {
      const id = idOf(request, "key");
      await requireRevocable(request, [id], edge);
      const revoked = await edge.keys.revoke(await accountOf(request, edge), [id]);
      if (revoked.length === 0) throw missing("key", id);
    },
  }),
  post("revokeKeys", "/api/keys/revoke", {
    summary: "Revoke several keys at once; the response says for each id what became of it",
    access: "changeKeys",
    body: RevocationSchema,
    example: { ids: ["key_3f0c", "key_91ab"] },
    response: RevokedSchema,
    async handle({ request, body }, edge) {
      const ids = [...new Set(body().ids)];
      const known = ids.filter((id) => PLAIN_ID.test(id));
      await requireRevocable(request, known, edge);
      const revoked = new Set(await edge.keys.revoke(await accountOf(request, edge), known));
      edge.log.info({ event: "keys.revoked", keys: revoked.size, actor: actorOf(request) }, "keys revoked");
      return { data: ids.map((id) => ({ id, result: revoked.has(id) ? "revoked" : "not_found" })) };
    },
  }),
  // The new key has the profile and the limits of the old one.
  post("rotateKey", "/api/keys/:id/rotate", {
    summary: "Rotate a key: create its replacement; the old one expires after the grace period",
    access: "changeKeys",
    body: RotationSchema,
    example: { graceHours: 24 },
    status: 201,
    response: CreatedKeySchema,
    errors: [409],
    async handle({ request, body }, edge) {
      const id = idOf(request, "key");
      const { graceHours = 0 } = body();
      await requireReached(request, [id], edge);
      const made = await edge.keys.rotate(await accountOf(request, edge), id, Math.round(graceHours * 3_600_000));
      if (made === null) throw missing("key", id);
      return { ...(await showKey(made.key, edge)), key: made.text };
    },
  }),
  post("resetSpend", "/api/keys/:id/reset-spend", {
    summary: "Reset a key's spend to zero before its period ends",
    access: "manage",
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

/** Selects the keys of a member, who sees no others. */
function ownOnly(request: FastifyRequest): Pick<KeySearch, "memberId"> {
  const own = ownMemberOf(request);
  return own === null ? {} : { memberId: own.id };
}

/** Another's key looks to a member like a missing one. */
function reached(request: FastifyRequest, key: KeyRecord | null): KeyRecord | null {
  const own = ownMemberOf(request);
  return own === null || key?.memberId === own.id ? key : null;
}

async function requireReached(
  request: FastifyRequest,
  ids: readonly string[],
  edge: OperatorContext,
): Promise<readonly KeyRecord[]> {
  if (ownMemberOf(request) === null) return [];
  const accountId = await accountOf(request, edge);
  const keys: KeyRecord[] = [];
  for (const id of ids) {
    const key = reached(request, await edge.keys.get(accountId, id));
    if (key === null) throw missing("key", id);
    keys.push(key);
  }
  return keys;
}

/** A revoked key of an identity provider's tokens keeps its holder out for good, which admins decide. */
async function requireRevocable(request: FastifyRequest, ids: readonly string[], edge: OperatorContext): Promise<void> {
  const keys = await requireReached(request, ids, edge);
  if (keys.some(isDerived)) throw new GatewayError("forbidden", TEXT.keyOfToken, { code: "not_permitted" });
}

/** A member's key belongs to the member, and to one of their teams, if they have any: its bounds are theirs. */
function ownKey(request: FastifyRequest, wanted: Static<typeof NewKeySchema>): Static<typeof NewKeySchema> {
  const own = ownMemberOf(request);
  if (own === null) return wanted;
  if ((wanted.member ?? own.id) !== own.id) throw notOwn("member");
  if ((wanted.profile ?? null) !== null) throw notOwn("profile");
  return { ...wanted, member: own.id, team: ownTeam(own, wanted.team ?? own.teamIds[0] ?? null) };
}

/** Members cannot lift what an admin has set. */
function ownChange(request: FastifyRequest, change: Static<typeof KeyChangeSchema>): Static<typeof KeyChangeSchema> {
  const own = ownMemberOf(request);
  if (own === null) return change;
  const field = Object.keys(change).find((name) => name !== "name" && name !== "team");
  if (field !== undefined) throw notOwn(field);
  return change.team === undefined ? change : { ...change, team: ownTeam(own, change.team) };
}

function ownTeam({ teamIds }: User, wanted: string | null): string | null {
  const isOwn = wanted === null ? teamIds.length === 0 : teamIds.includes(wanted);
  if (isOwn) return wanted;
  throw new GatewayError("forbidden", TEXT.ownTeamsOnly, { code: "not_permitted", param: "team" });
}

function notOwn(field: string): GatewayError {
  return new GatewayError("forbidden", TEXT.adminsSetThis(field), { code: "not_permitted", param: field });
}

/** Reads the search for keys from the query. */
function searchOf(request: FastifyRequest, nowMs: number): KeySearch {
  const given = queryOf(request, "q") ?? "";
  const text = given.trim();
  const status = queryOf(request, "status");
  const sort = oneOf("sort", queryOf(request, "sort") ?? "-created", SORTS);
  if (given.length > SEARCH_MAX || !SEARCH.test(given)) {
    throw invalid("q", TEXT.invalidSearch(SEARCH_MAX));
  }
  return {
    sort: oneOf("sort", sort.replace("-", ""), KEY_SORTS),
    isAscending: !sort.startsWith("-"),
    spendFromMs: usageFrom(nowMs),
    ...(text === "" ? {} : { text }),
    ...(status === null ? {} : { status: oneOf("status", status, KEY_STATUSES) }),
    ...ownerOf(request, "profile", "profileId"),
    ...ownerOf(request, "team", "teamId"),
    ...ownerOf(request, "member", "memberId"),
  };
}

/** An id in the query, or `none`. */
function ownerOf(request: FastifyRequest, name: string, field: "profileId" | "teamId" | "memberId"): KeySearch {
  const given = queryOf(request, name);
  if (given === null) return {};
  if (!PLAIN_ID.test(given)) throw invalid(name, TEXT.invalidIdOrNone(name));
  return { [field]: given === "none" ? null : given };
}

/** A field that is absent stays as it is; null takes a limit away. */
function toChange(body: Static<typeof KeyChangeSchema>, nowMs: number): KeyChange {
  const { name, profile, team, member, requestsPerMinute, spendLimitUsd, spendReset, expiresAt } = body;
  const requires = readRequires(body.requires);
  return {
    ...(name === undefined ? {} : { name }),
    ...(profile === undefined ? {} : { profileId: profile }),
    ...(team === undefined ? {} : { teamId: team }),
    ...(member === undefined ? {} : { memberId: member }),
    ...(requires === undefined ? {} : { requires }),
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
