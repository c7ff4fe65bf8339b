// What the tests of the provider's end share: chat requests written for it, and its answers and streams read.

import type { Model } from "../../../../src/core/model.ts";
import { writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ChatChunk, StreamReader } from "../../../../src/formats/format.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { responsesProvider } from "../../../../src/formats/openai-responses/provider.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { type ModelOverrides, makeModel } from "../../../support/catalog.ts";
import { wordsOf } from "../../../support/formats/conversions.ts";

export type Json = Record<string, unknown>;

export interface Sending {
  readonly model?: ModelOverrides;
  readonly refusedFields?: readonly string[];
  readonly outputCap?: number;
}

/** What the provider receives for a chat request. */
export function sendChat(body: object, { model = {}, refusedFields = [], outputCap }: Sending = {}) {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify(body)));
  const target: Model = makeModel(model);
  const spoken = { format: openaiChat, request: openaiChat.readRequest(source, parsed) };
  const terms = { model: target, refusedFields, outputCap: outputCap ?? null };
  const sent = writeProviderRequest(spoken, responsesProvider, terms);
  return { ...sent, conversions: wordsOf(sent), json: JSON.parse(sent.body.toString()) as Json };
}

/** The completion that a whole answer becomes. */
export function readWhole(answer: object): { completion: Json; outputText: string; toolCallIds: readonly string[] } {
  const reading = responsesProvider.readResponse(Buffer.from(JSON.stringify(answer)));
  if (!reading.ok) throw new Error(reading.fault.message);
  const { completion, outputText } = reading.response;
  return { completion: completion as Json, outputText, toolCallIds: reading.response.toolCallIds() };
}

export interface ReadStream {
  readonly reader: StreamReader;
  readonly chunks: readonly ChatChunk[];
}

export function readStream(pieces: readonly (string | Buffer)[]): ReadStream {
  const reader = responsesProvider.streamReader(createSseReader());
  const chunks = pieces.flatMap((piece) => [...reader.push(Buffer.from(piece))]);
  return { reader, chunks: [...chunks, ...reader.end()] };
}

interface Delta extends Json {
  readonly tool_calls?: readonly (Json & { readonly index: number })[];
}

/** The message that the deltas of a stream come to, and how it finished. */
export function assembled(chunks: readonly ChatChunk[]): {
  message: Json;
  finish: unknown;
  logprobs: readonly unknown[];
} {
  const message: Json = {};
  const calls: Json[] = [];
  const logprobs: unknown[] = [];
  let finish: unknown = null;
  for (const { json } of chunks) {
    for (const choice of json.choices as readonly Json[]) {
      const { tool_calls: pieces = [], ...delta } = choice.delta as Delta;
      finish = choice.finish_reason ?? finish;
      logprobs.push(...(((choice.logprobs as Json | null)?.content as readonly unknown[]) ?? []));
      add(message, delta);
      for (const { index, ...piece } of pieces) {
        calls[index] ??= {};
        add(calls[index] as Json, piece);
      }
    }
  }
  if (calls.length > 0) message.tool_calls = calls;
  return { message, finish, logprobs };
}

/** Texts grow but for those that name something; lists are joined. */
function add(whole: Json, delta: Json): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = whole[name];
    if (typeof before === "string" && !["role", "id", "type", "name"].includes(name))
      whole[name] = before + String(value);
    else if (Array.isArray(before)) whole[name] = [...before, ...(value as unknown[])];
    else if (typeof before === "object" && before !== null) add(before as Json, value as Json);
    else whole[name] = typeof value === "object" && !Array.isArray(value) ? { ...value } : value;
  }
}
