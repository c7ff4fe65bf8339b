// The operations of the wire formats: each path that a codec names, with what the contract says of it in detail. A format
// without details here is listed with any object as its body, and with the example of its codec.

import { Type } from "typebox";
import { ENDPOINTS } from "../../core/model.ts";
import { keepsAnswers } from "../../formats/bridge.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import type { CallRoute } from "../../formats/paths.ts";
import type { RequestFormats } from "../exchange/request-format.ts";
import {
  eventStream,
  idempotencyKey,
  inPath,
  json,
  type Operation,
  type Parameter,
  query,
} from "../openapi/operation.ts";
import { AnyObject, AnyText, ErrorSchema, Integer, named } from "../openapi/schema.ts";
import {
  type CallDetail,
  CHAT_STREAM,
  ChatCompletionSchema,
  CompletionChunkSchema,
  CompletionSchema,
  EmbeddingsSchema,
  MessageEventSchema,
  MessageSchema,
  MessagesErrorSchema,
  type ModelListDetail,
  ModelSchema,
  RESPONSE_STREAM,
  ResponseSchema,
  v1,
} from "./contract.ts";
import { GEMINI_DETAILS, GEMINI_MODEL_LIST } from "./gemini-contract.ts";
import { MEDIA_DETAILS } from "./media-contract.ts";
import {
  ChatRequestSchema,
  CompletionRequestSchema,
  CountRequestSchema,
  EmbeddingsRequestSchema,
  MessagesRequestSchema,
  ModerationRequestSchema,
  RerankRequestSchema,
  ResponseCountRequestSchema,
  ResponsesRequestSchema,
} from "./request-schemas.ts";

/** In the order of the registry. */
export function callOperations({ routes, modelLists }: RequestFormats): readonly Operation[] {
  return [
    ...routes.flatMap((route) => [operationOf(route), ...(route.counting === undefined ? [] : [countingOf(route)])]),
    ...[...modelLists].flatMap(([path, { name }]) => modelOperations(path, MODEL_LISTS[path] ?? anyModels(name))),
  ];
}

function operationOf({ operation, path, summary, example, format }: RequestFormats["routes"][number]): Operation {
  const detail = CALL_DETAILS[operation] ?? anyCall(example);
  return v1(operation, "post", path, {
    summary,
    body: detail.body ?? json(detail.request, detail.example),
    response: detail.response,
    parameters: [...modelInPath(path), ...(detail.parameters ?? []), ...(keepsAnswers(format) ? [idempotencyKey] : [])],
    errors: [402, 404, 409, 422],
    errorSchema: detail.errorSchema ?? ErrorSchema,
  });
}

function countingOf({ counting, example }: Pick<CallRoute, "counting" | "example">): Operation {
  const { operation, path } = counting as NonNullable<CallRoute["counting"]>;
  const detail = CALL_DETAILS[operation] ?? anyCall(example);
  return v1(operation, "post", path, {
    summary: "A local estimate of a request's input tokens, free of charge",
    body: json(detail.request, detail.example),
    response: detail.response,
    parameters: modelInPath(path),
    errors: [404, 422],
    errorSchema: detail.errorSchema ?? ErrorSchema,
  });
}

function modelInPath(path: string): readonly Parameter[] {
  return path.includes("{model}") ? [inPath("model")] : [];
}

function modelOperations(path: string, detail: ModelListDetail): readonly Operation[] {
  const { operations, list, model, parameters = [], errorSchema = ErrorSchema } = detail;
  const one = { response: json(model), errors: [404], errorSchema };
  return [
    v1(operations[0], "get", path, {
      summary: "The models this key can reach",
      parameters,
      response: json(list),
      errorSchema,
    }),
    v1(operations[1], "get", `${path}/{id}`, { summary: "One model", parameters: [inPath("id")], ...one }),
    v1(operations[2], "get", `${path}/{id}/{name}`, {
      summary: "One model whose id has a slash: what stands before and after it",
      parameters: [inPath("id"), inPath("name")],
      ...one,
    }),
  ];
}

function anyCall(example: JsonObject): CallDetail {
  return { request: AnyObject, example, response: json(AnyObject), errorSchema: AnyObject };
}

function anyModels(format: string): ModelListDetail {
  const operations = [`${format}Models`, `${format}Model`, `${format}ModelWithSlash`] as const;
  return { operations, list: AnyObject, model: AnyObject, errorSchema: AnyObject };
}

const MODEL_LISTS: Readonly<Record<string, ModelListDetail>> = {
  "/v1/models": {
    operations: ["listModels", "getModel", "getModelWithSlash"],
    list: named("ModelList", { object: Type.Literal("list"), data: Type.Array(ModelSchema) }),
    model: ModelSchema,
    parameters: [query("output_modalities", AnyText, `Which kinds: text (default), ${ENDPOINTS.join(", ")} or all.`)],
  },
  "/v1beta/models": GEMINI_MODEL_LIST,
};

const hello = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

/** By operation. One without a row takes and returns any object. */
const CALL_DETAILS: Readonly<Record<string, CallDetail>> = {
  createChatCompletion: {
    request: ChatRequestSchema,
    example: hello,
    response: { ...json(ChatCompletionSchema), ...CHAT_STREAM },
  },
  createCompletion: {
    request: CompletionRequestSchema,
    example: { model: "auto", prompt: "The capital of France is", max_tokens: 64 },
    response: {
      ...json(CompletionSchema),
      ...eventStream(Type.Union([CompletionChunkSchema, ErrorSchema]), { end: "[DONE]" }),
    },
  },
  createResponse: {
    request: ResponsesRequestSchema,
    example: { model: "auto", input: "What is the capital of France?" },
    response: { ...json(ResponseSchema), ...RESPONSE_STREAM },
  },
  countResponseTokens: {
    request: ResponseCountRequestSchema,
    example: { model: "auto", input: "What is the capital of France?" },
    response: json(
      named("ResponseTokenCount", { object: Type.Literal("response.input_tokens"), input_tokens: Integer }),
    ),
  },
  createMessage: {
    request: MessagesRequestSchema,
    example: { model: "auto", max_tokens: 1024, messages: hello.messages },
    response: { ...json(MessageSchema), ...eventStream(MessageEventSchema) },
    errorSchema: MessagesErrorSchema,
  },
  countMessageTokens: {
    request: CountRequestSchema,
    example: { model: "auto", messages: hello.messages },
    response: json(named("TokenCount", { input_tokens: Integer })),
    errorSchema: MessagesErrorSchema,
  },
  createEmbeddings: {
    request: EmbeddingsRequestSchema,
    example: { model: "text-embedding-3-small", input: "The capital of France" },
    response: json(EmbeddingsSchema),
  },
  rerankDocuments: {
    request: RerankRequestSchema,
    example: { model: "MODEL", query: "capital of France", documents: ["Lyon", "Paris"] },
    response: json(AnyObject),
  },
  moderate: {
    request: ModerationRequestSchema,
    example: { model: "omni-moderation-latest", input: "Hello" },
    response: json(named("Moderation", { results: Type.Array(AnyObject) })),
  },
  ...MEDIA_DETAILS,
  ...GEMINI_DETAILS,
};
