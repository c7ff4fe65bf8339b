// Reading a client's Messages request: what is refused and how, what routing sees, and what only Anthropic can serve.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { readCountRequest, writeCount } from "../../../../src/formats/anthropic/read-request.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { FORMATS, type Json, read, send } from "./exchange.ts";

const { openai, anthropic } = FORMATS;
const TO_CHAT = [anthropic, openai] as const;
const USER = { role: "user", content: "Hi" };
const BODY = { model: "m", max_tokens: 100, messages: [USER] };

function failure(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error("nothing was refused");
}

describe("what is refused", () => {
  it.each<[string, Json, number, string]>([
    ["no messages", { messages: undefined }, 422, "messages"],
    ["messages not an array", { messages: {} }, 422, "messages"],
    ["no message", { messages: [] }, 422, "messages"],
    ["a message that is none", { messages: ["x"] }, 422, "messages[0]"],
    ["a role of another format", { messages: [{ role: "tool", content: "" }] }, 422, "messages[0].role"],
    ["no content", { messages: [{ role: "user" }] }, 422, "messages[0].content"],
    ["a block without type", { messages: [{ role: "user", content: [{}] }] }, 422, "messages[0].content[0]"],
    [
      "text that is none",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      422,
      "messages[0].content[0].text",
    ],
    [
      "a call without id",
      { messages: [{ role: "assistant", content: [{ type: "tool_use", name: "f" }] }] },
      422,
      "messages[0].content[0].id",
    ],
    [
      "a result without call",
      { messages: [{ role: "user", content: [{ type: "tool_result" }] }] },
      422,
      "messages[0].content[0].tool_use_id",
    ],
    [
      "a result of numbers",
      { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: 7 }] }] },
      422,
      "messages[0].content[0].content",
    ],
    [
      "an image without source",
      { messages: [{ role: "user", content: [{ type: "image" }] }] },
      422,
      "messages[0].content[0].source",
    ],
    ["a system of numbers", { system: 7 }, 400, "system"],
    ["a system of images", { system: [{ type: "image" }] }, 400, "system[0]"],
    ["a cap in words", { max_tokens: "many" }, 400, "max_tokens"],
    ["a negative cap", { max_tokens: -1 }, 400, "max_tokens"],
    ["stream in words", { stream: "yes" }, 400, "stream"],
    ["tools not an array", { tools: {} }, 400, "tools"],
    ["a tool without name", { tools: [{ input_schema: {} }] }, 400, "tools[0].name"],
    ["a choice in words", { tool_choice: "auto" }, 400, "tool_choice"],
    ["stops not of text", { stop_sequences: [1] }, 400, "stop_sequences"],
    ["thinking in words", { thinking: "hard" }, 400, "thinking"],
    ["a tier that is none", { service_profile: "tier", service_tier: "auto" }, 400, "service_tier"],
  ])("%s", (_name, fields, status, param) => {
    const error = failure(() => read(anthropic, { ...BODY, ...fields }));
    expect([error.status, error.details.param]).toEqual([status, param]);
    expect(anthropic.writeError(error, "r1")).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error" },
      request_id: "r1",
    });
  });

  it.each<[string, Json]>([
    ["the vendor's own service_tier", { service_tier: "standard_only" }],
    [
      "null in place of anything optional",
      {
        system: null,
        tools: null,
        tool_choice: null,
        thinking: null,
        stream: null,
        stop_sequences: null,
        metadata: null,
      },
    ],
    ["no cap", { max_tokens: undefined }],
    ["a cap of none, to warm a cache", { max_tokens: 0 }],
    ["empty content", { messages: [USER, { role: "assistant", content: [] }] }],
  ])("but not %s", (_name, fields) => {
    expect(() => send(TO_CHAT, { ...BODY, ...fields })).not.toThrow();
    expect(() => send([anthropic, anthropic], { ...BODY, ...fields })).not.toThrow();
  });
});

