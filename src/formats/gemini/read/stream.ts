// Reads a Gemini stream from a provider: each event becomes a chat chunk, and clients of the same format get the event
// itself. The stream has no closing event, so its end must say how it ended.

import type { ChatChunk, StreamReader } from "../../format.ts";
import { isObject, type JsonObject, toText } from "../../json/fields.ts";
import { faultOf } from "../../provider/faults.ts";
import { DONE, parseEvent, StreamState } from "../../provider/stream-state.ts";
import type { SseEvent, SseReader } from "../../sse/reader.ts";
import { GEMINI } from "../shape.ts";
import { blockedPrompt, type CandidateEnd, CandidateReader, isBroken } from "./candidates.ts";
import { readGeminiFault } from "./error.ts";
import { candidatesOf, indexOf } from "./response.ts";
import { readGeminiUsage, searchesIn } from "./usage.ts";

export function createGeminiStreamReader(events: SseReader): StreamReader {
  return new GeminiStreamReader(events);
}

class GeminiStreamReader extends StreamState {
  readonly #candidates = new Map<number, CandidateReader>();
  readonly #searches = new Set<string>();
  /** The service tier that an event named last. */
  #tier: unknown;
  #isBlocked = false;

  toolCallIds(): readonly string[] {
    return [...this.#candidates.values()].flatMap((candidate) => candidate.toolCallIds);
  }

  override end(): readonly ChatChunk[] {
    const chunks = super.end();
    this.isDone = this.isFinished;
    return chunks;
  }

  protected readEvent({ data }: SseEvent): ChatChunk | null {
    if (data === DONE) return null;
    const json = parseEvent(data);
    if ((json.error ?? null) !== null) return this.failed(readGeminiFault(json));
    const candidates = candidatesOf(json);
    const broken = candidates.find(({ finishReason }) => isBroken(finishReason));
    if (broken !== undefined)
      return this.failed(faultOf(`the provider ended the stream with ${toText(broken.finishReason)}`, "stream_error"));
    const choices = candidates.map((candidate, position) => this.#readCandidate(candidate, position, json.responseId));
    if (candidates.length === 0) choices.push(...this.#readBlock(json));
    this.isFinished = this.#isAnswerFinished();
    for (const query of candidates.flatMap(searchesIn)) this.#searches.add(query);
    this.#count(json);
    if (this.head.object === undefined)
      this.head = { id: json.responseId, object: "chat.completion.chunk", model: json.modelVersion };
    return this.chunk(choices, { format: GEMINI, event: "", data });
  }

  #isAnswerFinished(): boolean {
    if (this.#candidates.size === 0) return this.#isBlocked;
    for (const candidate of this.#candidates.values()) if (!candidate.isFinished) return false;
    return true;
  }

  /** Each event may count again; what the last one says holds. */
  #count({ usageMetadata: metadata }: JsonObject): void {
    // Vertex names the tier in every event, and counts in the last one.
    if (isObject(metadata)) this.#tier = metadata.serviceTier ?? metadata.trafficType ?? this.#tier;
    const usage = readGeminiUsage(metadata, this.#searches.size, this.#tier);
    if (usage === null) return;
    this.usage = usage;
    this.isCounted = this.isFinished;
  }

  #readCandidate(candidate: JsonObject, position: number, responseId: unknown): JsonObject {
    const index = indexOf(candidate, position);
    const known = this.#candidates.get(index);
    const reader = known ?? new CandidateReader();
    if (known === undefined) this.#candidates.set(index, reader);
    const said = reader.read(candidate.content, responseId);
    this.output.add(said.output);
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
    this.hasContent ||= ending?.finish === "content_filter" || ending?.finish === "length";
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
