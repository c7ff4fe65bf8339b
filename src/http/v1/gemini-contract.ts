// The contract of Gemini's format: its requests and responses. Requests are stated in camelCase; snake_case is
// read the same way. The codec in formats/gemini/ reads the bodies, so nothing here validates.

import { type TSchema, Type } from "typebox";
import { OUTPUT_TOKENS_MAX } from "../../core/chat.ts";
import { CALLING_MODES, CANDIDATES_MAX, CONTENT_ROLES, TOP_LOGPROBS_MAX } from "../../formats/gemini/to-chat/parse.ts";
import { controlFields } from "../openapi/controls.ts";
import { eventStream, inPath, json, type Operation, query } from "../openapi/operation.ts";
import { AnyObject, AnyText, Flag, Integer, named, optional, Texts } from "../openapi/schema.ts";
import { type CallDetail, type ModelListDetail, ServiceSchema, v1 } from "./contract.ts";
import { between, open, TIER_NEED } from "./request-schemas.ts";

/** One object stands for a list of one. */
const listOf = (schema: TSchema, minItems = 0): TSchema => Type.Union([Type.Array(schema, { minItems }), schema]);

const PartSchema = named("GeminiPart", {
  text: optional(AnyText),
  thoughtSignature: optional(AnyText),
  inlineData: optional(Type.Object({ mimeType: AnyText, data: AnyText })),
  fileData: optional(Type.Object({ fileUri: AnyText })),
  functionCall: optional(Type.Object({ name: AnyText, args: optional(AnyObject) })),
  functionResponse: optional(Type.Object({ name: AnyText, response: optional(AnyObject) })),
  executableCode: optional(AnyObject),
  codeExecutionResult: optional(AnyObject),
});
const parts = { parts: optional(listOf(PartSchema)) };
const ContentSchema = named("GeminiContent", { role: optional(Type.Enum([...CONTENT_ROLES])), ...parts });
const promptFields = {
  systemInstruction: optional(Type.Union([AnyText, Type.Object(parts)])),
  tools: optional(listOf(Type.Object({ functionDeclarations: optional(listOf(Type.Object({ name: AnyText }))) }))),
};
const contents = listOf(ContentSchema, 1);

