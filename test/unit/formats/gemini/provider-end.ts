// What the tests of Gemini's provider end share: requests written for a model, and responses and streams read back.

import type { ChatChunk, ProviderRequest, StreamReader, WholeResponse } from "../../../../src/formats/format.ts";
import { geminiProvider } from "../../../../src/formats/gemini/provider.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { type ModelOverrides, makeChat, makeModel } from "../../../support/catalog.ts";
import { wordsOf } from "../../../support/formats/conversions.ts";

export type Json = Record<string, unknown>;

export interface Sending {
  readonly model?: ModelOverrides;
  readonly refusedFields?: readonly string[];
  readonly outputCap?: number;
}

export interface Sent extends Omit<ProviderRequest, "conversions"> {
  readonly json: Json;
  readonly conversions: readonly string[] | undefined;
}

const CAPABILITIES = ["tools", "vision", "json", "reasoning", "files", "audio"] as const;

function modelOf(overrides: ModelOverrides = {}): ReturnType<typeof makeModel> {
  return makeModel({ id: "gem", upstream: "gemini-3-flash", capabilities: CAPABILITIES, ...overrides });
}

/** What Google receives for a chat-completions request. */
export function write(body: object, { model, refusedFields = [], outputCap }: Sending = {}): Sent {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify({ messages: [USER], ...body })));
  const request = openaiChat.readRequest(source, parsed);
  const terms = { model: modelOf(model), refusedFields, ...(outputCap === undefined ? {} : { outputCap }) };
  const sent = geminiProvider.writeRequest({ request, ...terms });
  return { ...sent, conversions: wordsOf(sent), json: JSON.parse(sent.body.toString()) as Json };
}

/** What Google receives for a request in its own format. */
export function pass(
  text: string,
  { model, refusedFields = [], outputCap }: Sending & { isStream?: boolean } = {},
): Sent {
  const { source, body } = parseBody(Buffer.from(text));
  const terms = { model: modelOf(model), refusedFields, ...(outputCap === undefined ? {} : { outputCap }) };
  const sent = geminiProvider.passRequest({ request: { body, source, chat: makeChat() }, ...terms });
  return { ...sent, conversions: wordsOf(sent), json: JSON.parse(sent.body.toString()) as Json };
}

export const USER = { role: "user", content: "Hi" };

/** Throws what the provider's end says is wrong. */
export function readWhole(body: object | string): WholeResponse {
  const reading = geminiProvider.readResponse(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
  if (!reading.ok) throw new Error(reading.fault.message);
  return reading.response;
}

export function messageIn(body: object, index = 0): Json {
  const choices = readWhole(body).completion.choices as readonly { message: Json }[];
  return choices[index]?.message as Json;
}

export function toSse(chunks: readonly object[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

export function readStream(
  text: string,
  pieceLength = 1 << 20,
): { readonly reader: StreamReader; readonly chunks: readonly ChatChunk[] } {
  const reader = geminiProvider.streamReader(createSseReader());
  const bytes = Buffer.from(text);
  const chunks: ChatChunk[] = [];
  for (let from = 0; from < bytes.length; from += pieceLength) {
    chunks.push(...reader.push(bytes.subarray(from, from + pieceLength)));
  }
  chunks.push(...reader.end());
  return { reader, chunks };
}

/** The deltas of a stream added up, as a client does it. */
export function messageOf(chunks: readonly ChatChunk[], index = 0): Json {
  const message: Json = {};
  for (const { json } of chunks) {
    for (const choice of json.choices as readonly { index: number; delta: Json; finish_reason: unknown }[]) {
      if (choice.index !== index) continue;
      addDelta(message, choice.delta);
      if (choice.finish_reason !== null) message.finish_reason = choice.finish_reason;
    }
  }
  return message;
}

function addDelta(message: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    if (Array.isArray(value)) message[name] = [...((message[name] as unknown[]) ?? []), ...value];
    else message[name] = name === "role" ? value : `${(message[name] as string) ?? ""}${String(value)}`;
  }
}
