// What the tests of Gemini's client end share: requests, responses and streams between a Gemini client and a provider of
// chat-completions, carried as the gateway does.

import type { Model } from "../../../../src/core/model.ts";
import { createClientStream, writeClientResponse, writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ClientRequest, RequestTarget, ResponseContext } from "../../../../src/formats/format.ts";
import { geminiClient } from "../../../../src/formats/gemini/client.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { type ModelOverrides, makeModel } from "../../../support/catalog.ts";
import { chunksToSse, type Json, SERVICE, usageOf } from "../anthropic/exchange.ts";

export const TARGET: RequestTarget = { model: "auto", isStream: false, framing: "sse" };

export function readGemini(body: object, target: RequestTarget = TARGET): ClientRequest {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify(body)));
  return geminiClient.readRequest(source, parsed, { target });
}

interface SentChat {
  readonly json: Json;
  readonly conversions: readonly string[];
}

/** What a provider of chat-completions receives for what the client wrote. */
export function sendToChat(body: object, model: ModelOverrides | Model = {}): SentChat {
  const target = model.capabilities instanceof Set ? (model as Model) : makeModel(model as ModelOverrides);
  const spoken = { format: geminiClient, request: readGemini(body) };
  const { body: bytes, conversions = [] } = writeProviderRequest(spoken, openaiChat, {
    model: target,
    refusedFields: [],
  });
  return { json: JSON.parse(bytes.toString()) as Json, conversions: conversions.map(({ message }) => message) };
}

/** Any prompt, where a test is about the response. */
export const ASK = { contents: [{ parts: [{ text: "Hi" }] }] };

export function contextFor(request: ClientRequest = readGemini(ASK)): ResponseContext {
  return { requestId: "req-7", modelId: "model", createdAtSeconds: 1, inputTokens: 11, request };
}

/** What the client receives for a whole chat completion. */
export function answerFromChat(completion: object, request?: ClientRequest): Json {
  const reading = openaiChat.readResponse(Buffer.from(JSON.stringify(completion)));
  if (!reading.ok) throw new Error(reading.fault.message);
  const additions = { service: SERVICE, usage: reading.response.usage ?? usageOf(3, 2) };
  const bytes = writeClientResponse(geminiClient, reading.response, { context: contextFor(request), additions });
  return JSON.parse(bytes.toString()) as Json;
}

/** The text a client sees of a stream of chat chunks that ends well. */
export function streamFromChat(chunks: readonly Json[], request?: ClientRequest): string {
  const reader = openaiChat.streamReader(createSseReader());
  const writer = createClientStream(geminiClient, contextFor(request), { service: SERVICE, wantsUsage: true });
  const written = writer.write(reader.push(Buffer.from(chunksToSse(chunks)))) + writer.write(reader.end());
  return written + writer.end(SERVICE, reader.progress.usage ?? usageOf(3, 2));
}

/** The responses in a stream of events. */
export function eventsOf(text: string): readonly Json[] {
  return text
    .split("\n\n")
    .filter((event) => event.trim() !== "")
    .map((event) => JSON.parse(event.replace(/^data: /, "")) as Json);
}

export type { Json };
