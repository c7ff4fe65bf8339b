// The request bodies of /v1 as the contract states them: every field that a codec in formats/ reads, with the limits it
// checks. Null counts as absent. Fields that the gateway does not read are allowed and passed on.

import { type TSchema, Type } from "typebox";
import { OUTPUT_TOKENS_MAX, ROLES } from "../../core/chat.ts";
import { ROUTING_PROFILES } from "../../core/requests/controls.ts";
import { TIERS } from "../../core/tiers.ts";
import { MESSAGE_ROLES } from "../../formats/anthropic/read-request.ts";
import { DIMENSIONS_MAX, ENCODINGS } from "../../formats/endpoints/read-request.ts";
import { CHOICES_MAX } from "../../formats/openai-chat/read-request.ts";
import { INPUT_ROLES, TOP_LOGPROBS_MAX } from "../../formats/openai-responses/read-request.ts";
import { controlFields } from "../openapi/controls.ts";
import { AnyObject, AnyText, Flag, named, optional, Texts, TierName } from "../openapi/schema.ts";

export const between = (minimum: number, maximum: number): TSchema => Type.Number({ minimum, maximum });
const outputTokens = (minimum: number): TSchema => Type.Integer({ minimum, maximum: OUTPUT_TOKENS_MAX });

/** Two profiles need another field beside them: another profile, or that field. */
const needs = (profile: string, field: string, schema: object): object => ({
  anyOf: [
    { not: { properties: { service_profile: { const: profile } }, required: ["service_profile"] } },
    { properties: { [field]: schema }, required: [field] },
  ],
});
export const TIER_NEED = needs("tier", "service_tier", { enum: [...TIERS] });
const PROFILE_NEEDS = [needs("direct", "model", { type: "string", not: { enum: ["", "auto"] } }), TIER_NEED];

/** Any type but those that have a schema of their own. */
const otherType = (...types: readonly string[]): TSchema =>
  Type.Object({ type: Type.Unsafe<string>({ type: "string", not: { enum: types } }) });

const TextPart = Type.Object({ type: Type.Literal("text"), text: AnyText });
const ImagePart = Type.Object({ type: Type.Literal("image_url"), image_url: Type.Object({ url: AnyText }) });
const Parts = Type.Array(Type.Union([TextPart, ImagePart, otherType("text", "image_url")]));
const Call = Type.Object({
  function: optional(Type.Object({ name: optional(AnyText), arguments: optional(AnyText) })),
});
const callFields = { tool_calls: optional(Type.Array(Call)) };
const ChatMessageSchema = Type.Union([
  Type.Object({ role: Type.Enum([...ROLES]), content: Type.Union([AnyText, Parts]), ...callFields }),
  Type.Object({ role: Type.Enum(["assistant", "function"]), content: Type.Optional(Type.Null()), ...callFields }),
]);
const ChatMessages = Type.Array(ChatMessageSchema, { minItems: 1 });
const Tools = Type.Array(AnyObject);

const flatBlocks = [
  TextPart,
  Type.Object({ type: Type.Literal("tool_use"), id: AnyText, name: AnyText }),
  Type.Object({ type: Type.Enum(["image", "document"]), source: AnyObject }),
  otherType("text", "tool_use", "tool_result", "image", "document"),
];
const ToolResult = Type.Object({
  type: Type.Literal("tool_result"),
  tool_use_id: AnyText,
  content: optional(Type.Union([AnyText, Type.Array(Type.Union(flatBlocks))])),
});
const Turns = Type.Array(
  Type.Object({
    role: Type.Enum([...MESSAGE_ROLES]),
    content: Type.Union([AnyText, Type.Array(Type.Union([...flatBlocks, ToolResult]))]),
  }),
  { minItems: 1 },
);
const ServerTool = Type.Object({ type: Type.Unsafe<string>({ type: "string", not: { const: "custom" } }) });
const promptFields = {
  messages: Turns,
  system: optional(Type.Union([AnyText, Type.Array(TextPart)])),
  tools: optional(Type.Array(Type.Union([Type.Object({ name: AnyText }), ServerTool]))),
};

export const open = { additionalProperties: true };

const samplingFields = {
  stream: optional(Flag),
  stream_options: optional(AnyObject),
  max_tokens: optional(outputTokens(1)),
  max_completion_tokens: optional(outputTokens(1)),
  n: optional(Type.Integer({ minimum: 1, maximum: CHOICES_MAX })),
  temperature: optional(between(0, 2)),
  top_p: optional(between(0, 1)),
  frequency_penalty: optional(between(-2, 2)),
  presence_penalty: optional(between(-2, 2)),
  stop: optional(Type.Union([AnyText, Texts])),
  response_format: optional(AnyObject),
};

