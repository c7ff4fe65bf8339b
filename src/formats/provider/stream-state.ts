// The half of a stream reader that every format shares: it cuts bytes into events and keeps what was seen of the stream.
// A format adds how one of its events is read. Nothing here invents an end.

import type { Usage } from "../../core/chat.ts";
import type { ChatChunk, NativeEvent, ProviderFault, StreamProgress, StreamReader } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { readEvents, type SseEvent, type SseReader } from "../sse/reader.ts";
import { unreadableStream } from "./faults.ts";
import { OutputMeter } from "./output-meter.ts";

/** The event that ends a chat-completions stream; some hosts end every kind of stream with it. */
export const DONE = "[DONE]";

export abstract class StreamState implements StreamReader {
  protected readonly events: SseReader;
  protected readonly output = new OutputMeter();
  /** The fields that every chunk begins with. */
  protected head: JsonObject = {};
  protected usage: Usage | null = null;
  protected fault: ProviderFault | null = null;
  protected hasContent = false;
  protected isFinished = false;
  protected isDone = false;
  protected isCounted = false;
  /** The last part of the answer has stopped, and no other has begun. */
  protected isBetweenParts = false;
  #deltasRead = 0;

  readonly #read = (event: SseEvent): ChatChunk | null =>
    this.isDone || this.fault !== null || event.data === "" ? null : this.readEvent(event);
  readonly #fail = (problem: string): void => {
    this.fault = unreadableStream(problem);
  };

  constructor(events: SseReader) {
    this.events = events;
  }

  /** Reads an event with data, before the end and the first fault. Throws where the event cannot be read. */
  protected abstract readEvent(event: SseEvent): ChatChunk | null;

  abstract toolCallIds(): readonly string[];

  get progress(): StreamProgress {
    return {
      hasContent: this.hasContent,
      isFinished: this.isFinished,
      isDone: this.isDone,
      usage: this.usage,
      isCounted: this.isCounted,
      fault: this.fault,
      outputTokens: this.output.tokens,
      isEndInSight: this.isFinished || this.isBetweenParts,
    };
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    return readEvents(() => this.events.push(bytes), this.#read, this.#fail);
  }

  end(): readonly ChatChunk[] {
    return readEvents(() => this.events.end(), this.#read, this.#fail);
  }

  /** Notes a fault that an event tells of. */
  protected failed(fault: ProviderFault): null {
    this.fault = fault;
    return null;
  }

  /** The chunk of an event that was read. It has content if output was added since the last chunk. */
  protected chunk(choices: readonly JsonObject[], native: NativeEvent): ChatChunk {
    const hasContent = this.output.deltas > this.#deltasRead;
    this.#deltasRead = this.output.deltas;
    this.hasContent ||= hasContent;
    const isFinish = choices.some(({ finish_reason: reason }) => reason !== null);
    return { json: { ...this.head, choices }, hasContent, isFinish, native };
  }
}

export function parseEvent(data: string): JsonObject {
  const json: unknown = JSON.parse(data);
  if (!isObject(json)) throw new Error("an event of the stream is not a JSON object");
  return json;
}

/** The choices of a format that has one answer; null where an event adds nothing to it. */
export function onlyChoice(choice: JsonObject | null): readonly JsonObject[] {
  return choice === null ? [] : [{ index: 0, logprobs: null, finish_reason: null, ...choice }];
}
