// Chat and Messages clients on a model that exists in the Responses format only: tool loops that keep their reasoning,
// exact money, fallback and errors.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answers, fails } from "../../support/providers/fake-provider.ts";
import {
  functionCall,
  message,
  reasoning,
  refusal,
  responds,
  respondsItems,
  responseEvents,
  streamsResponse,
} from "../../support/providers/fake-responses.ts";
import { type Json, readStream } from "../../support/providers/streams.ts";
import { type Bank, bankOf, owed } from "../../support/stores/money.ts";
import { direct, type ResponsesGateway, startResponsesGateway } from "./provider-gateway.ts";

let lab: ResponsesGateway;
let bank: Bank;
beforeAll(async () => {
  lab = await startResponsesGateway();
  bank = bankOf(lab.responses, lab.gateway);
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

const TOOL = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const IDS = ["call_paris", "call_rome"];
const THOUGHT = reasoning(["I should look."], "gAAA-sealed", "rs_1");
const CALLS = [
  THOUGHT,
  functionCall("call_paris", "weather", { city: "Paris" }),
  functionCall("call_rome", "weather", { city: "Rome" }),
];
const SECOND_INPUT = [
  { role: "user", content: "Weather?" },
  THOUGHT,
  { type: "function_call", call_id: "call_paris", name: "weather", arguments: '{"city":"Paris"}' },
  { type: "function_call", call_id: "call_rome", name: "weather", arguments: '{"city":"Rome"}' },
  { type: "function_call_output", call_id: "call_paris", output: "sun" },
  { type: "function_call_output", call_id: "call_rome", output: "rain" },
];

describe.each([false, true])("a chat client, stream %s", (stream) => {
  const ask = (body: object): Promise<Response> =>
    lab.gateway.post("/v1/chat/completions", { ...direct("only"), stream, ...body });

  /** The assistant's message, whole or put together from chunks as a client library does. */
  async function said(answer: Response): Promise<{ message: Json; finish: unknown }> {
    expect(answer.status).toBe(200);
    if (!stream) {
      const { choices } = (await answer.json()) as { choices: readonly { message: Json; finish_reason: unknown }[] };
      return { message: choices[0]?.message ?? {}, finish: choices[0]?.finish_reason };
    }
    const { chunks } = await readStream(answer);
    const whole: Record<string, unknown> = { role: "assistant", content: "" };
    const calls: { id: unknown; type: string; function: { name: unknown; arguments: string } }[] = [];
    for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
      whole.content = `${String(whole.content)}${delta.content ?? ""}`;
      if (delta.reasoning_content !== undefined)
        whole.reasoning_content = `${String(whole.reasoning_content ?? "")}${String(delta.reasoning_content)}`;
      if (delta.reasoning_details !== undefined) whole.reasoning_details = delta.reasoning_details;
      for (const { index, id, function: called } of (delta.tool_calls ?? []) as readonly {
        index: number;
        id?: string;
        function: Json;
      }[]) {
        calls[index] ??= { id, type: "function", function: { name: called.name, arguments: "" } };
        const call = calls[index];
        if (call !== undefined) call.function.arguments += String(called.arguments ?? "");
      }
    }
    if (calls.length > 0) whole.tool_calls = calls;
    return { message: whole, finish: chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason };
  }

  it("keeps its reasoning through a tool loop", async () => {
    lab.both.once("only-real", respondsItems(CALLS), responds("Sun in Paris, rain in Rome."));
    const tools = [{ type: "function", function: { name: "weather", parameters: TOOL } }];
    const question = { role: "user", content: "Weather?" };
    const first = await said(await ask({ messages: [question], tools, reasoning_effort: "low" }));
    expect(first).toMatchObject({ finish: "tool_calls", message: { reasoning_content: "I should look." } });
    expect(lab.both.requests[0]?.body).toMatchObject({
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      store: false,
    });
    const results = ["sun", "rain"].map((content, index) => ({
      role: "tool",
      tool_call_id: IDS[index],
      content,
    }));
    const second = await said(await ask({ messages: [question, first.message, ...results], tools }));
    expect(second).toMatchObject({ finish: "stop", message: { content: "Sun in Paris, rain in Rome." } });
    expect(lab.both.requests[1]?.body.input).toEqual(SECOND_INPUT);
    expect(lab.both.requests.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
  });

  it("starts once more without reasoning that the provider cannot open", async () => {
    lab.both.once("only-real", fails(400, { code: "invalid_encrypted_content" }));
    const details = [{ type: "reasoning.encrypted", format: "openai-responses", id: "rs_1", data: "stale" }];
    const history = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello", reasoning_details: details },
      { role: "user", content: "Go on" },
    ];
    expect((await said(await ask({ messages: history }))).message.content).toBe("ok");
    expect(lab.both.requests.map(({ raw }) => raw.includes("stale"))).toEqual([true, false]);
  });

  it("is told of a cut answer", async () => {
    lab.both.on("*", respondsItems([message("Hello")], { incomplete: "max_output_tokens" }));
    expect((await said(await ask({ messages: [{ role: "user", content: "Hi" }] }))).finish).toBe("length");
  });
});

describe.each([false, true])("a Messages client, stream %s", (stream) => {
  const ask = (body: object): Promise<Response> =>
    lab.gateway.post("/v1/messages", { ...direct("only"), stream, max_tokens: 500, ...body });

  async function said(answer: Response): Promise<{ content: Json[]; stop: unknown }> {
    expect(answer.status).toBe(200);
    if (!stream) {
      const whole = (await answer.json()) as { content: Json[]; stop_reason: unknown };
      return { content: whole.content, stop: whole.stop_reason };
    }
    const content: Record<string, unknown>[] = [];
    let stop: unknown = null;
    const grow = (block: Record<string, unknown>, name: string, piece: unknown) => {
      if (piece !== undefined) block[name] = `${String(block[name] ?? "")}${String(piece)}`;
    };
    for (const event of (await answer.text()).split("\n\n").filter((text) => text.includes("data: "))) {
      const json = JSON.parse(event.slice(event.indexOf("data: ") + 6)) as Json & { index: number; delta?: Json };
      if (json.type === "content_block_start") content[json.index] = { ...(json.content_block as Json) };
      const block = content[json.index];
      const delta = json.delta ?? {};
      if (json.type === "content_block_delta" && block !== undefined) {
        for (const name of ["text", "thinking", "signature"]) grow(block, name, delta[name]);
        grow(block, "json", delta.partial_json);
      }
      if (json.type === "content_block_stop" && block?.json !== undefined) {
        block.input = JSON.parse(String(block.json));
        delete block.json;
      }
      if (json.type === "message_delta") stop = delta.stop_reason;
    }
    return { content, stop };
  }

  it("keeps its reasoning through a tool loop", async () => {
    lab.both.once("only-real", respondsItems(CALLS), responds("Sun in Paris, rain in Rome."));
    const tools = [{ name: "weather", input_schema: TOOL }];
    const question = { role: "user", content: "Weather?" };
    const first = await said(
      await ask({ messages: [question], tools, thinking: { type: "enabled", budget_tokens: 2048 } }),
    );
    expect(first.stop).toBe("tool_use");
    expect(lab.both.requests[0]?.body.reasoning).toMatchObject({ summary: "auto" });
    const results = ["sun", "rain"].map((content, index) => ({
      type: "tool_result",
      tool_use_id: IDS[index],
      content,
    }));
    const turns = [question, { role: "assistant", content: first.content }, { role: "user", content: results }];
    const second = await said(await ask({ messages: turns, tools }));
    expect(second).toMatchObject({
      stop: "end_turn",
      content: [{ type: "text", text: "Sun in Paris, rain in Rome." }],
    });
    expect(lab.both.requests[1]?.body.input).toEqual(SECOND_INPUT);
  });

  it("is told of a refusal", async () => {
    lab.both.on("*", respondsItems([refusal("I cannot help with that.")]));
    expect((await said(await ask({ messages: [{ role: "user", content: "Hi" }] }))).stop).toBe("refusal");
  });
});

describe("money", () => {
  const PRICE = { input: "2", output: "8", cacheRead: "0.5" };
  const usage = {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 600 },
    output_tokens: 300,
    output_tokens_details: { reasoning_tokens: 250 },
    total_tokens: 1300,
  };
  const words = "word ".repeat(2000);
  const REQUESTS: readonly (readonly [string, string, object])[] = [
    [
      "chat",
      "/v1/chat/completions",
      { messages: [{ role: "user", content: words }], stream_options: { include_usage: true } },
    ],
    ["Messages", "/v1/messages", { max_tokens: 4000, messages: [{ role: "user", content: words }] }],
    ["Responses", "/v1/responses", { input: words }],
  ];
  const CASES = REQUESTS.flatMap(([name, path, body]) =>
    [false, true].map((stream) => [name, stream, path, body] as const),
  );

  it.each(CASES)("is exact with cached and reasoning tokens: %s, stream %s", async (_name, stream, path, body) => {
    lab.responses.on("*", respondsItems([reasoning(["Hm."], "x"), message("Hello")], { usage }));
    const spent = await bank.spentBy(async () => {
      const answer = await lab.gateway.post(path, { ...direct("pro"), ...body, stream });
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).toMatch(/"reasoning_tokens": ?250|"thinking_tokens":250/);
    });
    expect(spent).toBe(owed({ input: 400, cacheRead: 600, output: 300 }, PRICE));
  });

  it("is nothing when the stream breaks", async () => {
    lab.responses.on(
      "*",
      streamsResponse(responseEvents([message("Hello over there")], "pro-real").slice(0, 7), { ending: "end" }),
    );
    const spent = await bank.spentBy(async () => {
      const answer = await lab.gateway.post("/v1/chat/completions", {
        ...direct("pro"),
        messages: [{ role: "user", content: "Hi" }],
        stream: true,
      });
      expect((await readStream(answer)).error).toMatchObject({ code: "stream_interrupted" });
    });
    expect(spent).toBe(0n);
  });
});

