// Streams of a Responses provider: cut anywhere they say the same as the whole answer, and never more than was sent.

import { describe, expect, it } from "vitest";
import { fc } from "../../../support/property.ts";
import {
  customCall,
  type FakeItem,
  functionCall,
  message,
  type ResponsesEvent,
  reasoning,
  refusal,
  response,
  responseEvents,
  writeEvent,
} from "../../../support/providers/fake-responses.ts";
import { assembled, type Json, readStream, readWhole } from "./provider-exchange.ts";

const ITEMS = [
  reasoning(["First é.", "Then."], "gAAA"),
  message("Let me look, caf\u00e9 ☕.", "msg_1"),
  functionCall("call_a", "f", { x: "a\nb" }),
  functionCall("call_b", "g", {}),
  customCall("call_c", "patch", "+a\r\n-b"),
  message("Done.", "msg_2"),
];

const sse = (events: readonly ResponsesEvent[]): string => events.map(writeEvent).join("");
const without = (events: readonly ResponsesEvent[], pattern: RegExp): readonly ResponsesEvent[] =>
  events.filter(({ type }) => !pattern.test(type));

/** What a client that reads whole answers gets. */
function wholeMessage(items: readonly FakeItem[]): Json {
  const { choices } = readWhole(response(items, "m")).completion as { choices: readonly { message: Json }[] };
  const { refusal: refused, content, ...rest } = choices[0]?.message ?? {};
  return { ...rest, content: content ?? "", ...(refused === null ? {} : { refusal: refused }) };
}

describe("a stream", () => {
  it.each(["\n", "\r\n", "\r"])("says what the whole answer says, however it is cut, lines ending in %j", (lineEnd) => {
    const bytes = Buffer.from(sse(responseEvents(ITEMS, "m")).replaceAll("\n", lineEnd));
    for (const size of [1, 7, 64, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const { reader, chunks } = readStream(pieces);
      expect(assembled(chunks)).toMatchObject({ message: wholeMessage(ITEMS), finish: "tool_calls" });
      expect(reader.toolCallIds()).toEqual(["call_a", "call_b", "call_c"]);
      expect(reader.progress).toMatchObject({ isFinished: true, isDone: true, isCounted: true, fault: null });
      expect(reader.progress.usage?.buckets).toEqual({ input: 12, cacheRead: 0, cacheWrite: 0, output: 5 });
    }
  });

  it("says the same for any items, with or without the events in between", () => {
    const words = fc.string({ minLength: 1, maxLength: 20 });
    const item = fc.oneof(
      words.map((text) => message(text)),
      words.map((text) => refusal(text)),
      fc
        .tuple(fc.array(words, { maxLength: 3 }), fc.option(words, { nil: undefined }))
        .map(([all, sealed]) => reasoning(all, sealed)),
      fc.dictionary(words, words).map((input) => functionCall("c", "f", input)),
      words.map((input) => customCall("c", "p", input)),
      fc.constant<FakeItem>({ type: "web_search_call" }),
    );
    const missing = fc.constantFrom(
      /^$/,
      /delta$/,
      /item\.added$/,
      /item\.done$/,
      /output_item|delta$/,
      /part|\.done$/,
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 5 }), missing, (given, pattern) => {
        const items = given.map((one, index) => ({
          ...one,
          id: `item_${index}`,
          ...("call_id" in one ? { call_id: `c_${index}` } : {}),
        }));
        const { chunks, reader } = readStream([sse(without(responseEvents(items, "m"), pattern))]);
        expect(assembled(chunks).message).toEqual({ ...wholeMessage(items) });
        expect(reader.progress.isFinished).toBe(true);
      }),
    );
  });

  it("carries each event as it came", () => {
    const events = responseEvents(ITEMS, "m");
    const { chunks } = readStream([sse(events)]);
    expect(chunks.map(({ native }) => native)).toEqual(
      events.map((event) => ({ format: "openai-responses", event: event.type, data: JSON.stringify(event) })),
    );
  });

  it("numbers reasoning entries and keeps log probabilities", () => {
    const items = [reasoning(["A."], "one", "rs_1"), reasoning([], "two", "rs_2"), message("Hi")];
    const events = responseEvents(items, "m").map((event) =>
      event.type === "response.output_text.delta" ? { ...event, logprobs: [{ token: "Hi" }] } : event,
    );
    const { message: said, logprobs } = assembled(readStream([sse(events)]).chunks);
    expect(said.reasoning_details).toMatchObject([
      { id: "rs_1", data: "one", summary: "A.", index: 0 },
      { id: "rs_2", data: "two", index: 1 },
    ]);
    expect(logprobs).toEqual([{ token: "Hi" }]);
  });
});

const CREATED: ResponsesEvent = { type: "response.created", response: { id: "r", model: "m" } };
const added = (item: object, index = 0): ResponsesEvent => ({
  type: "response.output_item.added",
  output_index: index,
  item,
});
const text = (delta: string, index = 0): ResponsesEvent => ({
  type: "response.output_text.delta",
  output_index: index,
  delta,
});
const args = (delta: string, place: object): ResponsesEvent => ({
  type: "response.function_call_arguments.delta",
  delta,
  ...place,
});
const completed = (fields: object = {}): ResponsesEvent => ({
  type: "response.completed",
  response: { status: "completed", ...fields },
});

