// Token counts of the Responses format. They are those of chat-completions under other names: what was cached or thought
// is counted inside.

import { promptTokens, type Usage } from "../../core/chat.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { readUsage } from "../openai-chat/usage.ts";

/** Reads the counts of a response; null when there are none, or such that cannot be true. */
export function readResponsesUsage({ usage, service_tier }: JsonObject): Usage | null {
  if (!isObject(usage)) return null;
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } = usage;
  return readUsage({
    service_tier,
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      ...(isObject(inputDetails) ? { prompt_tokens_details: inputDetails } : {}),
      ...(isObject(outputDetails) ? { completion_tokens_details: outputDetails } : {}),
    },
  });
}

/** From whichever provider the counts came. */
export function writeResponsesUsage({ buckets, reasoning }: Usage): JsonObject {
  const input = promptTokens(buckets);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: buckets.cacheRead, cache_write_tokens: buckets.cacheWrite },
    output_tokens: buckets.output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + buckets.output,
  };
}