/** The model that the answer names: the one that gave it. */
function servedBy(text: string): string | undefined {
  return /"model":"([a-z]+)"/.exec(text)?.[1];
}

describe("fallback", () => {
  const CLIENTS: readonly (readonly [string, object])[] = [
    ["/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
    ["/v1/messages", { max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }],
    ["/v1/responses", { input: "Hi" }],
  ];
  const CASES = CLIENTS.flatMap((client) => [false, true].map((stream) => [...client, stream] as const));

  it.each(CASES)("goes from a Responses provider to a chat provider: %s %j, stream %s", async (path, body, stream) => {
    lab.responses.on("*", fails(529));
    lab.chat.on("*", answers("from chat"));
    const answer = await lab.gateway.post(path, { model: "auto", ...body, stream });
    expect(answer.status).toBe(200);
    expect(servedBy(await answer.text())).toBe("alpha");
  });

  it.each(CASES)("goes from a chat provider to a Responses provider: %s %j, stream %s", async (path, body, stream) => {
    const other = await startResponsesGateway(["alpha", "only"]);
    try {
      other.chat.on("*", fails(529));
      other.both.on("*", responds("answer"));
      const answer = await other.gateway.post(path, { model: "auto", ...body, stream });
      expect(answer.status).toBe(200);
      expect(servedBy(await answer.text())).toBe("only");
    } finally {
      await other.close();
    }
  });

  it("goes on when a stream fails before its first content", async () => {
    const failed = {
      type: "response.failed",
      response: { error: { code: "rate_limit_exceeded", message: "Slow down" } },
    };
    lab.responses.on("*", streamsResponse([...responseEvents([], "m").slice(0, 2), failed]));
    const answer = await lab.gateway.post("/v1/responses", { model: "auto", input: "Hi", stream: true });
    expect(servedBy(await answer.text())).toBe("alpha");
  });
});

describe("errors of the provider", () => {
  it.each([
    [401, 503],
    [404, 503],
    [429, 503],
    [500, 503],
    [400, 400],
  ])("%i becomes %i", async (status, expected) => {
    const other = await startResponsesGateway(["pro"]);
    try {
      other.responses.on("*", fails(status, { code: "some_code" }));
      const body = { ...direct("pro"), messages: [{ role: "user", content: "Hi" }] };
      expect((await other.gateway.post("/v1/chat/completions", body)).status).toBe(expected);
    } finally {
      await other.close();
    }
  });

  it("asks another model where the format cannot say what is wanted", async () => {
    lab.chat.on("*", answers("two"));
    const answer = await lab.gateway.post("/v1/chat/completions", {
      model: "auto",
      n: 2,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(answer.status).toBe(200);
    expect(lab.responses.requests).toHaveLength(0);
    expect(lab.chat.requests).toHaveLength(1);
  });
});
