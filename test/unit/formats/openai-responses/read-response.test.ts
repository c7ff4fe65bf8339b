// Whole answers of a Responses provider, read into the internal shape.

import { describe, expect, it } from "vitest";
import { REASONING_HISTORY } from "../../../../src/formats/openai-responses/faults.ts";
import { responsesProvider } from "../../../../src/formats/openai-responses/provider.ts";
import { readResponsesUsage, writeResponsesUsage } from "../../../../src/formats/openai-responses/usage.ts";
import {
  customCall,
  functionCall,
  message,
  reasoning,
  refusal,
  response,
} from "../../../support/providers/fake-responses.ts";
import { type Json, readWhole } from "./provider-exchange.ts";

const read = (body: unknown) => responsesProvider.readResponse(Buffer.from(JSON.stringify(body)));

describe("an answer", () => {
  it("is one message with everything the items say", () => {
    const items = [
      reasoning(["First.", "Then."], "gAAA"),
      message("Let me look.", "msg_1"),
      functionCall("call_a", "f", { x: 1 }),
      customCall("call_b", "patch", "+a"),
      message("Done.", "msg_2"),
    ];
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 120,
    };
    const { completion, outputText, toolCallIds } = readWhole(response(items, "up", { usage }));
    expect(completion).toEqual({
      id: "resp_fake",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "up",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Let me look.\n\nDone.",
            refusal: null,
            reasoning_content: "First.\n\nThen.",
            reasoning_details: [
              {
                type: "reasoning.encrypted",
                format: "openai-responses",
                id: "rs_fake",
                summary: "First.\n\nThen.",
                data: "gAAA",
                index: 0,
              },
            ],
            tool_calls: [
              { id: "call_a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
              { id: "call_b", type: "custom", custom: { name: "patch", input: "+a" } },
            ],
          },
          logprobs: null,
          finish_reason: "tool_calls",
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 8 },
      },
    });
    expect(outputText).toBe('First.\n\nThen.Let me look.f{"x":1}patch+aDone.');
    expect(toolCallIds).toEqual(["call_a", "call_b"]);
  });

  it.each<[string, object, Json]>([
    ["stop", response([message("Hi")], "m"), { finish_reason: "stop" }],
    ["length", response([message("Hi")], "m", { incomplete: "max_output_tokens" }), { finish_reason: "length" }],
    [
      "the filter",
      response([message("Hi")], "m", { incomplete: "content_filter" }),
      { finish_reason: "content_filter" },
    ],
    [
      "a refusal",
      response([refusal("No.")], "m"),
      { finish_reason: "stop", message: { role: "assistant", content: null, refusal: "No." } },
    ],
    [
      "reasoning in plain words",
      response(
        [
          { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
          message("Hi"),
        ],
        "m",
      ),
      { message: { role: "assistant", content: "Hi", refusal: null, reasoning_content: "Hm." } },
    ],
    [
      "log probabilities",
      response(
        [
          {
            ...message("Hi"),
            content: [{ type: "output_text", text: "Hi", logprobs: [{ token: "Hi", logprob: -1 }] }],
          },
        ],
        "m",
      ),
      { logprobs: { content: [{ token: "Hi", logprob: -1 }], refusal: null } },
    ],
    [
      "items nobody here knows",
      response([{ type: "web_search_call", id: "ws" }, message("Hi")], "m"),
      { message: { role: "assistant", content: "Hi", refusal: null }, finish_reason: "stop" },
    ],
    [
      "nothing but the end of the cap",
      response([], "m", { incomplete: "max_output_tokens" }),
      { finish_reason: "length" },
    ],
  ])("ends with %s", (_name, body, expected) => {
    const { choices } = readWhole(body).completion as { choices: readonly Json[] };
    expect(choices).toMatchObject([expected]);
  });

  it("of a built-in tool alone is an answer, also without usage", () => {
    const items = [{ type: "image_generation_call", id: "ig", result: "AAAA" }];
    expect(readWhole(response(items, "m", { usage: null })).outputText).toBe("image_generation_call");
  });
});

describe("what is no answer", () => {
  it.each<[string, unknown, Json]>([
    ["no JSON object", [], { code: "unreadable_answer" }],
    ["no output", { id: "x" }, { code: "unreadable_answer" }],
    ["an empty one", response([], "m", { usage: null }), { message: "the answer is empty" }],
    [
      "one that is still made",
      { ...response([], "m"), status: "in_progress" },
      { message: "the answer is not finished" },
    ],
    [
      "one that failed",
      { ...response([], "m"), status: "failed", error: { code: "rate_limit_exceeded", message: "Try again in 3 s" } },
      { code: "rate_limit_exceeded", message: "Try again in 3 s" },
    ],
    [
      "one that failed without a word",
      { status: "failed", error: null },
      { message: "the provider ended the answer with 'failed'" },
    ],
    [
      "an error with a success",
      { error: { message: "no", code: "server_error" } },
      { code: "server_error", message: "no" },
    ],
  ])("%s", (_name, body, fault) => {
    expect(read(body)).toMatchObject({ ok: false, fault });
  });
});

describe("an error", () => {
  const fault = (error: unknown) => responsesProvider.readError(Buffer.from(JSON.stringify({ error })));

  it("is read as in chat-completions", () => {
    expect(fault({ message: "no", code: "unsupported_parameter", param: "reasoning.summary" })).toMatchObject({
      param: "reasoning.summary",
      isFieldRefused: true,
    });
    expect(fault({ message: "Too long", code: "context_length_exceeded" })).toMatchObject({ isTooLong: true });
    expect(fault({ message: "Pay", code: "insufficient_quota" })).toMatchObject({ isUnpaid: true });
    expect(responsesProvider.readError(Buffer.from("<html>")).message).toBe("<html>");
  });

  it.each([
    ["invalid_encrypted_content", "nonsense"],
    [null, "The encrypted content gAAA...ng== could not be verified."],
    ["invalid_request_error", "Item 'rs_1' of type 'reasoning' was provided without its required following item."],
    [null, "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."],
  ])("about reasoning that cannot be opened names it: %s %s", (code, words) => {
    expect(fault({ message: words, type: "invalid_request_error", param: null, code })).toMatchObject({
      message: words,
      param: REASONING_HISTORY,
      isFieldRefused: true,
    });
  });
});

describe("usage", () => {
  it.each<[unknown, object | null]>([
    [undefined, null],
    [{ input_tokens: -1, output_tokens: 2 }, null],
    [{ input_tokens: "5", output_tokens: 2 }, null],
    [
      { input_tokens: 5, output_tokens: 2 },
      { buckets: { input: 5, cacheRead: 0, cacheWrite: 0, output: 2 }, reasoning: 0 },
    ],
    [
      { input_tokens: 5, output_tokens: 2, total_tokens: 10, output_tokens_details: { reasoning_tokens: 3 } },
      { buckets: { input: 5, cacheRead: 0, cacheWrite: 0, output: 5 }, reasoning: 3 },
    ],
  ])("%j", (given, expected) => {
    const usage = readResponsesUsage({ usage: given });
    if (expected === null) expect(usage).toBeNull();
    else expect(usage).toMatchObject(expected);
  });

  it("is written as it was read", () => {
    const given = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 120,
    };
    const usage = readResponsesUsage({ usage: given });
    expect(usage === null ? null : writeResponsesUsage(usage)).toEqual(given);
  });
});
