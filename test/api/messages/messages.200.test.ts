// POST /v1/messages answered: by either kind of provider, whole and as a stream, with the `service` object. Behaviour 6.8.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, completion, event, sends, streams } from "../../support/providers/fake-provider.ts";
import { ASK, eventsIn, readEvents, textIn, typesOf } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import type { Json } from "../../support/providers/streams.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({ env: { DEBUG_ROUTING: "1" } });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const ask = (body: object = {}, headers = {}): Promise<Response> =>
  mixed.gateway.post("/v1/messages", { ...ASK, ...body }, headers);
const on = (model: string): object => ({ model, service_profile: "direct" });

const service = (model: string, extra: object = {}): object => ({
  model,
  tier: expect.any(String),
  profile: "direct",
  confidence: 1,
  savingsPct: expect.any(Number),
  method: "direct",
  fallback: false,
  session: expect.stringMatching(/^(started|stayed|switched)$/),
  costUsd: expect.stringMatching(/^0\.0000\d+$/),
  ...extra,
});

const WEATHER = { name: "get_weather", description: "Weather of a city", input_schema: { type: "object" } };

describe("a whole answer", () => {
  it("from a chat-completions provider is a message", async () => {
    mixed.openai.on("*", answers("Paris."));
    const answer = await ask(on("alpha"));
    expect(await answer.json()).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: "message",
      role: "assistant",
      model: "alpha",
      content: [{ type: "text", text: "Paris." }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
      service: service("alpha"),
    });
    expect(mixed.openai.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      body: { model: "alpha-1", messages: ASK.messages },
    });
  });

  it("from a native provider is its own", async () => {
    const answer = await ask(on("claude"));
    expect(await answer.json()).toEqual({
      id: "msg_fake",
      type: "message",
      role: "assistant",
      model: "claude",
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 12, output_tokens: 5 },
      service: service("claude"),
    });
    const [request] = mixed.anthropic.requests;
    expect(request).toMatchObject({ path: "/v1/messages", body: { model: "claude-real-1", max_tokens: 100 } });
    expect(request?.headers).toMatchObject({ "x-api-key": "native-secret", "anthropic-version": "2023-06-01" });
    expect(request?.headers.authorization).toBeUndefined();
  });

  it("has thinking, text and calls in order, and cached tokens apart", async () => {
    const call = (id: string, args: string): object => ({
      id,
      type: "function",
      function: { name: "get_weather", arguments: args },
    });
    const message = {
      role: "assistant",
      content: "Let me see.",
      reasoning_content: "Hm.",
      tool_calls: [call("call_a", '{"city":"Rome"}'), call("functions.get_weather:1", "")],
    };
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 9,
      total_tokens: 109,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    mixed.openai.on("*", sends(200, completion("", "alpha-1", { choices, usage })));
    const answer = (await (await ask({ ...on("alpha"), tools: [WEATHER] })).json()) as Json;
    expect(answer).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm.", signature: "" },
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "call_a", name: "get_weather", input: { city: "Rome" } },
        { type: "tool_use", id: expect.stringMatching(/^[A-Za-z0-9_-]{1,40}$/), name: "get_weather", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 30, cache_read_input_tokens: 60, cache_creation_input_tokens: 10, output_tokens: 9 },
    });
  });

  it.each([
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["eos", "end_turn"],
  ])("that ended with %s stops with %s", async (finish, reason) => {
    const choices = [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: finish }];
    mixed.openai.on("*", sends(200, completion("", "alpha-1", { choices })));
    expect(await (await ask(on("alpha"))).json()).toMatchObject({ stop_reason: reason });
  });
});

