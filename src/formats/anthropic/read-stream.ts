// Reads a Messages stream from a provider: each event becomes a chat chunk, and clients of the same format get the
// event itself. It never invents an end.

import type { ChatChunk, StreamReader } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../json/fields.ts";
import { onlyChoice, parseEvent, StreamState } from "../provider/stream-state.ts";
import type { SseEvent, SseReader } from "../sse/reader.ts";
import { ANTHROPIC, detailOf, finishReasonFor, isThinking } from "./blocks.ts";
import { readAnthropicFault } from "./errors.ts";
import { refusalText } from "./read-response.ts";
import { mergeAnthropicUsage, readAnthropicUsage } from "./usage.ts";

export function createAnthropicStreamReader(events: SseReader): StreamReader {
  return new AnthropicStreamReader(events);
}

/** A tool call that has begun, numbered as chat-completions numbers calls. */
interface ToolBlock {
  readonly index: number;
  readonly id: string;
  hasArguments: boolean;
}

/** A thought on its way. Its signature comes last. */
interface ThinkingBlock {
  readonly type: unknown;
  readonly data: unknown;
  thinking: string;
  signature: string;
}

class AnthropicStreamReader extends StreamState {
  readonly #tools = new Map<unknown, ToolBlock>();
  /** The open block, when it is a thought. */
  #thought: ThinkingBlock | null = null;
  #detailCount = 0;
  /** The provider's counts so far. */
  #counts: JsonObject = {};
  #isOutputCounted = false;

  toolCallIds(): readonly string[] {
    return [...this.#tools.values()].map(({ id }) => id);
  }

  protected readEvent({ event, data }: SseEvent): ChatChunk | null {
    const json = parseEvent(data);
    const type = typeof json.type === "string" ? json.type : (event ?? "");
    if (type === "error" || event === "error") return this.failed(readAnthropicFault(json));
    return this.chunk(onlyChoice(this.#readChoice(type, json)), { format: ANTHROPIC, event: type, data });
  }

  /** The event as a choice of a chat chunk; null when it says nothing there. */
  #readChoice(type: string, json: JsonObject): JsonObject | null {
    switch (type) {
      case "message_start":
        return this.#readStart(isObject(json.message) ? json.message : {});
      case "content_block_start":
        this.isBetweenParts = false;
        return this.#readBlockStart(json.index, isObject(json.content_block) ? json.content_block : {});
      case "content_block_delta":
        return this.#readDelta(json.index, isObject(json.delta) ? json.delta : {});
      case "content_block_stop":
        this.isBetweenParts = true;
        return this.#readBlockStop(json.index);
      case "message_delta":
        return this.#readMessageDelta(json);
      case "message_stop":
        this.isDone = true;
        return null;
      default:
        return null;
    }
  }

  #readStart(message: JsonObject): JsonObject {
    this.head = { id: message.id, object: "chat.completion.chunk", model: message.model };
    this.#count(message.usage);
    return { delta: { role: "assistant", content: "" } };
  }

  // The start has counted the input already, so that who leaves early pays for what was cached as cached. But the output
  // is counted only at the end: a finished stream without that count has none that can be true.
  #count(usage: unknown): void {
    this.#counts = mergeAnthropicUsage(this.#counts, usage);
    this.isCounted = this.isFinished && this.#isOutputCounted;
    this.usage = this.isFinished && !this.#isOutputCounted ? null : readAnthropicUsage(this.#counts);
  }

  #readBlockStart(index: unknown, block: JsonObject): JsonObject | null {
    if (block.type === "text") return this.#say("content", block.text);
    if (isThinking(block)) {
      this.#thought = { type: block.type, data: block.data, thinking: "", signature: textOrEmpty(block.signature) };
      return this.#think(block.thinking);
    }
    if (block.type !== "tool_use") return null;
    const whole = isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : "";
    const tool = { index: this.#tools.size, id: toText(block.id), hasArguments: whole !== "" };
    this.#tools.set(index, tool);
    const name = toText(block.name);
    this.output.add(name + whole);
    const call = { index: tool.index, id: block.id, type: "function", function: { name, arguments: whole } };
    return { delta: { tool_calls: [call] } };
  }

  #readDelta(index: unknown, delta: JsonObject): JsonObject | null {
    if (delta.type === "text_delta") return this.#say("content", delta.text);
    if (delta.type === "thinking_delta") return this.#think(delta.thinking);
    if (delta.type === "signature_delta") return this.#sign(delta.signature);
    const tool = delta.type === "input_json_delta" ? this.#tools.get(index) : undefined;
    const text = delta.partial_json;
    if (tool === undefined || typeof text !== "string" || text === "") return null;
    tool.hasArguments = true;
    this.output.add(text);
    return argumentsOf(tool, text);
  }

  #think(text: unknown): JsonObject | null {
    if (this.#thought !== null) this.#thought.thinking += textOrEmpty(text);
    return this.#say("reasoning_content", text);
  }

  #sign(signature: unknown): null {
    if (this.#thought !== null) this.#thought.signature += textOrEmpty(signature);
    return null;
  }

  #readThought(thought: ThinkingBlock): JsonObject | null {
    this.#thought = null;
    const detail = detailOf({ ...thought });
    if (detail === null) return null;
    const index = this.#detailCount;
    this.#detailCount += 1;
    return { delta: { reasoning_details: [{ ...detail, index }] } };
  }

  // A call without arguments has no deltas; chat-completions clients parse the arguments all the same.
  #readBlockStop(index: unknown): JsonObject | null {
    if (this.#thought !== null) return this.#readThought(this.#thought);
    const tool = this.#tools.get(index);
    if (tool === undefined || tool.hasArguments) return null;
    tool.hasArguments = true;
    return argumentsOf(tool, "{}");
  }

  #readMessageDelta(json: JsonObject): JsonObject | null {
    const delta = isObject(json.delta) ? json.delta : {};
    this.isFinished ||= typeof delta.stop_reason === "string";
    this.#isOutputCounted ||= isObject(json.usage) && typeof json.usage.output_tokens === "number";
    this.#count(json.usage);
    if (typeof delta.stop_reason !== "string") return null;
    // A refusal is an answer, also when it has no words; so is the end of a call that only warmed the cache.
    this.hasContent ||= delta.stop_reason === "refusal" || delta.stop_reason === "max_tokens";
    const refusal = refusalText(delta);
    return { delta: refusal === null ? {} : { refusal }, finish_reason: finishReasonFor(delta.stop_reason) };
  }

  #say(field: "content" | "reasoning_content", text: unknown): JsonObject | null {
    if (typeof text !== "string" || text === "") return null;
    this.output.add(text);
    return { delta: { [field]: text } };
  }
}

function argumentsOf({ index }: ToolBlock, text: string): JsonObject {
  return { delta: { tool_calls: [{ index, function: { arguments: text } }] } };
}
