// The client's end of Gemini's format.

import type { ClientFormat } from "../format.ts";
import { CACHED_FORM } from "./cached.ts";
import { geminiFileReferences } from "./files.ts";
import { writeGeminiModel, writeGeminiModels } from "./model-list.ts";
import { GEMINI_PATHS } from "./paths.ts";
import { readCountRequest, readGeminiRequest, withPrompt, writeCount } from "./read/request.ts";
import { GEMINI } from "./shape.ts";
import { writeChatBody } from "./to-chat/request.ts";
import { writeGeminiError } from "./write-error.ts";
import { passGeminiResponse, writeGeminiResponse } from "./write-response.ts";
import { createGeminiStreamWriter, passGeminiStream } from "./write-stream.ts";

export const geminiClient: ClientFormat = {
  name: GEMINI,
  idempotencyScope: GEMINI,
  outputCapField: "generationConfig.maxOutputTokens",
  paths: GEMINI_PATHS,
  habits: {
    keyHeader: "x-goog-api-key",
    requestIdHeader: null,
    isSentBy: (headers, body) => headers["x-goog-api-key"] !== undefined || body?.contents !== undefined,
  },
  readRequest: readGeminiRequest,
  toChat: writeChatBody,
  mayCacheLong: () => false,
  writeResponse: writeGeminiResponse,
  passResponse: passGeminiResponse,
  streamWriter: createGeminiStreamWriter,
  passStream: passGeminiStream,
  writeError: writeGeminiError,
  models: { list: writeGeminiModels, one: writeGeminiModel },
  counting: { readRequest: readCountRequest, writeCount },
  cached: CACHED_FORM,
  withPrompt,
  fileReferences: geminiFileReferences,
};
