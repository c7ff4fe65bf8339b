// Streams as hosts really send them, and as a client then gets them: one shape, complete, in order.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Chunk, chunk, event, streams, textChunks, USAGE } from "../../support/providers/fake-provider.ts";
import { type Lab, openLab, readStream, type StreamEvents } from "../lab.ts";

const role = chunk("alpha", { role: "assistant", content: "" });
const hello = chunk("alpha", { content: "Hello" });
const finish = chunk("alpha", {}, "stop");
const TEXT = "Grüße, 世界 and 🚂 all";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

async function relayed(chunks: readonly Chunk[], body: object = {}): Promise<StreamEvents> {
  lab.provider.on("alpha", streams(chunks));
  const stream = await readStream(await lab.ask({ stream: true, ...body }));
  expect(stream.isDone).toBe(true);
  expect(stream.error).toBeNull();
  expect(lab.provider.callsTo("beta")).toBe(0);
  return stream;
}

describe("framing", () => {
  const plain = textChunks(TEXT, "alpha").map((one) => event(one as object));
  const bytes = [...Buffer.from(`${plain.join("")}data: [DONE]\n\n`)].map((byte) => Buffer.from([byte]));

  test.each<readonly [string, readonly string[]]>([
    ["LF", plain],
    ["CRLF", plain.map((text) => text.replaceAll("\n", "\r\n"))],
    ["CR", plain.map((text) => text.replaceAll("\n", "\r"))],
    ["no space after the colon", plain.map((text) => text.replace("data: ", "data:"))],
    ["comments between events", plain.map((text) => `: OPENROUTER PROCESSING\n\n${text}`)],
    ["comments and ids inside events", plain.map((text) => `: here\nid: 7\nretry: 100\n${text}`)],
    ["event: message", plain.map((text) => `event: message\n${text}`)],
    ["everything in one write", [plain.join("")]],
    ["events without data", plain.map((text) => `event: ping\n\ndata:\n\n${text}`)],
  ])("%s", async (_name, chunks) => {
    expect((await relayed(chunks)).text).toBe(TEXT);
  });

  test("one byte at a time", async () => {
    lab.provider.on("alpha", async ({ response, socket }) => {
      socket.setNoDelay(true);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of bytes) {
        response.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const { text, isDone } = await readStream(await lab.ask({ stream: true }));
    expect({ text, isDone }).toEqual({ text: TEXT, isDone: true });
  });

  test("the last event without its blank line, no [DONE]", async () => {
    lab.provider.on("alpha", streams([...plain.slice(0, -1), plain.at(-1)!.trimEnd()], { ending: "end" }));
    const { text, isDone } = await readStream(await lab.ask({ stream: true }));
    expect({ text, isDone }).toEqual({ text: TEXT, isDone: true });
  });

  test("a wrong content type", async () => {
    lab.provider.on("alpha", ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`${plain.join("")}data: [DONE]\n\n`);
    });
    expect((await readStream(await lab.ask({ stream: true }))).text).toBe(TEXT);
  });
});

describe("the service object", () => {
  test("stands on the first chunk and again on the last, with the savings of the real usage", async () => {
    lab.provider.on("alpha", streams([role, hello, finish], { usage: USAGE }));
    const { events } = await readStream(await lab.ask({ stream: true }));
    const carriers = events.filter(({ service }) => service !== undefined);
    expect(carriers).toEqual([events[0], events.at(-1)]);
    expect(events[0]!.service).toMatchObject({ model: "alpha", fallback: false });
    expect(events.at(-1)!.choices![0]!.finish_reason).toBe("stop");
    await lab.reset();
    const whole = (await (await lab.ask()).json()) as { service: { savingsPct: number } };
    expect(events.at(-1)!.service!.savingsPct).toBe(whole.service.savingsPct);
  });

  test("stands on the usage chunk when that is the last", async () => {
    lab.provider.on("alpha", streams([role, hello, finish], { usage: USAGE }));
    const { events } = await readStream(await lab.ask({ stream: true, stream_options: { include_usage: true } }));
    expect(events.at(-1)).toMatchObject({ choices: [], usage: USAGE, service: { model: "alpha" } });
    expect(events.at(-2)!.service).toBeUndefined();
  });

  test("id, created and model are the same on every chunk", async () => {
    const { events } = await relayed([{ ...role, id: "first" }, { ...hello, id: "second", model: "other" }, finish]);
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set(["first"]));
    expect(new Set(events.map(({ model }) => model))).toEqual(new Set(["alpha"]));
  });
});

