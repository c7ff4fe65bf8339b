// Whole answers: what counts as one, and what a client is given of it.

import { describe, expect, it } from "vitest";
import { readOpenaiError } from "../../../../src/formats/openai-chat/errors.ts";
import { readOpenaiResponse } from "../../../../src/formats/openai-chat/read-response.ts";
import { readUsage } from "../../../../src/formats/openai-chat/usage.ts";
import { passOpenaiResponse } from "../../../../src/formats/openai-chat/write-response.ts";

const context = { requestId: "req_1", modelId: "catalogue-id", createdAtSeconds: 1_700_000_000 };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const COUNTED = readUsage({ usage });

function answer(message: object, extra: object = {}): object {
  return { choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }], ...extra };
}

function read(body: unknown): ReturnType<typeof readOpenaiResponse> {
  return readOpenaiResponse(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
}

describe("readOpenaiResponse", () => {
  it.each<[string, unknown]>([
    ["nothing", ""],
    ["HTML", "<html>502 Bad Gateway</html>"],
    ["half a body", '{"choices":[{"message":{"content":"x"'],
    ["an array", []],
    ["null", "null"],
    ["no choices", { id: "x" }],
    ["empty choices", { choices: [] }],
    ["choices as an object", { choices: {} }],
    ["an error with status 200", { error: { message: "overloaded", code: 529 } }],
    ["an error as text", { error: "overloaded" }],
    ["a finish of error", { choices: [{ index: 0, message: { content: "x" }, finish_reason: "error" }] }],
    ["no content, no call, no tokens", answer({ content: "" })],
    ["null content", answer({ content: null })],
    ["empty tool calls", answer({ content: null, tool_calls: [] })],
    [
      "no message",
      { choices: [{ index: 0, finish_reason: "stop" }], usage: { prompt_tokens: 5, completion_tokens: 5 } },
    ],
    ["a choice that is text", { choices: ["x"], usage: { prompt_tokens: 5, completion_tokens: 5 } }],
    ["zero tokens", answer({ content: "" }, { usage: { prompt_tokens: 5, completion_tokens: 0 } })],
    ["depth", `{"choices":${"[".repeat(300)}${"]".repeat(300)}}`],
  ])("takes %s for a failed attempt", (_name, body) => {
    const reading = read(body);
    expect(reading.ok).toBe(false);
    if (!reading.ok) expect(reading.fault.message).not.toBe("");
  });

  it.each<[string, object]>([
    ["text", answer({ content: "x" })],
    ["a refusal", answer({ content: null, refusal: "no" })],
    ["a tool call", answer({ content: null, tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] })],
    ["an old function call", answer({ content: null, function_call: { name: "f", arguments: "{}" } })],
    ["sound", answer({ content: null, audio: { id: "a", data: "AAAA" } })],
    ["parts", answer({ content: [{ type: "text", text: "x" }] })],
    ["nothing but tokens: reasoning used up the cap", answer({ content: "" }, { usage })],
  ])("takes %s for an answer", (_name, body) => {
    expect(read(body).ok).toBe(true);
  });

  it.each([
    [{ prompt_tokens: 1, completion_tokens: 2 }, { total_tokens: 3 }],
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 99 }, { total_tokens: 3 }],
    [{ prompt_tokens: 7 }, { completion_tokens: 0, total_tokens: 7 }],
  ])("reads the usage %j", (given, expected) => {
    const reading = read(answer({ content: "x" }, { usage: given }));
    expect(reading.ok && reading.response.usage?.reported).toMatchObject(expected);
  });

  it.each([
    [{ prompt_tokens: -1, completion_tokens: 2 }],
    [{ prompt_tokens: 1.5 }],
    [{ prompt_tokens: "9" }],
    [{ prompt_tokens: 1e15 }],
    [{}],
    [5],
  ])("takes the impossible usage %j for none", (given) => {
    const reading = read(answer({ content: "x" }, { usage: given }));
    expect(reading.ok && reading.response.usage).toBeNull();
  });
});

