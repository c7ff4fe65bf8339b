// Calls without arguments, which clients parse: the empty object, unless the answer was cut before they came.

import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../../../src/formats/anthropic/codec.ts";
import { createClientStream, writeClientResponse } from "../../../../src/formats/bridge.ts";
import type { JsonObject } from "../../../../src/formats/json/fields.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { SERVICE, usageOf } from "../anthropic/exchange.ts";

const context = { requestId: "req_1", modelId: "m", createdAtSeconds: 1 };

interface Call {
  readonly index: number;
  readonly function?: { readonly arguments?: string };
}

function whole(calls: readonly object[], finish = "tool_calls"): readonly unknown[] {
  const message = { role: "assistant", content: null, tool_calls: calls };
  const body = { choices: [{ index: 0, message, finish_reason: finish }] };
  const reading = openaiChat.readResponse(Buffer.from(JSON.stringify(body)));
  if (!reading.ok) throw new Error(reading.fault.message);
  const written = writeClientResponse(openaiChat, reading.response, {
    context,
    additions: { service: SERVICE, usage: null },
  });
  const { choices } = JSON.parse(written.toString()) as { choices: [{ message: { tool_calls: Call[] } }] };
  return choices[0].message.tool_calls.map((call) => call.function?.arguments);
}

/** The arguments of each call, as a client adds them up. */
function added(text: string): readonly string[] {
  const sums: string[] = [];
  for (const line of text.split("\n\n")) {
    if (!line.startsWith("data: {")) continue;
    const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { tool_calls?: Call[] } }[] };
    for (const { index, function: called } of choices[0]?.delta.tool_calls ?? []) {
      sums[index] = (sums[index] ?? "") + (called?.arguments ?? "");
    }
  }
  return sums;
}

function streamed(events: readonly string[], format = openaiChat): readonly string[] {
  const reader = format.streamReader(createSseReader());
  const writer = createClientStream(openaiChat, context, { service: SERVICE, wantsUsage: false });
  const text = events.map((event) => writer.write(reader.push(Buffer.from(event)))).join("");
  return added(text + writer.end(SERVICE, usageOf(1, 2)));
}

const event = (delta: JsonObject, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (index: number, text: string | undefined): JsonObject => ({
  tool_calls: [{ index, id: `call_a${index}`, type: "function", function: { name: "f", arguments: text } }],
});
const more = (index: number, text: string): JsonObject => ({ tool_calls: [{ index, function: { arguments: text } }] });

describe("a call without arguments", () => {
  const bare = (text?: string) => ({ id: "call_a", type: "function", function: { name: "f", arguments: text } });

  it.each([
    ["empty", [bare("")], "tool_calls", ["{}"]],
    ["absent", [bare()], "stop", ["{}"]],
    ["beside another", [bare('{"a":1}'), bare("")], "tool_calls", ['{"a":1}', "{}"]],
    ["cut", [bare("")], "length", [""]],
  ])("has the empty object in a whole answer: %s", (_name, calls, finish, expected) => {
    expect(whole(calls, finish)).toEqual(expected);
  });

  it.each([
    ["empty", [event(call(0, "")), event({}, "tool_calls")], ["{}"]],
    ["absent", [event(call(0, undefined)), event({}, "stop")], ["{}"]],
    ["in the finishing chunk", [event(call(0, ""), "tool_calls")], ["{}"]],
    ["followed by empty pieces", [event(call(0, "")), event(more(0, "")), event({}, "tool_calls")], ["{}"]],
    [
      "beside one in pieces",
      [
        ...[event(call(0, "")), event(call(1, ""))],
        ...[...'{"a":"bcdefgh"}'].map((letter) => event(more(1, letter))),
        event({}, "tool_calls"),
      ],
      ["{}", '{"a":"bcdefgh"}'],
    ],
    ["cut", [event(call(0, "")), event({}, "length")], [""]],
  ])("has the empty object in a stream: %s", (_name, events, expected) => {
    expect(streamed(events)).toEqual(expected);
  });

  it("has the empty object in a stream of another format", () => {
    const events = [
      { type: "message_start", message: { id: "m", role: "assistant", usage: { input_tokens: 1, output_tokens: 1 } } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "toolu_a", name: "f", input: {} },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    expect(streamed(events, anthropicMessages)).toEqual(["{}"]);
  });
});
