// A Responses request whose long texts are left in its body means the same as one that is parsed as a whole: the same messages
// for routing, the same bytes for every provider, and the same answer.

import { describe, expect, it, vi } from "vitest";
import { isUnread } from "../../../../src/core/chat.ts";
import { anthropicMessages } from "../../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ClientRequest, Outgoing, ProviderFormat } from "../../../../src/formats/format.ts";
import { gemini } from "../../../../src/formats/gemini/codec.ts";
import { isObject, type JsonObject } from "../../../../src/formats/json/fields.ts";
import { parseBody, parseFields, scanBody } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../../src/formats/openai-responses/codec.ts";
import { responseWriter, writeResponseBytes } from "../../../../src/formats/openai-responses/response-object.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { estimateInputTokens } from "../../../../src/routing/cost.ts";
import { findEscalation } from "../../../../src/routing/sessions/evidence.ts";
import { featuresOf } from "../../../../src/telemetry/features.ts";
import { makeModel } from "../../../support/catalog.ts";
import { escapedJson } from "../../../support/formats/escaped.ts";
import { oddText as text } from "../../../support/formats/odd-texts.ts";
import { fc } from "../../../support/property.ts";

const PROVIDERS = [openaiChat, openaiResponses, anthropicMessages, gemini];
const { dialect } = makeModel();
const MODELS = [
  makeModel(),
  makeModel({ dialect: { ...dialect, toolIds: "safe-40", reasoningHistory: "keep", hasDeveloperRole: false } }),
];

const callId = fc.constantFrom("call_1", "call_2", "ümlaut");
const parts = fc.array(
  fc.oneof(
    text.map((said) => ({ type: "input_text", text: said })),
    text.map((name) => ({ type: "input_file", filename: name, file_data: "data:text/plain;base64,YQ==" })),
    fc.constant({ type: "input_image", image_url: "https://example.com/größe.png" }),
  ),
  { maxLength: 3 },
);
const item = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "developer"), content: fc.oneof(text, parts) }),
  text.map((said) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text: said }] })),
  text.map((said) => ({ type: "reasoning", summary: [{ type: "summary_text", text: said }], encrypted_content: "x" })),
  fc.tuple(callId, text, fc.constantFrom("read", "write", "größe")).map(([id, given, name]) => {
    return { type: "function_call", call_id: id, name, arguments: JSON.stringify({ given }) };
  }),
  fc.tuple(callId, text).map(([id, input]) => ({ type: "custom_tool_call", call_id: id, name: "patch", input })),
  fc
    .tuple(callId, fc.oneof(text, parts))
    .map(([id, output]) => ({ type: "function_call_output", call_id: id, output })),
);
const FIRST = { role: "user", content: "Hello" };
const tool = text.map((said) => ({
  type: "function",
  name: "read",
  description: said,
  parameters: { type: "object" },
}));
const body = fc.record(
  {
    store: fc.constantFrom(false, false, false, true),
    instructions: text,
    input: fc.oneof(
      { weight: 8, arbitrary: fc.array(item, { maxLength: 6 }).map((items) => [FIRST, ...items]) },
      { weight: 1, arbitrary: text },
    ),
    tools: fc.array(tool, { maxLength: 2 }),
    user: text,
    previous_response_id: fc.constantFrom(null, null, null, "resp_1"),
  },
  { requiredKeys: ["store", "input"] },
);

function readWhole(bytes: Buffer): ClientRequest {
  const { source, body: whole } = parseBody(bytes);
  return openaiResponses.readRequest(source, whole, { headers: {} });
}

function readPart(bytes: Buffer): ClientRequest | null {
  const scanned = scanBody(bytes);
  const part = parseFields(scanned, openaiResponses.unread!, 0);
  return part === null ? null : openaiResponses.readRequest(scanned.source, part, { headers: {} });
}

/** What a provider is sent, or why it cannot be said to it. */
function sentTo(provider: ProviderFormat, request: ClientRequest, terms: Omit<Outgoing, "request">): unknown {
  try {
    const { body: bytes, conversions } = writeProviderRequest({ format: openaiResponses, request }, provider, terms);
    return { json: bytes.toString(), conversions };
  } catch (error) {
    return String(error);
  }
}

