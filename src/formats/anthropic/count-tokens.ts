// POST /v1/messages/count_tokens on the wire: a Messages request without its output, and one number as the answer.

import type { ChatRequest } from "../../core/chat.ts";
import type { JsonObject } from "../wire/fields.ts";
import { readPrompt } from "./read-request.ts";

/** What is to be counted; routing's estimate of input tokens takes it as it is. */
export function readCountRequest(body: JsonObject): Pick<ChatRequest, "messages" | "tools"> {
  const { messages, tools } = readPrompt(body);
  return { messages, tools };
}

export function writeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}
