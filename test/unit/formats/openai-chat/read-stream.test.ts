// Streams read from a provider and written for a client: the same chunks however the bytes are cut, and an honest end.

import { describe, expect, it } from "vitest";
import type { Usage } from "../../../../src/core/chat.ts";
import { GatewayError } from "../../../../src/core/errors.ts";
import type { ChatChunk } from "../../../../src/formats/format.ts";
import { createOpenaiStreamReader } from "../../../../src/formats/openai-chat/read-stream.ts";
import { readUsage } from "../../../../src/formats/openai-chat/usage.ts";
import { createOpenaiStreamWriter } from "../../../../src/formats/openai-chat/write-stream.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { fc } from "../../../support/property.ts";
import { chunk, event } from "../../../support/providers/fake-provider.ts";

const context = { requestId: "req_1", modelId: "catalogue-id", createdAtSeconds: 1_700_000_000 };
const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const usage: Usage = readUsage({ usage: counts })!;
const DONE = "data: [DONE]\n\n";

function read(text: string, size = text.length) {
  const reader = createOpenaiStreamReader(createSseReader());
  const bytes = Buffer.from(text);
  const chunks: ChatChunk[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) {
    chunks.push(...reader.push(bytes.subarray(at, at + Math.max(1, size))));
  }
  chunks.push(...reader.end());
  return { chunks, progress: reader.progress };
}

const delta = fc.oneof(
  fc.string().map((content) => ({ content })),
  fc.constantFrom({}, { role: "assistant" }, { content: null }, { reasoning_content: "hm" }, { refusal: "no" }),
  fc.record({
    tool_calls: fc.array(fc.record({ index: fc.nat(2), function: fc.record({ arguments: fc.string() }) }), {
      maxLength: 2,
    }),
  }),
);
const stream = fc
  .tuple(fc.array(delta, { maxLength: 8 }), fc.constantFrom("stop", "length", null), fc.boolean())
  .map(([deltas, finish, isDone]) =>
    [
      ...deltas.map((one) => event(chunk("m", one))),
      finish === null ? "" : event(chunk("m", {}, finish)),
      isDone ? DONE : "",
    ].join(""),
  );

