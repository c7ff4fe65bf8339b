// Reads a chat-completions stream from a provider: events become normalised chunks. It never invents a finish.

import type { Usage } from "../../core/chat.ts";
import type { ChatChunk, StreamReader } from "../format.ts";
import { isObject, type JsonObject, objectsIn } from "../json/fields.ts";
import { faultOf } from "../provider/faults.ts";
import { DONE, parseEvent, StreamState } from "../provider/stream-state.ts";
import { usageParts } from "../provider/usage-parts.ts";
import type { SseEvent, SseReader } from "../sse/reader.ts";
import { ChunkPatterns } from "./chunk-patterns.ts";
import { readFault } from "./errors.ts";
import { readOpenaiResponse } from "./read-response.ts";
import { ChoiceNormaliser, withoutUsage } from "./stream-choices.ts";
import { executedSearches, readUsage } from "./usage.ts";

export function createOpenaiStreamReader(events: SseReader): StreamReader {
  return new OpenaiStreamReader(events);
}

class OpenaiStreamReader extends StreamState {
  readonly #choices = new ChoiceNormaliser(this.output);
  readonly #patterns = new ChunkPatterns();
  /** The tier that a chunk named last, which need not be the one with the counts. */
  #tier: string | null = null;
  /** Searches of the host, each once. */
  readonly #searches = new Set<string>();
  /** Bytes so far of an answer that is no stream. */
  #whole: WholeBytes | null = null;
  #hasBegun = false;

  toolCallIds(): readonly string[] {
    return this.#choices.toolCallIds;
  }

  override push(bytes: Uint8Array): readonly ChatChunk[] {
    if (!this.#hasBegun) this.#begin(bytes);
    if (this.#whole === null) return super.push(bytes);
    this.#whole.add(bytes);
    return [];
  }

  override end(): readonly ChatChunk[] {
    return this.#whole === null ? super.end() : this.#readWhole(this.#whole);
  }

  #begin(bytes: Uint8Array): void {
    const isWhole = this.events.isBinary === true ? false : beginsWhole(bytes);
    this.#hasBegun = isWhole !== null;
    if (isWhole === true) this.#whole = new WholeBytes();
  }

  #readWhole(whole: WholeBytes): readonly ChatChunk[] {
    const reading = readOpenaiResponse(whole.take());
    if (!reading.ok) {
      this.fault = reading.fault;
      return [];
    }
    this.usage = reading.response.usage;
    this.isCounted = this.usage !== null;
    this.isDone = true;
    return chunksOfWhole(reading.response.completion).flatMap((chunk) => this.#readChunk(chunk) ?? []);
  }

  protected readEvent({ event, data }: SseEvent): ChatChunk | null {
    if (data === DONE) {
      this.isDone = true;
      return null;
    }
    const like = event === "error" ? null : this.#patterns.find(data);
    if (like !== null) {
      this.output.add(like.repeated.texts.output);
      return like;
    }
    const json = parseEvent(data);
    if (event === "error" || json.object === "error" || (json.error ?? null) !== null)
      return this.failed(readFault(json));
    // Not before the first content, which should not wait for this.
    const mayRepeat = this.hasContent && readUsage(json) === null;
    const chunk = this.#readChunk(json);
    if (mayRepeat && chunk !== null && !chunk.isFinish) this.#patterns.note(data, this.#choices);
    return chunk;
  }

  #readChunk(json: JsonObject): ChatChunk | null {
    for (const choice of objectsIn(json.choices)) {
      // A tool is named once when it begins, and again with what it found.
      for (const { index, type } of executedSearches(choice.delta)) this.#searches.add(`${index} ${type}`);
    }
    const { service_tier: tier } = json;
    if (typeof tier === "string") this.#tier = tier;
    const usage = readUsage(json, this.#searches.size, this.#tier);
    if (usage !== null) this.usage = usage;
    else if (typeof tier === "string" && this.usage !== null) this.usage = withTier(this.usage, tier);
    const chunk = this.#readChoices(json);
    if (usage !== null) this.isCounted = this.isFinished;
    return chunk;
  }

  #readChoices(json: JsonObject): ChatChunk | null {
    const choices = json.choices;
    // Chunks without choices carry usage or a host's own notices; only usage matters and it was just taken.
    if (!Array.isArray(choices) || choices.length === 0) return null;
    const chunk = withoutUsage(json);
    const read = this.#choices.read(choices);
    this.hasContent = this.#choices.hasContent;
    this.isFinished = this.#choices.isFinished;
    if (read.isError) return this.failed(faultOf("the provider ended the stream with an error", "stream_error"));
    chunk.choices = read.choices;
    return { json: chunk, hasContent: read.hasContent, isFinish: read.isFinish };
  }
}

/** The tier in place of the one that was known when the counts came. */
function withTier({ serviceTier: _, isTierTold: __, ...usage }: Usage, tier: string): Usage {
  return { ...usage, ...usageParts({}, tier) };
}

// A whole answer where a stream was asked for: some hosts do not stream every model. Its content becomes the chunks
// that a stream would have had.

const WHOLE = "stop";
const OPENING_BRACE = 0x7b;
/** The longest response that is accepted. */
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

/** Splits a completion into a chunk with its content and a chunk with its finish. */
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
