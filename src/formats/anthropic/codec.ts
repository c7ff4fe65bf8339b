// The Messages format, both ends.

import type { Format } from "../format.ts";
import { readAnthropicError, writeAnthropicError } from "./errors.ts";
import { readAnthropicRequest } from "./read-request.ts";
import { readAnthropicAnswer, writeAnthropicAnswer } from "./read-response.ts";
import { createAnthropicStreamReader } from "./read-stream.ts";
import { writeAnthropicRequest } from "./write-request.ts";
import { createAnthropicStreamWriter } from "./write-stream.ts";

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
