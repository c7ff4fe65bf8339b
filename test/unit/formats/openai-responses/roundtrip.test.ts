// What chat-completions and Responses can both say survives the way there and back.

import { describe, expect, it } from "vitest";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../../src/formats/openai-responses/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";
import { assembled, type Json, sendChat } from "./provider-exchange.ts";

const MODEL = { maxOutput: 100_000, capabilities: ["tools", "vision", "json", "reasoning", "files"] } as const;
const words = fc.stringMatching(/^[a-zA-Z{}"\\é ]{0,12}[a-z]$/);
const json = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);
const part = fc.constantFrom<Json>(
  { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
  { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
  { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
);
const user = fc.oneof(
  words.map((text) => ({ role: "user", content: text })),
  fc.tuple(words, part, words).map(([before, middle, after]) => ({
    role: "user",
    content: [{ type: "text", text: before }, middle, { type: "text", text: after }],
  })),
);
const call = fc.tuple(json, words);
const exchange = fc.oneof(
  fc.tuple(words, user).map(([text, next]) => [{ role: "assistant", content: text }, next]),
  fc
    .tuple(fc.option(words), fc.array(call, { minLength: 1, maxLength: 3 }), fc.nat(1_000_000))
    .map(([text, calls, seed]) => [
      {
        role: "assistant",
        content: text,
        tool_calls: calls.map(([input], index) => ({
          id: `call_${seed}_${index}`,
          type: "function",
          function: { name: "f", arguments: JSON.stringify(input) },
        })),
      },
      ...calls.map(([, result], index) => ({ role: "tool", tool_call_id: `call_${seed}_${index}`, content: result })),
    ]),
);
const conversation = fc
  .tuple(fc.option(words), user, fc.array(exchange, { maxLength: 4 }))
  .map(
    ([system, first, rest]) =>
      [...(system === null ? [] : [{ role: "system", content: system }]), first, ...rest.flat()] as Json[],
  );
const SCHEMA = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
const fields = fc.record(
  {
    max_tokens: fc.integer({ min: 16, max: 100_000 }),
    temperature: fc.constantFrom(0, 0.5, 1),
    top_p: fc.constantFrom(0.1, 1),
    user: words,
    prompt_cache_key: words,
    tools: fc.constant([
      { type: "function", function: { name: "f", description: "Does f.", parameters: SCHEMA, strict: true } },
    ]),
    reasoning_effort: fc.constantFrom("low", "medium", "high"),
    verbosity: fc.constantFrom("low", "high"),
    parallel_tool_calls: fc.constant(false),
    response_format: fc.constantFrom(
      { type: "json_object" },
      { type: "json_schema", json_schema: { name: "n", schema: SCHEMA, strict: true } },
    ),
    stream: fc.constant(true),
  },
  { requiredKeys: [] },
);

/** A Responses body as the gateway would pass it to a provider of chat-completions. */
function asChat(body: object): Json {
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify(body)));
  const request = openaiResponses.readRequest(source, parsed);
  return openaiResponses.toChat(request, makeModel({ ...MODEL, dialect: { reasoningHistory: "keep" } })).body as Json;
}

/** The system message may come back under either of its two names, and no content as an empty one. */
function normal(message: Json): Json {
  const { content, ...rest } = message;
  return { ...rest, ...((content ?? "") === "" ? {} : { content }) };
}

describe("a request", () => {
  it("of chat-completions comes back as it went out", () => {
    fc.assert(
      fc.property(conversation, fields, (messages, given) => {
        const { model, store, include, ...sent } = sendChat({ messages, ...given }, { model: MODEL }).json;
        expect({ model, store, include }).toEqual({
          model: "model",
          store: false,
          include: ["reasoning.encrypted_content"],
        });
        const {
          messages: back,
          stream_options: _,
          ...rest
        } = asChat({ model: "m", ...sent }) as { messages: Json[] } & Json;
        expect(back.map(normal)).toEqual(messages.map(normal));
        // Without tools there is nothing to call in parallel, and hosts refuse to be told.
        const { parallel_tool_calls: isParallel, ...others } = given;
        const isKept = isParallel !== undefined && given.tools !== undefined;
        expect(rest).toMatchObject(isKept ? given : others);
      }),
    );
  });
});

const answered = fc.record({
  content: fc.option(words),
  calls: fc.array(call, { maxLength: 3 }),
  reasoning: fc.option(words),
  finish: fc.constantFrom("stop", "length", "content_filter"),
});

describe("an answer", () => {
  it("of chat-completions comes back as it went out, whole and streamed", () => {
    fc.assert(
      fc.property(
        answered.filter(({ content, calls }) => content !== null || calls.length > 0),
        ({ content, calls, reasoning, finish }) => {
          const message: Json = {
            role: "assistant",
            content,
            ...(reasoning === null ? {} : { reasoning_content: reasoning }),
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map(([input], index) => ({
                    id: `call_x${index}`,
                    type: "function",
                    function: { name: "f", arguments: JSON.stringify(input) },
                  })),
                }),
          };
          const finished = calls.length > 0 && finish === "stop" ? "tool_calls" : finish;
          const completion = {
            choices: [{ index: 0, message, finish_reason: finished }],
            usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
          };
          const whole = thereAndBack(completion);
          expect(whole.choice.finish_reason).toBe(finished);
          expect(normal({ ...whole.choice.message, refusal: undefined })).toEqual(
            normal({ ...message, refusal: undefined }),
          );
          expect(whole.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 });
          const streamed = streamThereAndBack(message, finished);
          expect(streamed.finish).toBe(finished);
          expect(normal(streamed.message)).toEqual(normal(message));
        },
      ),
    );
  });
});

const CONTEXT = { requestId: "req-7", answerId: "a7", modelId: "m", createdAtSeconds: 1 };
const SERVICE = { model: "m" };
const USAGE = { buckets: { input: 7, cacheRead: 0, cacheWrite: 0, output: 5 }, longCacheWrite: 0, reasoning: 0 };

function thereAndBack(completion: object): { choice: { message: Json; finish_reason: unknown }; usage: unknown } {
  const given = openaiChat.readResponse(Buffer.from(JSON.stringify(completion)));
  if (!given.ok) throw new Error(given.fault.message);
  const written = openaiResponses.writeResponse(given.response, CONTEXT, { service: SERVICE, usage: null });
  const back = openaiResponses.readResponse(written);
  if (!back.ok) throw new Error(back.fault.message);
  const { choices, usage } = back.response.completion as unknown as {
    choices: [{ message: Json; finish_reason: unknown }];
    usage: unknown;
  };
  return { choice: choices[0], usage };
}

function streamThereAndBack(message: Json, finish: string) {
  const reader = openaiChat.streamReader(createSseReader());
  const writer = openaiResponses.streamWriter(CONTEXT, { service: SERVICE, wantsUsage: true });
  const calls = (message.tool_calls ?? []) as readonly Json[];
  const delta = {
    ...message,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((one, index) => ({ ...one, index })) }),
  };
  const chunks = [
    { delta, finish_reason: null },
    { delta: {}, finish_reason: finish },
  ];
  const text = chunks.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`).join("");
  const written = writer.write(reader.push(Buffer.from(text))) + writer.end(SERVICE, USAGE);
  const back = openaiResponses.streamReader(createSseReader());
  return assembled([...back.push(Buffer.from(written)), ...back.end()]);
}