describe("passOpenaiResponse", () => {
  const write = (body: unknown): Record<string, unknown> => {
    const reading = read(body);
    if (!reading.ok) throw new Error(reading.fault.message);
    return JSON.parse(
      passOpenaiResponse(reading.response, context, { service: { tier: "NANO" }, usage: COUNTED }).toString(),
    );
  };

  it.each([
    ["stop", { content: "x" }],
    [
      "tool_calls",
      { content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
    ],
  ])("a whole answer that does not say how it ended, ended with %s", (expected, message) => {
    expect(write({ choices: [{ message }] })).toMatchObject({ choices: [{ finish_reason: expected }] });
    expect(write({ choices: [{ message, finish_reason: null }] })).toMatchObject({
      choices: [{ finish_reason: expected }],
    });
  });

  it("fills in what a host left out", () => {
    expect(write({ choices: [{ message: { content: "x" }, finish_reason: "eos" }] })).toEqual({
      id: "chatcmpl-req_1",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "catalogue-id",
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
      usage,
      service: { tier: "NANO" },
    });
  });

  it("replaces a host's own `service` and never shows its model name", () => {
    const written = write({ ...answer({ content: "x" }), model: "internal-name", service: { tier: "X" } });
    expect(written).toMatchObject({ model: "catalogue-id", service: { tier: "NANO" } });
    expect(JSON.stringify(written)).not.toContain("internal-name");
  });

  it.each([
    ["no total", { usage: { prompt_tokens: 4, completion_tokens: 2 } }, 6],
    ["a wrong total", { usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 99 } }, 6],
    ["counts in a place of its own", { x_groq: { usage: { prompt_tokens: 4, completion_tokens: 2 } } }, 6],
  ])("shows what is charged where a host has %s", (_name, carrier, total) => {
    const reading = read({ ...answer({ content: "x" }), ...carrier });
    if (!reading.ok) throw new Error(reading.fault.message);
    const written = passOpenaiResponse(reading.response, context, { service: { tier: "NANO" }, usage: null });
    expect(JSON.parse(written.toString())).toMatchObject({
      usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: total },
    });
  });

  it("makes text of arguments that are an object", () => {
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: { city: "Rome" } } }];
    expect(write(answer({ content: null, tool_calls: calls }))).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: "a", function: { name: "f", arguments: '{"city":"Rome"}' } }] } }],
    });
  });

  it("says tool_calls where a host says stop after calling a tool", () => {
    const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(write(answer({ content: null, tool_calls: calls }))).toMatchObject({
      choices: [{ finish_reason: "tool_calls" }],
    });
  });
});

describe("readOpenaiError", () => {
  it.each([
    ['{"error":{"message":"m","code":"c","param":"p"}}', { message: "m", code: "c", param: "p" }],
    ['{"error":{"message":"m","type":"t","code":null}}', { message: "m", code: "t", param: "" }],
    ['{"error":"m"}', { message: "m", code: "", param: "" }],
    ['{"message":"m","type":"t"}', { message: "m", code: "t", param: "" }],
    ['{"detail":[{"loc":["body","x"]}]}', { message: "", code: "", param: "" }],
    ["<html>", { message: "<html>", code: "", param: "" }],
    ["", { message: "", code: "", param: "" }],
    ["[1]", { message: "[1]", code: "", param: "" }],
  ])("reads %s", (text, expected) => {
    expect(readOpenaiError(Buffer.from(text))).toMatchObject(expected);
  });
});

describe("tool calls that lack what clients need", () => {
  it("get an id of their own and a type; whole ones stay as they are", () => {
    const called = { function: { name: "f", arguments: "{}" } };
    const calls = [
      { ...called },
      { ...called, id: "", type: "function" },
      { ...called, id: "call_a", type: "function" },
      { ...called, id: "call_0", type: "function" },
    ];
    const reading = read(answer({ tool_calls: calls }));
    if (!reading.ok) throw new Error(reading.fault.message);
    const bytes = passOpenaiResponse(reading.response, context, { service: {}, usage: COUNTED });
    expect(JSON.parse(bytes.toString()).choices[0].message.tool_calls).toEqual([
      { ...called, id: "call_req_1_0", type: "function" },
      { ...called, id: "call_req_1_1", type: "function" },
      { ...called, id: "call_a", type: "function" },
      { ...called, id: "call_req_1_3", type: "function" },
    ]);
  });
});

it.each([1e300, 1e15, 0.5, -3])("a count of %d searches cannot be true, and costs nothing", (count) => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  expect(readUsage({ usage: { ...usage, num_search_queries: count } })?.parts).toBeUndefined();
  expect(readUsage({ usage: { ...usage, server_tool_use: { web_search_requests: count } } })?.parts).toBeUndefined();
});
