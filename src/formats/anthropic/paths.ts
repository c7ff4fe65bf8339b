// Paths of the Messages format: its own, and those where Amazon and Google have it. Their clients name the model in the path.

import type { CallRoute, ClientPaths } from "../paths.ts";

const example = { max_tokens: 1024, messages: [{ role: "user", content: "YOUR_PROMPT" }] };

/** Google's full paths have project and location before `publishers`, which the gateway leaves out. */
const CLOUD_ROUTES: readonly CallRoute[] = [
  {
    path: "/model/{model}/invoke",
    operation: "invokeModel",
    summary: "A message for clients of Claude at Amazon Bedrock",
  },
  {
    path: "/model/{model}/invoke-with-response-stream",
    operation: "invokeModelWithResponseStream",
    summary: "The same as one of AWS's event streams",
    isStream: true,
    framing: "aws" as const,
  },
  {
    path: "/v1/publishers/anthropic/models/{model}:rawPredict",
    operation: "rawPredict",
    summary: "A message for clients of Claude at Google Vertex AI",
  },
  {
    path: "/v1/publishers/anthropic/models/{model}:streamRawPredict",
    operation: "streamRawPredict",
    summary: "The same as a stream",
    isStream: true,
    framing: "sse" as const,
  },
].map((route) => ({ ...route, example: { anthropic_version: "YOUR_CLOUDS_VERSION", ...example }, isAlias: true }));

export const MESSAGES_PATHS: ClientPaths = {
  clients: "Anthropic",
  baseUrl: "",
  modelsPath: "/v1/models",
  headers: { "anthropic-version": "2023-06-01" },
  routes: [
    {
      path: "/v1/messages",
      operation: "createMessage",
      summary: "The same in Anthropic's Messages format",
      example,
      counting: { path: "/v1/messages/count_tokens", operation: "countMessageTokens" },
    },
    ...CLOUD_ROUTES,
  ],
  notServed: [
    [/^\/v1\/files(\/|$)/, "Files of the Messages API are not kept here: send images and documents as base64."],
    [/^\/v1\/complete$/, "Use POST /v1/messages."],
  ],
};
