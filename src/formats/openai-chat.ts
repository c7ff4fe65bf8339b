// The chat-completions format, both ends.

import { readChatRequest } from "./chat-request.ts";
import { readControls } from "./controls.ts";
import type { Format } from "./format.ts";
import { readOpenaiAnswer, readOpenaiError, writeOpenaiAnswer } from "./openai-answer.ts";
import { writeOpenaiError } from "./openai-error.ts";
import { writeOpenaiRequest } from "./openai-request.ts";
import { createOpenaiStreamReader } from "./openai-stream.ts";
import { createOpenaiStreamWriter } from "./openai-writer.ts";

export const openaiChat: Format = {
  name: "openai",
  readRequest: (source, body) => ({
    format: "openai",
    source,
    body,
    controls: readControls(body),
    chat: readChatRequest(body),
  }),
  writeAnswer: writeOpenaiAnswer,
  streamWriter: createOpenaiStreamWriter,
  writeError: writeOpenaiError,
  writeRequest: writeOpenaiRequest,
  readAnswer: readOpenaiAnswer,
  streamReader: createOpenaiStreamReader,
  readError: readOpenaiError,
};
