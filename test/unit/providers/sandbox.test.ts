// The built-in provider: the same answer for the same request, whole or streamed.

import { describe, expect, test } from "vitest";
import type { WholeResponse } from "../../../src/formats/format.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../src/formats/sse/reader.ts";
import { createSandbox } from "../../../src/providers/sandbox.ts";
import type { ReplyBody } from "../../../src/providers/transport.ts";

const sandbox = createSandbox();
const ASK = { model: "gpt-x", messages: [{ role: "user", content: "What is the capital of France?" }] };
const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 2 }, unit: { enum: ["C", "F"] } },
      required: ["city", "days", "unit"],
    },
  },
};
const OTHER = { type: "function", function: { name: "other" } };

async function open(body: object, signal = new AbortController().signal): Promise<ReplyBody> {
  const isStream = (body as { stream?: boolean }).stream === true;
  const request = { path: "/chat/completions", headers: {}, body: Buffer.from(JSON.stringify(body)), isStream, signal };
  const reply = await sandbox.send(request);
  if (!reply.ok || reply.status !== 200) throw new Error("the sandbox always answers");
  return reply.body;
}

async function bytesOf(body: object): Promise<Buffer> {
  const reply = await open(body);
  const chunks: Buffer[] = [];
  for (let chunk = await reply.read(); chunk !== null; chunk = await reply.read()) chunks.push(chunk);
  expect(reply.failure).toBeNull();
  return Buffer.concat(chunks);
}

interface Choice {
  readonly message: { readonly content: string | null; readonly tool_calls?: readonly ToolCall[] };
  readonly finish_reason: string;
}

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

async function wholeOf(body: object): Promise<{ answer: WholeResponse; choices: readonly Choice[] }> {
  const reading = openaiChat.readResponse(await bytesOf(body));
  if (!reading.ok) throw new Error(reading.fault.message);
  return { answer: reading.response, choices: reading.response.completion.choices as readonly Choice[] };
}

test("a service tier is simulated as well", async () => {
  const flex = { ...ASK, service_tier: "flex" };
  expect((await wholeOf(flex)).answer.usage?.serviceTier).toBe("flex");
  expect(String(await bytesOf({ ...flex, stream: true }))).toContain('"service_tier":"flex"');
  expect(String(await bytesOf(ASK))).not.toContain("service_tier");
});

test("the same request, the same bytes", async () => {
  for (const body of [ASK, { ...ASK, stream: true }, { ...ASK, tools: [WEATHER] }]) {
    expect(await bytesOf(body)).toEqual(await bytesOf(body));
  }
});

test("says that it is simulated, for which model, and what was asked", async () => {
  const { choices, answer } = await wholeOf(ASK);
  expect(choices[0]!.message.content).toMatch(/simulated.*gpt-x.*capital of France/);
  expect(choices[0]!.finish_reason).toBe("stop");
  expect(answer.usage!.buckets.output).toBeGreaterThan(10);
  const { input, output } = answer.usage!.buckets;
  expect(answer.usage!.reported!.total_tokens).toBe(input + output);
});

test("an output cap cuts the text and says so", async () => {
  const full = (await wholeOf(ASK)).choices[0]!.message.content!;
  for (const cap of [{ max_tokens: 5 }, { max_completion_tokens: 5 }]) {
    const { choices, answer } = await wholeOf({ ...ASK, ...cap });
    expect(choices[0]!.finish_reason).toBe("length");
    expect(full.startsWith(choices[0]!.message.content!)).toBe(true);
    expect(answer.usage!.buckets.output).toBeLessThanOrEqual(5);
  }
});

test("n choices", async () => {
  expect((await wholeOf({ ...ASK, n: 3 })).choices).toHaveLength(3);
});

