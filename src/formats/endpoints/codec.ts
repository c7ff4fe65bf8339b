// The endpoints other than chat, as OpenAI and its likes have them. A request names its model and passes to it with that
// name changed; the answer comes back the same way.

import type { PassThrough } from "../format.ts";
import { openaiChat } from "../openai-chat/codec.ts";
import { EMBEDDINGS_PATHS, MODERATION_PATHS, RERANK_PATHS } from "./paths.ts";
import { readEmbeddingsRequest, readModerationRequest, readRerankRequest } from "./read-request.ts";
import { readAnswer } from "./read-response.ts";
import { passEmbeddings, passNamed } from "./write-response.ts";

const { habits, models, writeError } = openaiChat;
const mayCacheLong = (): boolean => false;

export const embeddings: PassThrough = {
  name: "embeddings",
  endpoint: "embeddings",
  idempotencyScope: "embeddings",
  outputCapField: "input",
  paths: EMBEDDINGS_PATHS,
  habits,
  readRequest: readEmbeddingsRequest,
  mayCacheLong,
  readResponse: (bytes) => readAnswer(bytes, "embeddings", ["data"]),
  passResponse: passEmbeddings,
  writeError,
  models,
};

export const rerank: PassThrough = {
  name: "rerank",
  endpoint: "rerank",
  idempotencyScope: "rerank",
  outputCapField: "documents",
  paths: RERANK_PATHS,
  habits,
  readRequest: readRerankRequest,
  mayCacheLong,
  // Most hosts write `results`, as Cohere and Jina do, and some `data`.
  readResponse: (bytes) => readAnswer(bytes, "rerank", ["results", "data"]),
  passResponse: passNamed,
  writeError,
  models,
};

export const moderations: PassThrough = {
  name: "moderations",
  endpoint: "moderation",
  idempotencyScope: "moderations",
  outputCapField: "input",
  paths: MODERATION_PATHS,
  habits,
  readRequest: readModerationRequest,
  mayCacheLong,
  readResponse: (bytes) => readAnswer(bytes, "moderations", ["results"]),
  passResponse: passNamed,
  writeError,
  models,
};
