// The legacy completions format, for clients only: no provider is called with it, so every request is converted.

import type { ClientFormat } from "../format.ts";
import { openaiChat } from "../openai-chat/codec.ts";
import { COMPLETIONS_PATHS } from "./paths.ts";
import { OPENAI_COMPLETIONS, readCompletionRequest, writeChatBody } from "./read-request.ts";
import { createCompletionStreamWriter, writeCompletion } from "./write-response.ts";

export const openaiCompletions: ClientFormat = {
  name: OPENAI_COMPLETIONS,
  idempotencyScope: OPENAI_COMPLETIONS,
  outputCapField: "max_tokens",
  paths: COMPLETIONS_PATHS,
  habits: openaiChat.habits,
  readRequest: readCompletionRequest,
  toChat: writeChatBody,
  mayCacheLong: openaiChat.mayCacheLong,
  writeResponse: writeCompletion,
  passResponse: writeCompletion,
  streamWriter: createCompletionStreamWriter,
  writeError: openaiChat.writeError,
  models: openaiChat.models,
};
