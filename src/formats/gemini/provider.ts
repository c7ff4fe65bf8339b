// The provider's end of the Gemini format.

import type { ProviderFormat } from "../format.ts";
import { parseObject } from "../json/parse.ts";
import { readListedModels } from "../service/provider-models.ts";
import { takesPart } from "./from-chat/parts.ts";
import { effortFields, tierFields } from "./native.ts";
import { readGeminiError } from "./read/error.ts";
import { readGeminiResponse } from "./read/response.ts";
import { createGeminiStreamReader } from "./read/stream.ts";
import { GEMINI } from "./shape.ts";
import { vertexEmbeddings } from "./vertex-embeddings.ts";
import { mayLeaveOut, passGeminiRequest, writeGeminiRequest } from "./write-request.ts";

/** The largest page there is. */
const MODELS_PAGE = 1_000;

export const geminiProvider: ProviderFormat = {
  name: GEMINI,
  endpoints: { embeddings: vertexEmbeddings },
  takesPart,
  effortFields,
  tierFields,
  passRequest: passGeminiRequest,
  writeRequest: writeGeminiRequest,
  mayLeaveOut,
  readResponse: readGeminiResponse,
  streamReader: createGeminiStreamReader,
  readError: readGeminiError,
  listing: {
    request: ({ page }) => ({
      path: `/models?pageSize=${MODELS_PAGE}${page === undefined ? "" : `&pageToken=${encodeURIComponent(page)}`}`,
      headers: {},
    }),
    read: readListedModels,
    nextPage: readPageToken,
    enabling: {
      form: "each",
      request: (upstream) => ({ path: `/models/${encodeURIComponent(upstream)}:countTokens`, body: COUNTED }),
    },
  },
};

const COUNTED = Buffer.from(JSON.stringify({ contents: [{ role: "user", parts: [{ text: "a" }] }] }));

function readPageToken(bytes: Buffer): string | null {
  const token = parseObject(bytes)?.nextPageToken;
  return typeof token === "string" && token !== "" ? token : null;
}
