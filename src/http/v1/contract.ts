// The contract of /v1: its responses, and the operations of no format. The codecs in formats/ read the bodies, so nothing
// here validates.

import { type TSchema, Type } from "typebox";
import { CATEGORIES, REQUEST_PARTS } from "../../core/decision.ts";
import { TOOL_SCENARIOS, type ToolScores } from "../../core/model.ts";
import { SERVICE_TIERS } from "../../core/money.ts";
import { CASCADE_CHECKS } from "../../core/requests/cascade.ts";
import { ROUTING_PROFILES } from "../../core/requests/controls.ts";
import { EFFORTS } from "../../core/requests/effort.ts";
import { SESSION_STATES } from "../../core/session.ts";
import { TIERS } from "../../core/tiers.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import { hostFields } from "../openapi/controls.ts";
import {
  ANY_ERRORS,
  BODY_ERRORS,
  type Content,
  eventStream,
  json,
  type Method,
  type Operation,
  type Parameter,
  query,
  statuses,
} from "../openapi/operation.ts";
import {
  AnyText,
  baselineFields,
  byName,
  ErrorSchema,
  Flag,
  Fraction,
  HostChoiceSchema,
  Integer,
  listed,
  named,
  nullable,
  Texts,
} from "../openapi/schema.ts";
import { OwnBudgetsSchema } from "./budgets.ts";
import { FeedbackRequestSchema, RoutingDebugRequestSchema } from "./request-schemas.ts";

const profile = listed(ROUTING_PROFILES);

/** USD per token, with the markup. */
const rates = {
  prompt: nullable(AnyText),
  completion: nullable(AnyText),
  input_cache_read: nullable(AnyText),
  input_cache_write: nullable(AnyText),
  character: Type.Optional(AnyText),
  minute: Type.Optional(AnyText),
  image: Type.Optional(byName(AnyText)),
};
const bandedRates = {
  ...rates,
  bands: Type.Optional(
    Type.Array(Type.Object({ above_prompt_tokens: Integer, ...rates }), {
      description: "Rates of the whole request, for prompts with more tokens than that.",
    }),
  ),
};
const Banded = Type.Object(bandedRates);
const Pricing = Type.Object({
  ...bandedRates,
  tiers: Type.Optional(
    Type.Object(Object.fromEntries(SERVICE_TIERS.map((name) => [name, Type.Optional(Banded)])), {
      description: "Rates of the service tiers that the provider may answer with.",
    }),
  ),
  valid_until: Type.Optional(Type.String({ description: "The time at which the vendor ends this price." })),
  next: Type.Optional(
    Type.Object({ from: AnyText, ...bandedRates }, { description: "The price that follows, and its first moment." }),
  ),
});

/** A host of a model, at its own price. */
const HostSchema = Type.Object({
  host: AnyText,
  context_length: Integer,
  max_output_tokens: Integer,
  pricing: Pricing,
  priceAsOf: AnyText,
  region: Type.Optional(AnyText),
  dataPolicy: Type.Optional(AnyText),
});

/** A model as /v1/models lists it. /api/models adds to these fields. */
export const modelFields = {
  id: AnyText,
  object: Type.Literal("model"),
  created: Integer,
  owned_by: AnyText,
  name: AnyText,
  context_length: Integer,
  max_output_tokens: Integer,
  architecture: Type.Object({ input_modalities: Texts, output_modalities: Texts }),
  supported_parameters: Texts,
  pricing: Pricing,
  service: Type.Object({
    tiers: Type.Array(listed(TIERS)),
    bfcl: Type.Unsafe<ToolScores | null>({ type: ["object", "null"] }),
    priceAsOf: AnyText,
    provisional: Type.Optional(
      Type.Boolean({ description: "The model was found by a price check, and nobody has proven it yet." }),
    ),
    hosts: Type.Array(HostSchema, { description: "Where this gateway can call the model." }),
  }),
};

/** An answer of a cascade. `costUsd` of the service object is the sum. */
const CascadeAnswer = Type.Object({
  tier: listed(TIERS),
  model: AnyText,
  costUsd: AnyText,
  passed: Flag,
  failedCheck: Type.Optional(listed(CASCADE_CHECKS)),
  reason: Type.Optional(AnyText),
});

