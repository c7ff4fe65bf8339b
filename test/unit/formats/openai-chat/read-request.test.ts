// What the gateway reads of a chat-completions body.

import { describe, expect, it } from "vitest";
import { readChatRequest } from "../../../../src/formats/openai-chat/read-request.ts";

const messages = [{ role: "user", content: "Hi" }];

describe("readChatRequest", () => {
  it("has plain defaults", () => {
    expect(readChatRequest({ messages })).toEqual({
      messages,
      tools: [],
      toolChoice: null,
      isStream: false,
      wantsUsage: false,
      maxOutputTokens: null,
      choiceCount: 1,
    });
  });

  it.each<[string, object, boolean]>([
    ["OpenAI's option", { web_search_options: {} }, true],
    ["OpenRouter's plugin", { plugins: [{ id: "web" }] }, true],
    ["OpenRouter's tool", { tools: [{ type: "openrouter:web_search" }] }, true],
    ["Groq's tool", { tools: [{ type: "browser_search" }] }, true],
    ["a tool that is barred", { tools: [{ type: "web_search" }], tool_choice: "none" }, false],
    ["a client's own search", { tools: [{ type: "function", function: { name: "web_search" } }] }, false],
    ["another plugin", { plugins: [{ id: "file-parser" }] }, false],
  ])("holds for searches that the host may run: %s", (_, fields, isHeld) => {
    expect((readChatRequest({ messages, ...fields }).searches ?? 0) > 0).toBe(isHeld);
  });

  it.each([
    [{ max_tokens: 5 }, 5],
    [{ max_completion_tokens: 6 }, 6],
    [{ max_tokens: 1, max_completion_tokens: 100_000 }, 100_000],
    [{ max_tokens: 100_000, max_completion_tokens: 1 }, 100_000],
    [{ max_tokens: null, max_completion_tokens: 7 }, 7],
  ])("takes the larger of two caps: %j", (caps, expected) => {
    expect(readChatRequest({ messages, ...caps }).maxOutputTokens).toBe(expected);
  });

  it.each([
    [{ stream: true, stream_options: { include_usage: true } }, true],
    [{ stream: false, stream_options: { include_usage: true } }, false],
    [{ stream: true, stream_options: { include_usage: "yes" } }, false],
    [{ stream: true }, false],
  ])("knows when usage is wanted: %j", (fields, expected) => {
    expect(readChatRequest({ messages, ...fields }).wantsUsage).toBe(expected);
  });

  it.each<[string, object, object]>([
    [
      "a function",
      { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } },
      { name: "f", description: "d", parameters: { type: "object" } },
    ],
    ["a custom tool", { type: "custom", custom: { name: "c" } }, { name: "c", description: "", parameters: null }],
    ["a flat entry", { type: "function", name: "g", parameters: {} }, { name: "g", description: "", parameters: {} }],
    ["a host's own tool", { type: "web_search" }, { name: "web_search", description: "", parameters: null }],
    [
      "odd fields",
      { function: { name: 5, description: [], parameters: "x" } },
      { name: "", description: "", parameters: null },
    ],
  ])("reads %s", (_name, tool, expected) => {
    expect(readChatRequest({ messages, tools: [tool] }).tools).toEqual([expected]);
  });

  it("reads the deprecated functions after the tools", () => {
    const body = {
      messages,
      tools: [{ type: "function", function: { name: "a" } }],
      functions: [{ name: "b" }],
      function_call: "auto",
    };
    const { tools, toolChoice } = readChatRequest(body);
    expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(toolChoice).toBe("auto");
  });
});
