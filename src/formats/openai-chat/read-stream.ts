// A chat-completions stream read from a provider: events to normalised chunks, with what has been seen so far
// (content, finish, usage, fault) kept as progress. It never invents a finish.

import type { Usage } from "../../core/chat.ts";
import type { ChatChunk, ProviderFault, StreamProgress, StreamReader } from "../format.ts";
import { isObject, type JsonObject } from "../wire/fields.ts";
import { createSseReader, type SseEvent } from "../wire/sse.ts";
import { createChoiceNormaliser } from "./delta.ts";
import { readFault, readOpenaiAnswer } from "./response.ts";
import { beginsWhole, chunksOfWhole, WholeBytes } from "./unstreamed.ts";
import { readUsage } from "./usage.ts";

const DONE = "[DONE]";

export function createOpenaiStreamReader(): StreamReader {
  return new OpenaiStreamReader();
}

class OpenaiStreamReader implements StreamReader {
  readonly #sse = createSseReader();
  readonly #choices = createChoiceNormaliser();
  /** Of an answer that is no stream, what has come of it. */
  #whole: WholeBytes | null = null;
  #hasBegun = false;
  #usage: Usage | null = null;
  #fault: ProviderFault | null = null;
  #isDone = false;

  get progress(): StreamProgress {
    const { hasContent, isFinished, outputLength } = this.#choices;
    return {
      hasContent,
      isFinished,
      outputLength,
      isDone: this.#isDone,
      usage: this.#usage,
      fault: this.#fault,
    };
  }

  toolCallIds(): readonly string[] {
    return this.#choices.toolCallIds;
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    if (!this.#hasBegun) this.#begin(bytes);
    if (this.#whole === null) return this.#readAll(() => this.#sse.push(bytes));
    this.#whole.add(bytes);
    return [];
  }

  end(): readonly ChatChunk[] {
    return this.#whole === null ? this.#readAll(() => this.#sse.end()) : this.#readWhole(this.#whole);
  }

  #begin(bytes: Uint8Array): void {
    const isWhole = beginsWhole(bytes);
    this.#hasBegun = isWhole !== null;
    if (isWhole === true) this.#whole = new WholeBytes();
  }

  #readWhole(whole: WholeBytes): readonly ChatChunk[] {
    const reading = readOpenaiAnswer(whole.take());
    if (!reading.ok) {
      this.#fault = reading.fault;
      return [];
    }
    this.#usage = reading.answer.usage;
    this.#isDone = true;
    return chunksOfWhole(reading.answer.completion).flatMap((chunk) => this.#readChunk(chunk) ?? []);
  }

  #readAll(nextEvents: () => readonly SseEvent[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = [];
    try {
      for (const event of nextEvents()) {
        const chunk = this.#readEvent(event);
        if (chunk !== null) chunks.push(chunk);
      }
    } catch (error) {
      this.#fault = { message: (error as Error).message, code: "unreadable_stream", param: "" };
    }
    return chunks;
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
    this.#usage = readUsage(json) ?? this.#usage;
    const choices = json.choices;
    // Chunks without choices carry usage or a host's own notices; only usage matters and it was just taken.
    if (!Array.isArray(choices) || choices.length === 0) return null;
    const { usage: _usage, x_groq: _groq, ...rest } = json;
    const chunk = { ...rest } as Record<string, unknown>;
    const read = this.#choices.read(choices);
    if (read.isError) {
      this.#fault = { message: "the provider ended the stream with an error", code: "stream_error", param: "" };
      return null;
    }
    chunk.choices = read.choices;
    return { json: chunk, hasContent: read.hasContent, isFinish: read.isFinish };
  }
}
