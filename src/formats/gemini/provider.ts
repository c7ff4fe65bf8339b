// The provider's end of the Gemini format.

import type { ProviderFormat } from "../format.ts";
import { readListedModels } from "../service/provider-models.ts";
import { readGeminiError } from "./read-error.ts";
import { readGeminiResponse } from "./read-response.ts";
import { createGeminiStreamReader } from "./read-stream.ts";
import { GEMINI } from "./shape.ts";
import { mayLeaveOut, passGeminiRequest, writeGeminiRequest } from "./write-request.ts";

/** One page holds them all: no vendor has a thousand. */
const MODELS_PAGE = 1_000;

export const geminiProvider: ProviderFormat = {
  name: GEMINI,
  passRequest: passGeminiRequest,
  writeRequest: writeGeminiRequest,
  mayLeaveOut,
  readResponse: readGeminiResponse,
  streamReader: createGeminiStreamReader,
  readError: readGeminiError,
  listing: {
    request: () => ({ path: `/models?pageSize=${MODELS_PAGE}`, headers: {} }),
    read: readListedModels,
  },
};
