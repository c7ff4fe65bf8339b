// The schemas of /api on what an account has: keys, profiles, credits, and the catalogue.

import { DESCRIPTION_MAX } from "../../accounts/profiles.ts";
import { TRANSACTION_KINDS } from "../../core/ledger.ts";
import { CAPABILITIES } from "../../core/model.ts";
import { SPEND_RESETS } from "../../core/spend-reset.ts";
import { toolCalls } from "./request-schemas.ts";
import { integer, nullable, object, quality, text, tier, time } from "./schema.ts";
import { model } from "./v1-schemas.ts";

const spendReset = {
  type: "string",
  enum: SPEND_RESETS,
  description:
    "When the limit starts anew: never, or at 00:00 UTC of each day, of Monday, or of the first of the month.",
};

export const key = {
  id: text,
  name: text,
  prefix: text,
  status: { type: "string", enum: ["active", "revoked", "expired"] },
  profile: nullable(text),
  requestsPerMinute: nullable(integer),
  spendLimitUsd: nullable(text),
  spendReset,
  spentUsd: nullable({ type: "string", description: "Of the limit, since it last started anew; null without one." }),
  spentSince: nullable(time),
  spendResetsAt: nullable(time),
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  createdAt: time,
};

const keyContent = {
  name: { type: "string", minLength: 1, maxLength: 200 },
  profile: nullable(text),
  requestsPerMinute: nullable({ type: "integer", minimum: 1 }),
  spendLimitUsd: { type: ["string", "number", "null"] },
  spendReset,
  expiresAt: nullable(time),
};

export const profile = {
  name: { type: "string", minLength: 1, maxLength: 200 },
  description: nullable({ type: "string", maxLength: DESCRIPTION_MAX, description: "What it is for; no rule." }),
  tierFloor: nullable(tier),
  tierCeiling: nullable(tier),
  capabilities: { type: ["array", "null"], items: { type: "string", enum: CAPABILITIES } },
  maxCostUsd: { type: ["number", "string", "null"] },
  bfclMin: nullable({ type: "number", minimum: 0, maximum: 100 }),
  codeQuality: nullable(quality),
  chatQuality: nullable(quality),
  allowedModels: { type: ["array", "null"], items: text },
  blockedModels: { type: ["array", "null"], items: text },
};

const transaction = {
  id: text,
  kind: { type: "string", enum: TRANSACTION_KINDS },
  amountUsd: text,
  balanceAfterUsd: text,
  note: nullable(text),
  actor: nullable({
    type: "string",
    description: "Who did it: an e-mail, `admin token` or `command line`; for owners `operator`. Null for charges.",
  }),
};

const healthState = {
  state: { type: "string", enum: ["closed", "half-open", "open", "resting"] },
  since: time,
  nextTryAt: nullable(time),
  consecutiveFailures: integer,
  lastError: nullable(text),
  lastErrorAt: nullable(time),
};
const isResting = { type: "boolean", description: "Tried last now, for its own sake, its provider's or the key's." };

const chains = {
  type: "array",
  description: "Where the model stands in the chain of each tier that has it, as configured: 1 is asked first.",
  items: object({
    tier,
    place: { type: "integer", minimum: 1 },
    of: { type: "integer", minimum: 1, description: "How many models the chain has." },
  }),
};

export const API_SCHEMAS: Readonly<Record<string, object>> = {
  CatalogModel: object({
    ...model,
    provider: text,
    upstream: text,
    tier,
    chains,
    capabilities: { type: "array", items: text },
    priceSource: text,
    isRoutable: { type: "boolean" },
    health: object({ isResting, ...healthState }),
    toolCalls,
  }),
  Provider: object({
    id: text,
    kind: text,
    baseUrl: text,
    timeouts: { type: "object" },
    health: nullable(object(healthState)),
    credential: nullable(object(healthState)),
    models: { type: "array", items: object({ id: text, isResting, ...healthState }) },
  }),
  ProviderTest: {
    type: "object",
    additionalProperties: false,
    properties: { model: { type: "string", description: "One of its models; left out, its cheapest." } },
  },
  ProviderTested: object({
    provider: text,
    ok: { type: "boolean" },
    model: nullable(text),
    status: nullable(integer),
    durationMs: integer,
    problem: nullable(text),
    fix: nullable(text),
  }),
  Credits: object({ postedUsd: text, heldUsd: text, availableUsd: text }),
  Amount: {
    type: "object",
    required: ["amountUsd"],
    additionalProperties: false,
    properties: {
      amountUsd: { type: ["string", "number"], description: "Decimal text in USD." },
      note: nullable(text),
    },
  },
  Transaction: object(transaction),
  LedgerLine: object({
    ...transaction,
    entries: { type: "array", items: object({ book: text, amountUsd: text }) },
    requestId: nullable(text),
    model: nullable(text),
    createdAt: time,
  }),
  LedgerMonth: object({
    month: { type: "string", pattern: "^\\d{4}-\\d{2}$" },
    entries: integer,
    openingUsd: text,
    topUpsUsd: text,
    chargesUsd: text,
    adjustmentsUsd: text,
    closingUsd: text,
  }),
  LedgerVerdict: object({
    ok: { type: "boolean" },
    accounts: integer,
    transactions: integer,
    openHolds: integer,
    problems: { type: "array", items: text },
  }),
  NewAccount: object({ name: { type: "string", minLength: 1, maxLength: 200 } }),
  Account: object({ id: text, name: text, createdAt: time }),
  NewKey: { type: "object", required: ["name"], additionalProperties: false, properties: keyContent },
  KeyChange: { type: "object", minProperties: 1, additionalProperties: false, properties: keyContent },
  Rotation: {
    type: "object",
    additionalProperties: false,
    properties: { graceHours: { type: "number", minimum: 0, maximum: 720, default: 0 } },
  },
  Key: object(key),
  CreatedKey: object({ ...key, key: { type: "string", pattern: "^sk-service-" } }),
  NewProfile: { type: "object", required: ["name"], additionalProperties: false, properties: profile },
  Profile: object({ id: text, ...profile, createdAt: time, updatedAt: time }),
};
