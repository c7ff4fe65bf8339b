// Reads a Gemini stream from a provider: each event becomes a chat chunk, and clients of the same format get the event
// itself. What was seen so far is kept as progress. The stream has no closing event, so its end must say how it ended.

import type { Usage } from "../../../core/chat.ts";
import type { ChatChunk, ProviderFault, StreamProgress, StreamReader } from "../../format.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { faultOf, unreadableStream } from "../../provider/faults.ts";
import { OutputMeter } from "../../provider/output-meter.ts";
import { readEvents, type SseEvent, type SseReader } from "../../sse/reader.ts";
import { GEMINI } from "../shape.ts";
import { blockedPrompt, type CandidateEnd, CandidateReader, isBroken } from "./candidates.ts";
import { readGeminiFault } from "./error.ts";
import { candidatesOf, indexOf } from "./response.ts";
import { readGeminiUsage } from "./usage.ts";

export function createGeminiStreamReader(events: SseReader): StreamReader {
  return new GeminiStreamReader(events);
}

class GeminiStreamReader implements StreamReader {
  readonly #events: SseReader;
  readonly #candidates = new Map<number, CandidateReader>();
  readonly #output = new OutputMeter();
  #head: JsonObject | null = null;
  #usage: Usage | null = null;
  #isCounted = false;
  #isBlocked = false;
  #hasContent = false;
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
    const isFinished = this.#isFinished();
    return {
      hasContent: this.#hasContent,
      isFinished,
      isDone: this.#isDone,
      usage: this.#usage,
      isCounted: this.#isCounted,
      fault: this.#fault,
      outputTokens: this.#output.tokens,
      isEndInSight: isFinished,
    };
  }

  toolCallIds(): readonly string[] {
    return [...this.#candidates.values()].flatMap((candidate) => candidate.toolCallIds);
  }

  push(bytes: Uint8Array): readonly ChatChunk[] {
    return readEvents(() => this.#events.push(bytes), this.#read, this.#fail);
  }

  end(): readonly ChatChunk[] {
    const chunks = readEvents(() => this.#events.end(), this.#read, this.#fail);
    this.#isDone = this.#isFinished();
    return chunks;
  }

  #isFinished(): boolean {
    if (this.#candidates.size === 0) return this.#isBlocked;
    for (const candidate of this.#candidates.values()) if (!candidate.isFinished) return false;
    return true;
  }

  #readEvent({ data }: SseEvent): ChatChunk | null {
    if (this.#fault !== null || data === "" || data === "[DONE]") return null;
    const json: unknown = JSON.parse(data);
    if (!isObject(json)) throw new Error("an event of the stream is not a JSON object");
    if ((json.error ?? null) !== null) {
      this.#fault = readGeminiFault(json);
      return null;
    }
    const candidates = candidatesOf(json);
    const broken = candidates.find(({ finishReason }) => isBroken(finishReason));
    if (broken !== undefined) {
      this.#fault = faultOf(`the provider ended the stream with ${toText(broken.finishReason)}`, "stream_error");
      return null;
    }
    const deltasBefore = this.#output.deltas;
    const choices = candidates.map((candidate, position) => this.#readCandidate(candidate, position, json.responseId));
    if (candidates.length === 0) choices.push(...this.#readBlock(json));
    this.#count(json);
    const hasContent = this.#output.deltas > deltasBefore;
    this.#hasContent ||= hasContent;
    this.#head ??= { id: json.responseId, object: "chat.completion.chunk", model: json.modelVersion };
    return {
      json: { ...this.#head, choices },
      hasContent,
      isFinish: choices.some((choice) => choice.finish_reason !== null),
      native: { format: GEMINI, event: "", data },
    };
  }

  /** Each event may count again; what the last one says holds. */
  #count({ usageMetadata: metadata }: JsonObject): void {
    const usage = readGeminiUsage(metadata);
    if (usage === null) return;
    this.#usage = usage;
    this.#isCounted = this.#isFinished();
  }

  #readCandidate(candidate: JsonObject, position: number, responseId: unknown): JsonObject {
    const index = indexOf(candidate, position);
    const known = this.#candidates.get(index);
    const reader = known ?? new CandidateReader();
    if (known === undefined) this.#candidates.set(index, reader);
    const said = reader.read(candidate.content, responseId);
    this.#output.add(said.output);
    return this.#choice(index, { delta: said.message, isFirst: known === undefined, ending: reader.finish(candidate) });
  }

  /** A prompt that was blocked has no candidate. */
  #readBlock(json: JsonObject): readonly JsonObject[] {
    const ending = this.#candidates.size === 0 ? blockedPrompt(json) : null;
    if (ending === null) return [];
    this.#isBlocked = true;
    return [this.#choice(0, { delta: {}, isFirst: true, ending })];
  }

  #choice(index: number, { delta, isFirst, ending }: ChoicePiece): JsonObject {
    // A refusal is an answer, also when it has no words of the model; so is a cap that thinking used up.
    this.#hasContent ||= ending?.finish === "content_filter" || ending?.finish === "length";
    const role = isFirst ? { role: "assistant" } : {};
    const refusal = (ending?.refusal ?? null) === null ? {} : { refusal: ending?.refusal };
    return { index, delta: { ...role, ...delta, ...refusal }, logprobs: null, finish_reason: ending?.finish ?? null };
  }
}

/** The addition of one event to a choice. */
interface ChoicePiece {
  readonly delta: JsonObject;
  readonly isFirst: boolean;
  readonly ending: CandidateEnd | null;
}
