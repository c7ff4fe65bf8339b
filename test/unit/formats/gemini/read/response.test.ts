// Whole responses of Google as chat-completions: text, thoughts, signatures, calls, ends, blocks and counts.

import { describe, expect, it } from "vitest";
import { functionCall, generated, text, thought } from "../../../../support/providers/fake-gemini.ts";
import { type Json, messageIn, readWhole } from "../provider-end.ts";

describe("an answer", () => {
  it("is converted with its counts", () => {
    const body = generated([thought("Hm."), text("It is ", undefined), text("sunny.", "SIG")], {
      usage: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 30,
        toolUsePromptTokenCount: 5,
        totalTokenCount: 142,
      },
    });
    const { completion, usage, outputText } = readWhole(body);
    expect(completion).toEqual({
      id: "resp-fake",
      object: "chat.completion",
      model: "gemini-fake-001",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "It is sunny.",
            refusal: null,
            reasoning_content: "Hm.",
            reasoning_details: [{ type: "reasoning.encrypted", format: "gemini", data: "SIG" }],
          },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 105,
        completion_tokens: 37,
        total_tokens: 142,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    });
    expect(usage?.buckets).toEqual({ input: 45, cacheRead: 60, cacheWrite: 0, output: 37 });
    expect(usage?.reasoning).toBe(30);
    expect(outputText).toBe("Hm.It is sunny.");
  });

  it("keeps a signed thought whole", () => {
    const body = generated([{ text: "Hm.", thought: true, thoughtSignature: "SIG" }, text("Ok")]);
    expect(messageIn(body).reasoning_details).toEqual([
      { type: "reasoning.text", format: "gemini", text: "Hm.", signature: "SIG" },
    ]);
  });

  it("has calls with ids, text arguments and signatures", () => {
    const body = generated([
      functionCall("one", { x: [1] }, { id: "given", signature: "SIG" }),
      functionCall("two", {}),
      { functionCall: { name: "three" } },
    ]);
    const response = readWhole(body);
    const { tool_calls: calls, reasoning_details: details, content } = messageIn(body) as { tool_calls: Json[] } & Json;
    expect(content).toBeNull();
    expect(calls[0]).toEqual({
      id: "given",
      type: "function",
      function: { name: "one", arguments: '{"x":[1]}' },
      extra_content: { google: { thought_signature: "SIG" } },
    });
    expect(details).toEqual([{ type: "reasoning.encrypted", format: "gemini", data: "SIG", id: "given" }]);
    expect(calls.map((call) => (call.function as Json).arguments)).toEqual(['{"x":[1]}', "{}", "{}"]);
    const ids = calls.map(({ id }) => String(id));
    expect(new Set(ids).size).toBe(3);
    expect(response.toolCallIds()).toEqual(ids);
    expect(ids[1]).toMatch(/^call_[A-Za-z0-9]{24}$/);
    expect((response.completion.choices as Json[])[0]?.finish_reason).toBe("tool_calls");
  });

  it("makes ids that differ from response to response, and never from reading to reading", () => {
    const idIn = (responseId: string | null): unknown =>
      ((messageIn(generated([functionCall("one", {})], { responseId })).tool_calls as Json[])[0] as Json).id;
    expect(idIn("r1")).toBe(idIn("r1"));
    expect(idIn("r1")).not.toBe(idIn("r2"));
    // Recognised as made up by the client's end.
    expect(idIn(null)).toBe("call_0");
  });

  it("hands images on where hosts put them", () => {
    const body = generated([text("Here:"), { inlineData: { mimeType: "image/png", data: "AAAA" } }]);
    expect(messageIn(body)).toMatchObject({
      content: "Here:",
      images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
    });
  });

  it("counts parts that nobody knows, and says the rest", () => {
    const body = generated([{ executableCode: { code: "1+1" } }, "junk" as unknown as Json, text("2")]);
    expect(messageIn(body).content).toBe("2");
    expect(readWhole(body).outputText).toContain("1+1");
  });

  it("may have several candidates", () => {
    const body = {
      ...generated([]),
      candidates: [
        { content: { parts: [{ text: "a" }] }, finishReason: "STOP" },
        { content: { parts: [{ text: "b" }] }, finishReason: "MAX_TOKENS", index: 1 },
      ],
    };
    const { choices } = readWhole(body).completion as { choices: Json[] };
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "stop"],
      [1, "length"],
    ]);
    expect(messageIn(body, 1).content).toBe("b");
  });
});

