// Anthropic client to Anthropic provider: everything passes as it came, byte for byte, unless this model would refuse it.

import { describe, expect, it } from "vitest";
import { createClientStream } from "../../../../src/formats/bridge.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { toolIdFor } from "../../../../src/formats/tools/calls.ts";
import { makeModel } from "../../../support/catalog.ts";
import { contextFor, eventsIn, FORMATS, type Json, read, relay, SERVICE, send, toSse, usageOf } from "./exchange.ts";

const { anthropic } = FORMATS;
const NATIVE = [anthropic, anthropic] as const;
const SAFE_ID = toolIdFor("functions.f:0", "safe-40");
const USER = { role: "user", content: "Hi" };

// Spaces, escapes and number forms that a parser would not give back, and fields and blocks nobody here knows.
const INNER =
  '"max_tokens":1e3,"system":[{"type":"text","text":"caf\\u00e9","cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
  '"messages":[{"role":"user","content":[ {"type":"hologram","data":1.0} ]},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqQB"},' +
  '{"type":"redacted_thinking","data":"x"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"toolu_1","name":"f","input":{"big":12345678901234567890}}]},' +
  '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}],"tools":[{"type":"web_search_20990101","name":"web_search"}],' +
  '"thinking":{"type":"adaptive","display":"omitted"},"context_management":{"edits":[]},"speed":"fast","top_k":3';

describe("a request", () => {
  it("keeps every byte but the model and the routing fields", () => {
    const sent = send(NATIVE, `{"model":"claude-any","service_profile":"auto",${INNER},"service_tier":"auto"}`, {
      model: { upstream: "claude-real" },
    });
    expect(sent.body.toString()).toBe(`{"model":"claude-real",${INNER}}`);
    expect(sent.path).toBe("/v1/messages");
    expect(sent.conversions).toBeUndefined();
    expect(sent.droppedFields).toEqual([]);
  });

  it.each<[string, Json, Json, Json]>([
    ["gives a cap where there is none", {}, {}, { max_tokens: 16_384 }],
    ["lowers a cap the model cannot reach", {}, { max_tokens: 128_000 }, { max_tokens: 16_384 }],
    ["leaves out sampling", { refuses: ["temperature", "top_k"] }, { temperature: 0.2, top_k: 4 }, {}],
    [
      "asks for adaptive thinking in place of a budget",
      { thinking: "adaptive", efforts: ["low", "medium", "high"] },
      { thinking: { type: "enabled", budget_tokens: 10_000, display: "summarized" } },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
    ],
    [
      "asks for a budget in place of adaptive thinking, and leaves out effort",
      { thinking: "budget", efforts: [] },
      {
        max_tokens: 5000,
        thinking: { type: "adaptive" },
        output_config: { effort: "low", format: { type: "json_schema", schema: {} } },
      },
      {
        max_tokens: 5000,
        thinking: { type: "enabled", budget_tokens: 2048 },
        output_config: { format: { type: "json_schema", schema: {} } },
      },
    ],
    [
      "keeps a budget below the cap",
      { thinking: "budget" },
      { max_tokens: 3000, thinking: { type: "enabled", budget_tokens: 30_000 } },
      { max_tokens: 3000, thinking: { type: "enabled", budget_tokens: 1500 } },
    ],
    [
      "leaves out thinking the cap has no room for",
      { thinking: "budget" },
      { max_tokens: 900, thinking: { type: "adaptive" } },
      { max_tokens: 900 },
    ],
    ["leaves out thinking of a model without it", { thinking: "none" }, { thinking: { type: "adaptive" } }, {}],
    [
      "lets thinking be switched off",
      { thinking: "adaptive" },
      { thinking: { type: "disabled" } },
      { thinking: { type: "disabled" } },
    ],
    [
      "takes the nearest effort",
      { thinking: "adaptive", efforts: ["low", "high"] },
      { output_config: { effort: "max" } },
      { output_config: { effort: "high" } },
    ],
    ["moves betas to the header", {}, { betas: ["x-2026-01-01"] }, {}],
  ])("%s", (_name, dialect, fields, expected) => {
    const sent = send(
      NATIVE,
      { model: "m", max_tokens: 2000, ...fields, messages: [USER], ...noCap(expected, fields) },
      { model: { dialect } },
    );
    expect(sent.json).toEqual({ model: "model", max_tokens: 2000, ...expected, messages: [USER] });
  });

  it.each<[string, Json, readonly Json[], readonly Json[]]>([
    [
      "thinking nobody signed, and a turn that was nothing else",
      {},
      [USER, { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature: "" }] }, USER],
      [USER, USER],
    ],
    [
      "a system message among the messages of a model that takes none",
      { takesSystemInMiddle: false },
      [USER, { role: "system", content: "Hurry.", output_config: { effort: "high" } }],
      [USER, { role: "user", content: [{ type: "text", text: "<system-reminder>\nHurry.\n</system-reminder>" }] }],
    ],
    [
      "a system message in a place where none may stand",
      { takesSystemInMiddle: true },
      [{ role: "system", content: "Hurry." }, USER],
      [{ role: "user", content: [{ type: "text", text: "<system-reminder>\nHurry.\n</system-reminder>" }] }, USER],
    ],
    [
      "a begun answer on a model that does not continue one",
      { takesPrefill: false },
      [USER, { role: "assistant", content: "{" }],
      [
        USER,
        { role: "assistant", content: "{" },
        { role: "user", content: "Continue exactly where your last message ends." },
      ],
    ],
    [
      "ids of other vendors, of call and result alike",
      {},
      [
        { role: "assistant", content: [{ type: "tool_use", id: "functions.f:0", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "functions.f:0", content: "1" }] },
      ],
      [
        { role: "assistant", content: [{ type: "tool_use", id: SAFE_ID, name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: SAFE_ID, content: "1" }] },
      ],
    ],
  ])("adapts %s", (_name, dialect, messages, expected) => {
    const sent = send(NATIVE, { model: "m", max_tokens: 9, messages }, { model: { dialect } });
    expect(sent.json.messages).toEqual(expected);
    expect(sent.conversions?.length ?? 0).toBe(_name.startsWith("ids") ? 0 : 1);
  });

  it("leaves out thinking altogether once the provider refused a signature", () => {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "EqQB" },
      { type: "text", text: "So." },
    ];
    const body = { model: "m", max_tokens: 9, messages: [USER, { role: "assistant", content }, USER] };
    expect(send(NATIVE, body).json.messages).toEqual(body.messages);
    const again = send(NATIVE, body, { refusedFields: ["messages.thinking"] });
    expect((again.json.messages as Json[])[1]).toEqual({ role: "assistant", content: [content[1]] });
  });

  it("does not ask for a budget inside a tool loop that was begun without thinking", () => {
    const messages = [
      USER,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "" },
          { type: "tool_use", id: "a", name: "f", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] },
    ];
    const body = { model: "m", max_tokens: 9000, messages, thinking: { type: "enabled", budget_tokens: 2000 } };
    expect(send(NATIVE, body, { model: { dialect: { thinking: "budget" } } }).json.thinking).toBeUndefined();
    expect(
      send(NATIVE, { ...body, messages: [USER] }, { model: { dialect: { thinking: "budget" } } }).json.thinking,
    ).toEqual(body.thinking);
  });
});

