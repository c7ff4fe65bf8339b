// Reads a ConverseStream from a provider: each event becomes a chat chunk. The usage comes after the end of the answer, in
// an event of its own. It never invents an end.

import type { ChatChunk, StreamReader } from "../format.ts";
import { isObject, type JsonObject, textOrEmpty, toText } from "../json/fields.ts";
import { faultOf } from "../provider/faults.ts";
import { onlyChoice, parseEvent, StreamState } from "../provider/stream-state.ts";
import type { SseEvent, SseReader } from "../sse/reader.ts";
import { CONVERSE, detailOf, finishReasonFor, isBroken, isMeantEmpty, readConverseUsage } from "./blocks.ts";
import { readConverseFault } from "./errors.ts";
import { EXCEPTION } from "./event-stream.ts";

export function createConverseStreamReader(events: SseReader): StreamReader {
  return new ConverseStreamReader(events);
}

/** A tool call that has begun, numbered as chat-completions numbers calls. */
interface CallInProgress {
  readonly index: number;
  readonly id: string;
  hasArguments: boolean;
}

/** A thought on its way. Its signature comes last. */
interface Thought {
  text: string;
  signature: string;
  redacted: string;
}

class ConverseStreamReader extends StreamState {
  readonly #tools = new Map<unknown, CallInProgress>();
  readonly #thoughts = new Map<unknown, Thought>();
  #detailCount = 0;

  toolCallIds(): readonly string[] {
    return [...this.#tools.values()].map(({ id }) => id);
  }

  protected readEvent({ event, data }: SseEvent): ChatChunk | null {
    const json = parseEvent(data);
    const type = event ?? "";
    if (type.startsWith(EXCEPTION)) return this.failed(readConverseFault(json, type.slice(EXCEPTION.length)));
    if (type === "messageStop" && isBroken(json.stopReason))
      return this.failed(faultOf(`the provider ended the stream with ${toText(json.stopReason)}`, "stream_error"));
    return this.chunk(onlyChoice(this.#readChoice(type, json)), { format: CONVERSE, event: type, data });
  }

  /** The event as a choice of a chat chunk; null when it says nothing there. */
  #readChoice(type: string, json: JsonObject): JsonObject | null {
    switch (type) {
      case "messageStart":
        this.head = { object: "chat.completion.chunk" };
        return { delta: { role: "assistant", content: "" } };
      case "contentBlockStart":
        this.isBetweenParts = false;
        return this.#readStart(json.contentBlockIndex, isObject(json.start) ? json.start : {});
      case "contentBlockDelta":
        this.isBetweenParts = false;
        return this.#readDelta(json.contentBlockIndex, isObject(json.delta) ? json.delta : {});
      case "contentBlockStop":
        this.isBetweenParts = true;
        return this.#readStop(json.contentBlockIndex);
      case "messageStop":
        return this.#readEnd(json.stopReason);
      case "metadata":
        this.usage = readConverseUsage(json.usage, json.serviceTier);
        this.isCounted = this.isFinished && this.usage !== null;
        this.isDone = this.isFinished;
        return null;
      default:
        return null;
    }
  }

  #readStart(place: unknown, { toolUse }: JsonObject): JsonObject | null {
    if (!isObject(toolUse)) return null;
    const tool = { index: this.#tools.size, id: toText(toolUse.toolUseId), hasArguments: false };
    this.#tools.set(place, tool);
    const name = toText(toolUse.name);
    this.output.add(name);
    const call = { index: tool.index, id: tool.id, type: "function", function: { name, arguments: "" } };
    return { delta: { tool_calls: [call] } };
  }

  #readDelta(place: unknown, { text, toolUse, reasoningContent }: JsonObject): JsonObject | null {
    if (isObject(reasoningContent)) return this.#think(place, reasoningContent);
    if (!isObject(toolUse)) return this.#say("content", text);
    const tool = this.#tools.get(place);
    const { input } = toolUse;
    if (tool === undefined || typeof input !== "string" || input === "") return null;
    tool.hasArguments = true;
    this.output.add(input);
    return argumentsOf(tool, input);
  }

  #think(place: unknown, { text, signature, redactedContent }: JsonObject): JsonObject | null {
    const thought = this.#thoughts.get(place) ?? { text: "", signature: "", redacted: "" };
    this.#thoughts.set(place, thought);
    thought.text += textOrEmpty(text);
    thought.signature += textOrEmpty(signature);
    thought.redacted += textOrEmpty(redactedContent);
    return this.#say("reasoning_content", text);
  }

  // A call without arguments has no deltas; chat-completions clients parse the arguments all the same.
  #readStop(place: unknown): JsonObject | null {
    const thought = this.#thoughts.get(place);
    if (thought !== undefined) return this.#readThought(thought);
    const tool = this.#tools.get(place);
    if (tool === undefined || tool.hasArguments) return null;
    tool.hasArguments = true;
    return argumentsOf(tool, "{}");
  }

  #readThought({ text, signature, redacted }: Thought): JsonObject | null {
    const detail = detailOf({ reasoningText: { text, signature }, redactedContent: redacted });
    if (detail === null) return null;
    const index = this.#detailCount;
    this.#detailCount += 1;
    return { delta: { reasoning_details: [{ ...detail, index }] } };
  }

  #readEnd(stopReason: unknown): JsonObject | null {
    if (typeof stopReason !== "string") return null;
    this.isFinished = true;
    this.hasContent ||= isMeantEmpty(stopReason);
    return { delta: {}, finish_reason: finishReasonFor(stopReason) };
  }

  #say(field: "content" | "reasoning_content", text: unknown): JsonObject | null {
    if (typeof text !== "string" || text === "") return null;
    this.output.add(text);
    return { delta: { [field]: text } };
  }
}

function argumentsOf({ index }: CallInProgress, text: string): JsonObject {
  return { delta: { tool_calls: [{ index, function: { arguments: text } }] } };
}
