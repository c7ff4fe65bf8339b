// Paths of Gemini's format. Clients name the model in them.

import type { CallRoute, ClientPaths } from "../paths.ts";

const example = { contents: [{ role: "user", parts: [{ text: "YOUR_PROMPT" }] }] };

export const GEMINI_PATHS: ClientPaths = {
  clients: "Gemini",
  baseUrl: "",
  base: "/v1beta",
  otherBases: ["/upload/v1beta"],
  modelsPath: "/v1beta/models",
  routes: [
    {
      path: "/v1beta/models/{model}:generateContent",
      operation: "generateContent",
      summary: "Route a request in Gemini's format to a model and answer it; the model may be auto",
      example,
      counting: { path: "/v1beta/models/{model}:countTokens", operation: "countTokens" },
    },
    {
      path: "/v1beta/models/{model}:streamGenerateContent",
      operation: "streamGenerateContent",
      summary: "The same as a stream: server-sent events with alt=sse, otherwise one JSON array",
      example,
      isStream: true,
    },
  ],
  notServed: [
    [
      /^\/(v1beta|v1)\/interactions(\/|$)/,
      "The Interactions API is not served here: Google runs its steps and keeps its state. Use generateContent of /v1beta/models/{model}, or POST /v1/responses, which keeps conversations for any model.",
    ],
    [
      /^\/v1beta\//,
      "Of the Gemini API, these are served: GET /v1beta/models, and generateContent, streamGenerateContent, countTokens, embedContent, batchEmbedContents, batchGenerateContent and asyncBatchEmbedContent of /v1beta/models/{model}, batches, files, and /v1beta/cachedContents.",
    ],
  ],
};

const content = { parts: [{ text: "YOUR_TEXT" }] };

export const EMBED_PATHS = embeddingPaths("embedContent", "Embedding of a text, in Google's form", { content });

export const BATCH_EMBED_PATHS = embeddingPaths("batchEmbedContents", "Embeddings of several texts, in Google's form", {
  requests: [{ content }],
});

/** Google's own client asks below `/v1` for some of its models. */
function embeddingPaths(operation: string, summary: string, example: CallRoute["example"]): ClientPaths {
  const { clients, baseUrl, modelsPath } = GEMINI_PATHS;
  return {
    ...{ clients, baseUrl, modelsPath },
    routes: [
      { path: `/v1beta/models/{model}:${operation}`, operation, summary, example },
      { path: `/v1/models/{model}:${operation}`, operation: `${operation}InV1`, summary, example },
    ],
  };
}