describe("the reader", () => {
  it("gives the same chunks and progress however the bytes are cut", () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 50 }), (text, size) => {
        expect(read(text, size)).toEqual(read(text));
      }),
    );
  });

  it("knows what has been seen", () => {
    const text =
      event(chunk("m", { content: "hi" })) +
      event(chunk("m", {}, "stop")) +
      event({ choices: [], usage: counts }) +
      DONE;
    expect(read(text).progress).toEqual({
      hasContent: true,
      isFinished: true,
      isDone: true,
      usage,
      fault: null,
      outputTokens: 1,
      isCounted: true,
      isEndInSight: true,
    });
  });

  it("never invents a finish", () => {
    expect(read(event(chunk("m", { content: "hi" }))).progress).toMatchObject({ isFinished: false, isDone: false });
    expect(read(DONE).progress).toMatchObject({ isFinished: false, isDone: true });
  });

  it.each([
    ["an error event", 'data: {"error":{"message":"overloaded"}}\n\n', "overloaded"],
    ["a named error event", 'event: error\ndata: {"message":"overloaded"}\n\n', "overloaded"],
    ["broken JSON", 'data: {"choices":[\n\n', ""],
    ["something that is no object", "data: 5\n\n", "not a JSON object"],
    ["a finish of error", event(chunk("m", {}, "error")), "error"],
  ])("takes %s for a fault and reads nothing after it", (_name, text, message) => {
    const { chunks, progress } = read(event(chunk("m", { content: "a" })) + text + event(chunk("m", { content: "b" })));
    expect(chunks).toHaveLength(1);
    expect(progress.fault?.message).toContain(message);
  });

  it.each([
    ["with the counts", [{}, {}, { service_tier: "priority" }], "priority"],
    ["early", [{ service_tier: "priority" }, {}, {}], "priority"],
    ["late", [{}, {}, {}, { service_tier: "priority" }], "priority"],
    ["twice, the last one counts", [{ service_tier: "priority" }, {}, { service_tier: "default" }], undefined],
    ["late and after another one", [{ service_tier: "flex" }, {}, {}, { service_tier: "default" }], undefined],
    ["not at all", [{}, {}, {}], undefined],
  ] as const)("knows the service tier that was named %s", (_, [first, second, third, fourth = {}], tier) => {
    const events = [
      { ...chunk("m", { content: "x" }), ...first },
      { ...chunk("m", {}, "stop"), ...second },
      { choices: [], usage: counts, ...third },
      { choices: [], ...fourth },
    ];
    expect(read(events.map(event).join("")).progress.usage?.serviceTier).toBe(tier);
  });

  it("counts the searches that Groq ran, each once", () => {
    const tool = (index: number, type: string) => ({ executed_tools: [{ index, type }] });
    const deltas = [tool(0, "browser.search"), tool(0, "browser.search"), tool(1, "browser.open"), tool(2, "search")];
    const said = [...deltas, { content: "x" }].map((delta) => event(chunk("m", delta)));
    const { progress } = read(said.join("") + event({ ...chunk("m", {}, "stop"), x_groq: { usage: counts } }));
    expect(progress.usage?.parts).toEqual({ search: 2 });
  });

  it("reads usage where Groq puts it, and hides it from the chunks", () => {
    const { chunks, progress } = read(event({ ...chunk("m", { content: "x" }, "stop"), x_groq: { usage: counts } }));
    expect(progress.usage).toEqual(usage);
    expect(chunks[0]?.json).not.toHaveProperty("x_groq");
  });

  it("counts the choices: all must finish", () => {
    const choice = (index: number, finish: string | null) =>
      event({ choices: [{ index, delta: { content: "x" }, finish_reason: finish }] });
    expect(read(choice(0, "stop") + choice(1, null)).progress.isFinished).toBe(false);
    expect(read(choice(0, "stop") + choice(1, null) + choice(1, "stop")).progress.isFinished).toBe(true);
  });

  it("gives two whole calls under one index an index each", () => {
    const call = (id: string, name: string) =>
      event(chunk("m", { tool_calls: [{ index: 0, id, function: { name, arguments: "{}" } }] }));
    const { chunks } = read(call("a", "f") + call("b", "g"));
    const calls = chunks.map(
      ({ json }) => (json.choices as { delta: { tool_calls: object[] } }[])[0]?.delta.tool_calls[0],
    );
    expect(calls).toMatchObject([
      { index: 0, id: "a" },
      { index: 1, id: "b" },
    ]);
  });

  it("numbers calls without holes, whatever indexes the host gives them", () => {
    const call = (index: number, delta: object) => event(chunk("m", { tool_calls: [{ index, ...delta }] }));
    const begin = (id: string) => ({ id, function: { name: "f", arguments: "" } });
    const rest = { function: { arguments: "{}" } };
    const { chunks } = read(call(1, begin("a")) + call(1, rest) + call(3, begin("b")) + call(1, rest) + call(3, rest));
    const indexes = chunks.map(
      ({ json }) => (json.choices as { delta: { tool_calls: { index: number }[] } }[])[0]?.delta.tool_calls[0]?.index,
    );
    expect(indexes).toEqual([0, 0, 1, 0, 1]);
  });

  it("writes ids of their own for calls that came without one, and no others", () => {
    const call = (index: number, id: string | undefined, name?: string) =>
      event(chunk("m", { tool_calls: [{ index, id, function: { name, arguments: "{}" } }] }));
    const text = call(0, "", "f") + call(0, "") + call(1, undefined, "g") + call(2, "own:1", "h") + call(2, "");
    const idsOf = (requestId: string): unknown => {
      const writer = createOpenaiStreamWriter({ ...context, requestId }, { service: { n: 1 }, wantsUsage: false });
      const events = writer.write(read(text).chunks).split("\n\n").slice(0, -1);
      const deltas = events.map((line) => JSON.parse(line.slice(6)).choices[0].delta);
      return deltas.map((delta) => delta.tool_calls[0].id);
    };
    expect(idsOf("req_1")).toEqual(["call_req_1_0", "", "call_req_1_1", "own:1", ""]);
    expect(idsOf("req_2")).toEqual(["call_req_2_0", "", "call_req_2_1", "own:1", ""]);
  });

  it("makes text of arguments that come as an object", () => {
    const { chunks } = read(
      event(chunk("m", { tool_calls: [{ id: "a", function: { name: "f", arguments: { n: 1 } } }] })),
    );
    expect(chunks[0]?.json).toMatchObject({
      choices: [{ delta: { tool_calls: [{ function: { arguments: '{"n":1}' } }] } }],
    });
  });
});

