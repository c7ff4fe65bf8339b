// Paths of the Messages format.

import type { ClientPaths } from "../paths.ts";

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
      example: { max_tokens: 1024, messages: [{ role: "user", content: "YOUR_PROMPT" }] },
      counting: { path: "/v1/messages/count_tokens", operation: "countMessageTokens" },
    },
  ],
  notServed: [
    [/^\/v1\/files(\/|$)/, "Files of the Messages API are not kept here: send images and documents as base64."],
    [/^\/v1\/complete$/, "Use POST /v1/messages."],
  ],
};
