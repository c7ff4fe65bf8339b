// The cases of the Open Responses compliance suite that need no WebSocket, from its published schema: every
// required field of responses, items and events, whole and streamed, from providers of three other formats.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { type EveryFormat, startEveryFormat } from "../../support/gateway/every-client.ts";
import * as anthropic from "../../support/providers/fake-anthropic.ts";
import * as gemini from "../../support/providers/fake-gemini.ts";
import { answers, type Behaviour, chunk, completion, sends, streams } from "../../support/providers/fake-provider.ts";
import {
  finalResponse,
  outputText,
  type ResponseEvent,
  type ResponseItem,
  type ResponseObject,
  readResponseEvents,
} from "../../support/providers/responses.ts";
import type { Json } from "../../support/providers/streams.ts";

let every: EveryFormat;
beforeAll(async () => {
  every = await startEveryFormat();
});
beforeEach(() => every.reset());
afterAll(() => every.close());

const MODELS = ["alpha", "claude", "gem"] as const;
type ModelName = (typeof MODELS)[number];

const RESPONSE = [
  ...["id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id"],
  ...["instructions", "output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p"],
  ...[
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
  ],
  ...["max_tool_calls", "store", "background", "service_tier", "metadata", "safety_identifier", "prompt_cache_key"],
];
const ITEMS: Readonly<Record<string, readonly string[]>> = {
  message: ["id", "type", "status", "role", "content"],
  function_call: ["id", "type", "status", "call_id", "name", "arguments"],
  reasoning: ["id", "type", "summary"],
};
const PLACE = ["item_id", "output_index"];
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  "response.created": ["response"],
  "response.in_progress": ["response"],
  "response.completed": ["response"],
  "response.incomplete": ["response"],
  "response.output_item.added": ["output_index", "item"],
  "response.output_item.done": ["output_index", "item"],
  "response.content_part.added": [...PLACE, "content_index", "part"],
  "response.content_part.done": [...PLACE, "content_index", "part"],
  "response.output_text.delta": [...PLACE, "content_index", "delta", "logprobs"],
  "response.output_text.done": [...PLACE, "content_index", "text", "logprobs"],
  "response.function_call_arguments.delta": [...PLACE, "delta"],
  "response.function_call_arguments.done": [...PLACE, "arguments"],
  "response.reasoning_summary_part.added": [...PLACE, "summary_index", "part"],
  "response.reasoning_summary_part.done": [...PLACE, "summary_index", "part"],
  "response.reasoning_summary_text.delta": [...PLACE, "summary_index", "delta"],
  "response.reasoning_summary_text.done": [...PLACE, "summary_index", "text"],
};

function expectFields(value: object, names: readonly string[] | undefined): void {
  expect(Object.keys(value)).toEqual(expect.arrayContaining([...(names ?? ["of a type that the schema has"])]));
}

function checkItem(item: ResponseItem): void {
  expectFields(item, ITEMS[String(item.type)]);
  if (item.type !== "message") return;
  for (const part of item.content as readonly Json[]) {
    expect(part.type).toBe("output_text");
    expectFields(part, ["text", "annotations", "logprobs"]);
  }
}

function checkResponse(response: ResponseObject): void {
  expectFields(response, RESPONSE);
  expect(response.object).toBe("response");
  for (const item of response.output) checkItem(item);
  for (const tool of response.tools as readonly Json[]) {
    expectFields(tool, ["type", "name", "description", "parameters", "strict"]);
  }
  expect(response.text).toMatchObject({ format: { type: expect.any(String) } });
  expect(response.reasoning).toMatchObject({ effort: null, summary: null });
  if (response.status === "completed" || response.status === "incomplete") {
    expect(response.usage).toMatchObject({
      input_tokens: expect.any(Number),
      input_tokens_details: { cached_tokens: expect.any(Number) },
      output_tokens: expect.any(Number),
      output_tokens_details: { reasoning_tokens: expect.any(Number) },
      total_tokens: expect.any(Number),
    });
  }
  expect(response.completed_at).toEqual(response.status === "completed" ? expect.any(Number) : null);
}