export const ChatRequestSchema = named(
  "ChatCompletionRequest",
  {
    model: optional(AnyText),
    messages: ChatMessages,
    tools: optional(Tools),
    tool_choice: optional(Type.Union([AnyText, AnyObject])),
    parallel_tool_calls: optional(Flag),
    ...samplingFields,
    ...controlFields,
  },
  { ...open, allOf: PROFILE_NEEDS },
);

export const CompletionRequestSchema = named(
  "CompletionRequest",
  {
    model: optional(AnyText),
    prompt: Type.Union([AnyText, Type.Array(AnyText, { minItems: 1, maxItems: 1 })]),
    suffix: optional(AnyText),
    echo: optional(Flag),
    best_of: optional(Type.Integer({ minimum: 1, maximum: CHOICES_MAX, description: "The same as n." })),
    logprobs: optional(Type.Literal(false)),
    ...samplingFields,
    ...controlFields,
  },
  { ...open, allOf: PROFILE_NEEDS },
);

export const MessagesRequestSchema = named(
  "MessagesRequest",
  {
    model: optional(AnyText),
    ...promptFields,
    tool_choice: optional(AnyObject),
    stream: optional(Flag),
    max_tokens: optional(outputTokens(0)),
    temperature: optional(between(0, 1)),
    top_p: optional(between(0, 1)),
    top_k: optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    stop_sequences: optional(Texts),
    thinking: optional(AnyObject),
    metadata: optional(AnyObject),
    ...controlFields,
  },
  { ...open, allOf: PROFILE_NEEDS },
);

const literal = (type: string): TSchema => Type.Literal(type);
const ResponsesParts = Type.Union([
  AnyText,
  Type.Array(
    Type.Union([
      Type.Object({ type: Type.Enum(["input_text", "output_text"]), text: AnyText }),
      otherType("input_text", "output_text"),
    ]),
  ),
]);
const callFieldsOf = (type: string, field: string): TSchema =>
  Type.Object({ type: literal(type), call_id: AnyText, name: AnyText, [field]: AnyText });
const resultOf = (type: string): TSchema =>
  Type.Object({ type: literal(type), call_id: AnyText, output: ResponsesParts });
const InputItem = Type.Union([
  Type.Object({ type: optional(literal("message")), role: Type.Enum([...INPUT_ROLES]), content: ResponsesParts }),
  callFieldsOf("function_call", "arguments"),
  callFieldsOf("custom_tool_call", "input"),
  resultOf("function_call_output"),
  resultOf("custom_tool_call_output"),
  Type.Object({ type: literal("item_reference"), id: AnyText }),
  otherType(
    ...["message", "function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output"],
    "item_reference",
  ),
]);
const ToolName = Type.String({ minLength: 1 });
const ResponsesTool = Type.Union([
  Type.Object({ type: Type.Enum(["function", "custom"]), name: ToolName }),
  Type.Object({
    type: literal("namespace"),
    name: ToolName,
    tools: optional(Type.Array(Type.Object({ name: ToolName }))),
  }),
  otherType("function", "custom", "namespace"),
]);

const Conversation = optional(Type.Union([AnyText, Type.Object({ id: AnyText })]));

export const ResponsesRequestSchema = named(
  "ResponsesRequest",
  {
    model: optional(AnyText),
    input: Type.Union([AnyText, Type.Array(InputItem, { minItems: 1 })]),
    instructions: optional(AnyText),
    tools: optional(Type.Array(ResponsesTool)),
    tool_choice: optional(Type.Union([AnyText, AnyObject])),
    parallel_tool_calls: optional(Flag),
    text: optional(Type.Object({ format: optional(AnyObject) })),
    reasoning: optional(AnyObject),
    max_output_tokens: optional(outputTokens(1)),
    temperature: optional(between(0, 2)),
    top_p: optional(between(0, 1)),
    presence_penalty: optional(between(-2, 2)),
    frequency_penalty: optional(between(-2, 2)),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: TOP_LOGPROBS_MAX })),
    include: optional(Texts),
    truncation: optional(Type.Enum(["auto", "disabled"])),
    metadata: optional(AnyObject),
    user: optional(AnyText),
    safety_identifier: optional(AnyText),
    prompt_cache_key: optional(AnyText),
    stream: optional(Flag),
    stream_options: optional(AnyObject),
    store: optional(Flag),
    background: optional(Flag),
    previous_response_id: optional(AnyText),
    conversation: Conversation,
    ...controlFields,
  },
  { ...open, allOf: PROFILE_NEEDS },
);

