// A Messages stream written for a client, from chat chunks or, when the provider speaks the same format, from its own events.
// The end waits until usage is known and settled. CONTRACT 6.

import type { AnswerContext, ChatChunk, ServiceObject, StreamWriter } from "../format.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { clientToolId } from "../wire/tool-ids.ts";
import { writeAnthropicStreamError } from "./errors.ts";
import { createBlockWriter, writeAnthropicEvent } from "./from-chat/events.ts";
import { messageHead, nameRestorer, splitContent } from "./from-chat/message.ts";
import { createAnthropicRelay } from "./relay-stream.ts";
import { stopReasonFor } from "./stop-reason.ts";
import { writeAnthropicUsage } from "./usage.ts";

export const PING = writeAnthropicEvent({ type: "ping" });

export function createAnthropicStreamWriter(
  context: AnswerContext,
  options: { service: ServiceObject; wantsUsage: boolean },
): StreamWriter {
  const relay = createAnthropicRelay(context, options.service);
  const converter = createEventConverter(context, options.service);
  let isNative = false;
  return {
    ping: PING,
    write(chunks) {
      isNative ||= chunks[0]?.native?.format === "anthropic";
      return isNative ? relay.write(chunks) : converter.write(chunks);
    },
    end(service, usage) {
      return isNative ? relay.end() : converter.end(service, usage);
    },
    fail: (error) => writeAnthropicEvent(asEvent(writeAnthropicStreamError(error, context.requestId))),
  };
}

function createEventConverter(context: AnswerContext, service: ServiceObject): Pick<StreamWriter, "write" | "end"> {
  const restoreName = nameRestorer(context);
  const blocks = createBlockWriter({ idOf: (id, index) => clientToolId(id, index, context), nameOf: restoreName });
  let hasStarted = false;
  let hasBlocks = false;
  let hasRefusal = false;
  let finish: unknown = null;

  function start(): string {
    if (hasStarted) return "";
    hasStarted = true;
    // Some clients add the output tokens of the start to those of the end, so none are named here.
    const usage = { ...EMPTY_USAGE, input_tokens: context.inputTokens ?? 0 };
    const message = { ...messageHead(context), ...UNFINISHED, usage, service };
    return writeAnthropicEvent({ type: "message_start", message }) + PING;
  }

  function read(choice: JsonObject): void {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const { reasoning, text } = splitContent(delta);
    if (reasoning !== "") blocks.addText("thinking", reasoning);
    if (text !== "") blocks.addText("text", text);
    hasRefusal ||= typeof delta.refusal === "string" && delta.refusal !== "";
    for (const call of callsOf(delta)) blocks.addTool(call);
    finish = choice.finish_reason ?? finish;
  }

  function takeBlocks(isOver: boolean): string {
    const events = blocks.take(isOver);
    hasBlocks ||= events !== "";
    return events;
  }

  return {
    write(chunks: readonly ChatChunk[]) {
      if (chunks.length === 0) return "";
      let events = start();
      for (const { json } of chunks) {
        const choice = firstChoice(json);
        if (choice === null) continue;
        read(choice);
        events += takeBlocks(false);
      }
      return events;
    },
    end(_service, usage) {
      let events = start() + takeBlocks(true);
      if (!hasBlocks) {
        blocks.addText("text", "");
        events += blocks.take(true);
      }
      const reason = stopReasonFor({ finish, hasToolCalls: blocks.hasTools, hasRefusal });
      const delta = { stop_reason: reason, stop_sequence: null, stop_details: null, container: null };
      events += writeAnthropicEvent({ type: "message_delta", delta, usage: writeAnthropicUsage(usage) });
      return events + writeAnthropicEvent({ type: "message_stop" });
    },
  };
}

const EMPTY_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
const UNFINISHED = { content: [], stop_reason: null, stop_sequence: null, stop_details: null, container: null };

function firstChoice({ choices }: JsonObject): JsonObject | null {
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const first = all.find((choice) => isObject(choice) && (choice.index ?? 0) === 0);
  return isObject(first) ? first : null;
}

function callsOf({ tool_calls: calls, function_call: call }: JsonObject) {
  const given = Array.isArray(calls) ? calls.filter(isObject) : [];
  const all = isObject(call) ? [...given, { index: 0, id: "", function: call }] : given;
  return all.map((item: JsonObject, position) => {
    const called = isObject(item.function) ? item.function : {};
    return {
      index: typeof item.index === "number" ? item.index : position,
      id: typeof item.id === "string" ? item.id : "",
      name: typeof called.name === "string" ? called.name : "",
      text: typeof called.arguments === "string" ? called.arguments : "",
    };
  });
}

function asEvent(body: JsonObject): JsonObject & { type: string } {
  return { ...body, type: "error" };
}
