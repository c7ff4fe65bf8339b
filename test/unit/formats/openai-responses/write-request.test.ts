// A chat request written for a provider of the Responses format: what it becomes, what is dropped and what is refused.

import { describe, expect, it } from "vitest";
import { REASONING_HISTORY } from "../../../../src/formats/openai-responses/faults.ts";
import { responsesProvider } from "../../../../src/formats/openai-responses/provider.ts";
import { type Json, sendChat } from "./provider-exchange.ts";

const USER = { role: "user", content: "Hi" };
const REASONS = { capabilities: ["tools", "vision", "json", "reasoning", "files"] } as const;

/** The body without what every request has. */
function written(body: Json, sending = {}): Json {
  const { model, store, ...rest } = sendChat({ messages: [USER], ...body }, sending).json;
  expect({ model, store }).toEqual({ model: "model", store: false });
  return rest;
}

describe("the conversation", () => {
  it.each<[string, readonly Json[], readonly Json[]]>([
    [
      "keeps instructions where they are",
      [
        { role: "system", content: "Be brief." },
        { role: "developer", content: [{ type: "text", text: "Be kind." }] },
        USER,
        { role: "system", content: "Hurry." },
      ],
      [
        { role: "system", content: "Be brief." },
        { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
        USER,
        { role: "system", content: "Hurry." },
      ],
    ],
    [
      "has images and files",
      [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
            { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
            { type: "file", file: { file_id: "file-1" } },
          ],
        },
      ],
      [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
            { type: "input_image", image_url: "https://example.com/a.png", detail: "low" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
            { type: "input_file", file_id: "file-1" },
          ],
        },
      ],
    ],
    [
      "has text, parallel calls and their results as items",
      [
        USER,
        {
          role: "assistant",
          content: "Let me look.",
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
            { id: "call_b", type: "function", function: { name: "g", arguments: "" } },
          ],
        },
        { role: "tool", tool_call_id: "call_b", content: "B" },
        {
          role: "tool",
          tool_call_id: "call_a",
          content: [
            { type: "text", text: "A" },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          ],
        },
      ],
      [
        USER,
        { role: "assistant", content: "Let me look." },
        { type: "function_call", call_id: "call_a", name: "f", arguments: '{"x":1}' },
        { type: "function_call", call_id: "call_b", name: "g", arguments: "{}" },
        { type: "function_call_output", call_id: "call_b", output: "B" },
        {
          type: "function_call_output",
          call_id: "call_a",
          output: [
            { type: "input_text", text: "A" },
            { type: "input_image", image_url: "https://example.com/a.png", detail: "auto" },
          ],
        },
      ],
    ],
    [
      "has custom tools with their results",
      [
        { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "+a" } }] },
        { role: "tool", tool_call_id: "c", content: "done" },
      ],
      [
        { type: "custom_tool_call", call_id: "c", name: "patch", input: "+a" },
        { type: "custom_tool_call_output", call_id: "c", output: "done" },
      ],
    ],
    [
      "has the deprecated calls",
      [
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "done" },
      ],
      [
        { type: "function_call", call_id: "f", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "f", output: "done" },
      ],
    ],
    [
      "has refusals",
      [USER, { role: "assistant", content: "Well.", refusal: "I can't." }, USER],
      [
        USER,
        {
          role: "assistant",
          content: [
            { type: "output_text", text: "Well." },
            { type: "refusal", refusal: "I can't." },
          ],
        },
        USER,
      ],
    ],
    ["leaves out what says nothing", [USER, { role: "assistant", content: "" }, { role: "user", content: [] }], [USER]],
  ])("%s", (_name, messages, input) => {
    const sent = sendChat({ messages });
    expect(sent.json.input).toEqual(input);
    expect(sent.conversions).toBeUndefined();
    expect(sent.path).toBe("/responses");
  });

  it("keeps the rules of the host: roles and ids", () => {
    const messages = [
      { role: "developer", content: "Be brief." },
      { role: "assistant", tool_calls: [{ id: "a b", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "a b", content: "x" },
    ];
    const { input } = sendChat({ messages }, { model: { dialect: { hasDeveloperRole: false, toolIds: "safe-40" } } })
      .json as { input: readonly Json[] };
    expect(input[0]).toEqual({ role: "system", content: "Be brief." });
    expect(input[1]?.call_id).toMatch(/^[A-Za-z0-9_-]{24}$/);
    expect(input[2]?.call_id).toBe(input[1]?.call_id);
  });
});

