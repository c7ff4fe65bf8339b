// A whole answer in the Messages format: read from a provider's bytes, and written for a client. What came from a provider
// of the same format keeps its bytes but for the model name and the added `service` object.

import type { Usage } from "../../core/chat.ts";
import type { AnswerContext, AnswerReading, ServiceObject, WholeAnswer } from "../format.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { type JsonSource, scanObject, spliceFields } from "../wire/json-source.ts";
import { finishReasonFor } from "./blocks.ts";
import { readAnthropicFault } from "./errors.ts";
import { readAnthropicUsage, writeAnthropicUsage } from "./usage.ts";
import { writeMessage } from "./write-response.ts";

const DEPTH_MAX = 200;

export function readAnthropicAnswer(bytes: Buffer): AnswerReading {
  const scan = scanObject(bytes, DEPTH_MAX);
  const message = scan.state === "object" ? parseObject(bytes) : null;
  if (scan.state !== "object" || message === null) return unreadable("the answer is not a JSON object");
  if (message.type === "error" || isObject(message.error)) return { ok: false, fault: readAnthropicFault(message) };
  if (!Array.isArray(message.content)) return unreadable("the answer has no content");
  const answer = new AnthropicAnswer(message, scan.source);
  return isEmpty(message, answer) ? unreadable("the answer is empty") : { ok: true, answer };
}

/** Without a word the answer can still be one: a refusal, or a call that only warmed the cache. */
function isEmpty({ stop_reason: reason }: JsonObject, { outputText, usage }: WholeAnswer): boolean {
  const isMeant = reason === "refusal" || reason === "max_tokens";
  return outputText === "" && (usage?.completion_tokens ?? 0) === 0 && !isMeant;
}

/** Converted only when a client of another format asks. */
class AnthropicAnswer implements WholeAnswer {
  readonly usage: Usage | null;
  readonly outputText: string;
  readonly native: NonNullable<WholeAnswer["native"]>;
  readonly #message: JsonObject;
  #completion: JsonObject | null = null;
  #source: JsonSource | null = null;

  constructor(message: JsonObject, source: JsonSource) {
    this.#message = message;
    this.native = { format: "anthropic", source };
    this.usage = readAnthropicUsage(message.usage);
    this.outputText = (message.content as readonly unknown[]).map(outputOf).join("");
  }

  get completion(): JsonObject {
    this.#completion ??= writeCompletion(this.#message, this.usage);
    return this.#completion;
  }

  get source(): JsonSource {
    this.#source ??= sourceOf(this.completion);
    return this.#source;
  }
}

function outputOf(block: unknown): string {
  if (!isObject(block)) return "";
  const { type, text, thinking, name, input } = block;
  if (type === "text") return String(text ?? "");
  if (type === "thinking") return String(thinking ?? "");
  return type === "tool_use" ? `${String(name)}${JSON.stringify(input ?? {})}` : JSON.stringify(block);
}

export function writeAnthropicAnswer(
  answer: WholeAnswer,
  context: AnswerContext,
  additions: { service: ServiceObject; usage: Usage | null },
): Buffer {
  const { native } = answer;
  if (native?.format !== "anthropic") {
    const message = writeMessage(answer.completion, context, (additions.usage ?? answer.usage) as Usage);
    return Buffer.from(JSON.stringify({ ...message, service: additions.service }));
  }
  const changes = new Map([
    ["model", JSON.stringify(context.modelId)],
    ["service", JSON.stringify(additions.service)],
  ]);
  if (additions.usage !== null) changes.set("usage", JSON.stringify(writeAnthropicUsage(additions.usage)));
  return spliceFields(native.source, changes);
}

function unreadable(message: string): AnswerReading {
  return { ok: false, fault: { message, code: "unreadable_answer", param: "" } };
}

function parseObject(bytes: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function sourceOf(completion: JsonObject): JsonSource {
  const bytes = Buffer.from(JSON.stringify(completion));
  const scan = scanObject(bytes, DEPTH_MAX);
  return scan.state === "object" ? scan.source : { bytes, fields: [] };
}

// A message of the Messages format as a chat completion.

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