/** Everything that a model would read; the rest of a request is not read. */
export const ResponseCountRequestSchema = named(
  "ResponseTokenCountRequest",
  {
    input: optional(Type.Union([AnyText, Type.Array(InputItem, { minItems: 1 })])),
    instructions: optional(AnyText),
    tools: optional(Type.Array(ResponsesTool)),
    previous_response_id: optional(AnyText),
    conversation: Conversation,
  },
  open,
);

/** Takes null as absent. */
const isGiven = (name: string, schema: object = { not: { type: "null" } }): object => ({
  required: [name],
  properties: { [name]: schema },
});
const SOMETHING_TO_COMPACT = {
  anyOf: [
    isGiven("input", { anyOf: [{ type: "string" }, { type: "array", minItems: 1 }] }),
    isGiven("previous_response_id"),
    isGiven("conversation"),
  ],
};

/** The conversation to compact; the rest of a request is not read. */
export const CompactRequestSchema = named(
  "CompactRequest",
  {
    model: AnyText,
    input: optional(Type.Union([AnyText, Type.Array(InputItem)])),
    instructions: optional(AnyText),
    previous_response_id: optional(AnyText),
    conversation: Conversation,
    ...controlFields,
  },
  { ...open, allOf: [...PROFILE_NEEDS, SOMETHING_TO_COMPACT] },
);

const Ids = Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { minItems: 1 });

export const EmbeddingsRequestSchema = named(
  "EmbeddingsRequest",
  {
    model: AnyText,
    input: Type.Union([AnyText, Type.Array(AnyText, { minItems: 1 }), Ids, Type.Array(Ids, { minItems: 1 })]),
    encoding_format: optional(Type.Enum([...ENCODINGS])),
    dimensions: optional(Type.Integer({ minimum: 1, maximum: DIMENSIONS_MAX })),
    user: optional(AnyText),
  },
  open,
);

export const RerankRequestSchema = named(
  "RerankRequest",
  {
    model: AnyText,
    query: Type.String({ minLength: 1 }),
    documents: Type.Array(Type.Union([AnyText, AnyObject]), { minItems: 1 }),
    top_n: optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  },
  open,
);

export const ModerationRequestSchema = named(
  "ModerationRequest",
  {
    model: optional(AnyText),
    input: Type.Union([
      AnyText,
      Type.Array(AnyText, { minItems: 1 }),
      Type.Array(Type.Object({ type: AnyText }), { minItems: 1 }),
    ]),
  },
  open,
);

/** Counting reads the prompt only. */
export const CountRequestSchema = named("TokenCountRequest", promptFields, open);

/** The fields of a routing question, which the playground asks too. */
export const questionFields = {
  prompt: optional(Type.String({ minLength: 1 })),
  system_prompt: optional(AnyText),
  max_output_tokens: optional(outputTokens(1)),
  tools: optional(Tools),
  messages: optional(ChatMessages),
  profile: optional(Type.Enum([...ROUTING_PROFILES])),
  model: optional(AnyText),
  ...controlFields,
};

/** A field that is there and not null. */
const given = (field: string, type: string): object => ({ properties: { [field]: { type } }, required: [field] });
/** A prompt, or a conversation that asks by itself. */
const ASKS = { anyOf: [given("prompt", "string"), given("messages", "array")] };

export const RoutingDebugRequestSchema = named("RoutingDebugRequest", questionFields, {
  allOf: [...PROFILE_NEEDS, ASKS],
});

/** A sentence or two; the comment is for people. */
export const COMMENT_MAX = 1000;
export const FeedbackRequestSchema = named(
  "FeedbackRequest",
  {
    request_id: Type.String({ minLength: 1, description: "The X-Request-Id of the answer." }),
    score: optional(Type.Number({ minimum: 0, maximum: 1, description: "From 0, useless, to 1, right." })),
    tier: optional(TierName),
    comment: optional(Type.String({ maxLength: COMMENT_MAX, pattern: "^[^\\u0000]*$" })),
  },
  { ...open, anyOf: [given("score", "number"), given("tier", "string")] },
);

/** A question has a prompt or messages, and one profile at most. */
export const ASKS_SOMETHING = {
  allOf: [
    ...PROFILE_NEEDS,
    {
      not: {
        properties: { profileId: { type: "string" }, profile: { type: "object" } },
        required: ["profileId", "profile"],
      },
    },
    ASKS,
  ],
};