describe("headers", () => {
  it.each([
    [{}, { "anthropic-version": "2023-06-01" }],
    [{ "anthropic-version": "2026-10-21" }, { "anthropic-version": "2026-10-21" }],
    [{ "anthropic-version": "tomorrow" }, { "anthropic-version": "2023-06-01" }],
    [
      { "anthropic-beta": "claude-code-20250219, oauth-2025-04-20,claude-code-20250219,b\r\nad" },
      { "anthropic-version": "2023-06-01", "anthropic-beta": "claude-code-20250219" },
    ],
  ])("%j", (headers, expected) => {
    expect(send(NATIVE, { model: "m", max_tokens: 1, messages: [USER] }, { headers }).headers).toEqual(expected);
  });

  it("takes betas from the body, and none once they were refused", () => {
    const body = { model: "m", max_tokens: 1, messages: [USER], betas: ["x-2026-01-01"] };
    expect(send(NATIVE, body).headers).toHaveProperty("anthropic-beta", "x-2026-01-01");
    expect(send(NATIVE, body, { refusedFields: ["anthropic-beta"] }).headers).not.toHaveProperty("anthropic-beta");
  });
});

describe("a cap that money demands", () => {
  const message = { messages: [{ role: "user", content: "hi" }] };
  it.each([
    ["is sent where the client gave none", {}, 40, 40],
    ["does not raise the client's own", { max_tokens: 20 }, 40, 20],
    ["is not needed", {}, null, 16_384],
  ])("%s", (_name, fields, outputCap, expected) => {
    for (const format of [anthropic, FORMATS.openai]) {
      const request = read(format, { ...message, ...fields });
      const sent = anthropic.writeRequest({ request, model: makeModel({}), outputCap, refusedFields: [] });
      expect(JSON.parse(sent.body.toString()).max_tokens).toBe(expected);
    }
  });
});

