// /api/keys: made (the text is shown this once), listed with what they have spent, changed, replaced, revoked.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { keyStatus } from "../../accounts/keys.ts";
import type { Spent } from "../../accounts/spending.ts";
import type { Page } from "../../core/accounts.ts";
import { GatewayError } from "../../core/errors.ts";
import type { KeyChange, KeyRecord } from "../../core/keys.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../../core/money.ts";
import { SPEND_RESETS } from "../../core/spend-reset.ts";
import type { Edge } from "../context.ts";
import { actorOf } from "../exchange/session-guard.ts";
import { accountOf, bodyReader, idOf, isoTime, listPage, missing, Name, pageOf, Usd } from "./requests/one.ts";

const optional = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const limits = {
  profile: optional(Type.String()),
  requestsPerMinute: optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  spendLimitUsd: optional(Usd),
  spendReset: Type.Optional(Type.Enum([...SPEND_RESETS])),
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
  const show = (key: KeyRecord): Promise<object> => writeWithSpent(key, edge);
  api.post("/api/keys", async (request, reply) => {
    const wanted = readNew(request);
    const { key, text } = await edge.keys.create({
      accountId: await accountOf(request, edge),
      name: wanted.name,
      profileId: wanted.profile ?? null,
      requestsPerMinute: wanted.requestsPerMinute ?? null,
      spendLimitNano: readAmount(wanted.spendLimitUsd ?? null, "spendLimitUsd"),
      spendReset: wanted.spendReset ?? "never",
      expiresAtMs: readFuture(wanted.expiresAt ?? null, edge.now()),
    });
    return reply.code(201).send({ ...(await show(key)), key: text });
  });
  api.get("/api/keys", async (request) => {
    const account = await accountOf(request, edge);
    const read = async (page: Page) => withSpent(await edge.keys.list(account, page), edge);
    return listPage(pageOf(request), read, ({ key, spent }) => writeKey(key, spent, edge.now()));
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
    return reply.code(201).send({ ...(await show(made.key)), key: made.text });
  });
  api.post("/api/keys/:id/reset-spend", async (request) => {
    const id = idOf(request, "key");
    const key = await edge.keys.active(await accountOf(request, edge), id);
    if (key === null) throw missing("key", id);
    const spent = await edge.spending.reset(key);
    edge.log.info({ event: "key.spend_reset", keyId: id, actor: actorOf(request) }, "key spend reset");
    return writeKey(key, spent, edge.now());
  });
  api.delete("/api/keys/:id", async (request, reply) => {
    const id = idOf(request, "key");
    if (!(await edge.keys.revoke(await accountOf(request, edge), id))) throw missing("key", id);
    return reply.code(204).send();
  });
}

/** A field that is absent stays as it is; null takes a limit away. */
function toChange(body: Static<typeof Change>, nowMs: number): KeyChange {
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

export interface KeyWithSpent {
  readonly id: string;
  readonly key: KeyRecord;
  readonly spent: Spent | null;
}

export async function withSpent(
  keys: readonly KeyRecord[],
  { spending }: Pick<Edge, "spending">,
): Promise<readonly KeyWithSpent[]> {
  const spents = await spending.of(keys);
  return keys.map((key) => ({ id: key.id, key, spent: spents.get(key.id) ?? null }));
}

async function writeWithSpent(key: KeyRecord, edge: Edge): Promise<object> {
  return writeKey(key, (await edge.spending.of([key])).get(key.id) ?? null, edge.now());
}

export function writeKey(key: KeyRecord, spent: Spent | null, nowMs: number): object {
  return {
    id: key.id,
    name: key.name,
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
