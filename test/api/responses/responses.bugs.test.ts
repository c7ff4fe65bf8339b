// Mistakes that other bridges to the Responses API have made, one case each, on providers of both formats.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, completion, sends, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, type ResponseObject, readResponseEvents } from "../../support/providers/responses.ts";
import type { Json } from "../../support/providers/streams.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({
    models: [
      "  - { id: thinker, provider: lab, upstream: thinker-1, tier: LIGHT, price: { input: 1, output: 3 }, context: 100000, maxOutput: 8000, capabilities: [tools, reasoning], dialect: { reasoningHistory: tool-turns } }",
    ],
  });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const WEATHER = { type: "function", name: "get_weather", parameters: { type: "object" } };
const PATCH = { type: "custom", name: "apply_patch", description: "Edits files." };
const SEARCH = { type: "web_search" };
const user = (content: string): Json => ({ type: "message", role: "user", content });
const on = (model: string): object => ({ model, service_profile: "direct" });

const post = (body: object): Promise<Response> => mixed.gateway.post("/v1/responses", body);
async function stream(body: object): Promise<ResponseObject> {
  return finalResponse(await readResponseEvents(await post({ input: [user("go")], ...body, stream: true })));
}
const sentTo = (model: "alpha" | "claude"): Json =>
  (model === "alpha" ? mixed.openai : mixed.anthropic).requests.at(-1)?.body as Json;

const delta = (fields: object, finish: string | null = null): object => chunk("alpha-1", fields, finish);
const callDelta = (index: number, fields: object, id?: string): object =>
  delta({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: "function" }), function: fields }] });

const answersWith = (message: object) =>
  sends(200, { ...completion("", "m"), choices: [{ index: 0, message, finish_reason: "stop" }] });

describe("streams", () => {
  it("no delta comes before its item is open, when text follows a call", async () => {
    mixed.openai.on(
      "*",
      streams([
        callDelta(0, { name: "get_weather", arguments: '{"city":' }, "call_a"),
        delta({ content: "Meanwhile, " }),
        callDelta(0, { arguments: '"Rome"}' }),
        delta({ content: "done." }),
        delta({}, "tool_calls"),
      ]),
    );
    const { output } = await stream({ ...on("alpha"), tools: [WEATHER] });
    expect(output).toMatchObject([
      { type: "function_call", arguments: '{"city":"Rome"}' },
      { type: "message", content: [{ text: "Meanwhile, done." }] },
    ]);
  });

  it("text and tool call have an index each", async () => {
    mixed.anthropic.on(
      "*",
      saysBlocks([text("Look."), toolUse("toolu_1", "get_weather", { city: "Rome" })], { stopReason: "tool_use" }),
    );
    const { output } = await stream({ ...on("claude"), tools: [WEATHER] });
    expect(output.map(({ type }) => type)).toEqual(["message", "function_call"]);
  });

  it("interleaved parallel calls are all closed", async () => {
    mixed.openai.on(
      "*",
      streams([
        callDelta(0, { name: "get_weather", arguments: '{"c' }, "call_a"),
        callDelta(1, { name: "get_weather", arguments: '{"c' }, "call_b"),
        callDelta(0, { arguments: '":1}' }),
        callDelta(1, { arguments: '":2}' }),
        delta({}, "tool_calls"),
      ]),
    );
    const { output } = await stream({ ...on("alpha"), tools: [WEATHER] });
    expect(output).toMatchObject([
      { call_id: "call_a", arguments: '{"c":1}', status: "completed" },
      { call_id: "call_b", arguments: '{"c":2}', status: "completed" },
    ]);
  });

  it("a call whose host gives no id gets one that no other answer has", async () => {
    mixed.openai.on("*", streams([callDelta(0, { name: "get_weather", arguments: "{}" }), delta({}, "tool_calls")]));
    const ids = [];
    for (let turn = 0; turn < 2; turn += 1) {
      ids.push((await stream({ ...on("alpha"), tools: [WEATHER] })).output[0]?.call_id);
    }
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain("call_0");
  });
});