function checkEvent(event: ResponseEvent): void {
  expectFields(event, EVENTS[event.type]);
  expect(event.sequence_number).toEqual(expect.any(Number));
  if (event.response !== undefined) checkResponse(event.response as ResponseObject);
  if (event.type === "response.output_item.done") checkItem(event.item as ResponseItem);
}

/** Asked whole and as a stream: both must be complete and say the same. */
async function ask(body: object): Promise<ResponseObject> {
  const whole = (await (await every.gateway.post("/v1/responses", body)).json()) as ResponseObject;
  checkResponse(whole);
  const events = await readResponseEvents(await every.gateway.post("/v1/responses", { ...body, stream: true }));
  for (const event of events) checkEvent(event);
  const streamed = finalResponse(events);
  const said = ({ status, output }: ResponseObject) => [
    status,
    output.map(({ id: _, call_id: __, ...item }) => (item.type === "function_call" ? { ...item, id: "" } : item)),
  ];
  expect(said(streamed)).toEqual(said(whole));
  return streamed;
}

const on = (model: ModelName) => ({ model, service_profile: "direct" });
const sentTo = (model: ModelName): string => every.providers[model].requests.at(-1)?.raw ?? "";
const user = (content: unknown) => ({ type: "message", role: "user", content });
const TOOL = {
  type: "function",
  name: "get_weather",
  description: "Weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const CALL = { id: "call_w", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } };

/** The provider says something in its own format, as the request asks for it. */
const eitherWay =
  (whole: Behaviour, stream: Behaviour): Behaviour =>
  (exchange) =>
    (exchange.request.body.stream === true ? stream : whole)(exchange);

const CALLS: Readonly<Record<ModelName, Behaviour>> = {
  alpha: eitherWay(
    sends(200, {
      ...completion("", "alpha"),
      choices: [
        { index: 0, message: { role: "assistant", content: null, tool_calls: [CALL] }, finish_reason: "tool_calls" },
      ],
    }),
    streams([chunk("alpha", { tool_calls: [{ index: 0, ...CALL }] }), chunk("alpha", {}, "tool_calls")]),
  ),
  claude: anthropic.saysBlocks([anthropic.toolUse("toolu_w", "get_weather", { city: "Rome" })], {
    stopReason: "tool_use",
  }),
  gem: gemini.saysParts([gemini.functionCall("get_weather", { city: "Rome" })]),
};
const THOUGHTS: Readonly<Record<ModelName, Behaviour>> = {
  alpha: eitherWay(
    sends(200, {
      ...completion("", "alpha"),
      choices: [
        { index: 0, message: { role: "assistant", content: "Four.", reasoning_content: "2+2" }, finish_reason: "stop" },
      ],
    }),
    streams([
      chunk("alpha", { reasoning_content: "2+2" }),
      chunk("alpha", { content: "Four." }),
      chunk("alpha", {}, "stop"),
    ]),
  ),
  claude: anthropic.saysBlocks([anthropic.thinking("2+2", "c2ln"), anthropic.text("Four.")]),
  gem: gemini.saysParts([gemini.thought("2+2"), gemini.text("Four.")]),
};

describe.each(MODELS)("answered by %s", (model) => {
  it("basic text", async () => {
    const { output, status } = await ask({ ...on(model), input: [user("Say hello.")] });
    expect([status, output.map(({ type }) => type)]).toEqual(["completed", ["message"]]);
  });

  it("input as a text", async () => {
    expect(outputText(await ask({ ...on(model), input: "Say hello." }))).not.toBe("");
  });

  it.each(["system", "developer"])("a %s prompt", async (role) => {
    const input = [{ type: "message", role, content: "You are a pirate." }, user("Say hello.")];
    expect((await ask({ ...on(model), input })).status).toBe("completed");
    expect(sentTo(model)).toContain("You are a pirate.");
  });

  it("instructions", async () => {
    const { instructions } = await ask({ ...on(model), input: "Hi", instructions: "You are a pirate." });
    expect(instructions).toBe("You are a pirate.");
    expect(sentTo(model)).toContain("You are a pirate.");
  });

  it("a tool call", async () => {
    every.providers[model].on("*", CALLS[model]);
    if (model === "alpha") every.providers.alpha.on("alpha", CALLS.alpha);
    const { output, tools } = await ask({ ...on(model), input: [user("Weather in Rome?")], tools: [TOOL] });
    expect(output).toMatchObject([{ type: "function_call", status: "completed", name: "get_weather" }]);
    expect(JSON.parse(String(output[0]?.arguments))).toEqual({ city: "Rome" });
    expect(tools).toEqual([{ ...TOOL, strict: null }]);
  });

  it("the result of a tool call", async () => {
    const called = { type: "function_call", call_id: "call_w", name: "get_weather", arguments: '{"city":"Rome"}' };
    const result = { type: "function_call_output", call_id: "call_w", output: "sunny, 22" };
    const asked = { ...on(model), input: [user("Weather in Rome?"), called, result], tools: [TOOL] };
    expect((await ask(asked)).output).toMatchObject([{ type: "message" }]);
    expect(sentTo(model)).toContain("sunny, 22");
  });

  it("an image", async () => {
    const image_url = "data:image/png;base64,iVBORw0KGgo=";
    const content = [
      { type: "input_text", text: "What is this?" },
      { type: "input_image", image_url },
    ];
    expect((await ask({ ...on(model), input: [user(content)] })).status).toBe("completed");
    expect(sentTo(model)).toContain("iVBORw0KGgo=");
  });

  it("a conversation of several turns", async () => {
    const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello, Eva." }] };
    const input = [user("My name is Eva."), said, user("What is my name?")];
    expect((await ask({ ...on(model), input })).status).toBe("completed");
    expect(sentTo(model)).toContain("Hello, Eva.");
  });

  it("reasoning", async () => {
    every.providers[model].on("*", THOUGHTS[model]);
    if (model === "alpha") every.providers.alpha.on("alpha", THOUGHTS.alpha);
    const { output } = await ask({ ...on(model), input: "2+2?" });
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(output[0]?.summary).toEqual([{ type: "summary_text", text: "2+2" }]);
  });

  it("reasoning that comes back sealed, for clients that keep nothing else", async () => {
    every.providers[model].on("*", THOUGHTS[model]);
    if (model === "alpha") every.providers.alpha.on("alpha", THOUGHTS.alpha);
    const include = ["reasoning.encrypted_content"];
    const { output } = await ask({ ...on(model), input: "2+2?", include, store: false });
    expect(output[0]).toMatchObject({ type: "reasoning", encrypted_content: expect.stringMatching(/^[\w+/=]{20,}$/) });
  });

  it("an answer in JSON", async () => {
    const format = { type: "json_schema", name: "n", schema: TOOL.parameters, strict: true };
    const { text } = await ask({ ...on(model), input: "Rome", text: { format } });
    expect(text).toMatchObject({ format });
  });

  it("the response before it", async () => {
    const first = await ask({ ...on(model), input: "My name is Eva." });
    const next = await ask({ ...on(model), input: "What is my name?", previous_response_id: first.id });
    expect(next.previous_response_id).toBe(first.id);
    expect(sentTo(model)).toContain("My name is Eva.");
  });
});

it("a summary of a conversation needs a model", async () => {
  every.providers.alpha.on("alpha", answers("Eva said hello."));
  const body = { input: [user("Hello, I am Eva.")] };
  await expectError(await every.gateway.post("/v1/responses/compact", body), { status: 400, param: "model" });
  const answer = await every.gateway.post("/v1/responses/compact", { ...body, model: "auto" });
  const compacted = (await answer.json()) as ResponseObject;
  expectFields(compacted, ["id", "object", "created_at", "output", "usage"]);
  expect(compacted.output.map(({ type }) => type)).toContain("compaction");
});
