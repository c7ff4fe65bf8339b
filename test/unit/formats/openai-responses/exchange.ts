// What the tests of the Responses codec share: requests and answers carried between a Responses client and a provider
// of chat-completions, as the gateway does.

import { createClientStream, writeClientResponse, writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ChatChunk, ClientRequest, ResponseContext } from "../../../../src/formats/format.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { responsesClient } from "../../../../src/formats/openai-responses/client.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { type ModelOverrides, makeModel } from "../../../support/catalog.ts";
import {
  finalResponse,
  type ResponseEvent,
  type ResponseObject,
  responseEventsIn,
} from "../../../support/providers/responses.ts";
import { type Json, SERVICE, usageOf } from "../anthropic/exchange.ts";

export function read(body: object): ClientRequest {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify({ input: "x", ...body })));
  return responsesClient.readRequest(source, parsed);
}

interface Sent {
  readonly json: Json;
  readonly conversions: readonly string[];
}

/** What a provider of chat-completions receives. */
export function send(body: object, model: ModelOverrides = {}): Sent {
  const terms = { model: makeModel(model), refusedFields: [] };
  const sent = writeProviderRequest({ format: responsesClient, request: read(body) }, openaiChat, terms);
  const conversions = (sent.conversions ?? []).map(({ message }) => message);
  return { json: JSON.parse(sent.body.toString()) as Json, conversions };
}

export function contextFor(body: object): ResponseContext {
  const ids = { requestId: "req-7", answerId: "0123-abcd", modelId: "model" };
  return { ...ids, createdAtSeconds: 1, request: read(body) };
}

/** What the client receives for a whole answer. */
export function answer(message: object, body: object = {}, finish = "stop"): ResponseObject {
  const completion = { choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }] };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const reading = openaiChat.readResponse(Buffer.from(JSON.stringify({ ...completion, usage })));
  if (!reading.ok) throw new Error(reading.fault.message);
  const additions = { service: SERVICE, usage: null };
  const written = writeClientResponse(responsesClient, reading.response, { context: contextFor(body), additions });
  return JSON.parse(written.toString()) as ResponseObject;
}

/** The events a client receives for the deltas of a stream that ends well. */
export function streamEvents(deltas: readonly object[], body: object = {}, finish = "stop"): readonly ResponseEvent[] {
  const reader = openaiChat.streamReader(createSseReader());
  const writer = createClientStream(responsesClient, contextFor(body), { service: SERVICE, wantsUsage: true });
  const chunksOf = (delta: object, reason: string | null): readonly ChatChunk[] =>
    reader.push(Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`));
  let text = deltas.map((delta) => writer.write(chunksOf(delta, null))).join("");
  text += writer.write(chunksOf({}, finish));
  return responseEventsIn(text + writer.end(SERVICE, usageOf(1, 2)));
}

/** The response at the end of a stream, after every event has been checked. */
export function streamed(deltas: readonly object[], body: object = {}, finish = "stop"): ResponseObject {
  return finalResponse(streamEvents(deltas, body, finish));
}
