// Gemini's client end beyond the golden files: what is refused, both framings of a stream, a provider's own bytes passed
// on, errors, the models list, and laws that hold for any conversation.

import { describe, expect, it, test } from "vitest";
import { ERROR_KINDS, type ErrorKind, GatewayError } from "../../../../src/core/errors.ts";
import { createClientStream, writeClientResponse } from "../../../../src/formats/bridge.ts";
import type { ChatChunk, RequestTarget, WholeResponse } from "../../../../src/formats/format.ts";
import { geminiClient } from "../../../../src/formats/gemini/client.ts";
import { sourceOf } from "../../../../src/formats/json/splice.ts";
import { readChatRequest } from "../../../../src/formats/openai-chat/read-request.ts";
import { makeCatalog, makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";
import { SERVICE, usageOf } from "../anthropic/exchange.ts";
import {
  ASK,
  answerFromChat,
  contextFor,
  eventsOf,
  type Json,
  readGemini,
  sendToChat,
  streamFromChat,
  TARGET,
} from "./client-exchange.ts";

const STREAM: RequestTarget = { ...TARGET, isStream: true };
const ARRAY: RequestTarget = { ...STREAM, framing: "json-array" };
const user = (...parts: object[]): object => ({ contents: [{ role: "user", parts }] });

describe("a request that cannot be read is a 400 that names the field", () => {
  const WRONG: readonly (readonly [string, object])[] = [
    ["contents", {}],
    ["contents", { contents: [] }],
    ["contents", { contents: "Hi" }],
    ["contents", { contents: [{ parts: [] }] }],
    ["contents[0]", { contents: ["Hi"] }],
    ["contents[0].role", { contents: [{ role: "assistant", parts: [{ text: "Hi" }] }] }],
    ["contents[0].parts[0]", user([] as never)],
    ["contents[0].parts[0].text", user({ text: 1 })],
    ["contents[0].parts[0].inlineData.data", user({ inlineData: { mimeType: "image/png" } })],
    ["contents[0].parts[0].functionCall.name", user({ functionCall: {} })],
    ["contents[0].parts[0].functionCall.args", user({ functionCall: { name: "a", args: "{}" } })],
    ["contents[0].parts[0].functionResponse.response", user({ functionResponse: { name: "a", response: "x" } })],
    ["systemInstruction", { ...ASK, systemInstruction: 1 }],
    ["tools[0].functionDeclarations[0].name", { ...ASK, tools: [{ functionDeclarations: [{}] }] }],
    ["mode", { ...ASK, toolConfig: { functionCallingConfig: { mode: "SOME" } } }],
    ["allowedFunctionNames", { ...ASK, toolConfig: { functionCallingConfig: { allowedFunctionNames: ["a"] } } }],
    ["generationConfig", { ...ASK, generationConfig: [] }],
    ["temperature", { ...ASK, generationConfig: { temperature: 3 } }],
    ["maxOutputTokens", { ...ASK, generation_config: { max_output_tokens: 0 } }],
    ["candidateCount", { ...ASK, generationConfig: { candidateCount: 9 } }],
    ["stopSequences", { ...ASK, generationConfig: { stopSequences: "a" } }],
    ["responseSchema", { ...ASK, generationConfig: { responseSchema: "a" } }],
    ["thinkingBudget", { ...ASK, generationConfig: { thinkingConfig: { thinkingBudget: -2 } } }],
    ["service_tier_floor", { ...ASK, service_tier_floor: "HUGE" }],
  ];
  it.each(WRONG)("%s", (param, body) => {
    expect(() => readGemini(body)).toThrow(
      expect.objectContaining({ kind: "badRequest", details: expect.objectContaining({ param }) }),
    );
  });
});

describe("what only Google can do", () => {
  it.each([
    ["a tool of Google's alone", { ...ASK, tools: [{ google_search: {} }] }, "'googleSearch'"],
    ["cached content", { ...ASK, cachedContent: "cachedContents/1" }, "cached content"],
    ["a picture as the response", { ...ASK, generationConfig: { responseModalities: ["TEXT", "IMAGE"] } }, "'IMAGE'"],
    [
      "a file kept at Google",
      user({ fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/a" } }),
      "inlineData",
    ],
    ["a video", user({ inlineData: { mimeType: "video/mp4", data: "aGk=" } }), "videos"],
    ["audio of another kind", user({ inlineData: { mimeType: "audio/flac", data: "aGk=" } }), "flac"],
  ])("%s is a need that only a provider of the format has", (_name, body, words) => {
    expect(readGemini(body).nativeNeeds?.join()).toContain(words);
    expect(() => sendToChat(body)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ code: "unconvertible" }) }),
    );
  });

  it("is dropped beside what every model can do", () => {
    const body = { ...ASK, tools: [{ functionDeclarations: [{ name: "a" }] }, { codeExecution: {} }] };
    expect(readGemini(body).nativeNeeds).toEqual([]);
    expect(sendToChat(body).conversions).toEqual(["dropped the tool 'codeExecution': it runs at Google only"]);
  });
});

