// Reads a whole answer of Converse from a provider's bytes, and converts it to chat-completions.

import type { Usage } from "../../core/chat.ts";
import type { ResponseReading, WholeResponse } from "../format.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty, toText } from "../json/fields.ts";
import { parseResponse } from "../json/parse.ts";
import { unreadable } from "../provider/faults.ts";
import type { JsonSource } from "../scan/scan.ts";
import {
  CONVERSE,
  type ConverseBlock,
  detailOf,
  finishReasonFor,
  isBroken,
  isMeantEmpty,
  readConverseUsage,
} from "./blocks.ts";

/** A success without an answer in it counts as a failed attempt. */
export function readConverseResponse(bytes: Buffer): ResponseReading {
  const parsed = parseResponse(bytes);
  if (parsed === null) return unreadable("the answer is not a JSON object");
  const { body, source } = parsed;
  const message = isObject(body.output) && isObject(body.output.message) ? body.output.message : null;
  if (message === null || !Array.isArray(message.content)) return unreadable("the answer has no content");
  if (isBroken(body.stopReason)) return unreadable(`the provider ended the answer with ${toText(body.stopReason)}`);
  const response = new ConverseResponse(body, source, objectsIn(message.content));
  const isEmpty = response.outputText === "" && (response.usage?.buckets.output ?? 0) === 0;
  return isEmpty && !isMeantEmpty(body.stopReason) ? unreadable("the answer is empty") : { ok: true, response };
}

class ConverseResponse implements WholeResponse {
  readonly usage: Usage | null;
  readonly outputText: string;
  readonly native: WholeResponse["native"];
  readonly #stopReason: unknown;
  readonly #blocks: readonly ConverseBlock[];
  #completion: JsonObject | null = null;

  constructor(body: JsonObject, source: JsonSource, blocks: readonly ConverseBlock[]) {
    this.#stopReason = body.stopReason;
    this.#blocks = blocks;
    this.native = { format: CONVERSE, source };
    this.usage = readConverseUsage(body.usage, body.serviceTier);
    this.outputText = blocks.map(outputOf).join("");
  }

  get completion(): JsonObject {
    this.#completion ??= this.#write();
    return this.#completion;
  }

  toolCallIds(): readonly string[] {
    return callsIn(this.#blocks).map(({ toolUseId }) => textOrEmpty(toolUseId));
  }

  #write(): JsonObject {
    const text = this.#blocks.map(textOf).join("");
    const thinking = this.#blocks.map(thoughtOf).join("");
    const details = this.#blocks
      .flatMap(({ reasoningContent }) => (isObject(reasoningContent) ? (detailOf(reasoningContent) ?? []) : []))
      .map((detail, index) => ({ ...detail, index }));
    const calls = callsIn(this.#blocks).map(writeCall);
    const message = {
      role: "assistant",
      content: text === "" ? null : text,
      refusal: null,
      ...(thinking === "" ? {} : { reasoning_content: thinking }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonFor(this.#stopReason) }],
      ...(this.usage?.reported === undefined ? {} : { usage: this.usage.reported }),
    };
  }
}

function outputOf(block: ConverseBlock): string {
  const { toolUse } = block;
  if (isObject(toolUse)) return `${toText(toolUse.name)}${JSON.stringify(toolUse.input ?? {})}`;
  const said = textOf(block) + thoughtOf(block);
  const isKnown = block.text !== undefined || block.citationsContent !== undefined || isObject(block.reasoningContent);
  return isKnown ? said : JSON.stringify(block);
}

/** Text with citations is text in pieces. */
function textOf({ text, citationsContent }: ConverseBlock): string {
  if (isObject(citationsContent))
    return objectsIn(citationsContent.content)
      .map((piece) => textOrEmpty(piece.text))
      .join("");
  return textOrEmpty(text);
}

function thoughtOf({ reasoningContent }: ConverseBlock): string {
  const { reasoningText } = isObject(reasoningContent) ? reasoningContent : {};
  return isObject(reasoningText) ? textOrEmpty(reasoningText.text) : "";
}

function callsIn(blocks: readonly ConverseBlock[]): readonly JsonObject[] {
  return objectsIn(blocks.map(({ toolUse }) => toolUse));
}

function writeCall({ toolUseId: id, name, input }: JsonObject): JsonObject {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } };
}
