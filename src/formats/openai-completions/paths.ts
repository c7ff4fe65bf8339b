// Paths of the legacy completions.

import { CHAT_PATHS } from "../openai-chat/paths.ts";
import type { ClientPaths } from "../paths.ts";

export const COMPLETIONS_PATHS: ClientPaths = {
  ...CHAT_PATHS,
  routes: [
    {
      path: "/v1/completions",
      operation: "createCompletion",
      summary: "The same in the legacy completions format: one prompt, plain text",
      example: { prompt: "YOUR_PROMPT" },
    },
  ],
};