function expectSame(whole: ClientRequest, inFields: ClientRequest): void {
  expect(newestAsk(inFields.chat.messages)).toEqual(newestAsk(whole.chat.messages));
  expect(inFields.chat.tools).toEqual(whole.chat.tools);
  for (const model of MODELS) {
    const terms = { model, refusedFields: [] };
    for (const provider of PROVIDERS) {
      expect(sentTo(provider, inFields, terms), provider.name).toEqual(sentTo(provider, whole, terms));
    }
  }
  const answer = (request: ClientRequest): string =>
    responseWriter({ requestId: "r", modelId: "m", createdAtSeconds: 1, request })({ status: "queued", service: null });
  expect(answer(inFields)).toBe(answer(whole));
  const context = { requestId: "r", modelId: "m", createdAtSeconds: 1, request: inFields };
  expect(writeResponseBytes(context, { status: "queued", service: null }).toString()).toBe(answer(whole));
}

describe("a body whose long texts are not parsed", () => {
  it("means the same to routing, to every provider and in the answer", () => {
    let unreadCount = 0;
    fc.assert(
      fc.property(body, fc.constantFrom(0, 2), fc.constantFrom(0, 0, 0, 0.4, 0.7), (given, indent, share) => {
        const json = escapedJson(given, { indent, share });
        const bytes = Buffer.from(indent === 0 ? json : json.replaceAll("/", "\\/"));
        const inFields = readPart(bytes);
        if (inFields === null) return;
        unreadCount += inFields.chat.messages.filter(isUnread).length;
        expectSame(readWhole(bytes), inFields);
      }),
      { numRuns: 600 },
    );
    expect(unreadCount).toBeGreaterThan(15);
  });

  it("parses no long text of a history to measure it, or to send it on", () => {
    const long = (at: number) => `${at} é "größer"\n`.repeat(400);
    const input = [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Fix it" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: long(1) }] },
      { type: "message", role: "user", content: "Not like that" },
      { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: long(2) },
      { type: "function_call", call_id: "call_2", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_2", output: [{ type: "input_text", text: long(3) }] },
      { type: "message", role: "developer", content: long(4) },
      { type: "message", role: "user", content: "Hi" },
    ];
    const parse = vi.spyOn(JSON, "parse");
    try {
      const request = readPart(Buffer.from(JSON.stringify({ store: false, input }))) as ClientRequest;
      const { messages } = request.chat;
      estimateInputTokens(request.chat);
      featuresOf(request.chat, null);
      findEscalation({ messages, ask: newestAsk(messages), policy: "eager", isFollowUp: true, last: null });
      sentTo(openaiResponses, request, { model: makeModel(), refusedFields: [] });
      sentTo(openaiChat, request, { model: makeModel(), refusedFields: [] });
      expect(messages.filter(isUnread)).toHaveLength(4);
      expect(parse.mock.calls.filter(([source]) => source.length > 3_000)).toEqual([]);
    } finally {
      parse.mockRestore();
    }
  });

  it.each([
    ["is stored", { store: undefined }],
    ["continues a response", { previous_response_id: "resp_1" }],
    ["continues a conversation", { conversation: "conv_1" }],
  ])("is parsed as a whole when it %s", (_, change) => {
    const whole: JsonObject = { store: false, input: [{ role: "user", content: "größer".repeat(300) }], ...change };
    const bytes = Buffer.from(JSON.stringify(whole));
    const part = parseFields(scanBody(bytes), openaiResponses.unread!, 0);
    expect(part).toBeNull();
    expect(isObject(parseBody(bytes).body)).toBe(true);
  });

  it("does not parse known tools again in a body whose texts must all be read", () => {
    const tools = [{ type: "function", name: "look", description: "x".repeat(2_000), parameters: {} }];
    const item = (type: string) => ({
      type,
      role: "user",
      content: [{ type: "input_text", text: "y".repeat(20_000) }],
    });
    for (const body of [
      { input: [item("message")], tools },
      { store: false, input: [item("message"), { type: "web_search_call", id: "ws_1", status: "completed" }], tools },
    ]) {
      const [, second, third] = [1, 2, 3].map(() => {
        const scanned = scanBody(Buffer.from(JSON.stringify({ model: "auto", ...body })));
        return parseFields(scanned, openaiResponses.unread!);
      });
      expect(third?.tools).toEqual(tools);
      expect(third?.tools).toBe(second?.tools);
    }
  });
});
