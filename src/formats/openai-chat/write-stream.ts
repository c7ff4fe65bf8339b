// Writes a chat-completions stream for a client. The finishing chunk is sent only when usage is known, because the last
// chunk carries the `service` object with the savings recomputed. Behaviour 6.

import type { Usage } from "../../core/chat.ts";
import type { GatewayError } from "../../core/errors.ts";
import type { ChatChunk, ResponseContext, ServiceObject, StreamOptions, StreamWriter } from "../format.ts";
import { isObject, objectsIn } from "../json/fields.ts";
import { type ChunkPattern, fill, frameOf } from "../sse/event-pattern.ts";
import { uniqueToolId } from "../tools/calls.ts";
import { BareCalls } from "./bare-calls.ts";
import { writeOpenaiError } from "./errors.ts";
import { readsFunctionCalls, withFunctionCall } from "./old-functions.ts";
import { Citing } from "./search.ts";
import { writeUsage } from "./usage.ts";
import { completionIdOf } from "./write-response.ts";

type JsonFields = Record<string, unknown>;

/** Chunks keep the provider's fields; ids, model and usage are ours. */
export function createOpenaiStreamWriter(context: ResponseContext, options: StreamOptions): StreamWriter {
  let id: unknown = context.kept === undefined ? null : completionIdOf(context.answerId ?? context.requestId);
  let created: unknown = null;
  let isFirst = true;
  let held: JsonFields | null = null;
  const isOld = readsFunctionCalls(context);
  const bare = new BareCalls();
  const citing = context.request?.searching === undefined ? null : new Citing();
  const frames = new Map<ChunkPattern, readonly string[]>();

  function complete(json: JsonFields): JsonFields {
    id ??= typeof json.id === "string" && json.id !== "" ? json.id : `chatcmpl-${context.requestId}`;
    created ??= Number.isInteger(json.created) ? json.created : context.createdAtSeconds;
    const read = isOld ? withFunctionCalls(json) : withUniqueIds(json, context);
    const chunk: JsonFields = { ...read, id, object: OBJECT, created, model: context.modelId };
    if (options.wantsUsage) chunk.usage = null;
    if (isFirst) chunk.service = options.service;
    isFirst = false;
    return chunk;
  }
  const write = (json: JsonFields): string => writeEvent(complete(json));

  function writeOne(chunk: ChatChunk): string {
    const text = release();
    if (chunk.repeated === undefined || bare.isWaiting) bare.see(chunk.json);
    if (!chunk.isFinish) return text + (isFirst ? write(chunk.json) : writeRepeated(chunk, frames, write));
    held = complete(bare.fill(chunk.json));
    return text;
  }

  function release(): string {
    const text = held === null ? "" : writeEvent(held);
    held = null;
    return text;
  }

  function usageChunk(usage: Usage, service: ServiceObject): string {
    const { usage: _, service: __, ...rest } = complete({});
    return writeEvent({ ...rest, choices: [], usage: writeUsage(usage), service });
  }

  return {
    ping: ": keep-alive\n\n",
    write(chunks: readonly ChatChunk[]) {
      let text = "";
      for (const chunk of citing === null ? chunks : chunks.flatMap((each) => citing.shown(each)))
        if (!isSilent(chunk)) text += writeOne(chunk);
      return text;
    },
    end(service, usage) {
      if (options.wantsUsage) return `${release()}${usageChunk(usage, service)}${DONE}`;
      if (held !== null) held.service = service;
      return `${release()}${DONE}`;
    },
    fail(error: GatewayError) {
      held = null;
      return writeEvent(writeOpenaiError(error, context.requestId));
    },
  };
}

/** Writes a chunk that repeats an earlier one but for its texts from the frame of that one. */
function writeRepeated(
  { json, repeated }: ChatChunk,
  frames: Map<ChunkPattern, readonly string[]>,
  write: (json: JsonFields) => string,
): string {
  if (repeated === undefined) return write(json);
  const { pattern } = repeated;
  const frame = frames.get(pattern) ?? frameOf(write(pattern.json), pattern);
  if (frame === null) return write(json);
  frames.set(pattern, frame);
  return fill(frame, repeated.texts);
}

function withFunctionCalls(json: JsonFields): JsonFields {
  return { ...json, choices: objectsIn(json.choices).map(withFunctionCall) };
}

/** Calls that came without an id have one that the next answer would repeat. The same chunk when no call begins in it. */
function withUniqueIds(json: JsonFields, context: ResponseContext): JsonFields {
  const choices: readonly JsonFields[] = Array.isArray(json.choices) ? json.choices : [];
  if (!choices.some(({ delta }) => beginsCall(delta))) return json;
  const completed = choices.map((choice) => {
    const { delta } = choice;
    if (!beginsCall(delta)) return choice;
    const calls = (delta.tool_calls as readonly JsonFields[]).map((call, position) =>
      isNamed(call) ? { ...call, id: uniqueToolId(call.id, Number(call.index ?? position), context) } : call,
    );
    return { ...choice, delta: { ...delta, tool_calls: calls } };
  });
  return { ...json, choices: completed };
}

function beginsCall(delta: unknown): delta is JsonFields {
  return isObject(delta) && Array.isArray(delta.tool_calls) && delta.tool_calls.some(isNamed);
}

/** Later parts of a call may have an empty id, which means none. */
function isNamed(call: unknown): call is JsonFields & { readonly id: string } {
  return isObject(call) && typeof call.id === "string" && call.id !== "";
}

const OBJECT = "chat.completion.chunk";
const DONE = "data: [DONE]\n\n";

/** An event of another format that says nothing in this one. */
function isSilent(chunk: ChatChunk): boolean {
  if (chunk.native === undefined) return false;
  const { choices } = chunk.json;
  return Array.isArray(choices) && choices.length === 0;
}

function writeEvent(json: object): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}
