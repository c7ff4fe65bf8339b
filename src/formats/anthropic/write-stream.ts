// A Messages stream written for a client, from chat chunks or, when the provider speaks the same format, from its own events.
// The end waits until usage is known and settled. CONTRACT 6.

import type { AnswerContext, ChatChunk, NativeEvent, ServiceObject, StreamWriter } from "../format.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { rawValue, scanObject, spliceFields } from "../wire/json-source.ts";
import { createObjectScanner, type ObjectScanner } from "../wire/object-scanner.ts";
import { clientToolId } from "../wire/tool-calls.ts";
import { stopReasonFor } from "./blocks.ts";
import { writeAnthropicStreamError } from "./errors.ts";
import { writeAnthropicUsage } from "./usage.ts";
import { messageHead, nameRestorer, splitContent } from "./write-response.ts";

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

// A provider's Messages stream passed on to a client of the same format, event by event as it came; only the first gets
// the gateway's model name and the `service` object. The end waits for settlement.

const DEPTH_MAX = 200;

export interface Relay {
  write(chunks: readonly ChatChunk[]): string;
  end(): string;
}

export function createAnthropicRelay(context: AnswerContext, service: ServiceObject): Relay {
  let held = "";
  let isEnding = false;
  let hasStop = false;

  function text({ event, data }: NativeEvent): string {
    const sent = event === "message_start" ? withService(data) : data;
    return `event: ${event}\n${sent
      .split("\n")
      .map((line) => `data: ${line}\n`)
      .join("")}\n`;
  }

  function withService(data: string): string {
    const outer = scanObject(Buffer.from(data), DEPTH_MAX);
    if (outer.state !== "object") return data;
    const message = rawValue(outer.source, "message");
    const inner = message === null ? null : scanObject(message, DEPTH_MAX);
    if (inner?.state !== "object") return data;
    const changes = new Map([
      ["model", JSON.stringify(context.modelId)],
      ["service", JSON.stringify(service)],
    ]);
    return spliceFields(outer.source, new Map([["message", spliceFields(inner.source, changes)]])).toString("utf8");
  }

  return {
    write(chunks) {
      let events = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        isEnding ||= isFinish;
        hasStop ||= native.event === "message_stop";
        if (isEnding) held += text(native);
        else events += text(native);
      }
      return events;
    },
    end() {
      return hasStop ? held : held + writeAnthropicEvent({ type: "message_stop" });
    },
  };
}

// Chat deltas as content blocks, one after another: whatever order text, reasoning and the arguments of several tool calls
// come in, blocks never overlap and their indexes have no holes. Only the foremost block streams; the others wait.

export interface ToolDelta {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface Segment {
  readonly kind: "thinking" | "text" | "tool";
  readonly toolIndex: number;
  id: string;
  name: string;
  pending: string;
  isOpen: boolean;
  readonly scanner: ObjectScanner | null;
}

export interface BlockWriter {
  addText(kind: "thinking" | "text", text: string): void;
  addTool(delta: ToolDelta): void;
  /** The events that can be sent now; all that is left when the answer is over. */
  take(isOver: boolean): string;
  readonly hasTools: boolean;
}

export function createBlockWriter(tool: {
  idOf(id: string, index: number): string;
  nameOf(name: string): string;
}): BlockWriter {
  const queue: Segment[] = [];
  const segments = new Map<number, Segment>();
  let blockIndex = 0;

  function push(segment: Segment): Segment {
    queue.push(segment);
    return segment;
  }

  function open(segment: Segment): string {
    segment.isOpen = true;
    const id = tool.idOf(segment.id, segment.toolIndex);
    const block = openingBlock(segment, { id, name: tool.nameOf(segment.name) });
    return writeAnthropicEvent({ type: "content_block_start", index: blockIndex, content_block: block });
  }

  function flush(segment: Segment): string {
    const text = segment.pending;
    segment.pending = "";
    if (text === "") return "";
    return writeAnthropicEvent({ type: "content_block_delta", index: blockIndex, delta: deltaOf(segment, text) });
  }

  function close(): string {
    queue.shift();
    const event = writeAnthropicEvent({ type: "content_block_stop", index: blockIndex });
    blockIndex += 1;
    return event;
  }

  return {
    addText(kind, text) {
      const last = queue.at(-1);
      const segment = last?.kind === kind ? last : push(newSegment(kind, -1));
      segment.pending += text;
    },
    addTool({ index, id, name, text }) {
      const known = segments.get(index);
      // A block that was closed cannot be taken up again; what comes after complete arguments is nothing but space.
      if (known !== undefined && !queue.includes(known)) return;
      const segment = known ?? push(newSegment("tool", index));
      segments.set(index, segment);
      segment.id ||= id;
      segment.name ||= name;
      segment.pending += text;
      segment.scanner?.push(text);
    },
    take(isOver) {
      let events = "";
      for (let head = queue[0]; head !== undefined; head = queue[0]) {
        if (!head.isOpen) {
          if (head.kind === "tool" && head.name === "" && !isOver) break;
          events += open(head);
        }
        events += flush(head);
        if (!isOver && !mayClose(head, queue.length)) break;
        events += close();
      }
      return events;
    },
    get hasTools() {
      return segments.size > 0;
    },
  };
}

/** While its arguments are incomplete a tool call may go on, whatever else has come in between. */
function mayClose({ scanner }: Segment, waiting: number): boolean {
  return waiting > 1 && (scanner === null || scanner.isComplete);
}

function newSegment(kind: Segment["kind"], toolIndex: number): Segment {
  const scanner = kind === "tool" ? createObjectScanner() : null;
  return { kind, toolIndex, id: "", name: "", pending: "", isOpen: false, scanner };
}

function openingBlock({ kind }: Segment, { id, name }: { id: string; name: string }): JsonObject {
  if (kind === "tool") return { type: "tool_use", id, name, input: {} };
  return kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
}

function deltaOf({ kind }: Segment, text: string): JsonObject {
  if (kind === "tool") return { type: "input_json_delta", partial_json: text };
  return kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
}

/** Clients skip events without an `event:` line. */
export function writeAnthropicEvent(json: JsonObject & { readonly type: string }): string {
  return `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`;
}