export const ServiceSchema = named("Service", {
  model: AnyText,
  tier: listed(TIERS),
  profile,
  confidence: Fraction,
  savingsPct: Type.Number({ minimum: 0, maximum: 100 }),
  method: AnyText,
  fallback: Flag,
  effort: Type.Optional(
    Type.Enum([...EFFORTS], {
      description: "The effort that the selected model is asked for. Absent where it decides.",
    }),
  ),
  serviceTier: Type.Optional(
    Type.Enum([...SERVICE_TIERS], {
      description: "The provider's service tier that was charged. Absent for the usual one.",
    }),
  ),
  host: Type.Optional(Type.String({ description: "The host that answered, where there was a choice." })),
  parts: Type.Optional(
    Type.Array(
      Type.Object({
        part: listed(REQUEST_PARTS),
        tier: listed(TIERS),
        characters: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      {
        description:
          "The parts that were weighed, each with the tier that it alone speaks for. Absent where there is only a question.",
      },
    ),
  ),
  session: Type.Optional(Type.Enum([...SESSION_STATES], { description: "What the request did to its session." })),
  cascade: Type.Optional(
    Type.Array(CascadeAnswer, { description: "The answers of a cascade, in order. Absent without one." }),
  ),
});

const ChatUsage = Type.Object({ prompt_tokens: Integer, completion_tokens: Integer, total_tokens: Integer });

export const ChatCompletionSchema = named("ChatCompletion", {
  id: AnyText,
  object: Type.Literal("chat.completion"),
  created: Integer,
  model: AnyText,
  choices: Type.Array(Type.Unsafe<object>({ type: "object", required: ["index", "message", "finish_reason"] })),
  usage: ChatUsage,
  service: ServiceSchema,
});

/** One event of a stream. `service` is in the first one. */
const ChatCompletionChunkSchema = named("ChatCompletionChunk", {
  id: AnyText,
  object: Type.Literal("chat.completion.chunk"),
  created: Integer,
  model: AnyText,
  choices: Type.Array(Type.Unsafe<object>({ type: "object", required: ["index", "delta"] })),
  service: Type.Optional(ServiceSchema),
});

/** A stream that breaks off ends with an error as its last event. */
export const CHAT_STREAM = eventStream(Type.Union([ChatCompletionChunkSchema, ErrorSchema]), { end: "[DONE]" });

const completionFields = {
  id: AnyText,
  object: Type.Literal("text_completion"),
  created: Integer,
  model: AnyText,
  choices: Type.Array(Type.Unsafe<object>({ type: "object", required: ["text", "index", "finish_reason"] })),
};
export const CompletionSchema = named("Completion", { ...completionFields, usage: ChatUsage, service: ServiceSchema });
export const CompletionChunkSchema = named("CompletionChunk", {
  ...completionFields,
  service: Type.Optional(ServiceSchema),
});

/** Usage and `service` come with the answer: a response in the background has neither before it. */
export const ResponseSchema = named("Response", {
  id: AnyText,
  object: Type.Literal("response"),
  created_at: Integer,
  completed_at: Type.Optional(nullable(Integer)),
  status: listed(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
  incomplete_details: nullable(Type.Object({ reason: AnyText })),
  model: AnyText,
  output: Type.Array(Type.Unsafe<object>({ type: "object", required: ["id", "type"] })),
  usage: nullable(Type.Object({ input_tokens: Integer, output_tokens: Integer, total_tokens: Integer })),
  service: nullable(ServiceSchema),
});

const ResponseEventSchema = named("ResponseEvent", {
  type: Type.String({ examples: ["response.created", "response.output_text.delta", "response.completed", "error"] }),
  sequence_number: Integer,
});

export const EmbeddingsSchema = named("Embeddings", {
  model: AnyText,
  data: Type.Array(Type.Object({ embedding: Type.Union([Type.Array(Type.Number()), AnyText]) })),
  usage: Type.Object({ prompt_tokens: Integer }),
});

export const RESPONSE_STREAM = eventStream(ResponseEventSchema);

export const MessageSchema = named("Message", {
  id: AnyText,
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: AnyText,
  content: Type.Array(Type.Unsafe<object>({ type: "object", required: ["type"] })),
  stop_reason: nullable(AnyText),
  usage: Type.Object({ input_tokens: Integer, output_tokens: Integer }),
  service: ServiceSchema,
});

export const MessagesErrorSchema = named("MessagesError", {
  type: Type.Literal("error"),
  error: Type.Object({ type: AnyText, message: AnyText }),
  request_id: AnyText,
});

export const MessageEventSchema = named("MessageEvent", {
  type: Type.String({ examples: ["message_start", "content_block_delta", "message_stop", "error"] }),
});

export const RoutingDecisionSchema = named("RoutingDecision", {
  tier: listed(TIERS),
  confidence: Fraction,
  model: AnyText,
  category: listed(CATEGORIES),
  method: AnyText,
  reasoning: AnyText,
  costEstimate: Type.Number(),
  baselineCost: Type.Number(),
  ...baselineFields,
  savings: Fraction,
  filteredChain: Type.Array(AnyText, { minItems: 1 }),
  effort: Type.Optional(
    Type.Enum([...EFFORTS], { description: "The effort that the model would be asked for. Absent where it decides." }),
  ),
  serviceTier: Type.Optional(
    Type.Enum([...SERVICE_TIERS], {
      description: "The provider's service tier that would be asked for. Absent for the usual one.",
    }),
  ),
  efforts: Type.Optional(
    byName<string>(AnyText, {
      description: "The efforts that the chain asks of its models. Absent where the request has its own.",
    }),
  ),
  host: Type.Optional(Type.String({ description: "The host that would be tried first, where the model has several." })),
  hosts: Type.Optional(HostChoiceSchema),
  ...hostFields,
  profile,
  historyFloor: nullable(listed(TIERS)),
  toolScenario: nullable(listed(TOOL_SCENARIOS)),
  bfclScore: nullable(Type.Number()),
  weakModelFails: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "The chance that a weak model fails at the prompt. Absent where the rules alone decided.",
    }),
  ),
  session: Type.Optional(Type.Enum([...SESSION_STATES], { description: "What the request would do to its session." })),
  cascade: Type.Optional(
    Type.Object(
      {
        checks: Type.Optional(Type.Array(listed(CASCADE_CHECKS))),
        attempts: Type.Optional(
          Type.Array(Type.Object({ tier: listed(TIERS), model: AnyText, costEstimate: Type.Number() })),
        ),
        unusedBecause: Type.Optional(AnyText),
      },
      { description: "The answers that a cascade may ask for, or why there is none. Absent where none is asked for." },
    ),
  ),
  resting: Type.Optional(byName<string>(AnyText)),
  droppedFields: Texts,
  conversions: Type.Array(AnyText, { description: "What would be changed for the provider, in words." }),
});

