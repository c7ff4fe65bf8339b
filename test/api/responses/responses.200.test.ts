// POST /v1/responses answered by either kind of provider, whole and as a stream, with the `service` object.
// Behaviour 2.14 and 6.12.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, completion, sends, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import {
  finalResponse,
  outputText,
  QUESTION,
  type ResponseObject,
  readResponseEvents,
} from "../../support/providers/responses.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({ env: { DEBUG_ROUTING: "1" } });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const on = (model: string): object => ({ model, service_profile: "direct" });
const ask = (body: object = {}, headers = {}): Promise<Response> =>
  mixed.gateway.post("/v1/responses", { ...QUESTION, ...body }, headers);
const whole = async (body: object): Promise<ResponseObject> => (await (await ask(body)).json()) as ResponseObject;
const streamed = async (body: object): Promise<ResponseObject> =>
  finalResponse(await readResponseEvents(await ask({ stream: true, ...body })));

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const call = (id: string, city: string): object => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: JSON.stringify({ city }) },
});

describe("a whole answer", () => {
  it("has every field that client libraries read", async () => {
    mixed.openai.on("*", answers("Paris."));
    const response = await whole({
      ...on("alpha"),
      instructions: "Be brief.",
      metadata: { job: "7" },
      temperature: 0.5,
    });
    expect(response).toEqual({
      id: expect.stringMatching(/^resp_[a-f0-9]{48}$/),
      object: "response",
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
      status: "completed",
      background: false,
      conversation: null,
      error: null,
      frequency_penalty: 0,
      incomplete_details: null,
      instructions: "Be brief.",
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: { job: "7" },
      model: "alpha",
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Paris.", annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: "default",
      store: true,
      temperature: 0.5,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 17,
      },
      user: null,
      service: expect.objectContaining({ model: "alpha", profile: "direct", fallback: false }),
    });
    expect(mixed.openai.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      body: {
        model: "alpha-1",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: QUESTION.input },
        ],
        temperature: 0.5,
      },
    });
    expect(mixed.openai.requests[0]?.body).not.toHaveProperty("metadata");
  });

  it("from a Messages provider is the same", async () => {
    mixed.anthropic.on("*", saysBlocks([text("Paris.")]));
    const response = await whole(on("claude"));
    expect([response.model, response.status, outputText(response)]).toEqual(["claude", "completed", "Paris."]);
    expect(mixed.anthropic.requests[0]?.path).toBe("/v1/messages");
  });

  it("has an id of its own, also under one request id", async () => {
    const ids = [];
    for (let index = 0; index < 3; index += 1) {
      const answer = await ask(on("alpha"), { "x-request-id": "mine" });
      expect(answer.headers.get("x-request-id")).toBe("mine");
      ids.push(((await answer.json()) as ResponseObject).id);
    }
    expect(new Set(ids).size).toBe(3);
  });

  it("has reasoning, text and parallel calls in order, and cached tokens apart", async () => {
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 20,
      total_tokens: 50,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    const message = {
      role: "assistant",
      reasoning_content: "Two cities.",
      content: "Let me look.",
      tool_calls: [call("call_a", "Paris"), call("call_b", "Rome")],
    };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    mixed.openai.on("*", sends(200, completion("", "alpha-1", { choices, usage })));
    const response = await whole({ ...on("alpha"), tools: [WEATHER] });
    expect(response.output.map(({ id: _, ...item }) => item)).toEqual([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Two cities." }] },
      {
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me look.", annotations: [], logprobs: [] }],
      },
      {
        type: "function_call",
        status: "completed",
        call_id: "call_a",
        name: "get_weather",
        arguments: '{"city":"Paris"}',
      },
      {
        type: "function_call",
        status: "completed",
        call_id: "call_b",
        name: "get_weather",
        arguments: '{"city":"Rome"}',
      },
    ]);
    expect(response.output.map(({ id }) => id.split("_")[0])).toEqual(["rs", "msg", "fc", "fc"]);
    expect(response.usage).toEqual({
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 50,
    });
  });

  it.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("that ends with %s is incomplete", async (finish, reason) => {
    const choices = [{ index: 0, message: { role: "assistant", content: "Par" }, finish_reason: finish }];
    mixed.openai.on("*", sends(200, completion("", "alpha-1", { choices })));
    const response = await whole(on("alpha"));
    expect([response.status, response.incomplete_details]).toEqual(["incomplete", { reason }]);
    expect(response.output[0]).toMatchObject({ status: "incomplete", content: [{ text: "Par" }] });
  });

  it("that is a refusal has a refusal part", async () => {
    const choices = [
      { index: 0, message: { role: "assistant", content: null, refusal: "No." }, finish_reason: "stop" },
    ];
    mixed.openai.on("*", sends(200, completion("", "alpha-1", { choices })));
    const { output, status } = await whole(on("alpha"));
    expect([status, output[0]?.content]).toEqual(["completed", [{ type: "refusal", refusal: "No." }]]);
  });
});

describe("a stream", () => {
  it("of text is complete, with service at both ends and the debug headers", async () => {
    mixed.openai.on("*", answers("The capital is Paris."));
    const answer = await ask({ ...on("alpha"), stream: true });
    expect(answer.headers.get("x-service-model")).toBe("alpha");
    const events = await readResponseEvents(answer);
    const response = finalResponse(events);
    expect([response.status, outputText(response)]).toEqual(["completed", "The capital is Paris."]);
    expect(response).toMatchObject({ model: "alpha", usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 } });
    for (const event of [events[0], events[1], events.at(-1)]) {
      expect(event?.response).toMatchObject({ service: { model: "alpha", profile: "direct", fallback: false } });
    }
  });

  it("of a Messages provider is the same, with thinking as reasoning and calls as items", async () => {
    const blocks = [thinking("Hm.", "sig"), text("Let me see."), toolUse("toolu_1", "get_weather", { city: "Rome" })];
    mixed.anthropic.on("*", saysBlocks(blocks, { stopReason: "tool_use" }));
    const response = await streamed({ ...on("claude"), tools: [WEATHER] });
    expect(response.output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
      { type: "message", content: [{ type: "output_text", text: "Let me see." }] },
      { type: "function_call", call_id: "toolu_1", name: "get_weather", arguments: '{"city":"Rome"}' },
    ]);
  });

  it("that the output cap ends is incomplete", async () => {
    mixed.openai.on("*", streams([chunk("alpha-1", { content: "Par" }), chunk("alpha-1", {}, "length")]));
    const events = await readResponseEvents(await ask({ ...on("alpha"), stream: true }));
    const response = finalResponse(events);
    expect(events.at(-1)?.type).toBe("response.incomplete");
    expect([response.status, response.incomplete_details]).toEqual(["incomplete", { reason: "max_output_tokens" }]);
    expect(response.output[0]?.status).toBe("incomplete");
  });

  it("of a refusal has refusal events", async () => {
    mixed.openai.on(
      "*",
      streams([chunk("alpha-1", { refusal: "No" }), chunk("alpha-1", { refusal: "." }), chunk("alpha-1", {}, "stop")]),
    );
    const { output } = await streamed(on("alpha"));
    expect(output[0]?.content).toEqual([{ type: "refusal", refusal: "No." }]);
  });
});