describe("history", () => {
  const calls = ["a", "b"].map((id) => ({ type: "function_call", call_id: id, name: "get_weather", arguments: "{}" }));
  const results = ["a", "b"].map((id) => ({ type: "function_call_output", call_id: id, output: `is ${id}` }));
  const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Both." }] };
  const input = [user("weather?"), thought, ...calls, ...results];

  it.each(["alpha", "claude"] as const)("parallel calls are one assistant turn for %s", async (model) => {
    expect((await post({ ...on(model), input, tools: [WEATHER] })).status).toBe(200);
    const messages = sentTo(model).messages as Json[];
    const roles = messages.map(({ role }) => role);
    expect(roles).toEqual(model === "alpha" ? ["user", "assistant", "tool", "tool"] : ["user", "assistant", "user"]);
  });

  it("reasoning goes back to a host that demands it, and to no other", async () => {
    expect((await post({ ...on("thinker"), input, tools: [WEATHER] })).status).toBe(200);
    expect((sentTo("alpha").messages as Json[])[1]).toMatchObject({ reasoning_content: "Both." });
    expect((await post({ ...on("alpha"), input, tools: [WEATHER] })).status).toBe(200);
    expect(mixed.openai.requests.at(-1)?.raw).not.toContain("Both.");
  });

  it("plain reasoning comes back from what is sealed alone, where the client asked for that", async () => {
    const message = { role: "assistant", content: "Four.", reasoning_content: "2+2" };
    mixed.openai.on("*", answersWith(message));
    mixed.openai.on("thinker-1", answersWith(message));
    const asked = { ...on("thinker"), include: ["reasoning.encrypted_content"], tools: [WEATHER] };
    const first = (await (await post({ ...asked, input: "2+2?" })).json()) as ResponseObject;
    const reasoning = first.output[0] as Json;
    const bare = { ...reasoning, summary: [] };
    const call = { type: "function_call", call_id: "a", name: "get_weather", arguments: "{}" };
    const result = { type: "function_call_output", call_id: "a", output: "ok" };
    expect((await post({ ...asked, input: [user("2+2?"), bare, call, result] })).status).toBe(200);
    expect((sentTo("alpha").messages as Json[])[1]).toMatchObject({ reasoning_content: "2+2" });
    const plain = (await (await post({ ...on("thinker"), input: "2+2?" })).json()) as ResponseObject;
    expect(plain.output[0]).not.toHaveProperty("encrypted_content");
  });

  it("signed thinking comes back to the vendor that signed it, and what others encrypted does not", async () => {
    mixed.anthropic.on(
      "*",
      saysBlocks([thinking("Hm.", "c2lnbmF0dXJl"), toolUse("toolu_1", "get_weather", {})], { stopReason: "tool_use" }),
    );
    const asked = {
      ...on("claude"),
      tools: [WEATHER],
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high" },
    };
    for (const isStream of [true, false]) {
      const first = isStream
        ? await stream(asked)
        : ((await (await post({ ...asked, input: "go" })).json()) as ResponseObject);
      const result = { type: "function_call_output", call_id: "toolu_1", output: "22" };
      const foreign = { type: "reasoning", id: "rs_x", summary: [], encrypted_content: "gAAAAABforeign" };
      const next = [user("go"), foreign, ...first.output, result];
      expect((await post({ ...asked, input: next })).status).toBe(200);
      const sent = mixed.anthropic.requests.at(-1);
      expect((sentTo("claude").messages as Json[])[1]?.content).toMatchObject([
        { type: "thinking", thinking: "Hm.", signature: "c2lnbmF0dXJl" },
        { type: "tool_use", id: "toolu_1" },
      ]);
      expect(sent?.raw).not.toContain("foreign");
      expect((await post({ ...on("alpha"), tools: [WEATHER], input: next })).status).toBe(200);
      expect(mixed.openai.requests.at(-1)?.raw).not.toMatch(/c2lnbmF0dXJl|foreign|reasoning_details/);
    }
  });
});

describe("tools", () => {
  it.each(["alpha", "claude"] as const)("of unknown types are never forwarded to %s", async (model) => {
    const tools = [
      WEATHER,
      PATCH,
      SEARCH,
      { type: "mcp", server_label: "x", server_url: "https://x" },
      { type: "brand_new" },
    ];
    expect((await post({ ...on(model), input: "go", tools })).status).toBe(200);
    const sent = sentTo(model).tools as { name?: string; function?: { name: string } }[];
    expect(sent.map(({ name, function: inner }) => name ?? inner?.name)).toEqual(["get_weather", "apply_patch"]);
  });

  it.each([
    ["alone", { tools: [SEARCH] }],
    ["forced", { tools: [WEATHER, SEARCH], tool_choice: { type: "web_search" } }],
  ])("that no provider here runs are refused when they are %s", async (_name, body) => {
    const error = await expectError(await post({ model: "auto", input: "news?", ...body }), { status: 400 });
    expect(error.message).toContain("the tool 'web_search' is run only by providers of the Responses API");
    expect([...mixed.openai.requests, ...mixed.anthropic.requests]).toEqual([]);
  });

  const patch = '*** Begin Patch\n+ "é" \\ }{\n*** End Patch';

  it.each(["alpha", "claude"] as const)("custom: %s is called with text, and the text comes back", async (model) => {
    const args = JSON.stringify({ input: patch });
    const pieces = args.match(/.{1,7}/gs) ?? [];
    mixed.openai.on(
      "*",
      streams([
        callDelta(0, { name: "apply_patch", arguments: "" }, "call_p"),
        ...pieces.map((piece) => callDelta(0, { arguments: piece })),
        delta({}, "tool_calls"),
      ]),
    );
    mixed.anthropic.on(
      "*",
      saysBlocks([toolUse("call_p", "apply_patch", { input: patch })], { stopReason: "tool_use" }),
    );
    const { output } = await stream({ ...on(model), tools: [PATCH] });
    expect(output).toMatchObject([{ type: "custom_tool_call", call_id: "call_p", name: "apply_patch", input: patch }]);
    const result = { type: "custom_tool_call_output", call_id: "call_p", output: "Done" };
    mixed.openai.on("*", answers("ok"));
    expect((await post({ ...on(model), input: [user("go"), ...output, result], tools: [PATCH] })).status).toBe(200);
    const provider = model === "alpha" ? mixed.openai : mixed.anthropic;
    expect(provider.requests.at(-1)?.raw).toContain("Begin Patch");
  });
});

it("service_tier of the vendor is ignored, and with the profile tier it counts", async () => {
  const flex = await post({ model: "auto", input: "hi", service_tier: "flex" });
  expect(flex.status).toBe(200);
  expect(mixed.openai.requests.at(-1)?.body).not.toHaveProperty("service_tier");
  const forced = await post({ model: "auto", input: "hi", service_profile: "tier", service_tier: "COMPLEX" });
  expect(await forced.json()).toMatchObject({ service: { tier: "COMPLEX", profile: "tier" } });
});