describe("tools", () => {
  const called = async (body: object): Promise<string | null> => {
    const { choices } = await wholeOf({ ...ASK, ...body });
    return choices[0]!.message.tool_calls?.[0]?.function.name ?? null;
  };
  const result = [...ASK.messages, { role: "tool", tool_call_id: "call_1", content: "18 degrees" }];

  test.each([
    ["auto calls the first", { tools: [WEATHER, OTHER] }, "get_weather"],
    [
      "a named one",
      { tools: [WEATHER, OTHER], tool_choice: { type: "function", function: { name: "other" } } },
      "other",
    ],
    ["none", { tools: [WEATHER], tool_choice: "none" }, null],
    ["after a result it answers", { tools: [WEATHER], messages: result }, null],
    ["required calls even then", { tools: [WEATHER], messages: result, tool_choice: "required" }, "get_weather"],
  ])("%s", async (_name, body, name) => {
    expect(await called(body)).toBe(name);
  });

  test("arguments follow the schema", async () => {
    const { choices } = await wholeOf({ ...ASK, tools: [WEATHER] });
    expect(choices[0]!.finish_reason).toBe("tool_calls");
    const { arguments: text } = choices[0]!.message.tool_calls![0]!.function;
    expect(JSON.parse(text)).toEqual({ city: "[simulated by the Switchyard sandbox]", days: 2, unit: "C" });
  });
});

test.each([
  [{ type: "json_object" }, { simulated: true, prompt: ASK.messages[0]!.content }],
  [
    {
      type: "json_schema",
      json_schema: {
        name: "x",
        schema: {
          type: "object",
          properties: {
            items: { type: "array", items: { anyOf: [{ type: "number" }, { type: "null" }] } },
            ok: { type: "boolean" },
            kind: { const: "k" },
            none: { type: ["null", "string"] },
          },
          required: ["items", "ok", "kind", "none"],
        },
      },
    },
    { items: [1], ok: true, kind: "k", none: null },
  ],
])("JSON as asked for: %j", async (format, value) => {
  const { choices } = await wholeOf({ ...ASK, response_format: format });
  expect(JSON.parse(choices[0]!.message.content!)).toEqual(value);
});

test.each([
  ["text", ASK],
  ["cut text", { ...ASK, max_tokens: 7 }],
  ["a tool call", { ...ASK, tools: [WEATHER] }],
  ["two choices", { ...ASK, n: 2 }],
])("a stream says the same as the whole answer: %s", async (_name, body) => {
  const { answer, choices } = await wholeOf(body);
  const reader = openaiChat.streamReader(createSseReader());
  const chunks = reader.push(await bytesOf({ ...body, stream: true, stream_options: { include_usage: true } }));
  expect(reader.progress).toMatchObject({ isDone: true, isFinished: true, fault: null });
  expect(reader.progress.usage).toEqual(answer.usage);
  const deltas = chunks.flatMap(({ json }) => json.choices as readonly Delta[]);
  for (const [index, choice] of choices.entries()) {
    const own = deltas.filter((delta) => delta.index === index);
    expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe(choice.message.content ?? "");
    const calls = own.flatMap(({ delta }) => delta.tool_calls ?? []);
    const expected = choice.message.tool_calls?.[0]?.function.arguments ?? "";
    expect(calls.map((call) => call.function.arguments).join("")).toBe(expected);
    expect(own.at(-1)!.finish_reason).toBe(choice.finish_reason);
  }
});

interface Delta {
  readonly index: number;
  readonly delta: { readonly content?: string | null; readonly tool_calls?: readonly ToolCall[] };
  readonly finish_reason: string | null;
}

test("no usage in a stream that did not ask for it", async () => {
  expect((await bytesOf({ ...ASK, stream: true })).toString()).not.toContain('"usage"');
});

test("a client that leaves ends the stream", async () => {
  const leaving = new AbortController();
  const body = await open({ ...ASK, stream: true }, leaving.signal);
  expect(await body.read()).not.toBeNull();
  leaving.abort();
  expect(await body.read()).toBeNull();
  expect(body.failure?.kind).toBe("client-gone");
});
