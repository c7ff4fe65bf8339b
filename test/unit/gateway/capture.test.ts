// What is heard of an answer, whole or in pieces, and where hearing ends.

import { describe, expect, it } from "vitest";
import type { ChatChunk, StreamWriter, WholeAnswer } from "../../../src/formats/format.ts";
import { type Heard, listenFor, TEXT_MAX } from "../../../src/gateway/capture.ts";

const WRITER: StreamWriter = {
  ping: ":",
  write: (chunks) => `${chunks.length} chunks`,
  end: () => "end",
  fail: () => "fail",
};

const chunk = (delta: object, index = 0): ChatChunk => ({
  json: { choices: [{ index, delta, finish_reason: null }] },
  hasContent: true,
  isFinish: false,
});
const whole = (...messages: object[]): WholeAnswer =>
  ({ completion: { choices: messages.map((message, index) => ({ index, message })) } }) as unknown as WholeAnswer;
const listen = (): Heard => listenFor({ toolCalls: true, text: true }) as Heard;

it("nothing is heard when nobody will ask", () => {
  expect(listenFor({ toolCalls: false, text: false })).toBeNull();
});

describe("a stream", () => {
  it("passes unchanged and is put together", () => {
    const heard = listen();
    const writer = heard.listening(WRITER);
    const call = (index: number, part: object) => chunk({ tool_calls: [{ index, function: part }] });
    expect(writer.write([chunk({ content: "Let me " }), chunk({ content: "look." })])).toBe("2 chunks");
    writer.write([call(0, { name: "weather", arguments: "" }), call(1, { name: "now", arguments: "{}" })]);
    writer.write([call(0, { arguments: '{"city":' }), call(0, { arguments: '"Rome"}' })]);
    expect(heard.text).toBe("Let me look.");
    expect(heard.toolCalls()).toEqual([
      { name: "weather", arguments: '{"city":"Rome"}' },
      { name: "now", arguments: "{}" },
    ]);
    expect([writer.end({}, {} as never), writer.ping]).toEqual(["end", ":"]);
  });

  it("keeps no text that was not asked for", () => {
    const heard = listenFor({ toolCalls: true, text: false }) as Heard;
    heard.listening(WRITER).write([chunk({ content: "secret" })]);
    expect(heard.text).toBe("");
  });
});

describe("a whole answer", () => {
  it("gives text and calls, those of the deprecated kind too", () => {
    const heard = listen();
    heard.whole(
      whole(
        { content: "One", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
        { content: "Two", function_call: { name: "g", arguments: "[]" } },
      ),
    );
    expect(heard.text).toBe("One\n\nTwo");
    expect(heard.toolCalls().map(({ name }) => name)).toEqual(["f", "g"]);
  });
});

describe("an answer that was cut off", () => {
  const half = { tool_calls: [{ index: 0, function: { name: "f", arguments: '{"city":"Ro' } }] };
  const full = { tool_calls: [{ index: 0, function: { name: "g", arguments: "{}" } }] };

  it.each(["length", "content_filter"])("by %s leaves the calls of that choice unjudged", (finish) => {
    const choices = [
      { index: 0, message: half, finish_reason: finish },
      { index: 1, message: full, finish_reason: "tool_calls" },
    ];
    const heard = listen();
    heard.whole({ completion: { choices } } as unknown as WholeAnswer);
    expect(heard.toolCalls().map(({ name }) => name)).toEqual(["g"]);
    const streamed = listen();
    const writer = streamed.listening(WRITER);
    writer.write([chunk(half, 0), chunk(full, 1)]);
    const json = { choices: [{ index: 0, delta: {}, finish_reason: finish }] };
    writer.write([{ json, hasContent: false, isFinish: true }]);
    expect(streamed.toolCalls().map(({ name }) => name)).toEqual(["g"]);
  });
});

describe("bounds", () => {
  it("cut the text and say so", () => {
    const heard = listen();
    heard.whole(whole({ content: "x".repeat(TEXT_MAX + 5) }));
    expect([heard.text.length, heard.isCut]).toEqual([TEXT_MAX, true]);
  });

  it("leave arguments unjudged that are too long to keep", () => {
    const heard = listen();
    heard.whole(whole({ tool_calls: [{ function: { name: "f", arguments: `"${"x".repeat(70_000)}"` } }] }));
    expect(heard.toolCalls()).toEqual([]);
  });
});
