// Reads a chat-completions stream from a provider: events become normalised chunks. What was seen so far (content,
// finish, usage, fault) is kept as progress. It never invents a finish.

import type { Usage } from "../../core/chat.ts";
import type { ChatChunk, ProviderFault, StreamProgress, StreamReader } from "../format.ts";
import { faultOf, unreadableStream } from "../wire/faults.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { OutputMeter } from "../wire/output-meter.ts";
import { readEvents, type SseEvent, type SseReader } from "../wire/sse.ts";
import { withTextArguments } from "../wire/tool-calls.ts";
import { readFault } from "./errors.ts";
import { FILTERED, normalFinish, readOpenaiResponse } from "./read-response.ts";
import { readUsage } from "./usage.ts";

const DONE = "[DONE]";

export function createOpenaiStreamReader(events: SseReader): StreamReader {
  return new OpenaiStreamReader(events);
}

class OpenaiStreamReader implements StreamReader {
  readonly #events: SseReader;
  readonly #choices = createChoiceNormaliser();
  /** Of an answer that is no stream, what has come of it. */
  #whole: WholeBytes | null = null;
  #hasBegun = false;
  #usage: Usage | null = null;
  #isCounted = false;
  #fault: ProviderFault | null = null;
  #isDone = false;

  readonly #read = (event: SseEvent): ChatChunk | null => this.#readEvent(event);
  readonly #fail = (problem: string): void => {
    this.#fault = unreadableStream(problem);
  };

  constructor(events: SseReader) {
    this.#events = events;
  }

  get progress(): StreamProgress {
    const { hasContent, isFinished, outputTokens } = this.#choices;
    return {
      hasContent,
      isFinished,
      outputTokens,
      isEndInSight: isFinished,
      isDone: this.#isDone,
      usage: this.#usage,
      isCounted: this.#isCounted,
      fault: this.#fault,
    };
  }

  toolCallIds(): readonly string[] {
    return this.#choices.toolCallIds;
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    if (!this.#hasBegun) this.#begin(bytes);
    if (this.#whole === null) return readEvents(() => this.#events.push(bytes), this.#read, this.#fail);
    this.#whole.add(bytes);
    return [];
  }

  end(): readonly ChatChunk[] {
    return this.#whole === null
      ? readEvents(() => this.#events.end(), this.#read, this.#fail)
      : this.#readWhole(this.#whole);
  }

  #begin(bytes: Uint8Array): void {
    const isWhole = this.#events.isBinary === true ? false : beginsWhole(bytes);
    this.#hasBegun = isWhole !== null;
    if (isWhole === true) this.#whole = new WholeBytes();
  }

  #readWhole(whole: WholeBytes): readonly ChatChunk[] {
    const reading = readOpenaiResponse(whole.take());
    if (!reading.ok) {
      this.#fault = reading.fault;
      return [];
    }
    this.#usage = reading.response.usage;
    this.#isCounted = this.#usage !== null;
    this.#isDone = true;
    return chunksOfWhole(reading.response.completion).flatMap((chunk) => this.#readChunk(chunk) ?? []);
  }

  #readEvent({ event, data }: SseEvent): ChatChunk | null {
    if (this.#isDone || this.#fault !== null || data === "") return null;
    if (data === DONE) {
      this.#isDone = true;
      return null;
    }
    const json: unknown = JSON.parse(data);
    if (!isObject(json)) throw new Error("an event of the stream is not a JSON object");
    if (event === "error" || json.object === "error" || (json.error ?? null) !== null) {
      this.#fault = readFault(json);
      return null;
    }
    return this.#readChunk(json);
  }

  #readChunk(json: JsonObject): ChatChunk | null {
    const usage = readUsage(json);
    this.#usage = usage ?? this.#usage;
    const chunk = this.#readChoices(json);
    if (usage !== null) this.#isCounted = this.#choices.isFinished;
    return chunk;
  }

  #readChoices(json: JsonObject): ChatChunk | null {
    const choices = json.choices;
    // Chunks without choices carry usage or a host's own notices; only usage matters and it was just taken.
    if (!Array.isArray(choices) || choices.length === 0) return null;
    const { usage: _usage, x_groq: _groq, ...rest } = json;
    const chunk = { ...rest } as Record<string, unknown>;
    const read = this.#choices.read(choices);
    if (read.isError) {
      this.#fault = faultOf("the provider ended the stream with an error", "stream_error");
      return null;
    }
    chunk.choices = read.choices;
    return { json: chunk, hasContent: read.hasContent, isFinish: read.isFinish };
  }
}

// The choices of stream chunks, with what hosts leave out filled in: role on the first delta, and index, id and type
// of tool calls. Keeps count of which choices have content and which have finished.

/** What one choice has begun with, and whether it has ended. */
interface ChoiceState {
  readonly toolCallIds: string[];
  hasRole: boolean;
  isFinished: boolean;
}

/** What one chunk brought. */
interface ChoicesRead {
  readonly choices: readonly JsonObject[];
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  readonly isError: boolean;
}

interface ChoiceNormaliser {
  read(choices: readonly unknown[]): ChoicesRead;
  readonly hasContent: boolean;
  readonly isFinished: boolean;
  readonly outputTokens: number;
  readonly toolCallIds: readonly string[];
}

/** Text of any kind: it is output, and it is billed. */
const CONTENT_FIELDS = ["content", "refusal", "reasoning_content", "reasoning"] as const;