describe("reasoning of earlier turns", () => {
  const sealed = {
    type: "reasoning.encrypted",
    format: "openai-responses",
    id: "rs_1",
    summary: "Hm.",
    data: "gAAA",
    index: 0,
  };
  const foreign = { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "EqQ=" };
  const messages = (details: readonly object[]): readonly Json[] => [
    { role: "assistant", content: "Hello.", reasoning_content: "Hm.", reasoning_details: details },
    USER,
  ];
  const ITEM = {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "gAAA",
  };

  it("goes back as it was sealed, before what followed it", () => {
    expect(written({ messages: messages([foreign, sealed]) }).input).toEqual([
      ITEM,
      { role: "assistant", content: "Hello." },
      USER,
    ]);
  });

  it("stays behind when another format sealed it, or when the provider has refused it", () => {
    const plain = [{ role: "assistant", content: "Hello." }, USER];
    expect(written({ messages: messages([foreign]) }).input).toEqual(plain);
    expect(written({ messages: messages([sealed]) }, { refusedFields: [REASONING_HISTORY] }).input).toEqual(plain);
  });

  it("goes in plain words to a host that takes them", () => {
    const keep = { model: { dialect: { reasoningHistory: "keep" } } };
    expect(written({ messages: messages([foreign]) }, keep).input).toEqual([
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
      { role: "assistant", content: "Hello." },
      USER,
    ]);
  });

  it("may be left out after a refusal only where there is some", () => {
    const sent = (list: readonly Json[]) => ({ body: {}, chat: { messages: list } as never, isNative: false });
    expect(responsesProvider.mayLeaveOut(REASONING_HISTORY, sent(messages([sealed])))).toBe(true);
    expect(responsesProvider.mayLeaveOut(REASONING_HISTORY, sent(messages([foreign])))).toBe(false);
  });
});

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };

describe("the fields", () => {
  it.each<[string, Json, Json]>([
    ["an output cap", { max_tokens: 300 }, { max_output_tokens: 300 }],
    ["the newer output cap first", { max_tokens: 300, max_completion_tokens: 200 }, { max_output_tokens: 200 }],
    ["a cap above the model's", { max_tokens: 99_999 }, { max_output_tokens: 16_384 }],
    ["sampling", { temperature: 0.2, top_p: 0.9 }, { temperature: 0.2, top_p: 0.9 }],
    ["a stream without its options", { stream: true, stream_options: { include_usage: true } }, { stream: true }],
    [
      "who asks and what to cache",
      { user: "u", safety_identifier: "s", metadata: { a: "b" }, prompt_cache_key: "k", prompt_cache_retention: "24h" },
      { user: "u", safety_identifier: "s", metadata: { a: "b" }, prompt_cache_key: "k", prompt_cache_retention: "24h" },
    ],
    ["effort, with a summary", { reasoning_effort: "high" }, { reasoning: { effort: "high", summary: "auto" } }],
    [
      "an effort only this vendor has",
      { reasoning_effort: "minimal" },
      { reasoning: { effort: "minimal", summary: "auto" } },
    ],
    ["no reasoning", { reasoning_effort: "none" }, { reasoning: { effort: "none" } }],
    [
      "a summary that was asked for",
      { reasoning: { effort: "low", summary: "detailed" } },
      { reasoning: { effort: "low", summary: "detailed" } },
    ],
    ["verbosity", { verbosity: "low" }, { text: { verbosity: "low" } }],
    [
      "a schema for the answer",
      { response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA, strict: true } } },
      { text: { format: { type: "json_schema", name: "n", schema: SCHEMA, strict: true } } },
    ],
    ["any JSON", { response_format: { type: "json_object" } }, { text: { format: { type: "json_object" } } }],
    [
      "log probabilities",
      { logprobs: true, top_logprobs: 3 },
      { include: ["message.output_text.logprobs"], top_logprobs: 3 },
    ],
    ["fields without a value", { temperature: null, tools: null, stop: null, seed: null }, {}],
    ["what is for the gateway", { service_profile: "auto", service_tier: "flex", store: true }, {}],
  ])("%s", (_name, fields, expected) => {
    expect(written(fields)).toEqual({ input: [USER], ...expected });
  });

  it.each<[string, Json, Json]>([
    [
      "a function, strict only when it was",
      { tools: [{ type: "function", function: { name: "f", description: "d", parameters: SCHEMA } }] },
      { tools: [{ type: "function", name: "f", description: "d", parameters: SCHEMA, strict: false }] },
    ],
    [
      "a function without a schema, and one that is strict",
      {
        tools: [
          { type: "function", function: { name: "f" } },
          { type: "function", name: "g", parameters: SCHEMA, strict: true },
        ],
      },
      {
        tools: [
          { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false },
          { type: "function", name: "g", parameters: SCHEMA, strict: true },
        ],
      },
    ],
    [
      "a custom tool with a grammar",
      {
        tools: [
          {
            type: "custom",
            custom: {
              name: "p",
              description: "d",
              format: { type: "grammar", grammar: { syntax: "lark", definition: "s" } },
            },
          },
        ],
        tool_choice: { type: "custom", custom: { name: "p" } },
      },
      {
        tools: [
          { type: "custom", name: "p", description: "d", format: { type: "grammar", syntax: "lark", definition: "s" } },
        ],
        tool_choice: { type: "custom", name: "p" },
      },
    ],
    [
      "a tool that must be called",
      {
        functions: [{ name: "f", parameters: SCHEMA }],
        function_call: { name: "f" },
        parallel_tool_calls: false,
      },
      {
        tools: [{ type: "function", name: "f", parameters: SCHEMA, strict: false }],
        tool_choice: { type: "function", name: "f" },
        parallel_tool_calls: false,
      },
    ],
    [
      "the tools that may be called",
      {
        tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }],
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
        },
      },
      {
        tools: [{ type: "function", name: "f", parameters: SCHEMA, strict: false }],
        tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
      },
    ],
  ])("%s", (_name, fields, expected) => {
    expect(written(fields)).toEqual({ input: [USER], ...expected });
  });

  it("asks models that reason for reasoning that can be sent back", () => {
    expect(written({}, { model: REASONS }).include).toEqual(["reasoning.encrypted_content"]);
  });

  it("sends the cap that the balance covers", () => {
    expect(written({ max_tokens: 300 }, { outputCap: 120 }).max_output_tokens).toBe(120);
  });
});

