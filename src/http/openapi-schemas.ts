// The schemas of the contract. Request fields the gateway does not read are allowed and passed on.

import { CATEGORIES, ROUTING_PROFILES } from "../core/decision.ts";
import { CAPABILITIES, TOOL_SCENARIOS } from "../core/model.ts";
import { TIERS } from "../core/tiers.ts";

const text = { type: "string" };
const number = { type: "number" };
const integer = { type: "integer" };
const tier = { type: "string", enum: TIERS };
const quality = { type: "integer", minimum: 0, maximum: 2 };
const fraction = { type: "number", minimum: 0, maximum: 1 };
const time = { type: "string", format: "date-time" };

const controls = {
  service_profile: { type: "string", enum: ROUTING_PROFILES, default: "auto" },
  service_tier: { ...text, description: "A tier; counts only when service_profile is tier." },
  service_tier_floor: tier,
  service_tier_ceiling: tier,
  service_max_cost: { type: "number", minimum: 0, description: "USD per request." },
  service_bfcl_min: { type: "number", minimum: 0, maximum: 100 },
  service_code_quality: quality,
  service_chat_quality: quality,
};

const messages = {
  type: "array",
  minItems: 1,
  items: { type: "object", required: ["role"], properties: { role: text } },
};
const tools = { type: "array", items: { type: "object" } };

const key = {
  id: text,
  name: text,
  prefix: text,
  status: { type: "string", enum: ["active", "revoked", "expired"] },
  profile: nullable(text),
  requestsPerMinute: nullable(integer),
  spendLimitUsd: nullable(text),
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  createdAt: time,
};

const profile = {
  name: { type: "string", minLength: 1, maxLength: 200 },
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

const model = {
  id: text,
  object: { const: "model" },
  created: integer,
  owned_by: text,
  name: text,
  context_length: integer,
  max_output_tokens: integer,
  architecture: object({ input_modalities: { type: "array", items: text } }),
  supported_parameters: { type: "array", items: text },
  pricing: object({
    prompt: nullable(text),
    completion: nullable(text),
    input_cache_read: nullable(text),
    input_cache_write: nullable(text),
  }),
  service: object({ tiers: { type: "array", items: tier }, bfcl: { type: ["object", "null"] }, priceAsOf: text }),
};

const transaction = {
  id: text,
  kind: { type: "string", enum: ["topup", "adjustment", "charge"] },
  amountUsd: text,
  balanceAfterUsd: text,
  note: nullable(text),
};

const health = object({ isResting: { type: "boolean" }, consecutiveFailures: integer });

export const SCHEMAS: Readonly<Record<string, object>> = {
  Error: object({
    error: object({ message: text, type: text, code: nullable(text), param: nullable(text), request_id: text }),
  }),
  ChatCompletionRequest: {
    type: "object",
    required: ["messages"],
    properties: { model: text, messages, tools, stream: { type: "boolean" }, max_tokens: integer, ...controls },
    additionalProperties: true,
  },
  Service: object({
    model: text,
    tier,
    profile: { type: "string", enum: ROUTING_PROFILES },
    confidence: fraction,
    savingsPct: { type: "number", minimum: 0, maximum: 100 },
    method: text,
    fallback: { type: "boolean" },
  }),
  ChatCompletion: object({
    id: text,
    object: { const: "chat.completion" },
    created: integer,
    model: text,
    choices: { type: "array", items: { type: "object", required: ["index", "message", "finish_reason"] } },
    usage: object({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer }),
    service: { $ref: "#/components/schemas/Service" },
  }),
  MessagesRequest: {
    type: "object",
    required: ["messages"],
    properties: { model: text, messages, tools, stream: { type: "boolean" }, max_tokens: integer, ...controls },
    additionalProperties: true,
  },
  Message: object({
    id: text,
    type: { const: "message" },
    role: { const: "assistant" },
    model: text,
    content: { type: "array", items: { type: "object", required: ["type"] } },
    stop_reason: nullable(text),
    usage: object({ input_tokens: integer, output_tokens: integer }),
    service: { $ref: "#/components/schemas/Service" },
  }),
  TokenCount: object({ input_tokens: integer }),
  MessagesError: object({
    type: { const: "error" },
    error: object({ type: text, message: text }),
    request_id: text,
  }),
  RoutingDebugRequest: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string", minLength: 1 },
      system_prompt: text,
      max_output_tokens: { type: "integer", minimum: 1 },
      tools,
      messages,
      profile: { type: "string", enum: ROUTING_PROFILES },
      model: text,
      ...controls,
    },
  },
  RoutingDebug: object({
    decision: object({
      tier,
      confidence: fraction,
      model: text,
      category: { type: "string", enum: CATEGORIES },
      method: text,
      reasoning: text,
      costEstimate: number,
      baselineCost: number,
      savings: fraction,
      filteredChain: { type: "array", items: text, minItems: 1 },
      profile: { type: "string", enum: ROUTING_PROFILES },
      historyFloor: nullable(tier),
      toolScenario: nullable({ type: "string", enum: TOOL_SCENARIOS }),
      bfclScore: nullable(number),
    }),
  }),
  Model: object(model),
  ModelList: object({
    object: { const: "list" },
    data: { type: "array", items: { $ref: "#/components/schemas/Model" } },
  }),
  CatalogModel: object({
    ...model,
    provider: text,
    upstream: text,
    tier,
    capabilities: { type: "array", items: text },
    priceSource: text,
    isRoutable: { type: "boolean" },
    health,
  }),
  Provider: object({
    id: text,
    kind: text,
    baseUrl: text,
    timeouts: { type: "object" },
    models: { type: "array", items: { type: "object" } },
  }),
  Credits: object({ postedUsd: text, heldUsd: text, availableUsd: text }),
  Amount: {
    type: "object",
    required: ["amountUsd"],
    additionalProperties: false,
    properties: { amountUsd: { type: "string", description: "Decimal text in USD." }, note: nullable(text) },
  },
  Transaction: object(transaction),
  LedgerLine: object({
    ...transaction,
    entries: { type: "array", items: object({ book: text, amountUsd: text }) },
    requestId: nullable(text),
    model: nullable(text),
    createdAt: time,
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
  NewKey: {
    type: "object",
    required: ["name"],
    additionalProperties: false,
    properties: {
      name: { type: "string", minLength: 1, maxLength: 200 },
      profile: nullable(text),
      requestsPerMinute: nullable({ type: "integer", minimum: 1 }),
      spendLimitUsd: nullable(text),
      expiresAt: nullable(time),
    },
  },
  Key: object(key),
  CreatedKey: object({ ...key, key: { type: "string", pattern: "^sk-service-" } }),
  NewProfile: { type: "object", required: ["name"], additionalProperties: false, properties: profile },
  Profile: object({ id: text, ...profile, createdAt: time, updatedAt: time }),
};

/** An object whose listed fields are all there. */
function object(properties: Readonly<Record<string, object>>): object {
  return { type: "object", required: Object.keys(properties), properties };
}

function nullable(schema: object): object {
  return { anyOf: [schema, { type: "null" }] };
}
