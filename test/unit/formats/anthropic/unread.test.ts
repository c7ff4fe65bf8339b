// A Messages request whose long texts are left in its body means the same as one that is parsed as a whole: the same asks for
// routing, and the same bytes for every provider.

import { describe, expect, it, vi } from "vitest";
import { isUnread, partsOf } from "../../../../src/core/chat.ts";
import { anthropicMessages } from "../../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ClientRequest, Outgoing, ProviderFormat } from "../../../../src/formats/format.ts";
import { gemini } from "../../../../src/formats/gemini/codec.ts";
import { parseBody, parseFields, scanBody, type UnreadPart } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../../src/formats/openai-responses/codec.ts";
import { hashText } from "../../../../src/gateway/sessions/sessions.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { estimateInputTokens } from "../../../../src/routing/cost.ts";
import { findEscalation } from "../../../../src/routing/sessions/evidence.ts";
import { hashEnd, readOpening } from "../../../../src/routing/sessions/prefix.ts";
import { featuresOf } from "../../../../src/telemetry/features.ts";
import { makeModel } from "../../../support/catalog.ts";
import { escapedJson } from "../../../support/formats/escaped.ts";
import { oddText as text } from "../../../support/formats/odd-texts.ts";
import { fc } from "../../../support/property.ts";

const PROVIDERS = [openaiChat, openaiResponses, anthropicMessages, gemini];
const { dialect } = makeModel();
const MODELS = [
  makeModel(),
  makeModel({ dialect: { ...dialect, toolIds: "safe-40", reasoningHistory: "keep", takesSystemInMiddle: false } }),
  makeModel({ dialect: { ...dialect, takesCacheControl: true, takesPrefill: false } }),
];
const PART = anthropicMessages.unread as UnreadPart;

const id = fc.constantFrom("toolu_1", "toolu_2", "call.3", "ümlaut");
const result = fc
  .tuple(
    id,
    fc.oneof(
      text,
      fc.array(
        text.map((said) => ({ type: "text", text: said })),
        { maxLength: 2 },
      ),
    ),
    fc.boolean(),
  )
  .map(([called, content, isError]) => ({ type: "tool_result", tool_use_id: called, content, is_error: isError }));
const block = fc.oneof(
  text.map((said) => ({ type: "text", text: said, cache_control: { type: "ephemeral" } })),
  text.map((said) => ({ type: "text", text: said })),
  text.map((title) => ({ type: "document", title, source: { type: "text", media_type: "text/plain", data: title } })),
  text.map((said) => ({ type: "thinking", thinking: said, signature: said })),
  fc
    .tuple(id, text)
    .map(([called, path]) => ({ type: "tool_use", id: called, name: "read", input: { path, größe: 1 } })),
  result,
  // Nobody knows such a block, or such fields.
  fc.tuple(text, text).map(([said, content]) => ({ type: "text", text: said, content })),
  fc.tuple(text, text).map(([said, content]) => ({ type: "note", text: said, inner: { inner: { text: content } } })),
);
const turn = fc.record({
  role: fc.constantFrom("user", "assistant", "system"),
  content: fc.oneof(text, fc.array(block, { maxLength: 3 })),
});
const body = fc.record(
  {
    max_tokens: fc.constant(100),
    messages: fc.array(turn, { minLength: 1, maxLength: 6 }),
    system: fc.oneof(
      text,
      fc.array(
        text.map((said) => ({ type: "text", text: said })),
        { maxLength: 2 },
      ),
    ),
    tools: fc.array(
      text.map((said) => ({ name: "read", description: said, input_schema: { type: "object" } })),
      {
        maxLength: 2,
      },
    ),
    metadata: text.map((user) => ({ user_id: user })),
  },
  { requiredKeys: ["max_tokens", "messages"] },
);

function readWhole(bytes: Buffer): ClientRequest {
  const { source, body: parsed } = parseBody(bytes);
  return anthropicMessages.readRequest(source, parsed, { headers: {} });
}

