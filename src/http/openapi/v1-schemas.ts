// The schemas of /v1. Request fields the gateway does not read are allowed and passed on.

import { CATEGORIES, ROUTING_PROFILES } from "../../core/decision.ts";
import { TOOL_SCENARIOS } from "../../core/model.ts";
import { fraction, integer, nullable, number, object, quality, text, tier } from "./schema.ts";

export const controls = {
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

export const model = {
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

export const debugRequest = {
  prompt: { type: "string", minLength: 1 },
  system_prompt: text,
  max_output_tokens: { type: "integer", minimum: 1 },
  tools,
  messages,
  profile: { type: "string", enum: ROUTING_PROFILES },
  model: text,
  ...controls,
};

export const V1_SCHEMAS: Readonly<Record<string, object>> = {
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
    properties: debugRequest,
  },
  RoutingDebug: object({ decision: { $ref: "#/components/schemas/RoutingDecision" } }),
  RoutingDecision: object({
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
  Model: object(model),
  ModelList: object({
    object: { const: "list" },
    data: { type: "array", items: { $ref: "#/components/schemas/Model" } },
  }),
};
