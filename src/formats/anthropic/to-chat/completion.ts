// A message of the Messages format as a chat completion.

import type { Usage } from "../../../core/chat.ts";
import { isObject, type JsonObject } from "../../wire/fields.ts";
import { finishReasonFor } from "../stop-reason.ts";

export function writeCompletion(message: JsonObject, usage: Usage | null): JsonObject {
  const blocks = (message.content as readonly unknown[]).filter(isObject);
  const text = textOf(blocks, "text");
  const thinking = textOf(blocks, "thinking");
  const calls = blocks.filter((block) => block.type === "tool_use").map(writeCall);
  return {
    id: message.id,
    object: "chat.completion",
    model: message.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" ? null : text,
          refusal: refusalText(message),
          ...(thinking === "" ? {} : { reasoning_content: thinking }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishReasonFor(message.stop_reason),
      },
    ],
    ...(usage === null ? {} : { usage }),
  };
}

/** What a refusing model says for itself, if it does. */
export function refusalText({ stop_reason: reason, stop_details: details }: JsonObject): string | null {
  if (reason !== "refusal" || !isObject(details)) return null;
  return typeof details.explanation === "string" ? details.explanation : null;
}

function textOf(blocks: readonly JsonObject[], type: "text" | "thinking"): string {
  return blocks
    .filter((block) => block.type === type)
    .map((block) => String(block[type] ?? ""))
    .join("");
}

function writeCall({ id, name, input }: JsonObject): JsonObject {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } };
}