/** What a provider is sent, or why it cannot be said to it. */
function sentTo(provider: ProviderFormat, request: ClientRequest, terms: Omit<Outgoing, "request">): unknown {
  try {
    const { body: bytes, conversions } = writeProviderRequest({ format: anthropicMessages, request }, provider, terms);
    return { json: bytes.toString(), conversions };
  } catch (error) {
    return String(error);
  }
}

describe("a body whose long texts are not parsed", () => {
  it("means the same to routing and to every provider", () => {
    let unreadCount = 0;
    fc.assert(
      fc.property(body, fc.constantFrom(0, 2), fc.constantFrom(0, 0, 0, 0.4, 0.7), (given, indent, share) => {
        const json = escapedJson(given, { indent, share });
        const bytes = Buffer.from(indent === 0 ? json : json.replaceAll("/", "\\/"));
        const scanned = scanBody(bytes);
        const part = parseFields(scanned, PART, 0);
        if (part === null) return;
        const left = anthropicMessages.readRequest(scanned.source, part, { headers: {} });
        const whole = readWhole(bytes);
        unreadCount += left.chat.messages.filter(isUnread).length;
        expect(readOpening(left.chat.messages, hashText)).toEqual(readOpening(whole.chat.messages, hashText));
        if (whole.chat.messages.length > 0)
          expect(hashEnd(left.chat.messages, hashText)).toBe(hashEnd(whole.chat.messages, hashText));
        expect(newestAsk(left.chat.messages)).toEqual(newestAsk(whole.chat.messages));
        expect(left.chat.tools).toEqual(whole.chat.tools);
        for (const model of MODELS) {
          for (const provider of PROVIDERS) {
            const terms = { model, refusedFields: [] };
            expect(sentTo(provider, left, terms), provider.name).toEqual(sentTo(provider, whole, terms));
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(unreadCount).toBeGreaterThan(50);
  });

  it("parses no long text of a history to measure it, or to send it on", () => {
    const long = (at: number) => `${at} é "größer"\n`.repeat(400);
    const turns = Array.from({ length: 4 }, (_, at) => [
      { role: "assistant", content: [{ type: "tool_use", id: `toolu_${at}`, name: "read", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `toolu_${at}`,
            content: at % 2 === 0 ? long(at) : [{ type: "text", text: long(at) }],
          },
        ],
      },
    ]).flat();
    const messages = [
      { role: "user", content: "Fix it" },
      { role: "assistant", content: [{ type: "text", text: long(8) }] },
      { role: "user", content: "Not like that" },
      ...turns,
      { role: "assistant", content: long(9) },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_9", name: "read", input: {} }] },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
    ];
    const scanned = scanBody(Buffer.from(JSON.stringify({ max_tokens: 100, messages })));
    const parse = vi.spyOn(JSON, "parse");
    try {
      const request = anthropicMessages.readRequest(scanned.source, parseFields(scanned, PART) ?? {}, { headers: {} });
      const { messages: view } = request.chat;
      estimateInputTokens(request.chat);
      featuresOf(request.chat, null);
      view.flatMap(partsOf);
      findEscalation({ messages: view, ask: newestAsk(view), policy: "eager", isFollowUp: true, last: null });
      for (const provider of [anthropicMessages, openaiChat])
        sentTo(provider, request, { model: makeModel(), refusedFields: [] });
      expect(view.filter(isUnread)).toHaveLength(6);
      expect(parse.mock.calls.filter(([source]) => source.length > 3_000)).toEqual([]);
    } finally {
      parse.mockRestore();
    }
  });

  it("refuses a mistake in a long text", () => {
    for (const wrong of ["a\\xb", "a\u0001b", "a\\u12", "é\\8", "a\nb"]) {
      const block = `{"type":"text","text":"${wrong.padEnd(8_000, "x")}"}`;
      for (const content of [`[${block}]`, `[{"type":"tool_result","tool_use_id":"1","content":[${block}]}]`]) {
        const bytes = Buffer.from(`{"max_tokens":1,"messages":[{"role":"user","content":${content}}]}`);
        expect(() => parseFields(scanBody(bytes), PART, 0) ?? parseBody(bytes)).toThrow("not valid JSON");
      }
    }
  });
});
