// What is heard of an answer, whole or in pieces, and where hearing ends.

import { describe, expect, it } from "vitest";
import type { CapturedResponse } from "../../../src/core/call-report.ts";
import type { ChatChunk, StreamWriter, WholeResponse } from "../../../src/formats/format.ts";
import { type CaptureWish, createCapture, type ResponseCapture, TEXT_MAX } from "../../../src/gateway/capture.ts";

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
const whole = (...messages: object[]): WholeResponse =>
  ({ completion: { choices: messages.map((message, index) => ({ index, message })) } }) as unknown as WholeResponse;
const EVERYTHING: CaptureWish = { toolCalls: true, text: true, metadata: false };

/** A capture whose content is read like the report reads it. */
function listen(wish: Partial<CaptureWish> = {}): ResponseCapture & CapturedResponse {
  const capture = createCapture({ ...EVERYTHING, ...wish });
  const content = capture.content as CapturedResponse;
  return {
    ...capture,
    toolCalls: () => content.toolCalls(),
    get text() {
      return content.text;
    },
    get isCut() {
      return content.isCut;
    },
    get isCutShort() {
      return content.isCutShort;
    },
  };
}

it("nothing is heard when nobody will ask", () => {
  const capture = createCapture({ toolCalls: false, text: false, metadata: false });
  expect([capture.content, capture.metadata, capture.watching(WRITER)]).toEqual([null, null, WRITER]);
});

describe("a stream", () => {
  it("passes unchanged and is put together", () => {
    const heard = listen();
    const writer = heard.watching(WRITER);
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
    const heard = listen({ text: false });
    heard.watching(WRITER).write([chunk({ content: "secret" })]);
    expect(heard.text).toBe("");
  });
});

describe("a whole answer", () => {
  it("gives text and calls, those of the deprecated kind too", () => {
    const heard = listen();
    heard.response(
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
    heard.response({ completion: { choices } } as unknown as WholeResponse);
    expect(heard.toolCalls().map(({ name }) => name)).toEqual(["g"]);
    const streamed = listen();
    const writer = streamed.watching(WRITER);
    writer.write([chunk(half, 0), chunk(full, 1)]);
    const json = { choices: [{ index: 0, delta: {}, finish_reason: finish }] };
    writer.write([{ json, hasContent: false, isFinish: true }]);
    expect(streamed.toolCalls().map(({ name }) => name)).toEqual(["g"]);
  });
});

describe("bounds", () => {
  it("cut the text and say so", () => {
    const heard = listen();
    heard.response(whole({ content: "x".repeat(TEXT_MAX + 5) }));
    expect([heard.text.length, heard.isCut]).toEqual([TEXT_MAX, true]);
  });

  it("leave arguments unjudged that are too long to keep", () => {
    const heard = listen();
    heard.response(whole({ tool_calls: [{ function: { name: "f", arguments: `"${"x".repeat(70_000)}"` } }] }));
    expect(heard.toolCalls()).toEqual([]);
  });
});

describe("what a provider says of its response", () => {
  const NOTHING = { model: null, finishReasons: [] };
  const capture = (): ResponseCapture => createCapture({ toolCalls: false, text: false, metadata: true });
  const completed = (completion: object): WholeResponse => ({ completion }) as unknown as WholeResponse;

  it("is the model and why each choice finished", () => {
    const told = capture();
    told.response(completed({ model: "m-1", choices: [{ finish_reason: "stop" }, { finish_reason: "length" }] }));
    expect(told.metadata).toEqual({ model: "m-1", finishReasons: ["stop", "length"] });
  });

  it("is captured from a stream on its way, and changes nothing of it", () => {
    const told = capture();
    const chunks = [
      { model: "m-1", choices: [{ delta: { content: "x" }, finish_reason: null }] },
      { model: "m-2", choices: [{ delta: {}, finish_reason: "stop" }] },
      {},
    ].map((json) => ({ json, hasContent: true, isFinish: false }));
    expect(told.watching(WRITER).write(chunks)).toBe("3 chunks");
    expect(told.metadata).toEqual({ model: "m-1", finishReasons: ["stop"] });
  });

  it.each([
    { model: 5, choices: "none" },
    { model: "", choices: [null, {}, { finish_reason: { a: 1 } }] },
    { model: "x".repeat(10_000), choices: [{ finish_reason: "y".repeat(10_000) }] },
  ])("is nothing where it is no word: %#", (completion) => {
    const told = capture();
    told.response(completed(completion));
    expect(told.metadata).toEqual(NOTHING);
  });

  it("has no more than a few reasons", () => {
    const told = capture();
    told.response(completed({ choices: Array.from({ length: 1_000 }, () => ({ finish_reason: "stop" })) }));
    expect(told.metadata?.finishReasons).toHaveLength(16);
  });
});