describe("refused thinking history", () => {
  const turns = [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "x", signature: "s" },
        { type: "tool_use", id: "t", name: "f", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "y" }] },
  ];
  const body = { max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 2000 }, messages: turns };

  it("also gives up thinking itself inside the tool loop, which the provider would refuse without it", () => {
    const { json } = send(NATIVE, body, { refusedFields: ["messages.thinking"] });
    expect(json).not.toHaveProperty("thinking");
    expect(JSON.stringify(json.messages)).not.toContain("signature");
  });

  it("leaves thinking on for an ask of its own", () => {
    const asked = {
      ...body,
      messages: [...turns, { role: "assistant", content: "so" }, { role: "user", content: "and?" }],
    };
    expect(send(NATIVE, asked, { refusedFields: ["messages.thinking"] }).json).toHaveProperty("thinking");
  });
});

describe("an answer", () => {
  it("keeps every byte but the model, and gets the service object", () => {
    const inner =
      '"content":[ {"type":"text","text":"\\u00e9","citations":null} ],"usage":{"input_tokens":1.0,"output_tokens":2},"novel":1e2';
    const reading = anthropic.readResponse(
      Buffer.from(`{"id":"msg_1","type":"message","model":"claude-real",${inner}}`),
    );
    if (!reading.ok) throw new Error(reading.fault.message);
    const bytes = anthropic.passResponse(reading.response, contextFor(), { service: SERVICE, usage: null });
    expect(bytes.toString()).toBe(
      `{"id":"msg_1","type":"message","model":"model",${inner},"service":${JSON.stringify(SERVICE)}}`,
    );
    expect(reading.response.usage?.buckets).toMatchObject({ input: 1, output: 2 });
  });

  it("gets usage where the provider's own is missing or cannot be true", () => {
    const reading = anthropic.readResponse(
      Buffer.from('{"model":"claude-real","content":[{"type":"text","text":"a"}]}'),
    );
    if (!reading.ok) throw new Error(reading.fault.message);
    const usage = usageOf(9, 8);
    const message = JSON.parse(
      anthropic.passResponse(reading.response, contextFor(), { service: SERVICE, usage }).toString(),
    );
    expect(message.usage).toMatchObject({ input_tokens: 9, output_tokens: 8 });
  });
});

describe("a stream", () => {
  const start =
    '{"type":"message_start","message":{"id":"msg_1","model":"claude-real","content":[ ],"usage":{"input_tokens":3,"output_tokens":1}},"novel":1.0}';
  const rest =
    'event: ping\ndata: {"type": "ping"}\n\n' +
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}\n\n' +
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"cited_text":"\\u00e9"}}}\n\n' +
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\u00e9 é"}  }\n\n' +
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' +
    'event: novelty\ndata: {"type":"novelty"}\n\n' +
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":5}}\n\n' +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n';

  it.each([1, 3, 1 << 20])(
    "is passed on as it came, in pieces of %i bytes; only the start names our model, and both ends the service",
    (length) => {
      const text = relay(NATIVE, `event: message_start\ndata: ${start}\n\n${rest}`, length);
      const changed = start
        .replace('"claude-real"', '"model"')
        .replace('"output_tokens":1}}', `"output_tokens":1},"service":${JSON.stringify(SERVICE)}}`);
      const ending = rest.replace('"message_stop"}', `"message_stop","service":${JSON.stringify(SERVICE)}}`);
      expect(text).toBe(`event: message_start\ndata: ${changed}\n\n${ending}`);
    },
  );

  it("keeps the end back until it is told to end", () => {
    const reader = anthropic.streamReader(createSseReader());
    const writer = createClientStream(anthropic, contextFor(), { service: SERVICE, wantsUsage: true });
    const text = writer.write(reader.push(Buffer.from(`event: message_start\ndata: ${start}\n\n${rest}`)));
    expect(text).not.toContain("message_delta");
    expect(reader.progress).toMatchObject({
      isDone: true,
      isFinished: true,
      usage: { buckets: { input: 3, output: 5 } },
    });
    expect(eventsIn(writer.end(SERVICE, reader.progress.usage!)).map((event) => event.type)).toEqual([
      "message_delta",
      "message_stop",
    ]);
  });

  it("is closed when the provider finished but never said so", () => {
    const events = [
      { type: "message_start", message: { usage: { input_tokens: 1 } } },
      { type: "message_delta", delta: { stop_reason: "refusal" }, usage: { output_tokens: 0 } },
    ];
    expect(eventsIn(relay(NATIVE, toSse(events))).at(-1)).toEqual({ type: "message_stop", service: SERVICE });
  });
});

function noCap(expected: Json, fields: Json): Json {
  return expected.max_tokens === 16_384 && fields.max_tokens === undefined ? { max_tokens: null } : {};
}