describe("the end", () => {
  it.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["LANGUAGE", "content_filter"],
    ["OTHER", "stop"],
    ["SOMETHING_NEW", "stop"],
  ])("%s is %s", (finishReason, expected) => {
    const { choices } = readWhole(generated([text("a")], { finishReason })).completion as { choices: Json[] };
    expect(choices[0]).toMatchObject({ finish_reason: expected, message: { content: "a", refusal: null } });
  });

  it("without a reason is a usual one", () => {
    const { choices } = readWhole(generated([text("a")], { finishReason: null })).completion as { choices: Json[] };
    expect(choices[0]?.finish_reason).toBe("stop");
  });

  it("of a stopped answer without words is a refusal", () => {
    const stopped = generated([], { finishReason: "SAFETY", usage: { promptTokenCount: 5 } });
    expect(messageIn(stopped)).toMatchObject({ content: null, refusal: "The provider blocked this: SAFETY." });
    const told = generated([], { finishReason: "SAFETY", candidate: { finishMessage: "Not that." } });
    expect(messageIn(told).refusal).toBe("Not that.");
  });

  it("of a blocked prompt is a refusal too, and its input is counted", () => {
    const body = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
      responseId: "r",
    };
    const response = readWhole(body);
    expect(response.completion).toMatchObject({
      choices: [
        {
          finish_reason: "content_filter",
          message: { content: null, refusal: "The provider blocked this: PROHIBITED_CONTENT." },
        },
      ],
    });
    expect(response.usage?.buckets).toEqual({ input: 9, cacheRead: 0, cacheWrite: 0, output: 0 });
  });

  it.each([
    ["nothing", {}],
    ["no candidates", { candidates: [] }],
    ["a candidate without content", generated([], { usage: { promptTokenCount: 5 } })],
    ["only empty text", generated([text("")], { usage: { promptTokenCount: 5 } })],
    ["a malformed call", generated([text("a")], { finishReason: "MALFORMED_FUNCTION_CALL" })],
    ["an unexpected call", generated([], { finishReason: "UNEXPECTED_TOOL_CALL" })],
    ["an error", { error: { code: 500, message: "broken", status: "INTERNAL" } }],
    ["candidates that are none", { candidates: [null, 3] }],
    ["a list", []],
  ])("with %s is a failed attempt", (_what, body) => {
    expect(() => readWhole(body)).toThrow();
  });

  it("with thoughts alone is an answer: the provider bills them", () => {
    const usage = { promptTokenCount: 5, thoughtsTokenCount: 40 };
    const { completion } = readWhole(generated([], { finishReason: "MAX_TOKENS", usage }));
    expect((completion.choices as Json[])[0]).toMatchObject({ finish_reason: "length", message: { content: null } });
  });
});

describe("counts", () => {
  const usageOf = (usage: object | null): unknown =>
    readWhole(generated([text("a")], { usage })).usage?.buckets ?? null;

  it.each([
    [null, null],
    [{}, null],
    [{ promptTokenCount: -1 }, null],
    [{ promptTokenCount: 1.5 }, null],
    [{ promptTokenCount: 1, candidatesTokenCount: "7" }, null],
    [{ promptTokenCount: 1e12 }, null],
    [{ promptTokenCount: 3 }, { input: 3, cacheRead: 0, cacheWrite: 0, output: 0 }],
    [
      { promptTokenCount: 3, cachedContentTokenCount: 9, candidatesTokenCount: 1 },
      { input: 0, cacheRead: 3, cacheWrite: 0, output: 1 },
    ],
  ])("%j is %j", (usage, expected) => {
    expect(usageOf(usage)).toEqual(expected);
  });
});
