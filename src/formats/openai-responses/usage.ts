// Token counts of the Responses format. They are those of chat-completions under other names: what was cached or thought
// is counted inside.

import { promptTokens, type Usage } from "../../core/chat.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { readMediaUsage } from "../media/usage.ts";
import { readUsage } from "../openai-chat/usage.ts";

/** Reads the counts of a response; null when there are none, or such that cannot be true. */
export function readResponsesUsage(response: JsonObject, searches = searchesIn(response)): Usage | null {
  const { usage, service_tier } = response;
  if (!isObject(usage)) return null;
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } = usage;
  const { server_side_tool_usage_details: told } = usage;
  const read = readUsage({
    service_tier,
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
      ...(isObject(told) ? { server_side_tool_usage_details: told } : {}),
      ...(isObject(inputDetails) ? { prompt_tokens_details: inputDetails } : {}),
      ...(isObject(outputDetails) ? { completion_tokens_details: outputDetails } : {}),
    },
  });
  const pictures = readMediaUsage(isObject(response.tool_usage) ? response.tool_usage.image_gen : null);
  return read === null || pictures === null ? read : { ...read, imageTool: pictures };
}

/** Most vendors have no count of them, so the items of the output are counted. */
function searchesIn({ output }: JsonObject): number {
  return objectsIn(output).filter(isSearch).length;
}

/** A search that the provider ran and charges. Opening a page or looking into one costs nothing. */
export function isSearch({ type, action, status }: JsonObject): boolean {
  if (type !== "web_search_call" || status === "failed") return false;
  return !isObject(action) || action.type === undefined || action.type === "search";
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
