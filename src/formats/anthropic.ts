// The Messages format, both ends.

import { readAnthropicAnswer, writeAnthropicAnswer } from "./anthropic-answer.ts";
import { readAnthropicError, writeAnthropicError } from "./anthropic-error.ts";
import { readAnthropicRequest } from "./anthropic-request.ts";
import { createAnthropicStreamReader } from "./anthropic-stream.ts";
import { writeAnthropicRequest } from "./anthropic-write.ts";
import { createAnthropicStreamWriter } from "./anthropic-writer.ts";
import type { Format } from "./format.ts";

export const anthropicMessages: Format = {
  name: "anthropic",
  readRequest: readAnthropicRequest,
  writeAnswer: writeAnthropicAnswer,
  streamWriter: createAnthropicStreamWriter,
  writeError: writeAnthropicError,
  writeRequest: writeAnthropicRequest,
  readAnswer: readAnthropicAnswer,
  streamReader: createAnthropicStreamReader,
  readError: readAnthropicError,
};
