// Paths of the Responses format.

import { CHAT_PATHS } from "../openai-chat/paths.ts";
import type { ClientPaths } from "../paths.ts";

export const RESPONSES_PATHS: ClientPaths = {
  ...CHAT_PATHS,
  routes: [
    {
      path: "/v1/responses",
      operation: "createResponse",
      summary: "The same in OpenAI's Responses format",
      example: { input: "YOUR_PROMPT" },
      compactPath: "/v1/responses/compact",
      counting: { path: "/v1/responses/input_tokens", operation: "countResponseTokens" },
    },
  ],
};
