// /api/profiles: saved routing rules that a key puts on its requests.

import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { DESCRIPTION_MAX, type ProfileContent } from "../../accounts/profiles.ts";
import { baselineNamed, type Catalog, isRoutable } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/model-names.ts";
import type { Profile, ShadowRule } from "../../core/accounts.ts";
import type { Constraints } from "../../core/decision.ts";
import { KEY_STATUSES } from "../../core/keys.ts";
import { decimalText, formatUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import { PROFILE_CONTROLS, type ProfileRules } from "../../core/requests/controls.ts";
import type { ProfileUsage } from "../../core/requests/log.ts";
import { invalid } from "../../formats/json/fields.ts";
import { constraintNeeds, reasonAgainst } from "../../routing/needs.ts";
import { ruleFields, savedRuleFields } from "../openapi/controls.ts";
import { query } from "../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  Integer,
  Name,
  named,
  nullable,
  optional,
  page,
  plainText,
  type Shape,
  strict,
  Time,
  Usd,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { caughtUp } from "../v1/record.ts";
import {
  account,
  accountOf,
  idOf,
  isoTime,
  listPage,
  missing,
  oneOf,
  PLAIN_ID,
  pageOf,
  paging,
  queryOf,
} from "./exchange.ts";
import { KeySchema, showKeys, usageFrom } from "./key-json.ts";
import { readAmount } from "./keys.ts";
import { type ApiRoute, del, get, post, put } from "./route.ts";

/** One text for the request and the response. */
const PURPOSE = "What it is for; no rule.";
/** Rules on their own, as a profile that is not saved states them. */
export const RulesSchema = Type.Object(ruleFields, { additionalProperties: false });
const description = optional(plainText(DESCRIPTION_MAX, { description: PURPOSE }));
const NewProfileSchema = strict("NewProfile", { name: Name, description, ...ruleFields });

const SHARE = { minimum: 0.001, maximum: 1, description: "Of the requests of its keys." };
const shadowFields = {
  model: Type.String({ description: "The model that answers them as well." }),
  share: Type.Number(SHARE),
  budgetUsdPerDay: Type.String({ description: "Of all second answers of a day in UTC." }),
};
export const ShadowRuleSchema = Type.Object(shadowFields);
const ShadowSchema = strict("NewShadowRule", { ...shadowFields, budgetUsdPerDay: Usd });

/** A saved profile. Unlike in a request, lists are always there, and the amount is text. */
const profileFields = {
  id: AnyText,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: nullable(Type.String({ maxLength: DESCRIPTION_MAX, description: PURPOSE })),
  ...savedRuleFields,
  // Set with PUT /api/profiles/{id}/shadow, by operators.
  shadow: nullable(ShadowRuleSchema),
  createdAt: Time,
  updatedAt: Time,
};
export const ProfileSchema = named("Profile", profileFields);

/** A profile in the list, with what uses it. */
export const ListedProfileSchema = named("ListedProfile", {
  ...profileFields,
  activeKeys: Type.Integer({ description: "How many keys that work have it." }),
  last30Days: Type.Object(
    { from: Time, requests: Integer, chargeUsd: AnyText, savedUsd: AnyText, ...baselineFields },
    { description: "What was sent under it, by any key, as far back as requests are kept." },
  ),
});

/**
 * Destination of a deleted profile's keys: another profile, or `none` for no profile. Left out, they keep the deleted
 * one.
 */
const keysTo = query(
  "keysTo",
  Type.String({ pattern: PLAIN_ID.source }),
  "The profile that its keys have from then on, or `none`. Left out, they keep the deleted one and get 401.",
);

export const PROFILE_ROUTES: readonly ApiRoute[] = [
  post("createProfile", "/api/profiles", {
    summary: "Save a routing profile",
    access: "manage",
    body: NewProfileSchema,
    example: { name: "cheap", tierCeiling: "LIGHT" },
    status: 201,
    response: ProfileSchema,
    async handle({ request, body }, edge) {
      const content = toContent(body(), edge.services().catalog);
      return writeProfile(await edge.profiles.create(await accountOf(request, edge), content));
    },
  }),
  get("listProfiles", "/api/profiles", {
    summary: "The profiles, each with its number of keys and its usage of 30 days",
    access: "readRules",
    parameters: paging,
    response: page(ListedProfileSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const fromMs = usageFrom(edge.now());
      const { catalog } = edge.services();
      await caughtUp(edge.records);
      const [keys, usage] = await Promise.all([
        edge.keys.countByProfile(accountId),
        edge.records.usage.ofProfiles(accountId, fromMs),
      ]);
      return listPage(
        pageOf(request),
        (each) => edge.profiles.list(accountId, each),
        (profile) => ({
          ...writeProfile(profile),
          activeKeys: keys.get(profile.id) ?? 0,
          last30Days: writeUsage(usage.get(profile.id) ?? UNUSED, fromMs, catalog),
        }),
      );
    },
  }),
  get("getProfile", "/api/profiles/:id", {
    summary: "One profile",
    access: "readRules",
    response: ProfileSchema,
    async handle({ request }, edge) {
      const id = idOf(request, "profile");
      return writeProfile(found(await edge.profiles.get(await accountOf(request, edge), id), id));
    },
  }),
  // The whole profile: a rule that is left out is gone.
  put("replaceProfile", "/api/profiles/:id", {
    summary: "Replace a profile",
    access: "manage",
    body: NewProfileSchema,
    response: ProfileSchema,
    async handle({ request, body }, edge) {
      const id = idOf(request, "profile");
      const content = toContent(body(), edge.services().catalog);
      return writeProfile(found(await edge.profiles.update(await accountOf(request, edge), id, content), id));
    },
  }),
  // Operators pay for second answers, so owners of an account cannot ask for them.
  put("setShadow", "/api/profiles/:id/shadow", {
    summary: "Answer a share of the requests by a second model too, after the client has its answer",
    access: "operator",
    parameters: [account],
    body: ShadowSchema,
    example: { model: "gpt-4o", share: 0.05, budgetUsdPerDay: "2" },
    response: ProfileSchema,
    async handle({ request, body }, edge) {
      const id = idOf(request, "profile");
      const accountId = await accountOf(request, edge);
      const profile = found(await edge.profiles.get(accountId, id), id);
      const rule = readShadow(body(), profile, edge.services().catalog);
      return writeProfile(found(await edge.profiles.setShadow(accountId, id, rule), id));
    },
  }),
  del("endShadow", "/api/profiles/:id/shadow", {
    summary: "End the shadow samples of a profile; those that were made stay",
    access: "operator",
    parameters: [account],
    async handle({ request }, edge) {
      const id = idOf(request, "profile");
      found(await edge.profiles.setShadow(await accountOf(request, edge), id, null), id);
    },
  }),
  // Shown before a profile is deleted. `total` counts all that are asked for; without `status`, revoked ones too.
  get("listProfileKeys", "/api/profiles/:id/keys", {
    summary: "The keys that have this profile, and would be refused without it",
    access: "readRules",
    parameters: [query("status", Type.Enum([...KEY_STATUSES])), ...paging],
    response: Type.Object({ data: Type.Array(KeySchema), next: nullable(AnyText), total: Integer }),
    async handle({ request }, edge) {
      const id = idOf(request, "profile");
      const accountId = await accountOf(request, edge);
      found(await edge.profiles.get(accountId, id), id);
      const status = queryOf(request, "status");
      const search = { profileId: id, ...(status === null ? {} : { status: oneOf("status", status, KEY_STATUSES) }) };
      const { data, next } = await listPage(
        pageOf(request),
        (each) => edge.keys.list(accountId, each, search),
        (key) => key,
      );
      return { data: await showKeys(data, edge), next, total: await edge.keys.count(accountId, search) };
    },
  }),
  // Deleting and moving the keys is one transaction, so that no key is refused in between.
  del("deleteProfile", "/api/profiles/:id", {
    summary: "Delete a profile; its keys are refused from then on, unless they are moved in the same step",
    access: "manage",
    parameters: [keysTo],
    errors: [409],
    async handle({ request }, edge) {
      const id = idOf(request, "profile");
      const accountId = await accountOf(request, edge);
      if (!(await edge.profiles.delete(accountId, id, keysToOf(request)))) throw missing("profile", id);
    },
  }),
];

const UNUSED: ProfileUsage = { requests: 0, charge: 0n, baseline: 0n };

function writeUsage(
  { requests, charge, baseline }: ProfileUsage,
  fromMs: number,
  catalog: Catalog,
): Shape<typeof ListedProfileSchema>["last30Days"] {
  const [chargeUsd, savedUsd] = [formatUsd(charge), formatUsd(baseline - charge)];
  return { from: isoTime(fromMs), requests, chargeUsd, savedUsd, ...baselineNamed(catalog) };
}

/** A model that its requests may not reach answers none of them a second time either. */
function readShadow(body: Static<typeof ShadowSchema>, { constraints }: Profile, catalog: Catalog): ShadowRule {
  const { model: id, share } = body;
  const model = findModel(catalog, id);
  if (model === undefined || model.endpoint !== null || !isRoutable(catalog, model)) {
    throw invalid("model", TEXT.noUsableModel(id));
  }
  const reason = reasonAgainst(constraintNeeds(constraints, catalog), model.hosts);
  if (reason !== null) throw invalid("model", TEXT.modelNotAllowed(id, reason));
  return { model: model.id, share, budgetPerDay: readAmount(body.budgetUsdPerDay, "budgetUsdPerDay") ?? 0n };
}

export function writeShadow({ model, share, budgetPerDay }: ShadowRule): Shape<typeof ShadowRuleSchema> {
  return { model, share, budgetUsdPerDay: formatUsd(budgetPerDay) };
}

function keysToOf(request: FastifyRequest): string | null | undefined {
  const wanted = queryOf(request, keysTo.name) ?? undefined;
  if (wanted !== undefined && !PLAIN_ID.test(wanted)) throw invalid("keysTo", TEXT.invalidKeysTo);
  return wanted === "none" ? null : wanted;
}

/** Turns a missing profile into the error for it. */
function found(profile: Profile | null, id: string): Profile {
  if (profile === null) throw missing("profile", id);
  return profile;
}

function toContent(body: Static<typeof NewProfileSchema>, catalog: Catalog): ProfileContent {
  return { name: body.name, description: body.description ?? null, constraints: readConstraints(body, catalog) };
}

/** Unknown model ids are an error here, because a misspelt one would never match. */
export function readConstraints(body: Readonly<Record<string, unknown>>, catalog: Catalog): Constraints {
  const values = PROFILE_CONTROLS.map(({ name, rule, takes }) => {
    const value = body[rule] ?? takes.unset;
    if (takes.kind === "list" && takes.words === null) {
      const stranger = ((value ?? []) as readonly string[]).find((id) => findModel(catalog, id) === undefined);
      if (stranger !== undefined) throw invalid(rule, TEXT.unknownModel(stranger));
    }
    return [name, takes.kind === "amount" && value !== null ? Number(value) : value];
  });
  return Object.fromEntries(values);
}

function writeRules(constraints: Constraints): ProfileRules {
  const rules = PROFILE_CONTROLS.map(({ name, rule, takes }) => {
    const value = constraints[name] as unknown;
    return [rule, takes.kind === "amount" && value !== null ? decimalText(value as number) : value];
  });
  return Object.fromEntries(rules);
}

/** Also written by the command line, which prints the same JSON. */
export function writeProfile(profile: Profile): Shape<typeof ProfileSchema> {
  const { id, name, description, constraints, shadow, createdAtMs, updatedAtMs } = profile;
  return {
    id,
    name: shownName(name),
    description,
    ...writeRules(constraints),
    shadow: shadow === null ? null : writeShadow(shadow),
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
  };
}