const FeedbackSchema = named("Feedback", {
  object: Type.Literal("feedback"),
  request_id: AnyText,
  score: nullable(Fraction),
  tier: nullable(listed(TIERS)),
  comment: nullable(AnyText),
  created_at: Integer,
});

const OwnKeySchema = named("OwnKey", {
  object: Type.Literal("key"),
  id: AnyText,
  name: AnyText,
  expires_at: nullable(Integer),
  usage: Type.Object(
    { from: Integer, requests: Integer, errors: Integer, cost_usd: AnyText, baseline_cost_usd: AnyText },
    { description: "Of the last 30 days and today, in UTC. `from` is in seconds." },
  ),
  baseline: Type.Object(
    {
      model: AnyText,
      price: nullable(Type.Object({ input: Type.Number(), output: Type.Number(), as_of: AnyText })),
    },
    { description: "The model that `baseline_cost_usd` is for, with its USD per million tokens today." },
  ),
});

export const ModelSchema = named("Model", modelFields);

/** Bodies of one operation, and what else differs from other calls. */
export interface CallDetail {
  readonly request: TSchema;
  readonly example: JsonObject;
  /** The bodies in place of the request as JSON; absent where JSON alone is taken. */
  readonly body?: Content;
  readonly response: Content;
  readonly parameters?: readonly Parameter[];
  readonly errorSchema?: TSchema;
}

/** The contract of one path that lists models. */
export interface ModelListDetail {
  /** The ids: of the list, of one model, and of one whose id has a slash. */
  readonly operations: readonly [list: string, one: string, withSlash: string];
  readonly list: TSchema;
  readonly model: TSchema;
  readonly parameters?: readonly Parameter[];
  readonly errorSchema?: TSchema;
}

/** Operations that belong to no format. */
export const V1_OPERATIONS: readonly Operation[] = [
  v1("explainRouting", "post", "/v1/routing/debug", {
    summary: "The decision a request would get; no provider call, no charge",
    body: json(RoutingDebugRequestSchema, { prompt: "Prove that the square root of 2 is irrational." }),
    response: json(named("RoutingDebug", { decision: RoutingDecisionSchema })),
    errors: [404, 422],
  }),
  v1("createFeedback", "post", "/v1/feedback", {
    summary: "Say how good an answer was, or which tier it should have had; a second call replaces the first; free",
    body: json(FeedbackRequestSchema, { request_id: "req_5f0c1a2b3c4d5e6f70819203", score: 1 }),
    response: json(FeedbackSchema),
    errors: [404],
  }),
  v1("getOwnKey", "get", "/v1/key", {
    summary: "What the key of this request has used lately, and what the baseline model would have cost; free",
    response: json(OwnKeySchema),
  }),
  v1("getOwnBudgets", "get", "/v1/budgets", {
    summary: "What budgets leave for requests of this key; free",
    parameters: ["user", "model", "tier"].map((name) => query(name, AnyText, "As requests will have it.")),
    response: json(OwnBudgetsSchema),
  }),
];

type Details = Pick<Operation, "summary" | "response"> &
  Partial<Pick<Operation, "parameters" | "body" | "isBodyOptional" | "errors">> & { readonly errorSchema?: TSchema };

/** An operation that needs an API key. */
export function v1(id: string, method: Method, path: string, details: Details): Operation {
  const { errors = [], body = null, parameters = [], errorSchema = ErrorSchema, ...rest } = details;
  return {
    id,
    method,
    path,
    security: "apiKey",
    parameters,
    body,
    status: 200,
    errors: statuses(errors, ANY_ERRORS, [401, 429, 508], body === null ? [] : BODY_ERRORS),
    errorSchema,
    ...rest,
  };
}