describe("what does not fit", () => {
  it("is dropped with a note", () => {
    const sent = sendChat({
      messages: [{ ...USER, name: "bob" }],
      stop: ["x"],
      seed: 7,
      frequency_penalty: 1,
      logit_bias: { 1: 2 },
      max_tokens: 4,
      tools: [{ type: "web_search" }],
    });
    expect(sent.json).toEqual({ model: "model", input: [USER], max_output_tokens: 16, store: false });
    expect(sent.droppedFields).toEqual(["stop", "seed", "frequency_penalty", "logit_bias"]);
    expect(sent.conversions).toEqual([
      "raised the output cap to 16, the least there is",
      "dropped a tool 'web_search': only its own provider runs it",
      ...sent.droppedFields.map((name) => `dropped '${name}': the Responses format has no counterpart`),
      "dropped names of messages: the Responses format has none",
    ]);
  });

  it.each<[string, Json]>([
    ["n", { n: 2 }],
    [
      "takes no sound",
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }] },
    ],
    ["gives no sound", { modalities: ["text", "audio"] }],
  ])("is refused where the answer would be another: %s", (words, fields) => {
    expect(() => sendChat({ messages: [USER], ...fields })).toThrow(words);
  });

  it("is what the dialect refuses or renames, and the nearest effort is taken", () => {
    const dialect = { refuses: ["temperature", "stop"], renames: { user: "customer" }, efforts: ["low"] as const };
    const sent = sendChat(
      { messages: [USER], temperature: 1, stop: ["x"], user: "u", reasoning_effort: "high" },
      { model: { dialect } },
    );
    expect(sent.json).toEqual({
      model: "model",
      input: [USER],
      customer: "u",
      reasoning: { effort: "low", summary: "auto" },
      store: false,
    });
    expect(sent.droppedFields).toEqual(["temperature", "stop"]);
  });
});

describe("a field that the provider has just refused", () => {
  it.each<[string, Json, Json]>([
    ["temperature", { temperature: 1 }, {}],
    ["reasoning.summary", { reasoning_effort: "low" }, { reasoning: { effort: "low" } }],
    ["include", { logprobs: true }, {}],
    [
      "text.verbosity",
      { verbosity: "low", response_format: { type: "json_object" } },
      { text: { format: { type: "json_object" } } },
    ],
  ])("%s is left out", (field, fields, expected) => {
    const sent = sendChat({ messages: [USER], ...fields }, { refusedFields: [field] });
    expect(sent.json).toEqual({ model: "model", input: [USER], store: false, ...expected });
    expect(sent.droppedFields).toEqual([field]);
    expect(sent.conversions).toEqual([`dropped '${field}': the model refuses it`]);
  });

  it.each([
    ["temperature", true],
    ["reasoning.summary", true],
    ["store", true],
    ["max_output_tokens", true],
    ["text.verbosity", true],
    ["text.format", false],
    ["text", false],
    ["input", false],
    ["tools", false],
    ["model", false],
    ["instructions", false],
    ["seed", false],
  ])("%s may be left out: %s", (field, expected) => {
    const body = { temperature: 1, tools: [], text: {}, input: [], instructions: "" };
    expect(responsesProvider.mayLeaveOut(field, { body, chat: { messages: [] } as never, isNative: true })).toBe(
      expected,
    );
  });
});
