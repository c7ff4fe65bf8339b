// Chunks that are like an earlier one but for their texts: they are not parsed, and nobody can tell.

import { expect, test } from "vitest";
import type { ChatChunk, StreamReader } from "../../../../src/formats/format.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { fc } from "../../../support/property.ts";

const CONTEXT = { requestId: "req_1", modelId: "alpha", createdAtSeconds: 1 };
const SERVICE = { model: "alpha", tier: "LIGHT" };

interface Stream {
  readonly events: readonly object[];
  /** Insignificant spaces: with them, no event begins like another one, so each of them is parsed. */
  readonly isParsed: boolean;
  readonly cuts?: readonly number[];
}

/** Everything that a stream comes to: the text for the client, what was captured, and what was counted. */
function passOn({ events, isParsed, cuts = [] }: Stream, wantsUsage: boolean) {
  const datas = events.map((event, index) => {
    const json = JSON.stringify(event);
    return isParsed ? `{${" ".repeat(index + 1)}${json.slice(1)}` : json;
  });
  const bytes = Buffer.from(datas.map((data) => `data: ${data}\n\n`).join(""));
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((one, other) => one - other), bytes.length];
  const reader = openaiChat.streamReader(createSseReader());
  const writer = openaiChat.streamWriter(CONTEXT, { service: SERVICE, wantsUsage });
  const jsons: object[] = [];
  let repeated = 0;
  const write = (chunks: readonly ChatChunk[]): string => {
    for (const { json, hasContent, isFinish, repeated: is } of chunks) {
      jsons.push({ json, hasContent, isFinish });
      if (is !== undefined) repeated += 1;
    }
    return writer.write(chunks);
  };
  let text = "";
  for (let index = 1; index < places.length; index += 1) {
    text += write(reader.push(bytes.subarray(places[index - 1], places[index])));
  }
  text += write(reader.end());
  return { text, jsons, seen: seenBy(reader), repeated };
}

function seenBy(reader: StreamReader): object {
  return { ...reader.progress, toolCallIds: reader.toolCallIds() };
}

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 7, model: "host/alpha-2" };

function chunkOf(delta: object, rest: object = {}, index = 0): object {
  return { ...HEAD, choices: [{ index, delta, logprobs: null, finish_reason: null }], ...rest };
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", " word", 'say "hi"\n', "\\", "é", "世界", "🙂", "\ue000", "\u2028", "\ud800", '"content":"x"'),
);
const delta = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => ({ content })) },
  text.map((content) => ({ role: "assistant", content })),
  text.map((reasoning_content) => ({ reasoning_content })),
  fc.tuple(text, text).map(([content, refusal]) => ({ content, refusal })),
  text.map((content) => ({ content: null, reasoning: content })),
  text.map((name) => ({
    tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name, arguments: "" } }],
  })),
  text.map((given) => ({ tool_calls: [{ index: 0, function: { arguments: given } }] })),
  text.map((given) => ({ tool_calls: [{ function: { arguments: given } }] })),
  text.map((given) => ({ tool_calls: [{ index: 1, custom: { input: given } }] })),
  text.map((given) => ({ function_call: { arguments: given } })),
  fc.constant({}),
);
const rest = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  text.map((obfuscation) => ({ obfuscation })),
  fc.constant({ usage: null, system_fingerprint: "fp" }),
  fc.constant({ usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 } }),
  text.map((content) => ({ x_groq: { content } })),
);
const chunk = fc
  .tuple(delta, rest, fc.constantFrom(0, 0, 0, 1))
  .map(([given, more, index]) => chunkOf(given, more, index));
const finish = fc.constant({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const events = fc.array(fc.oneof({ weight: 12, arbitrary: chunk }, finish), { minLength: 1, maxLength: 20 });

test("a stream comes to the same, byte for byte, as when every event is parsed, however its bytes are cut", () => {
  fc.assert(
    fc.property(events, fc.array(fc.nat(10_000), { maxLength: 8 }), fc.boolean(), (given, cuts, wantsUsage) => {
      const { repeated: _, ...compared } = passOn({ events: given, isParsed: false, cuts }, wantsUsage);
      const { repeated, ...parsed } = passOn({ events: given, isParsed: true }, wantsUsage);
      expect(repeated).toBe(0);
      expect(compared).toEqual(parsed);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["text", (word: string) => ({ content: word }), {}],
  ["reasoning", (word: string) => ({ content: null, reasoning_content: word }), {}],
  ["arguments of a tool", (word: string) => ({ tool_calls: [{ index: 0, function: { arguments: word } }] }), {}],
  ["text with padding", (word: string) => ({ content: word }), { obfuscation: "x" }],
])("of a stream of %s, only the beginning is parsed", (_, deltaOf, more) => {
  const words = ["a", "-", 'b"', "ç\n", "世", ""];
  const given = words.map((word) => chunkOf(deltaOf(word), more));
  const { repeated, seen } = passOn({ events: given, isParsed: false }, false);
  expect(repeated).toBe(words.length - 2);
  expect(seen).toMatchObject({ outputTokens: 5, hasContent: true });
});

test("an event that is no JSON is one no more for looking like an earlier one", () => {
  for (const word of ["\\x", "\\", "\u0001", '"']) {
    const reader = openaiChat.streamReader(createSseReader());
    const good = `data: ${JSON.stringify(chunkOf({ content: "WORD" }))}\n\n`;
    expect(reader.push(Buffer.from(good + good + good)).at(-1)?.repeated).toBeDefined();
    reader.push(Buffer.from(good.replace("WORD", word)));
    expect(reader.progress.fault, word).not.toBeNull();
  }
});
