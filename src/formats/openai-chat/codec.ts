// The chat-completions format, both ends.

import type { Format } from "../format.ts";
import { readControls } from "../service/controls.ts";
import { writeOpenaiError } from "./errors.ts";
import { readChatRequest } from "./read-request.ts";
import { readOpenaiAnswer, readOpenaiError, writeOpenaiAnswer } from "./read-response.ts";
import { createOpenaiStreamReader } from "./read-stream.ts";
import { writeOpenaiRequest } from "./write-request.ts";
import { createOpenaiStreamWriter } from "./write-stream.ts";

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
