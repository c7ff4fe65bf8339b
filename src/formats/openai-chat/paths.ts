// Paths of chat-completions.

import type { ClientPaths } from "../paths.ts";

export const CHAT_PATHS: ClientPaths = {
  clients: "OpenAI",
  baseUrl: "/v1",
  modelsPath: "/v1/models",
  routes: [
    {
      path: "/v1/chat/completions",
      operation: "createChatCompletion",
      summary: "Route a chat request to a model and answer it, whole or as a stream",
      example: { messages: [{ role: "user", content: "YOUR_PROMPT" }] },
    },
  ],
  notServed: [
    [/^\/v1\/files(\/|$)/, "Files are not stored here: send them inside the request, as base64."],
    [/^\/v1\/(images|audio)(\/|$)/, "Images and audio are not served here."],
    [/^\/v1\/videos(\/|$)/, "Videos are not served here."],
    [/^\/v1\/batches(\/|$)/, "Batches are not served here: send each request by itself."],
  ],
};
