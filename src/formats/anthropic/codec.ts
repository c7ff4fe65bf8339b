// The Messages format, for clients and providers.

import type { Format } from "../format.ts";
import { mentionsHourCache } from "../json/fields.ts";
import { AUTO_ALIAS } from "../service/controls.ts";
import { readListedModels } from "../service/provider-models.ts";
import { ANTHROPIC } from "./blocks.ts";
import { readAnthropicError, writeAnthropicError } from "./errors.ts";
import { anthropicFileReferences } from "./files.ts";
import { effortFields } from "./from-chat/thinking.ts";
import { takesPart } from "./from-chat/turns.ts";
import { writeAnthropicModel, writeAnthropicModels } from "./model-list.ts";
import { messageBatches } from "./native-batches.ts";
import { MESSAGES_PATHS } from "./paths.ts";
import { readAnthropicRequest, readCountRequest, withPrompt, writeCount } from "./read-request.ts";
import { readAnthropicResponse } from "./read-response.ts";
import { createAnthropicStreamReader } from "./read-stream.ts";
import { refusalScope } from "./refusals.ts";
import { writeChatBody } from "./to-chat/request.ts";
import { listRequest, mayLeaveOut, passAnthropicRequest, tierFields, writeAnthropicRequest } from "./write-request.ts";
import { passAnthropicResponse, writeAnthropicResponse } from "./write-response.ts";
import { createAnthropicStreamWriter, passAnthropicStream } from "./write-stream.ts";

export const anthropicMessages: Format = {
  name: ANTHROPIC,
  idempotencyScope: "anthropic",
  outputCapField: "max_tokens",
  paths: MESSAGES_PATHS,
  habits: {
    keyHeader: "x-api-key",
    requestIdHeader: "request-id",
    isSentBy: (headers) => headers["anthropic-version"] !== undefined,
  },
  unread: { list: "messages", names: [["content"], ["text", "content"], ["text"]] },
  readRequest: readAnthropicRequest,
  toChat: writeChatBody,
  mayCacheLong: ({ source }) => mentionsHourCache(source),
  writeResponse: writeAnthropicResponse,
  passResponse: passAnthropicResponse,
  streamWriter: createAnthropicStreamWriter,
  passStream: passAnthropicStream,
  writeError: writeAnthropicError,
  models: { list: writeAnthropicModels, one: writeAnthropicModel, autoAlias: AUTO_ALIAS },
  counting: { readRequest: readCountRequest, writeCount },
  withPrompt,
  fileReferences: anthropicFileReferences,
  takesPart,
  effortFields,
  tierFields,
  passRequest: passAnthropicRequest,
  writeRequest: writeAnthropicRequest,
  mayLeaveOut,
  refusalScope,
  readResponse: readAnthropicResponse,
  streamReader: createAnthropicStreamReader,
  readError: readAnthropicError,
  batches: messageBatches,
  listing: { request: listRequest, read: readListedModels },
};
