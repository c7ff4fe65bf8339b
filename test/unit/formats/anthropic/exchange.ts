// What the tests of the Messages codec share: requests, answers and streams carried from one format to the other as the gateway does.

import type { Usage } from "../../../../src/core/chat.ts";
import type { Model } from "../../../../src/core/model.ts";
import { anthropicMessages } from "../../../../src/formats/anthropic/codec.ts";
import { createClientStream, writeClientResponse, writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type {
  ChatChunk,
  ClientHeaders,
  ClientRequest,
  Format,
  ProviderRequest,
  ResponseContext,
  StreamReader,
} from "../../../../src/formats/format.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { estimatedUsage } from "../../../../src/gateway/settle.ts";
import { type ModelOverrides, makeModel } from "../../../support/catalog.ts";
import { wordsOf } from "../../../support/formats/conversions.ts";

export type Json = Record<string, unknown>;

export const FORMATS: Readonly<Record<"openai" | "anthropic", Format>> = {
  openai: openaiChat,
  anthropic: anthropicMessages,
};

export const SERVICE = { model: "model", tier: "LIGHT" };
/** Usage of which nothing is known but the two counts. */
export function usageOf(input: number, output: number): Usage {
  return estimatedUsage({ input, cacheRead: 0, cacheWrite: 0, output });
}

const NO_USAGE = usageOf(0, 0);

export function read(format: Format, body: object | string, headers?: ClientHeaders): ClientRequest {
  const { source, body: parsed } = parseBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
  return format.readRequest(source, parsed, { headers });
}

export interface Sent extends Omit<ProviderRequest, "conversions"> {
  readonly json: Json;
  readonly conversions: readonly string[] | undefined;
}

export interface Sending {
  readonly model?: ModelOverrides | Model;
  readonly refusedFields?: readonly string[];
  readonly headers?: ClientHeaders;
}

/** What the provider receives for what the client wrote. */
export function send(
  path: readonly [client: Format, provider: Format],
  body: object | string,
  sending: Sending = {},
): Sent {
  const { model = {}, refusedFields = [], headers } = sending;
  const target = model.capabilities instanceof Set ? (model as Model) : makeModel(model as ModelOverrides);
  const request = read(path[0], body, headers);
  const sent = writeProviderRequest({ format: path[0], request }, path[1], { model: target, refusedFields });
  return { ...sent, conversions: wordsOf(sent), json: JSON.parse(sent.body.toString()) as Json };
}

export function contextFor(request?: ClientRequest): ResponseContext {
  const base = { requestId: "req-7", modelId: "model", createdAtSeconds: 1, inputTokens: 11 };
  return request === undefined ? base : { ...base, request };
}

/** What the client receives for what the provider answered. */
export function answer(path: readonly [provider: Format, client: Format], body: object, request?: ClientRequest): Json {
  const reading = path[0].readResponse(Buffer.from(JSON.stringify(body)));
  if (!reading.ok) throw new Error(reading.fault.message);
  const additions = { service: SERVICE, usage: reading.response.usage ?? NO_USAGE };
  const written = writeClientResponse(path[1], reading.response, { context: contextFor(request), additions });
  return JSON.parse(written.toString()) as Json;
}

export function toSse(events: readonly Json[]): string {
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export function chunksToSse(chunks: readonly Json[]): string {
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}

export function readStream(
  format: Format,
  pieces: readonly Buffer[],
): { reader: StreamReader; chunks: readonly ChatChunk[] } {
  const reader = format.streamReader(createSseReader());
  const chunks = pieces.flatMap((piece) => [...reader.push(piece)]);
  return { reader, chunks: [...chunks, ...reader.end()] };
}

/** The whole text a client sees of a stream that ends well. */
export function relay(path: readonly [provider: Format, client: Format], text: string, pieceLength = 1 << 20): string {
  const reader = path[0].streamReader(createSseReader());
  const writer = createClientStream(path[1], contextFor(), { service: SERVICE, wantsUsage: true });
  const bytes = Buffer.from(text);
  let written = "";
  for (let from = 0; from < bytes.length && !reader.progress.isDone; from += pieceLength) {
    written += writer.write(reader.push(bytes.subarray(from, from + pieceLength)));
  }
  written += writer.write(reader.end());
  if (!reader.progress.isFinished) throw new Error("the stream did not finish");
  return written + writer.end(SERVICE, reader.progress.usage ?? NO_USAGE);
}

export function eventsIn(text: string): readonly Json[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [name, data] = event.split("\n") as [string, string];
      const json = JSON.parse(data.slice("data: ".length)) as Json;
      if (name !== `event: ${String(json.type)}`)
        throw new Error(`an event is named otherwise than its type: ${event}`);
      return json;
    });
}

export function dataIn(text: string): readonly Json[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice("data: ".length)) as Json);
}
