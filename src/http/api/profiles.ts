// /api/profiles: saved constraints that a key puts on its requests.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { DESCRIPTION_MAX, type ProfileContent } from "../../accounts/profiles.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Constraints } from "../../core/decision.ts";
import { CAPABILITIES } from "../../core/model.ts";
import type { Profile } from "../../core/profiles.ts";
import { TIERS } from "../../core/tiers.ts";
import { invalid } from "../../formats/wire/fields.ts";
import type { Edge } from "../context.ts";
import { withSpent, writeKey } from "./keys.ts";
import {
  accountOf,
  bodyReader,
  idOf,
  isoTime,
  listPage,
  missing,
  Name,
  pageOf,
  plainText,
  queryOf,
} from "./requests/one.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const tier = Type.Enum([...TIERS]);
const quality = Type.Enum([0, 1, 2]);
const modelIds = Type.Array(Type.String(), { maxItems: 500 });

const rules = {
  tierFloor: nullable(tier),
  tierCeiling: nullable(tier),
  capabilities: nullable(Type.Array(Type.Enum([...CAPABILITIES]))),
  maxCostUsd: nullable(
    Type.Union([
      Type.Number({ minimum: 0 }),
      Type.String({ pattern: "^\\d+(\\.\\d+)?(e-?\\d{1,2})?$", maxLength: 40 }),
    ]),
  ),
  bfclMin: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  codeQuality: nullable(quality),
  chatQuality: nullable(quality),
  allowedModels: nullable(modelIds),
  blockedModels: nullable(modelIds),
};

/** Constraints on their own: what a profile would say. */
export const ConstraintsBody = Type.Object(rules, { additionalProperties: false });
const description = nullable(plainText(DESCRIPTION_MAX));
const ProfileBody = Type.Object({ name: Name, description, ...rules }, { additionalProperties: false });

export function registerProfiles(api: FastifyInstance, edge: Edge): void {
  const { profiles, services } = edge;
  const readBody = bodyReader(ProfileBody);
  const readContent = (request: Parameters<typeof readBody>[0]): ProfileContent =>
    toContent(readBody(request), services.catalog);
  api.post("/api/profiles", async (request, reply) => {
    const content = readContent(request);
    return reply.code(201).send(writeProfile(await profiles.create(await accountOf(request, edge), content)));
  });
  api.get("/api/profiles", async (request) => {
    const account = await accountOf(request, edge);
    return listPage(pageOf(request), (page) => profiles.list(account, page), writeProfile);
  });
  api.get("/api/profiles/:id", async (request) => {
    const id = idOf(request, "profile");
    return writeProfile(found(await profiles.get(await accountOf(request, edge), id), id));
  });
  api.put("/api/profiles/:id", async (request) => {
    const id = idOf(request, "profile");
    const content = readContent(request);
    return writeProfile(found(await profiles.update(await accountOf(request, edge), id, content), id));
  });
  api.get("/api/profiles/:id/keys", async (request) => {
    const id = idOf(request, "profile");
    const account = await accountOf(request, edge);
    found(await profiles.get(account, id), id);
    const keys = await withSpent(await edge.keys.ofProfile(account, id), edge);
    return { data: keys.map(({ key, spent }) => writeKey(key, spent, edge.now())), next: null };
  });
  api.delete("/api/profiles/:id", async (request, reply) => {
    const id = idOf(request, "profile");
    const account = await accountOf(request, edge);
    if (!(await profiles.delete(account, id, keysToOf(request)))) throw missing("profile", id);
    return reply.code(204).send();
  });
}

/** `?keysTo=`: another profile for its keys, or `none` for no profile. Left out, they keep the one that is gone. */
function keysToOf(request: FastifyRequest): string | null | undefined {
  const wanted = queryOf(request, "keysTo") ?? undefined;
  return wanted === "none" ? null : wanted;
}

function found(profile: Profile | null, id: string): Profile {
  if (profile === null) throw missing("profile", id);
  return profile;
}

function toContent(body: Static<typeof ProfileBody>, catalog: Catalog): ProfileContent {
  return { name: body.name, description: body.description ?? null, constraints: readConstraints(body, catalog) };
}

export function readConstraints(body: Static<typeof ConstraintsBody>, { models }: Catalog): Constraints {
  for (const field of ["allowedModels", "blockedModels"] as const) {
    const stranger = body[field]?.find((id) => !models.has(id));
    if (stranger !== undefined) throw invalid(field, `There is no model '${stranger}' in the catalogue.`);
  }
  return {
    tierFloor: body.tierFloor ?? null,
    tierCeiling: body.tierCeiling ?? null,
    capabilities: body.capabilities ?? [],
    maxCostUsd: body.maxCostUsd === undefined || body.maxCostUsd === null ? null : Number(body.maxCostUsd),
    toolScoreMin: body.bfclMin ?? null,
    codeQuality: body.codeQuality ?? null,
    chatQuality: body.chatQuality ?? null,
    allowedModels: body.allowedModels ?? null,
    blockedModels: body.blockedModels ?? [],
  };
}

export function writeProfile({ id, name, description, constraints, createdAtMs, updatedAtMs }: Profile): object {
  return {
    id,
    name,
    description,
    tierFloor: constraints.tierFloor,
    tierCeiling: constraints.tierCeiling,
    capabilities: constraints.capabilities,
    maxCostUsd: constraints.maxCostUsd === null ? null : decimalText(constraints.maxCostUsd),
    bfclMin: constraints.toolScoreMin,
    codeQuality: constraints.codeQuality,
    chatQuality: constraints.chatQuality,
    allowedModels: constraints.allowedModels,
    blockedModels: constraints.blockedModels,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
  };
}

/** Without an exponent, whatever the size. */
function decimalText(amount: number): string {
  const text = String(amount);
  return text.includes("e") ? amount.toFixed(18).replace(/\.?0+$/, "") : text;
}