describe("a strange stream", () => {
  it.each<[string, readonly ResponsesEvent[], Json]>([
    [
      "a delta before its item",
      [CREATED, text("Hi"), added({ type: "message", id: "m" }), completed()],
      { content: "Hi" },
    ],
    [
      "arguments before the name",
      [
        args('{"a"', { item_id: "fc" }),
        added({ type: "function_call", id: "fc", call_id: "c", name: "f" }),
        args(":1}", { output_index: 0 }),
        completed(),
      ],
      { tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } }] },
    ],
    [
      "calls that come in turns",
      [
        added({ type: "function_call", id: "x", call_id: "c", name: "f" }),
        added({ type: "function_call", id: "y", call_id: "d", name: "g" }, 1),
        args("{", { output_index: 0 }),
        args("[", { output_index: 1 }),
        args("}", { output_index: 0 }),
        args("]", { output_index: 1 }),
        completed(),
      ],
      {
        tool_calls: [
          { id: "c", function: { arguments: "{}" } },
          { id: "d", function: { arguments: "[]" } },
        ],
      },
    ],
    [
      "a call without an id or arguments",
      [
        added({ type: "function_call", name: "f" }),
        { type: "response.output_item.done", output_index: 0, item: { type: "function_call", name: "f" } },
        completed(),
      ],
      { tool_calls: [{ id: "call_0", function: { name: "f", arguments: "{}" } }] },
    ],
    [
      "a summary beside the reasoning itself",
      [
        added({ type: "reasoning", id: "r" }),
        { type: "response.reasoning_text.delta", output_index: 0, delta: "Whole." },
        { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "Short." },
        text("Hi", 1),
        completed(),
      ],
      { reasoning_content: "Whole.", content: "Hi" },
    ],
    [
      "events nobody knows",
      [CREATED, { type: "response.novelty", x: 1 }, { type: "keepalive" }, text("Hi"), completed()],
      { content: "Hi" },
    ],
    ["only the end", [completed({ output: ITEMS })], wholeMessage(ITEMS)],
  ])("%s", (_name, events, expected) => {
    const { chunks, reader } = readStream([sse(events)]);
    expect(assembled(chunks).message).toMatchObject(expected);
    expect(reader.progress).toMatchObject({ isFinished: true, fault: null });
    expect(chunks).toHaveLength(events.length);
  });

  it("reads events without a name or with [DONE] after them", () => {
    const raw = [CREATED, text("Hi"), completed()].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { chunks, reader } = readStream([`: hello\n\n${raw}data: [DONE]\n\n`]);
    expect(assembled(chunks).message).toMatchObject({ content: "Hi" });
    expect(reader.progress.fault).toBeNull();
  });
});

describe("progress", () => {
  const done = (item: object, index = 0): ResponsesEvent => ({
    type: "response.output_item.done",
    output_index: index,
    item,
  });

  it.each<[string, readonly ResponsesEvent[], Json]>([
    [
      "nothing yet",
      [CREATED, { type: "response.in_progress" }, added({ type: "reasoning" })],
      { hasContent: false, isFinished: false },
    ],
    ["an item is no content", [added({ type: "message", content: [] })], { hasContent: false, isEndInSight: false }],
    ["a call is content from its name on", [added({ type: "function_call", name: "f" })], { hasContent: true }],
    ["so is a built-in tool", [added({ type: "web_search_call" })], { hasContent: true }],
    [
      "so is reasoning",
      [{ type: "response.reasoning_summary_text.delta", delta: "Hm" }],
      { hasContent: true, outputTokens: 1 },
    ],
    [
      "after an item the end is in sight",
      [text("Hi"), added({ type: "message" }), done({ type: "message" })],
      { isEndInSight: true },
    ],
    ["but not after reasoning", [added({ type: "reasoning" }), done({ type: "reasoning" })], { isEndInSight: false }],
    [
      "nor with another item open",
      [added({ type: "message" }), added({ type: "function_call", name: "f" }, 1), done({ type: "message" })],
      { isEndInSight: false },
    ],
    [
      "a stream that stops is not finished",
      [CREATED, text("Hi")],
      { isFinished: false, isDone: false, usage: null, outputTokens: 1 },
    ],
    [
      "an end without usage is not counted",
      [text("Hi"), completed()],
      { isFinished: true, isCounted: false, usage: null },
    ],
    [
      "the cap ended it before a word",
      [CREATED, { type: "response.incomplete", response: { incomplete_details: { reason: "max_output_tokens" } } }],
      { hasContent: true, isFinished: true },
    ],
  ])("%s", (_name, events, expected) => {
    expect(readStream([sse(events)]).reader.progress).toMatchObject({ fault: null, ...expected });
  });

  it.each<[string, string, Json]>([
    [
      "an error event",
      writeEvent({ type: "error", code: "rate_limit_exceeded", message: "Slow down", param: null }),
      { code: "rate_limit_exceeded", message: "Slow down" },
    ],
    [
      "an error event with the error inside",
      'event: error\ndata: {"error":{"message":"no","code":"server_error"}}\n\n',
      { code: "server_error" },
    ],
    [
      "a response that failed",
      writeEvent({
        type: "response.failed",
        response: { status: "failed", error: { code: "context_length_exceeded", message: "long" } },
      }),
      { code: "context_length_exceeded", isTooLong: true },
    ],
    [
      "one that failed without a word",
      writeEvent({ type: "response.failed", response: { error: null } }),
      { message: "the provider ended the answer with 'response.failed'" },
    ],
    ["no JSON", "data: {\n\n", { code: "unreadable_stream" }],
    ["no object", "data: 5\n\n", { code: "unreadable_stream" }],
  ])("%s is a fault, and nothing is read after it", (_name, broken, fault) => {
    const { reader, chunks } = readStream([sse([CREATED, text("Hi")]) + broken + sse([text("more"), completed()])]);
    expect(reader.progress).toMatchObject({ fault, isFinished: false, hasContent: true });
    expect(assembled(chunks).message).toMatchObject({ content: "Hi" });
  });
});
