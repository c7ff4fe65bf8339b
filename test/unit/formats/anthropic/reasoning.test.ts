// Signed and encrypted thinking: it survives a client of any format, and reaches only the vendor that signed it.

import { describe, expect, it } from "vitest";
import { type ReasoningDetail, sealDetail } from "../../../../src/formats/convert/reasoning-details.ts";
import { makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";
import { eventsOf } from "../../../support/providers/fake-anthropic.ts";
import { answer, chunksToSse, dataIn, eventsIn, FORMATS, type Json, read, relay, send, toSse } from "./exchange.ts";

const { openai, anthropic } = FORMATS;
const FOREIGN: ReasoningDetail = { type: "reasoning.encrypted", format: "openai-responses", id: "rs_1", data: "gAAA" };

const words = fc.stringMatching(/^[a-zA-Zé ]{0,12}[a-z]$/);
const thought = fc.oneof(
  fc
    .tuple(fc.oneof(words, fc.constant("")), words)
    .map(([thinking, signature]) => ({ type: "thinking", thinking, signature })),
  words.map((data) => ({ type: "redacted_thinking", data })),
);
const said = [
  { type: "text", text: "Reading." },
  { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
];
const turn = fc.array(thought, { minLength: 1, maxLength: 4 }).map((thoughts) => [...thoughts, ...said]);

function message(content: readonly Json[]): Json {
  const usage = { input_tokens: 3, output_tokens: 9 };
  return { id: "msg_1", type: "message", role: "assistant", model: "m", content, stop_reason: "tool_use", usage };
}

/** The chat client's history after an answer. */
function historyOf(assistant: Json): Json[] {
  return [{ role: "user", content: "Go." }, assistant, { role: "tool", tool_call_id: "toolu_1", content: "found" }];
}

function sentBack(assistant: Json): unknown {
  const { json } = send([openai, anthropic], { messages: historyOf(assistant), max_tokens: 9 });
  return (json.messages as Json[])[1]?.content;
}

/** What a client that merges deltas makes of a stream: lists by `index`, texts joined. */
function merged(chunks: readonly Json[]): Json {
  const whole: Json = { role: "assistant", content: "", reasoning_details: [], tool_calls: [] };
  for (const chunk of chunks) {
    const delta = (chunk.choices as { delta: Json }[])[0]?.delta ?? {};
    whole.content = `${String(whole.content)}${String(delta.content ?? "")}`;
    for (const detail of (delta.reasoning_details ?? []) as Json[]) {
      (whole.reasoning_details as Json[])[Number(detail.index)] = detail;
    }
    for (const { index, ...call } of (delta.tool_calls ?? []) as { index: number; function: Json; id?: string }[]) {
      const calls = whole.tool_calls as { function: Json }[];
      const known = calls[index];
      if (known === undefined) calls[index] = call;
      else known.function.arguments = `${String(known.function.arguments)}${String(call.function.arguments)}`;
    }
  }
  return whole;
}

describe("a chat client in front of Anthropic", () => {
  it("brings every signed block back, answered whole", () => {
    fc.assert(
      fc.property(turn, (content) => {
        const { choices } = answer([anthropic, openai], message(content)) as { choices: { message: Json }[] };
        expect(sentBack(choices[0]!.message)).toEqual(content);
      }),
    );
  });

  it("brings every signed block back, streamed in pieces of any length", () => {
    fc.assert(
      fc.property(turn, fc.integer({ min: 1, max: 400 }), (content, length) => {
        const chunks = dataIn(relay([anthropic, openai], toSse(eventsOf(content, "m")), length));
        expect(sentBack(merged(chunks))).toEqual(content);
      }),
    );
  });

  it("does not get entries for thinking without a signature", () => {
    const content = [{ type: "thinking", thinking: "Hm.", signature: "" }, ...said];
    expect(JSON.stringify(answer([anthropic, openai], message(content)))).not.toContain("reasoning_details");
    expect(relay([anthropic, openai], toSse(eventsOf(content, "m")))).not.toContain("reasoning_details");
  });

  it("loses it with a model that has refused it", () => {
    const detail = { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "EqQB" };
    const assistant = { role: "assistant", content: "Yes.", reasoning_details: [detail] };
    const messages = [{ role: "user", content: "Go." }, assistant, { role: "user", content: "On." }];
    const { json } = send([openai, anthropic], { messages }, { refusedFields: ["messages.thinking"] });
    expect((json.messages as Json[])[1]?.content).toEqual([{ type: "text", text: "Yes." }]);
  });
});

describe("a Messages client in front of another vendor", () => {
  const details: readonly ReasoningDetail[] = [
    { type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "EqQB" },
    { type: "reasoning.encrypted", format: "anthropic", data: "EmwK" },
    { type: "reasoning.summary", format: "openai-responses", summary: "So.", data: "gAAA", id: "rs_1" },
    { type: "reasoning.encrypted", format: "gemini", data: "CgZ0" },
  ];
  const blocks = [
    { type: "thinking", thinking: "Hm.", signature: "EqQB" },
    { type: "redacted_thinking", data: "EmwK" },
    { type: "thinking", thinking: "So.", signature: sealDetail(details[2]!) },
    { type: "redacted_thinking", data: sealDetail(details[3]!) },
    { type: "text", text: "Yes." },
  ];
  const completion = (assistant: Json): Json => ({
    id: "c",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes.", ...assistant }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });

  it("gets signed blocks, sealed where Anthropic did not sign", () => {
    const given = completion({ reasoning_content: "Hm.So.", reasoning_details: details });
    expect(answer([openai, anthropic], given)).toMatchObject({ content: blocks });
  });

  it.each([
    ["a sealed entry", FOREIGN, [{ type: "thinking", thinking: "Hm.", signature: sealDetail(FOREIGN) }]],
    [
      "a block of its own",
      details[1]!,
      [
        { type: "thinking", thinking: "Hm.", signature: "" },
        { type: "redacted_thinking", data: "EmwK" },
      ],
    ],
    [
      "nothing, when a host has a shape of its own",
      { type: "reasoning.text", format: "host-v1", text: "Hm." },
      [{ type: "thinking", thinking: "Hm.", signature: "" }],
    ],
  ])("gets text that came apart from its signature with %s", (_what, detail, expected) => {
    const given = completion({ reasoning_content: "Hm.", reasoning_details: [detail] });
    const content = [...expected, { type: "text", text: "Yes." }];
    expect(answer([openai, anthropic], given)).toMatchObject({ content });
    const deltas = [
      { reasoning_content: "H" },
      { reasoning_content: "m." },
      { reasoning_details: [detail] },
      { content: "Yes." },
    ];
    expect(blocksIn(streamed(deltas))).toEqual(content);
  });

  it("gets the same blocks as a stream", () => {
    const deltas = [
      { reasoning_content: "Hm." },
      { reasoning_details: [details[0]] },
      { reasoning_details: [details[1]] },
      { reasoning_content: "So." },
      { reasoning_details: details.slice(2) },
      { content: "Yes." },
    ];
    expect(blocksIn(streamed(deltas))).toEqual(blocks);
    expect(blocksIn(streamed([{ reasoning_details: details }, { content: "Yes." }]))).toEqual(blocks);
  });

  const history = {
    max_tokens: 9,
    messages: [
      { role: "user", content: "Go." },
      { role: "assistant", content: blocks },
      { role: "user", content: "On." },
    ],
  };

  it("brings back what each vendor signed to that vendor alone", () => {
    const native = send([anthropic, anthropic], history);
    expect((native.json.messages as Json[])[1]?.content).toEqual([blocks[0], blocks[1], blocks[4]]);
    expect(native.conversions?.join()).toContain("dropped thinking");
    const inner = anthropic.toChat(read(anthropic, history), makeModel());
    expect(inner.chat.messages[1]).toMatchObject({ content: "Yes.", reasoning_details: details.slice(2) });
    expect(send([anthropic, openai], history).body.toString()).not.toContain("reasoning_details");
  });

  it("ignores a seal that is damaged", () => {
    const damaged = { type: "redacted_thinking", data: sealDetail(FOREIGN).slice(0, -8) };
    const body = { ...history, messages: [history.messages[0], { role: "assistant", content: [damaged, blocks[4]] }] };
    expect(anthropic.toChat(read(anthropic, body), makeModel()).chat.messages[1]).toEqual({
      role: "assistant",
      content: "Yes.",
    });
  });
});

describe("a host of chat-completions", () => {
  it("gets its own entries and nobody else's", () => {
    const own = { type: "reasoning.text", format: "host-v1", text: "Hm.", index: 0 };
    const chat = (entries: readonly object[]): unknown => {
      const assistant = { role: "assistant", content: "Yes.", reasoning_details: entries };
      const { json } = send([openai, openai], { messages: [{ role: "user", content: "Go." }, assistant] });
      return (json.messages as Json[])[1]?.reasoning_details;
    };
    expect(chat([own])).toEqual([own]);
    expect(chat([FOREIGN, own])).toEqual([own]);
    expect(chat([FOREIGN])).toBeUndefined();
  });
});

function streamed(deltas: readonly Json[]): readonly Json[] {
  const chunks = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: "stop" }];
  return eventsIn(relay([openai, anthropic], chunksToSse(chunks.map((choice) => ({ id: "c", choices: [choice] })))));
}

/** The content that a Messages client puts together, as its own library does. */
function blocksIn(events: readonly Json[]): readonly Json[] {
  const content: Json[] = [];
  for (const event of events) {
    const index = Number(event.index);
    if (event.type === "content_block_start") content[index] = { ...(event.content_block as Json) };
    const { type, ...delta } = (event.type === "content_block_delta" ? event.delta : {}) as Json;
    for (const [name, piece] of Object.entries(delta))
      content[index]![name] = `${String(content[index]![name])}${String(piece)}`;
    if (type === "signature_delta") expect(content[index]!.signature).toBe(delta.signature);
  }
  return content;
}
