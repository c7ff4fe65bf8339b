// The codec contract. A format is spoken at two ends: by clients (read a request, write an answer) and by
// providers (write a request, read an answer). Everything in between is the internal chat-completions shape.

import type { ChatMessage, ChatRequest, Usage } from "../core/chat.ts";
import type { Controls } from "../core/decision.ts";
import type { GatewayError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { JsonObject } from "./wire/fields.ts";
import type { JsonSource } from "./wire/json-source.ts";

export type FormatName = "openai" | "anthropic";

export interface Format extends ClientFormat, ProviderFormat {
  readonly name: FormatName;
}

/** What a client sent: the parsed body with the bytes it came in, and what routing reads of it. */
export interface ClientRequest {
  /** What `body` and `source` are written in; a provider of the same format gets them as they are. */
  readonly format: FormatName;
  readonly body: JsonObject;
  readonly source: JsonSource;
  readonly chat: ChatRequest;
  readonly controls: Controls;
  /** Headers that belong to the request, for a provider of the same format. */
  readonly headers?: ClientHeaders;
  /** Only on requests of another format: the request as chat-completions, written for this model when it is tried. */
  readonly toChat?: (model: Model) => ChatBody;
  /** Why only a provider of the client's own format can serve this; empty or absent when any can. */
  readonly nativeNeeds?: readonly string[];
}

export type ClientHeaders = Readonly<Record<string, string | undefined>>;

/** A request of another format in chat-completions, and what was changed or left out on the way. */
export interface ChatBody {
  readonly body: JsonObject;
  readonly source: JsonSource;
  readonly messages: readonly ChatMessage[];
  readonly conversions: readonly string[];
}

/** The routing metadata as it appears in an answer. SPEC 2.3. */
export type ServiceObject = JsonObject;

export interface AnswerContext {
  readonly requestId: string;
  readonly modelId: string;
  readonly createdAtSeconds: number;
  /** The input as estimated by routing, for formats that name it before the provider has counted. */
  readonly inputTokens?: number;
  /** What is answered; names that had to be shortened for a provider are restored from it. */
  readonly request?: ClientRequest;
}

export interface ClientFormat {
  readonly name: FormatName;
  readRequest(source: JsonSource, body: JsonObject, headers?: ClientHeaders): ClientRequest;
  /** `usage` is given where the provider's own is missing or cannot be true. */
  writeAnswer(
    answer: WholeAnswer,
    context: AnswerContext,
    additions: { service: ServiceObject; usage: Usage | null },
  ): Buffer;
  streamWriter(context: AnswerContext, options: { service: ServiceObject; wantsUsage: boolean }): StreamWriter;
  writeError(error: GatewayError, requestId: string): JsonObject;
}

/** Turns chunks into the text of the client's stream. It keeps back the finishing chunk, which `end` completes. */
export interface StreamWriter {
  write(chunks: readonly ChatChunk[]): string;
  end(service: ServiceObject, usage: Usage): string;
  fail(error: GatewayError): string;
  /** Sent when the provider is silent for long; readers skip it. */
  readonly ping: string;
}

export interface Outgoing {
  readonly request: ClientRequest;
  readonly model: Model;
  /** An output cap to send although the client sent none; null or absent for none. */
  readonly outputCap?: number | null;
  /** Fields a provider has just refused by name; left out on the second try. */
  readonly refusedFields: readonly string[];
}

export interface ProviderRequest {
  readonly path: string;
  readonly body: Buffer;
  /** Client fields that this model's host does not take. */
  readonly droppedFields: readonly string[];
  /** What conversion changed, in words for the trace: "dropped X: because Y". */
  readonly conversions?: readonly string[];
  /** Headers of the format itself, to be sent beside the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ProviderFormat {
  /** Throws `unconvertible` when this model's format has no way to say what the client asked for; another may have. */
  writeRequest(outgoing: Outgoing): ProviderRequest;
  readAnswer(bytes: Buffer): AnswerReading;
  streamReader(): StreamReader;
  readError(bytes: Buffer): ProviderFault;
}

/** A provider's words about what went wrong; empty strings where it said nothing. */
export interface ProviderFault {
  readonly message: string;
  readonly code: string;
  readonly param: string;
}

export interface WholeAnswer {
  readonly completion: JsonObject;
  readonly source: JsonSource;
  readonly usage: Usage | null;
  /** Text and tool-call arguments that were delivered, for estimating where usage is missing. */
  readonly outputText: string;
  /** The provider's own words, when it speaks another format than chat-completions. */
  readonly native?: { readonly format: FormatName; readonly source: JsonSource };
}

export type AnswerReading =
  | { readonly ok: true; readonly answer: WholeAnswer }
  | { readonly ok: false; readonly fault: ProviderFault };

/** One chunk of a stream in the chat-completions shape, normalised. Without choices it says nothing in that shape. */
export interface ChatChunk {
  readonly json: Record<string, unknown>;
  readonly hasContent: boolean;
  readonly isFinish: boolean;
  /** The event it was read from, when the provider speaks another format than chat-completions. */
  readonly native?: NativeEvent;
}

export interface NativeEvent {
  readonly format: FormatName;
  readonly event: string;
  readonly data: string;
}

export interface StreamReader {
  push(bytes: Uint8Array): readonly ChatChunk[];
  /** To be called once at the end of the body. */
  end(): readonly ChatChunk[];
  readonly progress: StreamProgress;
  /** The ids of the tool calls begun so far. */
  toolCallIds(): readonly string[];
}

export interface StreamProgress {
  readonly hasContent: boolean;
  /** Every choice that was begun has its finish_reason. */
  readonly isFinished: boolean;
  readonly isDone: boolean;
  readonly usage: Usage | null;
  readonly fault: ProviderFault | null;
  readonly outputLength: number;
}