function createChoiceNormaliser(): ChoiceNormaliser {
  const states = new Map<number, ChoiceState>();
  const output = new OutputMeter();
  let hasContent = false;

  function readChoice(choice: JsonObject, position: number): JsonObject {
    const index = Number.isInteger(choice.index) ? (choice.index as number) : position;
    const state = states.get(index) ?? { toolCallIds: [], hasRole: false, isFinished: false };
    states.set(index, state);
    const delta = completeDelta(isObject(choice.delta) ? choice.delta : {}, state);
    const text = deltaText(delta);
    output.add(text);
    const finish = normalFinish(choice.finish_reason ?? null, state.toolCallIds.length > 0);
    hasContent ||= text !== "" || isObject(delta.audio) || finish === FILTERED;
    state.isFinished ||= finish !== null;
    return { ...choice, index, delta, finish_reason: finish };
  }

  return {
    read(rawChoices) {
      const hadContent = hasContent;
      const deltasBefore = output.deltas;
      const choices = rawChoices.filter(isObject).map(readChoice);
      return {
        choices,
        hasContent: output.deltas > deltasBefore || (hasContent && !hadContent),
        isFinish: choices.some((choice) => choice.finish_reason !== null),
        isError: choices.some((choice) => choice.finish_reason === "error"),
      };
    },
    get hasContent() {
      return hasContent;
    },
    get isFinished() {
      return states.size > 0 && [...states.values()].every((state) => state.isFinished);
    },
    get toolCallIds() {
      return [...states.values()].flatMap((state) => state.toolCallIds);
    },
    get outputTokens() {
      return output.tokens;
    },
  };
}

function completeDelta(delta: JsonObject, state: ChoiceState): JsonObject {
  const calls = delta.tool_calls;
  const role = state.hasRole ? {} : { role: "assistant" };
  state.hasRole = true;
  if (!Array.isArray(calls)) return { ...role, ...delta };
  return {
    ...role,
    ...delta,
    tool_calls: calls.filter(isObject).map((call) => completeToolCall(withTextArguments(call), state.toolCallIds)),
  };
}

/** A host may leave out the index (then the id tells, or the order), the id or the type. */
function completeToolCall(call: JsonObject, ids: string[]): JsonObject {
  const given = typeof call.id === "string" ? call.id : "";
  const index = Number.isInteger(call.index) ? ownIndex(call, given, ids) : indexById(call, given, ids);
  if (ids[index] !== undefined) return { ...call, index };
  const id = given === "" ? `call_${index}` : given;
  ids[index] = id;
  return { ...call, index, id, type: call.type ?? "function" };
}

// Two whole calls under one index occur: the second, with an id and a name of its own, gets an index of its own.
function ownIndex(call: JsonObject, id: string, ids: readonly string[]): number {
  const index = call.index as number;
  const isSecondCall = ids[index] !== undefined && id !== "" && id !== ids[index] && hasName(call);
  return isSecondCall ? indexById(call, id, ids) : index;
}

function hasName(call: JsonObject): boolean {
  return isObject(call.function) && typeof call.function.name === "string" && call.function.name !== "";
}

function indexById(call: JsonObject, id: string, ids: readonly string[]): number {
  const known = id === "" ? -1 : ids.indexOf(id);
  if (known >= 0) return known;
  return hasName(call) || id !== "" ? ids.length : Math.max(0, ids.length - 1);
}

function deltaText(delta: JsonObject): string {
  let text = "";
  for (const name of CONTENT_FIELDS) {
    const value = delta[name];
    if (typeof value === "string") text += value;
  }
  const calls = delta.tool_calls;
  if (Array.isArray(calls)) for (const call of calls) text += toolCallText(call);
  if (isObject(delta.function_call)) text += functionText(delta.function_call);
  return text;
}

function toolCallText(call: unknown): string {
  if (!isObject(call)) return "";
  if (isObject(call.function)) return functionText(call.function);
  return isObject(call.custom) ? ` ${String(call.custom.input ?? "")}` : "";
}

function functionText({ name, arguments: text }: JsonObject): string {
  return (typeof name === "string" ? name : "") + (typeof text === "string" ? text : "");
}

// A whole answer where a stream was asked for: some hosts do not stream every model. Its content becomes the chunks
// that a stream would have had.

const WHOLE = "stop";
const OPENING_BRACE = 0x7b;
/** As long as a whole response may be. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Events never begin like this. Spaces before it are skipped; null when there is nothing else yet. */
function beginsWhole(bytes: Uint8Array): boolean | null {
  const first = bytes.find((byte) => byte > 0x20);
  return first === undefined ? null : first === OPENING_BRACE;
}

/** The answer as it comes in. More than is accepted is thrown away, which leaves nothing that could be read. */
class WholeBytes {
  #pieces: Uint8Array[] = [];
  #length = 0;

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > ANSWER_BYTES_MAX) this.#pieces = [];
    else this.#pieces.push(bytes);
  }

  take(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** What was said in one chunk, then how it ended. */
function chunksOfWhole(completion: JsonObject): readonly JsonObject[] {
  const { choices: given, usage: _usage, x_groq: _groq, ...rest } = completion;
  const choices = (given as readonly unknown[]).filter(isObject);
  return [
    { ...rest, choices: choices.map(saidOf) },
    { ...rest, choices: choices.map(endOf) },
  ];
}

function saidOf({ message, finish_reason: _finish, ...rest }: JsonObject, position: number): JsonObject {
  const delta = isObject(message) ? message : {};
  const calls = delta.tool_calls;
  const indexed = Array.isArray(calls) ? { tool_calls: calls.filter(isObject).map(withIndex) } : {};
  return { index: position, ...rest, delta: { ...delta, ...indexed }, finish_reason: null };
}

function withIndex(call: JsonObject, index: number): JsonObject {
  return { ...call, index };
}

function endOf({ index, finish_reason: finish }: JsonObject, position: number): JsonObject {
  return { index: index ?? position, delta: {}, finish_reason: finish ?? WHOLE };
}
