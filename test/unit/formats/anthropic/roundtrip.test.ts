// What both formats can say survives the way there and back.

import { describe, expect, it } from "vitest";
import { fc } from "../../../support/property.ts";
import { answer, FORMATS, type Json, send } from "./exchange.ts";

const { openai, anthropic } = FORMATS;
const MODEL = {
  maxOutput: 100_000,
  dialect: { takesPrefill: true, takesSystemInMiddle: true, takesTopK: true },
  capabilities: ["tools", "vision", "json", "reasoning", "files"],
} as const;

const words = fc.stringMatching(/^[a-zA-Z{}"\\é ]{0,12}[a-z]$/);
const json = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);
const image = fc.constantFrom<Json>(
  { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
  { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
  { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
);
const user = fc.oneof(
  words.map((text) => ({ role: "user", content: text })),
  fc.tuple(words, image, words).map(([before, part, after]) => ({
    role: "user",
    content: [{ type: "text", text: before }, part, { type: "text", text: after }],
  })),
);
const toolTurn = fc.tuple(
  fc.option(words),
  fc.array(fc.tuple(json, words), { minLength: 1, maxLength: 3 }),
  fc.nat(1_000_000),
);
const exchange = fc.oneof(
  fc.tuple(words, user).map(([text, next]) => [{ role: "assistant", content: text }, next]),
  toolTurn.map(([text, calls, seed]) => [
    {
      role: "assistant",
      content: text,
      tool_calls: calls.map(([input], index) => ({
        id: `toolu_${seed}_${index}`,
        type: "function",
        function: { name: "f", arguments: JSON.stringify(input) },
      })),
    },
    ...calls.map(([, result], index) => ({ role: "tool", tool_call_id: `toolu_${seed}_${index}`, content: result })),
  ]),
);
const conversation = fc
  .tuple(fc.option(words), user, fc.array(exchange, { maxLength: 4 }))
  .map(
    ([system, first, rest]) =>
      [...(system === null ? [] : [{ role: "system", content: system }]), first, ...rest.flat()] as Json[],
  );

const tool = {
  type: "function",
  function: {
    name: "f",
    description: "Does f.",
    parameters: { type: "object", properties: { a: { anyOf: [{ type: "string" }] } }, additionalProperties: false },
    strict: true,
  },
};
const fields = fc.record(
  {
    max_tokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
    stop: fc.array(words, { minLength: 1, maxLength: 4 }),
    user: words,
    tool_choice: fc.constantFrom("auto", "none", "required", { type: "function", function: { name: "f" } }),
    parallel_tool_calls: fc.constant(false),
    stream: fc.constant(true),
  },
  { requiredKeys: ["max_tokens"] },
);

function strip({ stream_options: _, ...body }: Json): Json {
  return body;
}

describe("a chat request", () => {
  it("comes back from the Messages format as it was", () => {
    fc.assert(
      fc.property(conversation, fields, (messages, given) => {
        const body: Json = { model: "model", messages, tools: [tool], ...given };
        if (given.tool_choice === "none") delete body.parallel_tool_calls;
        if (given.parallel_tool_calls === false && body.parallel_tool_calls === false) body.tool_choice ??= "auto";
        const there = send([openai, anthropic], body, { model: MODEL });
        const back = send([anthropic, openai], there.json, { model: MODEL });
        expect(strip(back.json)).toEqual(body);
        expect(there.conversions).toBeUndefined();
        expect(back.conversions).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });
});

const blocks = fc
  .tuple(fc.option(words), fc.option(words), fc.array(json, { maxLength: 3 }), fc.nat(1_000_000))
  .map(([thinking, text, inputs, seed]) => [
    ...(thinking === null ? [] : [{ type: "thinking", thinking, signature: "" }]),
    ...(text === null ? [] : [{ type: "text", text }]),
    ...inputs.map((input, index) => ({ type: "tool_use", id: `toolu_${seed}_${index}`, name: "f", input })),
  ])
  .filter((content) => content.length > 0);

describe("a message", () => {
  it("comes back from chat-completions as it was", () => {
    fc.assert(
      fc.property(blocks, fc.constantFrom("end_turn", "max_tokens"), (content, stop) => {
        const hasTools = content.some((block) => block.type === "tool_use");
        const reason = hasTools && stop === "end_turn" ? "tool_use" : stop;
        const usage = { input_tokens: 3, cache_creation_input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 9 };
        const message = {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content,
          stop_reason: reason,
          stop_sequence: null,
          usage,
        };
        const completion = answer([anthropic, openai], message);
        expect(answer([openai, anthropic], completion)).toMatchObject({ content, stop_reason: reason, usage });
      }),
      { numRuns: 100 },
    );
  });
});
