// The provider's Messages stream: read the same however it is cut, honest about how it ended.

import { describe, expect, it } from "vitest";
import { fc } from "../../../support/property.ts";
import { FORMATS, type Json, readStream, toSse } from "./exchange.ts";

const { anthropic } = FORMATS;

const START: Json = {
  type: "message_start",
  message: { id: "msg_1", model: "m", usage: { input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 1 } },
};
const FINISH: readonly Json[] = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: null, output_tokens: 3 } },
  { type: "message_stop" },
];

const blocks = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text"), pieces: fc.array(fc.string({ unit: "binary" })) }),
    fc.record({ type: fc.constant("thinking"), pieces: fc.array(fc.string()) }),
    fc.record({ type: fc.constant("tool_use"), pieces: fc.constantFrom<string[]>([], ['{"a"', ":1}"]) }),
    fc.record({ type: fc.constant("server_tool_use"), pieces: fc.constant(['{"q":1}']) }),
  ),
  { maxLength: 5 },
);

function eventsOf(given: readonly { type: string; pieces: readonly string[] }[]): readonly Json[] {
  const middle = given.flatMap(({ type, pieces }, index) => [
    {
      type: "content_block_start",
      index,
      content_block: { type, ...(type.endsWith("use") ? { id: `t_${index}`, name: "f", input: {} } : {}) },
    },
    ...pieces.map((piece) => ({ type: "content_block_delta", index, delta: deltaOf(type, piece) })),
    { type: "content_block_stop", index },
  ]);
  return [START, ...middle, ...FINISH];
}

function deltaOf(type: string, piece: string): Json {
  if (type === "text") return { type: "text_delta", text: piece };
  return type === "thinking"
    ? { type: "thinking_delta", thinking: piece }
    : { type: "input_json_delta", partial_json: piece };
}

describe("any split of the bytes", () => {
  it("gives the same chunks, events and progress", () => {
    fc.assert(
      fc.property(blocks, fc.array(fc.nat()), (given, cuts) => {
        const bytes = Buffer.from(toSse(eventsOf(given)));
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
        const whole = readStream(anthropic, [bytes]);
        const cut = readStream(anthropic, pieces);
        expect(cut.chunks).toEqual(whole.chunks);
        expect(cut.reader.progress).toEqual(whole.reader.progress);
        expect(whole.chunks).toHaveLength(eventsOf(given).length);
        expect(whole.reader.progress).toMatchObject({
          isFinished: true,
          isDone: true,
          usage: { buckets: { input: 4, cacheRead: 2, output: 3 } },
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe("progress", () => {
  it.each<[string, readonly Json[], object]>([
    [
      "the input is counted from the start on",
      [START],
      { hasContent: false, isFinished: false, usage: { buckets: { input: 4, cacheRead: 2 } } },
    ],
    [
      "an end that does not count the output leaves no usage",
      [START, { type: "message_delta", delta: { stop_reason: "end_turn" } }],
      { isFinished: true, usage: null },
    ],
    ["a ping is not content", [START, { type: "ping" }], { hasContent: false }],
    [
      "an empty text block is not content",
      [START, { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }],
      { hasContent: false },
    ],
    [
      "a tool call is content from its name on",
      [
        START,
        { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "f", input: {} } },
      ],
      { hasContent: true },
    ],
    [
      "a refusal without a word is an answer",
      [START, { type: "message_delta", delta: { stop_reason: "refusal" } }],
      { hasContent: true, isFinished: true },
    ],
    [
      "the end of a call that only warms the cache is an answer",
      [START, { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 0 } }],
      { hasContent: true, isFinished: true },
    ],
    [
      "a cut stream has not finished",
      [START, { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } }],
      { hasContent: true, isFinished: false, isEndInSight: false, outputTokens: 1 },
    ],
  ])("%s", (_name, events, expected) => {
    expect(readStream(anthropic, [Buffer.from(toSse(events))]).reader.progress).toMatchObject(expected);
  });
});

describe("faults", () => {
  it("an error event ends the reading", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const { reader, chunks } = readStream(anthropic, [Buffer.from(toSse([START, error, ...FINISH]))]);
    expect(reader.progress.fault).toMatchObject({ message: "Overloaded", code: "overloaded_error", param: "" });
    expect(reader.progress.isFinished).toBe(false);
    expect(chunks).toHaveLength(1);
  });

  it.each(["data: {broken\n\n", "data: 7\n\n"])("%j is a fault", (text) => {
    expect(readStream(anthropic, [Buffer.from(text)]).reader.progress.fault?.code).toBe("unreadable_stream");
  });

  it("events are understood without their event line", () => {
    const { reader } = readStream(anthropic, [
      Buffer.from([START, ...FINISH].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")),
    ]);
    expect(reader.progress).toMatchObject({ isDone: true, isFinished: true });
  });
});
