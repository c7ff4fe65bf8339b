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
    [/^\/v1\/images(\/|$)/, "Of images, /v1/images/generations and /v1/images/edits are served here."],
    [/^\/v1\/audio(\/|$)/, "Of sound, /v1/audio/speech, /transcriptions and /translations are served here."],
    [
      /^\/v1\/realtime(\/|$)/,
      "Of realtime, the WebSocket /v1/realtime and /v1/realtime/client_secrets are served here.",
    ],
    [/^\/v1\/videos(\/|$)/, "Videos are not served here."],
  ],
};