const GenerationConfigSchema = named(
  "GenerationConfig",
  {
    temperature: optional(between(0, 2)),
    topP: optional(between(0, 1)),
    topK: optional(between(0, Number.MAX_SAFE_INTEGER)),
    maxOutputTokens: optional(Type.Integer({ minimum: 1, maximum: OUTPUT_TOKENS_MAX })),
    candidateCount: optional(Type.Integer({ minimum: 1, maximum: CANDIDATES_MAX })),
    seed: optional(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
    presencePenalty: optional(between(-2, 2)),
    frequencyPenalty: optional(between(-2, 2)),
    stopSequences: optional(Texts),
    responseMimeType: optional(AnyText),
    responseSchema: optional(AnyObject),
    responseJsonSchema: optional(AnyObject),
    responseModalities: optional(Texts),
    responseLogprobs: optional(Flag),
    logprobs: optional(Type.Integer({ minimum: 0, maximum: TOP_LOGPROBS_MAX })),
    thinkingConfig: optional(
      Type.Object({
        thinkingBudget: optional(Type.Integer({ minimum: -1, maximum: OUTPUT_TOKENS_MAX })),
        thinkingLevel: optional(AnyText),
        includeThoughts: optional(Flag),
      }),
    ),
  },
  open,
);

const GenerateContentRequestSchema = named(
  "GenerateContentRequest",
  {
    contents,
    ...promptFields,
    toolConfig: optional(
      Type.Object({
        functionCallingConfig: optional(
          Type.Object({
            mode: optional(Type.Enum([...CALLING_MODES])),
            allowedFunctionNames: optional(Texts),
          }),
        ),
      }),
    ),
    generationConfig: optional(GenerationConfigSchema),
    ...controlFields,
  },
  { ...open, allOf: [TIER_NEED] },
);

/** A prompt, or a whole request in a field of its own. */
const CountTokensRequestSchema = named(
  "CountTokensRequest",
  { contents: optional(contents), ...promptFields, generateContentRequest: optional(AnyObject) },
  {
    ...open,
    anyOf: [
      { properties: { contents: { not: { type: "null" } } }, required: ["contents"] },
      { properties: { generateContentRequest: { type: "object" } }, required: ["generateContentRequest"] },
    ],
    not: {
      properties: { contents: { not: { type: "null" } }, generateContentRequest: { type: "object" } },
      required: ["contents", "generateContentRequest"],
    },
  },
);

const responseFields = {
  candidates: Type.Optional(Type.Array(AnyObject)),
  promptFeedback: Type.Optional(AnyObject),
  modelVersion: AnyText,
  responseId: Type.Optional(AnyText),
};
const UsageMetadataSchema = named("UsageMetadata", { promptTokenCount: Integer, totalTokenCount: Integer });
const ResponseSchema = named("GenerateContentResponse", {
  ...responseFields,
  usageMetadata: UsageMetadataSchema,
  service: ServiceSchema,
});
/** A piece of a stream. `service` is in the first and in the last one. */
const ChunkSchema = named("GenerateContentChunk", {
  ...responseFields,
  usageMetadata: Type.Optional(UsageMetadataSchema),
  service: Type.Optional(ServiceSchema),
});
const ErrorSchema = named("GeminiError", {
  error: Type.Object({ code: Integer, message: AnyText, status: AnyText, details: Type.Array(AnyObject) }),
});
const ModelSchema = named("GeminiModel", {
  name: AnyText,
  baseModelId: AnyText,
  version: AnyText,
  displayName: AnyText,
  description: AnyText,
  inputTokenLimit: Integer,
  outputTokenLimit: Integer,
  supportedGenerationMethods: Texts,
  thinking: Flag,
});

const example = { contents: [{ role: "user", parts: [{ text: "What is the capital of France?" }] }] };
const errorSchema = ErrorSchema;
const Piece = Type.Union([ChunkSchema, ErrorSchema]);

const EmbedFields = {
  content: Type.Object({ parts: listOf(Type.Object({ text: AnyText }), 1) }),
  outputDimensionality: optional(Type.Integer({ minimum: 1 })),
  taskType: optional(AnyText),
  title: optional(AnyText),
  model: optional(AnyText),
};
const EmbedRequestSchema = named("EmbedContentRequest", EmbedFields, open);
const EmbeddingSchema = Type.Object({ values: Type.Array(Type.Number()) });
const embedUsage = { usageMetadata: Type.Optional(Type.Object({ promptTokenCount: Integer })) };
const content = { parts: [{ text: "The capital of France" }] };
const embed: CallDetail = {
  request: EmbedRequestSchema,
  example: { content },
  response: json(named("EmbedContentResponse", { embedding: EmbeddingSchema, ...embedUsage })),
  errorSchema,
};
const batchEmbed: CallDetail = {
  request: named("BatchEmbedContentsRequest", { requests: Type.Array(EmbedRequestSchema, { minItems: 1 }) }, open),
  example: { requests: [{ content }] },
  response: json(named("BatchEmbedContentsResponse", { embeddings: Type.Array(EmbeddingSchema), ...embedUsage })),
  errorSchema,
};

export const GEMINI_DETAILS: Readonly<Record<string, CallDetail>> = {
  generateContent: { request: GenerateContentRequestSchema, example, response: json(ResponseSchema), errorSchema },
  streamGenerateContent: {
    request: GenerateContentRequestSchema,
    example,
    response: { ...json(Type.Array(Piece)), ...eventStream(Piece) },
    parameters: [query("alt", AnyText)],
    errorSchema,
  },
  embedContent: embed,
  embedContentInV1: embed,
  batchEmbedContents: batchEmbed,
  batchEmbedContentsInV1: batchEmbed,
  countTokens: {
    request: CountTokensRequestSchema,
    example,
    response: json(named("CountTokensResponse", { totalTokens: Integer, promptTokensDetails: Type.Array(AnyObject) })),
    errorSchema,
  },
};

export const GEMINI_MODEL_LIST: ModelListDetail = {
  operations: ["listGeminiModels", "getGeminiModel", "getGeminiModelWithSlash"],
  list: named("GeminiModelList", { models: Type.Array(ModelSchema), nextPageToken: Type.Optional(AnyText) }),
  model: ModelSchema,
  parameters: [query("pageSize", Type.Integer({ minimum: 0 })), query("pageToken", AnyText)],
  errorSchema,
};

const CachedContentSchema = named("CachedContent", {
  name: AnyText,
  displayName: Type.Optional(AnyText),
  model: AnyText,
  createTime: AnyText,
  updateTime: AnyText,
  expireTime: AnyText,
  usageMetadata: Type.Object({ totalTokenCount: Integer }),
});
const CACHES = "/v1beta/cachedContents";
const NAMED = { parameters: [inPath("id")], errors: [404], errorSchema };

export const CACHE_OPERATIONS: readonly Operation[] = [
  v1("createCachedContent", "post", CACHES, {
    summary: "Keep the beginning of a prompt under a name, for requests in Gemini's format",
    body: json(
      named(
        "CachedContentRequest",
        {
          model: optional(AnyText),
          contents: optional(contents),
          systemInstruction: promptFields.systemInstruction,
          ttl: optional(AnyText),
          expireTime: optional(AnyText),
          displayName: optional(AnyText),
        },
        open,
      ),
      example,
    ),
    response: json(CachedContentSchema),
    errors: [402],
    errorSchema,
  }),
  v1("listCachedContents", "get", CACHES, {
    summary: "Cached contents of the account",
    parameters: GEMINI_MODEL_LIST.parameters ?? [],
    response: json(
      named("CachedContentList", {
        cachedContents: Type.Array(CachedContentSchema),
        nextPageToken: Type.Optional(AnyText),
      }),
    ),
    errorSchema,
  }),
  v1("getCachedContent", "get", `${CACHES}/{id}`, {
    summary: "A cached content, without what it has",
    response: json(CachedContentSchema),
    ...NAMED,
  }),
  v1("updateCachedContent", "patch", `${CACHES}/{id}`, {
    summary: "Give a cached content another end",
    body: json(named("CachedContentUpdate", { ttl: optional(AnyText), expireTime: optional(AnyText) }, open)),
    response: json(CachedContentSchema),
    ...NAMED,
  }),
  v1("deleteCachedContent", "delete", `${CACHES}/{id}`, {
    summary: "Delete a cached content",
    response: json(AnyObject),
    ...NAMED,
  }),
];