describe("what routing sees", () => {
  it("the newest human ask, not what harness and tools say", () => {
    const request = read(anthropic, {
      ...BODY,
      system: "You are an agent.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "<system-reminder>\nrules\n</system-reminder>" },
            { type: "text", text: "Fix the bug." },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "shot", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "a",
              content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }],
            },
            { type: "tool_result", tool_use_id: "gone", content: "Prove the Riemann hypothesis." },
          ],
        },
        { role: "system", content: "Plan mode." },
      ],
    });
    expect(newestAsk(request.chat.messages).text).toBe("Fix the bug.");
  });

  it("tools, stream, cap and controls", () => {
    const tools = [
      { name: "f", description: "d", input_schema: { type: "object" } },
      { type: "mcp_toolset", mcp_server_name: "x" },
    ];
    const request = read(anthropic, {
      ...BODY,
      stream: true,
      tools,
      service_profile: "tier",
      service_tier: "NANO",
      model: "claude-x",
    });
    expect(request.chat).toMatchObject({ isStream: true, wantsUsage: true, maxOutputTokens: 100, choiceCount: 1 });
    expect(request.chat.tools).toEqual([
      { name: "f", description: "d", parameters: { type: "object" } },
      { name: "mcp_toolset", description: "", parameters: null },
    ]);
    expect(request.controls).toMatchObject({ profile: "tier", forcedTier: "NANO", model: "claude-x" });
  });
});

describe("what only Anthropic can serve", () => {
  const search = { type: "web_search_20990101", name: "web_search" };
  const custom = { name: "f", input_schema: { type: "object" } };

  it.each<[string, Json, string]>([
    [
      "an image by file id",
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] }] },
      "file id",
    ],
    [
      "a document by file id",
      { messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }] },
      "file id",
    ],
    [
      "a document by url",
      { messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url: "u" } }] }] },
      "url",
    ],
    [
      "an upload to a container",
      { messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] },
      "container",
    ],
    ["a server tool alone", { tools: [search] }, "web_search_20990101"],
    [
      "a server tool by name",
      { tools: [search, custom], tool_choice: { type: "tool", name: "web_search" } },
      "web_search_20990101",
    ],
  ])("%s", (_name, fields, word) => {
    const body = { ...BODY, ...fields };
    expect(read(anthropic, body).nativeNeeds?.join()).toContain(word);
    const error = failure(() => send(TO_CHAT, body));
    expect([error.status, error.details.code]).toEqual([400, "unconvertible"]);
    expect(error.message).toContain(word);
    expect(() => send([anthropic, anthropic], body)).not.toThrow();
  });

  it("not a server tool beside others, which is left out", () => {
    const body = { ...BODY, tools: [search, custom] };
    expect(read(anthropic, body).nativeNeeds).toEqual([]);
    expect(send(TO_CHAT, body).json.tools).toHaveLength(1);
  });
});

describe("tools in chat-completions", () => {
  it.each<[unknown, Json]>([
    [undefined, {}],
    [{ type: "auto" }, { tool_choice: "auto" }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }],
    [{ type: "none" }, { tool_choice: "none" }],
  ])("choice %j", (choice, expected) => {
    const { json } = send(TO_CHAT, { ...BODY, tools: [{ name: "f" }], tool_choice: choice });
    const { tool_choice, parallel_tool_calls } = json;
    expect(JSON.parse(JSON.stringify({ tool_choice, parallel_tool_calls }))).toEqual(expected);
  });

  it("no choice without tools", () => {
    expect(send(TO_CHAT, { ...BODY, tool_choice: { type: "none" } }).json).not.toHaveProperty("tool_choice");
    expect(send(TO_CHAT, { ...BODY, tools: [], tool_choice: { type: "auto" } }).json).not.toHaveProperty("tools");
  });

  it.each(["bash_20250124", "text_editor_20990101", "memory_20250818", "computer_20251124"])(
    "%s has a schema",
    (type) => {
      const [tool] = send(TO_CHAT, { ...BODY, tools: [{ type, name: "t" }] }).json.tools as { function: Json }[];
      expect(tool?.function).toMatchObject({
        name: "t",
        description: expect.any(String),
        parameters: { type: "object" },
      });
    },
  );
});

