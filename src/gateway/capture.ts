// Captures what the client is sent, for the call report: text where content is stored, tool calls to be checked, and
// the provider's response metadata for spans. Everything is bounded, and nothing is captured unless it is asked for.

import type { CapturedResponse, CapturedToolCall, ResponseMetadata } from "../core/call-report.ts";
import {
  type ContentListener,
  readChunkContent,
  readModelAndFinishes,
  readResponseContent,
  type ToolCallPiece,
  type ToolCallPlace,
} from "../formats/content.ts";
import type { ChatChunk, StreamWriter, WholeResponse } from "../formats/format.ts";

/** In characters, like the arguments of all tool calls of a response. */
export const TEXT_MAX = 256 * 1024;
const ARGUMENTS_MAX = 64 * 1024;
const CALLS_MAX = 32;
/** A model's name or a finish reason; a longer one is none. */
const WORD_LENGTH_MAX = 128;
const FINISH_REASONS_MAX = 16;

export interface CaptureWish {
  readonly toolCalls: boolean;
  readonly text: boolean;
  readonly metadata: boolean;
}

export interface ResponseCapture {
  /** The captured content; null where neither text nor tool calls were asked for. */
  readonly content: CapturedResponse | null;
  readonly metadata: ResponseMetadata | null;
  response(response: WholeResponse): void;
  /** The same writer, with its chunks captured on the way. */
  watching(writer: StreamWriter): StreamWriter;
}

const NO_CAPTURE: ResponseCapture = {
  content: null,
  metadata: null,
  response() {},
  watching: (writer) => writer,
};

export function createCapture({ toolCalls, text, metadata }: CaptureWish): ResponseCapture {
  if (!toolCalls && !text && !metadata) return NO_CAPTURE;
  const content = toolCalls || text ? new ContentCapture(text) : null;
  const told = metadata ? new MetadataCapture() : null;
  return {
    content,
    metadata: told,
    response(response) {
      if (content !== null) readResponseContent(response, content);
      told?.read(response.completion);
    },
    watching(writer) {
      const watch = (chunk: ChatChunk): void => {
        if (content !== null) readChunkContent(chunk, content);
        told?.read(chunk.json);
      };
      return watchedWriter(writer, watch);
    },
  };
}

function watchedWriter(writer: StreamWriter, watch: (chunk: ChatChunk) => void): StreamWriter {
  return {
    ping: writer.ping,
    ...(writer.isBinary && { isBinary: true }),
    write(chunks) {
      for (const chunk of chunks) watch(chunk);
      return writer.write(chunks);
    },
    end: (service, usage) => writer.end(service, usage),
    fail: (error) => writer.fail(error),
  };
}

/** The stored form: the text, then the tool calls as JSON. */
export function responseText(said: CapturedResponse): string {
  const { text } = said;
  const calls = said.toolCalls();
  return calls.length === 0 ? text : `${text}${text === "" ? "" : "\n\n"}${JSON.stringify(calls)}`;
}

interface GatheredCall {
  readonly choice: unknown;
  name: string;
  arguments: string;
}

class ContentCapture implements CapturedResponse, ContentListener {
  text = "";
  isCut = false;
  readonly #keepsText: boolean;
  readonly #calls = new Map<string, GatheredCall>();
  readonly #cutChoices = new Set<unknown>();
  #argumentsLength = 0;

  constructor(keepsText: boolean) {
    this.#keepsText = keepsText;
  }

  get isCutShort(): boolean {
    return this.#cutChoices.size > 0;
  }

  toolCalls(): readonly CapturedToolCall[] {
    // Beyond the bound the arguments are incomplete, which is not the model's fault either.
    if (this.#argumentsLength > ARGUMENTS_MAX) return [];
    const whole = [...this.#calls.values()].filter(({ choice }) => !this.#cutChoices.has(choice));
    return whole.map(({ name, arguments: given }) => ({ name, arguments: given }));
  }

  onChoice(position: number): void {
    if (position > 0) this.onText("\n\n");
  }

  onText(text: string): void {
    if (!this.#keepsText || text === "") return;
    const room = TEXT_MAX - this.text.length;
    if (text.length > room) this.isCut = true;
    this.text += text.length > room ? text.slice(0, room) : text;
  }

  onToolCall({ choice, position }: ToolCallPlace, { name, arguments: piece }: ToolCallPiece): void {
    const place = `${choice} ${position}`;
    const known = this.#calls.get(place);
    if (known === undefined && this.#calls.size >= CALLS_MAX) return;
    const gathered = known ?? { choice, name: "", arguments: "" };
    if (known === undefined) this.#calls.set(place, gathered);
    if (typeof name === "string" && gathered.name === "") gathered.name = name;
    if (typeof piece !== "string") return;
    this.#argumentsLength += piece.length;
    if (this.#argumentsLength <= ARGUMENTS_MAX) gathered.arguments += piece;
  }

  onCutShort(choice: unknown): void {
    this.#cutChoices.add(choice);
  }
}

class MetadataCapture implements ResponseMetadata {
  model: string | null = null;
  readonly finishReasons: string[] = [];

  read(json: ChatChunk["json"] | WholeResponse["completion"]): void {
    const { model, finishes } = readModelAndFinishes(json);
    if (this.model === null && isWord(model)) this.model = model;
    for (const reason of finishes) {
      if (isWord(reason) && this.finishReasons.length < FINISH_REASONS_MAX) this.finishReasons.push(reason);
    }
  }
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= WORD_LENGTH_MAX;
}
