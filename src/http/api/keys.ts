// /api/keys: made (the text is shown this once), listed, changed, replaced, revoked.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { keyStatus } from "../../accounts/keys.ts";
import { GatewayError } from "../../core/errors.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../../core/money.ts";
import type { KeyChange, KeyRecord } from "../../core/ports.ts";
import type { Edge } from "../edge.ts";
import { accountOf, bodyReader, idOf, isoTime, listPage, missing, Name, pageOf, Usd } from "./request.ts";

const optional = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const limits = {
  profile: optional(Type.String()),
  requestsPerMinute: optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  spendLimitUsd: optional(Usd),
  expiresAt: optional(Type.String({ maxLength: 40 })),
};
const NewKey = Type.Object({ name: Name, ...limits }, { additionalProperties: false });
const Change = Type.Object({ name: Type.Optional(Name), ...limits }, { additionalProperties: false, minProperties: 1 });

const GRACE_HOURS_MAX = 30 * 24;
const Rotation = Type.Object(
  { graceHours: Type.Optional(Type.Number({ minimum: 0, maximum: GRACE_HOURS_MAX })) },
  { additionalProperties: false },
);

export function registerKeys(api: FastifyInstance, edge: Edge): void {
  const readNew = bodyReader(NewKey);
  const show = (key: KeyRecord): object => writeKey(key, edge.now());
  api.post("/api/keys", async (request, reply) => {
    const wanted = readNew(request);
    const { key, text } = await edge.keys.create({
      accountId: await accountOf(request, edge),
      name: wanted.name,
      profileId: wanted.profile ?? null,
      requestsPerMinute: wanted.requestsPerMinute ?? null,
      spendLimitNano: readAmount(wanted.spendLimitUsd ?? null, "spendLimitUsd"),
      expiresAtMs: readFuture(wanted.expiresAt ?? null, edge.now()),
    });
    return reply.code(201).send({ ...show(key), key: text });
  });
  api.get("/api/keys", async (request) => {
    const account = await accountOf(request, edge);
    return listPage(pageOf(request), (page) => edge.keys.list(account, page), show);
  });
  const readChange = bodyReader(Change);
  api.patch("/api/keys/:id", async (request) => {
    const id = idOf(request, "key");
    const change = toChange(readChange(request), edge.now());
    const changed = await edge.keys.change(await accountOf(request, edge), id, change);
    if (changed === null) throw missing("key", id);
    return show(changed);
  });
  const readRotation = bodyReader(Rotation);
  api.post("/api/keys/:id/rotate", async (request, reply) => {
    const id = idOf(request, "key");
    const { graceHours = 0 } = readRotation(request);
    const made = await edge.keys.rotate(await accountOf(request, edge), id, Math.round(graceHours * 3_600_000));
    if (made === null) throw missing("key", id);
    return reply.code(201).send({ ...show(made.key), key: made.text });
  });
  api.delete("/api/keys/:id", async (request, reply) => {
    const id = idOf(request, "key");
    if (!(await edge.keys.revoke(await accountOf(request, edge), id))) throw missing("key", id);
    return reply.code(204).send();
  });
}

/** A field that is absent stays as it is; null takes a limit away. */
function toChange(body: Static<typeof Change>, nowMs: number): KeyChange {
  const { name, profile, requestsPerMinute, spendLimitUsd, expiresAt } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(profile === undefined ? {} : { profileId: profile }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(spendLimitUsd === undefined ? {} : { spendLimitNano: readAmount(spendLimitUsd, "spendLimitUsd") }),
    ...(expiresAt === undefined ? {} : { expiresAtMs: readFuture(expiresAt, nowMs) }),
  };
}

function readAmount(given: Static<typeof Usd> | null, param: string): NanoUsd | null {
  if (given === null) return null;
  const amount = parseUsd(String(given));
  if (amount !== null) return amount;
  throw new GatewayError("badRequest", `'${param}' must be an amount in USD as text, such as "25" or "0.50".`, {
    param,
  });
}

function readFuture(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const ms = Date.parse(text);
  if (Number.isInteger(ms) && ms > nowMs) return ms;
  throw new GatewayError("badRequest", "'expiresAt' must be a time to come in ISO 8601.", { param: "expiresAt" });
}

export function writeKey(key: KeyRecord, nowMs: number): object {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    status: keyStatus(key, nowMs),
    profile: key.profileId,
    requestsPerMinute: key.requestsPerMinute,
    spendLimitUsd: key.spendLimitNano === null ? null : formatUsd(key.spendLimitNano),
    expiresAt: isoTime(key.expiresAtMs),
    revokedAt: isoTime(key.revokedAtMs),
    lastUsedAt: isoTime(key.lastUsedAtMs),
    createdAt: isoTime(key.createdAtMs),
  };
}