describe("an answer that came whole though a stream was asked for", () => {
  const calls = [
    { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
    { id: "b", type: "function", function: { name: "g", arguments: '{"n":1}' } },
  ];
  const whole = (message: object, more: object = {}): string =>
    JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, message }], usage: counts, ...more });

  it("is read as the chunks that a stream would have had, however it is cut", () => {
    const text = `\n ${whole({ role: "assistant", content: "hi", tool_calls: calls })}`;
    const { chunks, progress } = read(text);
    expect(chunks.map(({ json, hasContent, isFinish }) => [json.choices, hasContent, isFinish])).toEqual([
      [
        [
          {
            index: 0,
            delta: { role: "assistant", content: "hi", tool_calls: calls.map((call, index) => ({ ...call, index })) },
            finish_reason: null,
          },
        ],
        true,
        false,
      ],
      [[{ index: 0, delta: {}, finish_reason: "tool_calls" }], false, true],
    ]);
    expect(progress).toMatchObject({ hasContent: true, isFinished: true, isDone: true, usage, fault: null });
    for (const size of [1, 7]) expect(read(text, size)).toEqual({ chunks, progress });
  });

  it("is written as a stream", () => {
    const writer = createOpenaiStreamWriter(context, { service: { n: 1 }, wantsUsage: false });
    const { chunks } = read(whole({ content: "hi" }, { choices: [{ message: { content: "hi" } }] }));
    const text = writer.write(chunks) + writer.end({ n: 2 }, usage);
    const events = text.split("\n\n").filter((line) => line !== "");
    expect(events.at(-1)).toBe("data: [DONE]");
    expect(events.slice(0, -1).map((line) => JSON.parse(line.slice(6)))).toMatchObject([
      { object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", content: "hi" } }] },
      { object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], service: { n: 2 } },
    ]);
    expect(text).not.toContain("message");
  });

  it.each([
    ["an error", '{"error":{"message":"no such thing","code":"c"}}', "no such thing"],
    ["nothing said", whole({ content: "" }, { usage: undefined }), "the answer is empty"],
    ["half of it", whole({ content: "hi" }).slice(0, -9), "the answer is not a JSON object"],
    ["more than is accepted", whole({ content: "x".repeat(33 << 20) }), "the answer is not a JSON object"],
  ])("%s is a fault", (_name, text, message) => {
    const { chunks, progress } = read(text);
    expect(chunks).toEqual([]);
    expect(progress).toMatchObject({ hasContent: false, fault: { message } });
  });
});

describe("the writer", () => {
  const write = (wantsUsage: boolean) => createOpenaiStreamWriter(context, { service: { n: 1 }, wantsUsage });
  const { chunks } = read(event(chunk("upstream", { content: "a" })) + event(chunk("upstream", {}, "stop")));
  const events = (text: string) =>
    text
      .trim()
      .split("\n\n")
      .map((one) => one.replace("data: ", ""));

  it("keeps the finishing chunk until the end is settled", () => {
    const writer = write(false);
    const first = writer.write(chunks);
    expect(events(first)).toHaveLength(1);
    expect(first).not.toContain('"stop"');
    const [finish, done] = events(writer.end({ n: 2 }, usage));
    expect(JSON.parse(finish as string)).toMatchObject({
      model: "catalogue-id",
      service: { n: 2 },
      choices: [{ finish_reason: "stop" }],
    });
    expect(done).toBe("[DONE]");
  });

  it("puts usage into a chunk of its own when it is wanted", () => {
    const writer = write(true);
    writer.write(chunks);
    const [finish, last, done] = events(writer.end({ n: 2 }, usage));
    expect(JSON.parse(finish as string)).toMatchObject({ usage: null });
    expect(JSON.parse(last as string)).toMatchObject({ choices: [], usage: counts, service: { n: 2 } });
    expect(done).toBe("[DONE]");
  });

  it("fails without the finish and without [DONE]", () => {
    const writer = write(false);
    writer.write(chunks);
    const text = writer.fail(new GatewayError("providersFailed", "It broke.", { code: "stream_interrupted" }));
    expect(events(text)).toHaveLength(1);
    expect(JSON.parse(events(text)[0] as string)).toMatchObject({
      error: { message: "It broke.", request_id: "req_1" },
    });
  });

  it("never shows the upstream name", () => {
    const writer = write(true);
    expect(writer.write(chunks) + writer.end({}, usage)).not.toContain("upstream");
  });
});
