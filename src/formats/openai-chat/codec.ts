// The chat-completions format, for clients and providers. Its body is the internal shape, so `toChat` changes nothing.

import type { Format } from "../format.ts";
import { mentionsHourCache } from "../json/fields.ts";
import { tierFields } from "../provider/service-tier.ts";
import { readControls } from "../service/controls.ts";
import { writeModel, writeModels } from "../service/model-list.ts";
import { readListedModels } from "../service/provider-models.ts";
import { readOpenaiError, writeOpenaiError } from "./errors.ts";
import { chatFileReferences } from "./files.ts";
import { openaiBatches } from "./native-batches.ts";
import { CHAT_PATHS } from "./paths.ts";
import { readChatRequest } from "./read-request.ts";
import { OPENAI_CHAT, readOpenaiResponse } from "./read-response.ts";
import { createOpenaiStreamReader } from "./read-stream.ts";
import { searchAskIn } from "./search.ts";
import { COMPLETION_FORM } from "./stored.ts";
import { effortFields, mayLeaveOut, writeOpenaiRequest } from "./write-request.ts";
import { passOpenaiResponse, writeOpenaiResponse } from "./write-response.ts";
import { createOpenaiStreamWriter } from "./write-stream.ts";

export const openaiChat: Format = {
  name: OPENAI_CHAT,
  // The name the format had when the first ids were stored.
  idempotencyScope: "openai",
  outputCapField: "max_tokens",
  paths: CHAT_PATHS,
  habits: { keyHeader: null, requestIdHeader: null, isSentBy: () => false },
  readRequest: (source, body) => ({
    format: OPENAI_CHAT,
    source,
    body,
    controls: readControls(body),
    chat: readChatRequest(body),
    searchAsk: searchAskIn(body),
  }),
  unread: { list: "messages", names: [["content"]] },
  toChat: ({ body, source, chat }) => ({ body, source, chat, conversions: [] }),
  mayCacheLong: ({ source }) => mentionsHourCache(source),
  writeResponse: writeOpenaiResponse,
  passResponse: passOpenaiResponse,
  streamWriter: createOpenaiStreamWriter,
  completions: COMPLETION_FORM,
  fileReferences: chatFileReferences,
  writeError: writeOpenaiError,
  models: { list: writeModels, one: writeModel },
  endpoints: {
    embeddings: "/embeddings",
    rerank: "/rerank",
    moderation: "/moderations",
    images: "/images/generations",
    speech: "/audio/speech",
    transcription: "/audio/transcriptions",
    realtime: "/realtime",
  },
  effortFields,
  passRequest: writeOpenaiRequest,
  writeRequest: writeOpenaiRequest,
  tierFields,
  mayLeaveOut,
  readResponse: readOpenaiResponse,
  streamReader: createOpenaiStreamReader,
  readError: readOpenaiError,
  batches: openaiBatches,
  listing: { request: () => ({ path: "/models", headers: {} }), read: readListedModels },
};