describe("model and stream", () => {
  it.each(["gpt-4o-mini", "models/gpt-4o-mini"])("%s in the path is the model of 'direct'", (model) => {
    const request = readGemini({ ...ASK, service_profile: "direct" }, { ...TARGET, model });
    expect(request.controls).toMatchObject({ profile: "direct", model: "gpt-4o-mini" });
  });

  it("'direct' needs a model", () => {
    expect(() => readGemini({ ...ASK, service_profile: "direct" })).toThrow(/'direct' needs a model/);
  });

  it("the path alone says whether to stream, and usage is always told", () => {
    expect(readGemini({ ...ASK, stream: true }).chat).toMatchObject({ isStream: false, wantsUsage: false });
    expect(readGemini(ASK, STREAM).chat).toMatchObject({ isStream: true, wantsUsage: true });
  });
});

const CHUNK = {
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }],
};
const END = { object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const BROKEN = new GatewayError("providersFailed", "It broke.", { code: "stream_interrupted" });

describe("a stream as one JSON array", () => {
  it("is the same responses", () => {
    const events = eventsOf(streamFromChat([CHUNK, END], readGemini(ASK, STREAM)));
    expect(JSON.parse(streamFromChat([CHUNK, END], readGemini(ASK, ARRAY)))).toEqual(events);
    expect(events.length).toBe(2);
  });

  it("is one array also when it breaks off, and with pings in between", () => {
    const writer = createClientStream(geminiClient, contextFor(readGemini(ASK, ARRAY)), {
      service: SERVICE,
      wantsUsage: true,
    });
    const chunk: ChatChunk = { json: CHUNK, hasContent: true, isFinish: false };
    const text = writer.ping + writer.write([chunk]) + writer.ping + writer.write([chunk]) + writer.fail(BROKEN);
    const pieces = JSON.parse(text) as readonly Json[];
    expect(pieces.length).toBe(3);
    expect(pieces[2]).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
  });

  it("is one array also when it breaks before the first piece", () => {
    const writer = createClientStream(geminiClient, contextFor(readGemini(ASK, ARRAY)), {
      service: SERVICE,
      wantsUsage: true,
    });
    expect(JSON.parse(writer.fail(BROKEN))).toMatchObject([{ error: { code: 503 } }]);
  });
});

describe("a provider's own words", () => {
  const native = (data: Json, isFinish = false): ChatChunk => ({
    json: {},
    hasContent: !isFinish,
    isFinish,
    native: { format: "gemini", event: "", data: JSON.stringify(data) },
  });

  it("pass whole but for model name and service", () => {
    const own = {
      candidates: [{ content: { parts: [{ text: "Hi", novelty: 1e3 }] } }],
      modelVersion: "gemini-x-001",
      responseId: "r",
    };
    const response = { native: { format: "gemini", source: sourceOf(own) } } as WholeResponse;
    const write = (usage: ReturnType<typeof usageOf> | null): Json =>
      JSON.parse(
        writeClientResponse(geminiClient, response, {
          context: contextFor(),
          additions: { service: SERVICE, usage },
        }).toString(),
      ) as Json;
    expect(write(null)).toEqual({ ...own, modelVersion: "model", service: SERVICE });
    expect(write(usageOf(3, 2)).usageMetadata).toEqual({
      promptTokenCount: 3,
      candidatesTokenCount: 2,
      totalTokenCount: 5,
    });
  });

  it.each([STREAM, ARRAY])("pass piece by piece, with service in the first and the last ($framing)", (target) => {
    const writer = createClientStream(geminiClient, contextFor(readGemini(ASK, target)), {
      service: SERVICE,
      wantsUsage: true,
    });
    const pieces = [
      { candidates: [{ content: { parts: [{ text: "He" }] } }], modelVersion: "gemini-x-001" },
      { candidates: [{ content: { parts: [{ text: "y" }] } }], novelty: true },
      { candidates: [{ finishReason: "STOP" }], modelVersion: "gemini-x-001" },
      { usageMetadata: { promptTokenCount: 1 } },
    ];
    const before = writer.write([native(pieces[0] as Json), native(pieces[1] as Json)]);
    expect(writer.write([native(pieces[2] as Json, true), native(pieces[3] as Json)])).toBe("");
    const text = before + writer.end({ ...SERVICE, savingsPct: 1 }, usageOf(1, 1));
    const sent = target.framing === "sse" ? eventsOf(text) : (JSON.parse(text) as readonly Json[]);
    expect(sent).toEqual([
      { ...pieces[0], modelVersion: "model", service: SERVICE },
      { ...pieces[1], modelVersion: "model" },
      { ...pieces[2], modelVersion: "model" },
      { ...pieces[3], modelVersion: "model", service: { ...SERVICE, savingsPct: 1 } },
    ]);
  });

  it("end in an error of the same framing", () => {
    const writer = createClientStream(geminiClient, contextFor(readGemini(ASK, ARRAY)), {
      service: SERVICE,
      wantsUsage: true,
    });
    expect(JSON.parse(writer.write([native({ candidates: [] })]) + writer.fail(BROKEN))).toHaveLength(2);
  });
});

describe("errors", () => {
  it.each(Object.keys(ERROR_KINDS) as ErrorKind[])("%s has Google's shape and our status", (kind) => {
    const { error } = geminiClient.writeError(new GatewayError(kind, "No."), "req-1") as { error: Json };
    expect(error).toMatchObject({
      code: ERROR_KINDS[kind].status,
      message: "No.",
      status: expect.stringMatching(/^[A-Z_]+$/),
    });
    expect(error.details).toEqual([{ "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "req-1" }]);
  });

  it("name the field, the reason and when to retry", () => {
    const rate = geminiClient.writeError(
      new GatewayError("rateLimited", "Wait.", { code: "rate_limit_exceeded", retryAfterSeconds: 7 }),
      "r",
    );
    expect(rate).toMatchObject({
      error: { status: "RESOURCE_EXHAUSTED", details: [{}, { reason: "RATE_LIMIT_EXCEEDED" }, { retryDelay: "7s" }] },
    });
    const field = geminiClient.writeError(new GatewayError("badRequest", "No.", { param: "contents" }), "r");
    expect(field).toMatchObject({ error: { details: [{}, { fieldViolations: [{ field: "contents" }] }] } });
  });
});

describe("the models list", () => {
  const models = ["a", "b", "c"].map((id) => makeModel({ id }));
  const catalog = makeCatalog({ models });
  const list = (query: Record<string, string>): Json => geminiClient.models.list(models, catalog, query) as Json;
  const namesIn = (page: Json): unknown => (page.models as readonly Json[]).map(({ name }) => name);

  it("has pages", () => {
    const first = list({ pageSize: "2" });
    expect([namesIn(first), first.nextPageToken]).toEqual([["models/a", "models/b"], "b"]);
    const second = list({ pageSize: "2", pageToken: "b" });
    expect([namesIn(second), second.nextPageToken]).toEqual([["models/c"], undefined]);
    expect(namesIn(list({}))).toEqual(["models/a", "models/b", "models/c"]);
  });

  it.each([{ pageSize: "x" }, { pageSize: "-1" }, { pageToken: "z" }])("refuses %o", (query) => {
    expect(() => list(query as Record<string, string>)).toThrow(GatewayError);
  });
});

describe("laws", () => {
  const text = fc.string({ minLength: 1, maxLength: 8 });
  const call = fc.record({
    functionCall: fc.record({
      name: fc.constantFrom("a", "b.c"),
      id: fc.constantFrom("1", "2", undefined),
      args: fc.dictionary(text, text),
    }),
  });
  const response = fc.record({
    functionResponse: fc.record({
      name: fc.constantFrom("a", "b.c", "d"),
      id: fc.constantFrom("1", "2", "3", undefined),
      response: fc.dictionary(text, text),
    }),
  });
  const said = fc.record({ text, thought: fc.boolean() });
  const turn = fc.oneof(
    fc.record({ role: fc.constant("model"), parts: fc.array(fc.oneof(said, call), { minLength: 1, maxLength: 4 }) }),
    fc.record({
      role: fc.constant("user"),
      parts: fc.array(fc.oneof(fc.record({ text }), response), { minLength: 1, maxLength: 4 }),
    }),
  );
  const conversation = fc
    .array(turn, { maxLength: 8 })
    .map(
      (turns) =>
        JSON.parse(JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Go" }] }, ...turns] })) as object,
    );

  test("any conversation is one that chat-completions takes: each call is answered once, right after it", () => {
    fc.assert(
      fc.property(conversation, (body) => {
        const { json } = sendToChat(body);
        const { messages } = readChatRequest(json);
        for (const [index, message] of messages.entries()) {
          const ids = (message.tool_calls ?? []).map(({ id }) => id);
          const answers = messages.slice(index + 1, index + 1 + ids.length).map(({ tool_call_id: id }) => id);
          if (ids.length > 0) expect(answers).toEqual(ids);
        }
        const results = messages.filter(({ role }) => role === "tool").length;
        expect(results).toBe(messages.flatMap(({ tool_calls: calls = [] }) => calls).length);
        return true;
      }),
    );
  });

  test("a stream says what the whole response says", () => {
    const pieces = fc.array(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 6 });
    const calls = fc.array(fc.dictionary(text, text), { maxLength: 3 });
    fc.assert(
      fc.property(pieces, calls, (texts, args) => {
        fc.pre(texts.join("") !== "" || args.length > 0);
        const written = args.map((input, index) => ({
          index,
          id: `id_${index}`,
          type: "function",
          function: { name: "f", arguments: JSON.stringify(input) },
        }));
        const finish = args.length > 0 ? "tool_calls" : "stop";
        const message = { role: "assistant", content: texts.join(""), tool_calls: written };
        const whole = answerFromChat({
          choices: [{ index: 0, message, finish_reason: finish }],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        });
        const cut = written.flatMap((each) => {
          const { arguments: all, name } = each.function;
          return [
            { ...each, function: { name, arguments: all.slice(0, 2) } },
            { index: each.index, function: { arguments: all.slice(2) } },
          ];
        });
        const deltas = [...texts.map((content) => ({ content })), ...cut.map((each) => ({ tool_calls: [each] }))];
        const chunks = deltas.map((delta) => ({ ...CHUNK, choices: [{ index: 0, delta, finish_reason: null }] }));
        const events = eventsOf(
          streamFromChat([...chunks, { ...END, choices: [{ index: 0, delta: {}, finish_reason: finish }] }]),
        );
        expect(joined(events)).toEqual(joined([whole]));
        return true;
      }),
    );
  });

  /** Text in one piece, calls in order, and why it ended. */
  function joined(responses: readonly Json[]): object {
    const candidates = responses.flatMap(({ candidates: list }) => list as readonly Json[]);
    const parts = candidates.flatMap(({ content }) => (content as { parts: readonly Json[] }).parts);
    return {
      text: parts.map((part) => String(part.text ?? "")).join(""),
      calls: parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall])),
      finish: candidates.at(-1)?.finishReason,
    };
  }
});
