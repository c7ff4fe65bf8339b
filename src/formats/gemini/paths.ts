// Paths of Gemini's format. Clients name the model in them.

import type { ClientPaths } from "../paths.ts";

const example = { contents: [{ role: "user", parts: [{ text: "YOUR_PROMPT" }] }] };

export const GEMINI_PATHS: ClientPaths = {
  clients: "Gemini",
  baseUrl: "",
  base: "/v1beta",
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
      /^\/v1beta\//,
      "Of the Gemini API, these are served: GET /v1beta/models, and generateContent, streamGenerateContent and countTokens of /v1beta/models/{model}.",
    ],
  ],
};
