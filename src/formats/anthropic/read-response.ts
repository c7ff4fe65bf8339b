// Reads a whole response in the Messages format from a provider's bytes, and converts it for clients of other formats.

import type { Usage } from "../../core/chat.ts";
import type { ResponseReading, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../json/fields.ts";
import { parseResponse } from "../json/parse.ts";
import { unreadable } from "../provider/faults.ts";
import type { JsonSource } from "../scan/scan.ts";
import { ANTHROPIC, detailOf, finishReasonFor } from "./blocks.ts";
import { readAnthropicFault } from "./errors.ts";
import { readAnthropicUsage } from "./usage.ts";

/** A success without an answer in it counts as a failed attempt. */
export function readAnthropicResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null) return unreadable("the answer is not a JSON object");
  const { body: message, source } = parsed;
  if (message.type === "error" || isObject(message.error)) return { ok: false, fault: readAnthropicFault(message) };
  if (!Array.isArray(message.content)) return unreadable("the answer has no content");
  const response = new AnthropicResponse(message, source);
  return isEmpty(message, response) ? unreadable("the answer is empty") : { ok: true, response };
}

/** Without a word the answer can still be one: a refusal, or a call that only warmed the cache. */
function isEmpty({ stop_reason: reason }: JsonObject, { outputText, usage }: WholeResponse): boolean {
  const isMeant = reason === "refusal" || reason === "max_tokens";
  return outputText === "" && (usage?.buckets.output ?? 0) === 0 && !isMeant;
}

/** Converted only when a client of another format asks. */
class AnthropicResponse implements WholeResponse {
  readonly usage: Usage | null;
  readonly outputText: string;
  readonly native: WholeResponse["native"];
  readonly #message: JsonObject;
  #completion: JsonObject | null = null;

  constructor(message: JsonObject, source: JsonSource) {
    this.#message = message;
    this.native = { format: ANTHROPIC, source };
    this.usage = readAnthropicUsage(message.usage);
    this.outputText = (message.content as readonly unknown[]).map(outputOf).join("");
  }

  get completion(): JsonObject {
    this.#completion ??= writeCompletion(this.#message, this.usage);
    return this.#completion;
  }

  toolCallIds(): readonly string[] {
    const calls = (this.#message.content as readonly unknown[]).filter(isToolUse);
    return calls.map(({ id }) => textOrEmpty(id));
  }
}

function outputOf(block: unknown): string {
  if (!isObject(block)) return "";
  const { type, text, thinking, name, input } = block;
  if (type === "text") return toText(text ?? "");
  if (type === "thinking") return toText(thinking ?? "");
  return type === "tool_use" ? `${toText(name)}${JSON.stringify(input ?? {})}` : JSON.stringify(block);
}

function writeCompletion(message: JsonObject, usage: Usage | null): JsonObject {
  const blocks = (message.content as readonly unknown[]).filter(isObject);
  const text = textOf(blocks, "text");
  const thinking = textOf(blocks, "thinking");
  const details = blocks.flatMap((block) => detailOf(block) ?? []).map((detail, index) => ({ ...detail, index }));
  const calls = blocks.filter(isToolUse).map(writeCall);
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
          ...(details.length === 0 ? {} : { reasoning_details: details }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishReasonFor(message.stop_reason),
      },
    ],
    ...(usage?.reported === undefined ? {} : { usage: usage.reported }),
  };
}

/** A refusing model's own explanation, if there is one. */
export function refusalText({ stop_reason: reason, stop_details: details }: JsonObject): string | null {
  if (reason !== "refusal" || !isObject(details)) return null;
  return typeof details.explanation === "string" ? details.explanation : null;
}

function isToolUse(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_use";
}

function textOf(blocks: readonly JsonObject[], type: "text" | "thinking"): string {
  return blocks
    .filter((block) => block.type === type)
    .map((block) => toText(block[type] ?? ""))
    .join("");
}

function writeCall({ id, name, input }: JsonObject): JsonObject {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } };
}