describe("usage", () => {
  const usageChunk = { ...chunk("alpha", {}), choices: [], usage: USAGE };
  const places: readonly (readonly [string, readonly Chunk[]])[] = [
    ["in a chunk of its own", [role, hello, finish, usageChunk]],
    ["on the finish chunk", [role, hello, { ...finish, usage: USAGE }]],
    ["in x_groq", [role, hello, { ...finish, x_groq: { id: "r", usage: USAGE } }]],
    ["on every chunk, growing", [role, { ...hello, usage: { ...USAGE, completion_tokens: 1 } }, finish, usageChunk]],
  ];

  test.each(places)("%s: shown when asked for", async (_name, chunks) => {
    const { events } = await relayed(chunks, { stream_options: { include_usage: true } });
    expect(events.filter(({ usage }) => (usage ?? null) !== null)).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: USAGE });
  });

  test.each(places)("%s: hidden when not asked for, but always asked for upstream", async (_name, chunks) => {
    const { events } = await relayed(chunks);
    expect(events.some(({ usage }) => usage !== undefined)).toBe(false);
    expect(events.some((one) => "x_groq" in one)).toBe(false);
    expect(events.every(({ choices }) => choices!.length > 0)).toBe(true);
    expect(lab.provider.requests[0]!.body.stream_options).toEqual({ include_usage: true });
  });

  test("none at all: an estimate is shown to a client that asked", async () => {
    const { events } = await relayed([role, hello, finish], { stream_options: { include_usage: true } });
    expect(events.at(-1)!.usage).toMatchObject({ completion_tokens: 2 });
  });
});

describe("what hosts leave out is filled in", () => {
  test("tool calls without index, id and type", async () => {
    const { events } = await relayed([
      chunk("alpha", { tool_calls: [{ function: { name: "look", arguments: "" } }] }),
      chunk("alpha", { tool_calls: [{ function: { arguments: '{"a":' } }] }),
      chunk("alpha", { tool_calls: [{ function: { arguments: "1}" } }] }),
      chunk("alpha", { tool_calls: [{ function: { name: "find", arguments: "{}" } }] }),
      finish,
    ]);
    const calls = events.flatMap(({ choices }) => choices![0]!.delta.tool_calls ?? []);
    expect(calls).toMatchObject([
      { index: 0, id: expect.stringMatching(/./), type: "function", function: { name: "look" } },
      { index: 0, function: { arguments: '{"a":' } },
      { index: 0, function: { arguments: "1}" } },
      { index: 1, id: expect.stringMatching(/./), type: "function", function: { name: "find" } },
    ]);
    expect(events.at(-1)!.choices![0]!.finish_reason).toBe("tool_calls");
  });

  test("a first chunk without choices, and the role", async () => {
    const filter = { ...chunk("alpha", {}), choices: [], prompt_filter_results: [] };
    const { events, text } = await relayed([filter, hello, finish]);
    expect(text).toBe("Hello");
    expect(events[0]!.choices![0]!.delta.role).toBe("assistant");
  });
});

test("n: 2, interleaved, is complete when both choices have finished", async () => {
  const at = (index: number, delta: object, reason: string | null = null): object => ({
    ...chunk("alpha", {}),
    choices: [{ index, delta, finish_reason: reason }],
  });
  const chunks = [
    at(0, { content: "a" }),
    at(1, { content: "b" }),
    at(0, {}, "stop"),
    at(1, { content: "c" }),
    at(1, {}, "length"),
  ];
  const { events } = await relayed(chunks, { n: 2 });
  const finishes = events.flatMap(({ choices }) => choices!).filter((choice) => choice.finish_reason !== null);
  expect(finishes.map(({ index, finish_reason: reason }) => [index, reason])).toEqual([
    [0, "stop"],
    [1, "length"],
  ]);
  lab.provider.on("alpha", streams(chunks.slice(0, -1)));
  const broken = await readStream(await lab.ask({ stream: true, n: 2 }));
  expect(broken.isDone).toBe(false);
  expect(broken.error?.code).toBe("stream_interrupted");
});