describe("a stream", () => {
  it("from a chat-completions provider has the events in their order", async () => {
    mixed.openai.on("*", answers("Paris, France."));
    const events = await readEvents(await ask({ ...on("alpha"), stream: true }));
    expect(typesOf(events)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]).toEqual({
      type: "message_start",
      message: {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "assistant",
        model: "alpha",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: {
          input_tokens: expect.any(Number),
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
        },
        service: service("alpha"),
      },
    });
    expect(JSON.stringify(events[0])).toMatch(/"input_tokens":[1-9]/);
    expect(textIn(events)).toBe("Paris, France.");
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 12, output_tokens: 5 },
    });
  });

  it("never lets blocks overlap, whatever order the deltas come in", async () => {
    const tool = (index: number, more: object): object => chunk("alpha-1", { tool_calls: [{ index, ...more }] });
    const begin = (index: number): object =>
      tool(index, { id: `call_${"abc"[index]}`, type: "function", function: { name: `t${index}`, arguments: "" } });
    const args = (index: number, piece: string): object => tool(index, { function: { arguments: piece } });
    mixed.openai.on(
      "*",
      streams([
        chunk("alpha-1", { role: "assistant", reasoning_content: "Hm. " }),
        chunk("alpha-1", { content: "Both:" }),
        begin(0),
        begin(1),
        args(1, '{"b":'),
        args(0, '{"a":'),
        args(1, "2}"),
        args(0, "1}"),
        chunk("alpha-1", {}, "tool_calls"),
      ]),
    );
    const events = await readEvents(await ask({ ...on("alpha"), stream: true, tools: [WEATHER] }));
    let open: unknown = null;
    const inputs: string[] = [];
    for (const { type, index, delta } of events) {
      if (type === "content_block_start") {
        expect(open).toBeNull();
        open = index;
        inputs[Number(index)] = "";
      }
      if (type === "content_block_delta") {
        expect(index).toBe(open);
        inputs[Number(index)] = `${inputs[Number(index)]}${(delta as Json).partial_json ?? ""}`;
      }
      if (type === "content_block_stop") open = null;
    }
    expect(inputs).toEqual(["", "", '{"a":1}', '{"b":2}']);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  it("from a native provider is copied, thinking and signatures included", async () => {
    const blocks = [thinking("Hm.", "sig=="), text("Paris."), toolUse("toolu_1", "get_weather", { city: "Rome" })];
    mixed.anthropic.on("*", saysBlocks(blocks));
    const events = await readEvents(await ask({ ...on("claude"), stream: true }));
    expect(events[0]).toMatchObject({ message: { model: "claude", service: service("claude") } });
    expect(events.map(({ delta }) => (delta as Json | undefined)?.type).filter(Boolean)).toEqual([
      "thinking_delta",
      "signature_delta",
      "text_delta",
      "input_json_delta",
      "input_json_delta",
      "input_json_delta",
    ]);
    expect(typesOf(events).slice(-2)).toEqual(["message_delta", "message_stop"]);
  });

  it("that ends without a finish is an error, never an end", async () => {
    mixed.openai.on("*", streams([chunk("alpha-1", { content: "Par" })], { ending: "end" }));
    const events = await readEvents(await ask({ ...on("alpha"), stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } });
    expect(typesOf(events)).not.toContain("message_stop");
  });

  it("goes on after a first chunk without choices, as Azure sends it", async () => {
    mixed.openai.on(
      "*",
      streams([event({ choices: [], prompt_filter_results: [] }), chunk("a", { content: "Hi" }, "stop")]),
    );
    const events = eventsIn(await (await ask({ ...on("alpha"), stream: true })).text());
    expect(textIn(events)).toBe("Hi");
    expect(typesOf(events).filter((type) => type === "message_start")).toHaveLength(1);
  });
});

describe("routing", () => {
  it("heeds service_* fields of the body and never sends them on", async () => {
    for (const [tier, provider] of [
      ["LIGHT", mixed.openai],
      ["COMPLEX", mixed.anthropic],
    ] as const) {
      const answer = await ask({
        model: "claude-opus-5-5",
        service_profile: "tier",
        service_tier: tier,
        service_max_cost: 1,
      });
      expect(await answer.json()).toMatchObject({ service: { tier, profile: "tier" } });
      expect(Object.keys(provider.requests[0]?.body ?? {}).filter((name) => name.startsWith("service_"))).toEqual([]);
    }
    const ceiling = await ask({ service_tier_floor: "COMPLEX" });
    expect(await ceiling.json()).toMatchObject({ service: { tier: "COMPLEX", profile: "auto" } });
  });

  it("ignores Anthropic's own service_tier", async () => {
    const answer = await ask({ service_tier: "standard_only" });
    expect(answer.status).toBe(200);
    const sent = [...mixed.openai.requests, ...mixed.anthropic.requests];
    expect(sent.map(({ body }) => "service_tier" in body)).toEqual([false]);
  });

  it("is shown in headers when DEBUG_ROUTING is on, whole and streamed", async () => {
    for (const stream of [false, true]) {
      const answer = await ask({ ...on("claude"), stream });
      await answer.text();
      expect(answer.headers.get("x-service-model")).toBe("claude");
      expect(answer.headers.get("x-service-profile")).toBe("direct");
      expect(answer.headers.get("x-service-fallback")).toBe("false");
    }
  });

  it("takes any claude-* name without direct", async () => {
    const answer = await ask({ model: "claude-sonnet-9-9" });
    expect(answer.status).toBe(200);
  });
});