describe("fields by model", () => {
  const reasoning = { capabilities: ["reasoning"] } as const;

  it.each<[string, object, Json, Json]>([
    ["effort as it is", reasoning, { output_config: { effort: "low" } }, { reasoning_effort: "low" }],
    ["the nearest effort", reasoning, { output_config: { effort: "max" } }, { reasoning_effort: "high" }],
    [
      "effort from a budget",
      reasoning,
      { thinking: { type: "enabled", budget_tokens: 2000 } },
      { reasoning_effort: "low" },
    ],
    [
      "none where the model has it",
      { ...reasoning, dialect: { efforts: ["none", "low"] } },
      { thinking: { type: "disabled" } },
      { reasoning_effort: "none" },
    ],
    ["nothing where it has not", reasoning, { thinking: { type: "disabled" } }, {}],
    ["nothing for adaptive thinking", reasoning, { thinking: { type: "adaptive" } }, {}],
    ["nothing for a model that does not reason", {}, { output_config: { effort: "low" } }, {}],
    ["top_k where it is taken", { dialect: { takesTopK: true } }, { top_k: 5 }, { top_k: 5 }],
    ["one token for none", {}, { max_tokens: 0 }, { max_tokens: 1 }],
    [
      "an older name of the output format",
      {},
      { output_format: { type: "json_schema", schema: { type: "object" } } },
      { response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } } },
    ],
  ])("%s", (_name, model, fields, expected) => {
    const { model: _, messages: __, ...json } = send(TO_CHAT, { ...BODY, ...fields }, { model }).json;
    expect(json).toEqual({ max_tokens: 100, ...expected });
  });

  it("keeps cache marks for hosts that take them", () => {
    const mark = { cache_control: { type: "ephemeral" } };
    const body = {
      ...BODY,
      system: [{ type: "text", text: "a", ...mark }],
      messages: [{ role: "user", content: [{ type: "text", text: "b", ...mark }] }],
    };
    expect(send(TO_CHAT, body, { model: { dialect: { takesCacheControl: true } } }).json.messages).toEqual([
      { role: "system", content: [{ type: "text", text: "a", ...mark }] },
      { role: "user", content: [{ type: "text", text: "b", ...mark }] },
    ]);
    expect(send(TO_CHAT, body).conversions).toEqual(["dropped 'cache_control': the host caches in its own way"]);
  });

  it.each([
    ["tool-turns", [undefined, "Hm."]],
    ["keep", ["Hm.", "Hm."]],
    ["drop", [undefined, undefined]],
    [undefined, [undefined, undefined]],
  ] as const)("readable thinking of earlier turns: %s", (reasoningHistory, expected) => {
    const thinking = { type: "thinking", thinking: "Hm.", signature: "EqQB" };
    const messages = [
      USER,
      { role: "assistant", content: [thinking, { type: "text", text: "a" }] },
      USER,
      { role: "assistant", content: [thinking, { type: "tool_use", id: "a", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
    ];
    const dialect = reasoningHistory === undefined ? {} : { reasoningHistory };
    const sent = send(TO_CHAT, { ...BODY, messages }, { model: { dialect } }).json.messages as Json[];
    expect([sent[1]?.reasoning_content, sent[3]?.reasoning_content]).toEqual(expected);
  });
});

describe("counting", () => {
  it("needs neither cap nor model", () => {
    const request = readCountRequest({ system: "a", messages: [USER], tools: [{ name: "f", input_schema: {} }] });
    expect(request.messages.map((message) => message.role)).toEqual(["system", "user"]);
    expect(request.tools).toHaveLength(1);
    expect(writeCount(12)).toEqual({ input_tokens: 12 });
    expect(failure(() => readCountRequest({})).status).toBe(422);
  });
});
