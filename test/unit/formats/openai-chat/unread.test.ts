// A chat request whose long texts are left in its body means the same as one that is parsed as a whole: the same errors,
// the same asks and ids, and the same bytes for every host.

import { describe, expect, it, vi } from "vitest";
import { isUnread, partsOf, toolCallIds } from "../../../../src/core/chat.ts";
import { GatewayError } from "../../../../src/core/errors.ts";
import { anthropicMessages } from "../../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../../src/formats/bridge.ts";
import type { ClientRequest, Outgoing } from "../../../../src/formats/format.ts";
import { parseBody, parseFields, scanBody, type UnreadPart } from "../../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../../src/formats/openai-chat/codec.ts";
import type { ScannedObject } from "../../../../src/formats/scan/scan.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { estimateInputTokens } from "../../../../src/routing/cost.ts";
import { featuresOf } from "../../../../src/telemetry/features.ts";
import { makeModel } from "../../../support/catalog.ts";
import { fc } from "../../../support/property.ts";

const MODELS = [
  makeModel(),
  makeModel({ dialect: { ...makeModel().dialect, toolIds: "safe-40", reasoningHistory: "drop" } }),
  makeModel({ dialect: { ...makeModel().dialect, needsThoughtSignatures: true, hasDeveloperRole: false } }),
  makeModel({ dialect: { ...makeModel().dialect, toolIds: "alphanumeric-9", takesMessageNames: false } }),
];

/** A text as JSON has it, in plain characters, characters of several bytes, and escapes of all kinds. */
const PIECES = ["a", "word ", "é", "größer", "日本", "😀", "\u2028", "\u007f", "\u0080", "ÿ", "\ufeff"] as const;
const ESCAPES = ['\\"', "\\\\", "\\n", "\\/", "\\u0009", "\\u007f", "\\\\u00e9", "\\\\\\\\"] as const;
const HIGH_ESCAPES = ["\\u00e9", "\\u00C3\\u00a9", "\\ud83d", "\\ud83d\\ude00", "\\u2028", "\\u0080"] as const;
const literal = (pieces: readonly string[], maxLength = 6) =>
  fc.array(fc.constantFrom(...pieces), { maxLength }).map((parts) => `"${parts.join("")}"`);
const text = fc.oneof(
  { weight: 12, arbitrary: literal([...PIECES, ...ESCAPES]) },
  { weight: 6, arbitrary: literal(["a", "b "]) },
  { weight: 1, arbitrary: literal([...PIECES, ...ESCAPES, ...HIGH_ESCAPES], 4) },
);

const space = fc.constantFrom("", "", " ", "\n\t", "\r\n");
const field = (names: readonly string[], value: fc.Arbitrary<string>) =>
  fc.tuple(fc.constantFrom(...names.map((name) => JSON.stringify(name))), value);
const list = (items: fc.Arbitrary<string>, maxLength = 3) =>
  fc.array(items, { maxLength }).map((values) => `[${values.join(",")}]`);
const other = fc.oneof(text, fc.constantFrom("null", "true", "1e3", "12345678901234567890", "{}", "[]", "-0.0"));

const part = fc.oneof(
  text.map((said) => `{"type":"text","text":${said}}`),
  text.map((url) => `{"type":"image_url","image_url":{"url":${url}}}`),
  fc.tuple(text, other).map(([said, value]) => `{"type":"text","größe":${value},"__proto__":${value},"text":${said}}`),
);
const call = fc
  .tuple(fc.oneof(text, fc.constantFrom('"call_1"', '"ümlaut"')), text, text)
  .map(([id, name, args]) => `{"id":${id},"type":"function","function":{"name":${name},"arguments":${args}}}`);
const messageWith = (texts: typeof text) =>
  fc
    .tuple(
      fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom("system", "developer", "user", "assistant", "assistant", "tool") },
        { weight: 1, arbitrary: fc.constant("judge") },
      ),
      fc.oneof(
        { weight: 20, arbitrary: texts },
        { weight: 10, arbitrary: list(part) },
        { weight: 1, arbitrary: other },
      ),
      fc.array(
        fc.oneof(
          { weight: 10, arbitrary: field(["name", "tool_call_id", "reasoning_content", "naïve"], text) },
          { weight: 5, arbitrary: field(["tool_calls"], list(call)) },
          { weight: 4, arbitrary: field(["reasoning_details", "x", "__proto__"], other) },
          { weight: 1, arbitrary: field(["role", "content"], other) },
        ),
        { maxLength: 3 },
      ),
    )
    .map(([role, content, rest]) => {
      const fields = [["role", JSON.stringify(role)], ["content", content], ...rest];
      return `{${fields.map(([name, value]) => (name?.startsWith('"') ? `${name}:${value}` : `"${name}":${value}`)).join(",")}}`;
    });
const tool = text.map((said) => `{"type":"function","function":{"name":"t","description":${said},"parameters":{}}}`);
const FREE = ["user", "metadata", "__proto__", "größe"];
const CHECKED = ["model", "stop", "temperature", "service_profile", "messages"];
const bodyText = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: field(["messages"], list(messageWith(text), 5)) },
        { weight: 1, arbitrary: field(["tools"], list(tool)) },
        { weight: 4, arbitrary: field(FREE, other) },
        { weight: 1, arbitrary: field(CHECKED, other) },
      ),
      { minLength: 1, maxLength: 5 },
    ),
    space,
    // With spaces before it, a body is long enough to be parsed by its fields even if it is ASCII.
    fc.constantFrom("", "", " ".repeat(5_000), "\ufeff"),
  )
  .map(([fields, gap, mark]) => `${mark}${gap}{${fields.map(([name, value]) => `${name}${gap}:${value}`).join(",")}}`);

/** Long enough to be left in the body. */
const longText = fc
  .array(fc.constantFrom(...PIECES, '\\"', "\\\\", "\\n", "\\/", "\\\\\\\\"), { minLength: 3, maxLength: 9 })
  .map((pieces) => `"${pieces.join("").repeat(Math.ceil(1200 / pieces.join("").length))}"`);
const longBodyText = fc
  .tuple(fc.array(messageWith(fc.oneof(text, longText)), { minLength: 1, maxLength: 5 }), space)
  .map(([messages, gap]) => `{"messages":[${messages.join(",").replaceAll('"content":', `"content"${gap}:${gap}`)}]}`);

type Outcome = { readonly request: ClientRequest } | { readonly refusal: readonly unknown[] };

function outcomeOf(read: () => ClientRequest): Outcome {
  try {
    return { request: read() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refusal: [error.status, error.message, error.details.code, error.details.param] };
  }
}

function readWhole(bytes: Buffer): Outcome {
  return outcomeOf(() => {
    const { source, body } = parseBody(bytes);
    return openaiChat.readRequest(source, body);
  });
}

function parseInFields(scanned: ScannedObject) {
  return parseFields(scanned, openaiChat.unread as UnreadPart, 0);
}

function readInFields(bytes: Buffer): Outcome {
  return outcomeOf(() => {
    const scanned = scanBody(bytes);
    return openaiChat.readRequest(scanned.source, parseInFields(scanned) ?? parseBody(bytes).body);
  });
}

/** What a provider of another format is sent, or why it cannot be said to it. */
function convertedFor(request: ClientRequest, terms: Omit<Outgoing, "request">): unknown {
  try {
    return writeProviderRequest({ format: openaiChat, request }, anthropicMessages, terms).body.toString();
  } catch (error) {
    return String(error);
  }
}

function expectSame(whole: ClientRequest, inFields: ClientRequest): void {
  const { messages: _, ...chat } = whole.chat;
  expect(inFields.chat).toMatchObject(chat);
  expect(inFields.controls).toEqual(whole.controls);
  const others = ({ body }: ClientRequest) => Object.entries(body).filter(([name]) => name !== "messages");
  expect(others(inFields)).toEqual(others(whole));
  expect(Object.keys(inFields.body)).toEqual(Object.keys(whole.body));
  expect(newestAsk(inFields.chat.messages)).toEqual(newestAsk(whole.chat.messages));
  expect(inFields.chat.messages.map(toolCallIds)).toEqual(whole.chat.messages.map(toolCallIds));
  for (const model of MODELS) {
    const terms = { model, refusedFields: [] };
    const sent = openaiChat.passRequest({ request: inFields, ...terms });
    expect(sent.body.toString()).toBe(openaiChat.passRequest({ request: whole, ...terms }).body.toString());
    expect(convertedFor(inFields, terms)).toEqual(convertedFor(whole, terms));
  }
}

/** Gives the request that is parsed in fields; null where the body is refused. */
function expectSameOutcome(bytes: Buffer): ClientRequest | null {
  const whole = readWhole(bytes);
  const inFields = readInFields(bytes);
  if ("refusal" in whole || "refusal" in inFields) {
    expect(inFields).toEqual(whole);
    return null;
  }
  expectSame(whole.request, inFields.request);
  return inFields.request;
}

describe("a body whose long texts are not parsed", () => {
  it("means the same, or is refused for the same reason", () => {
    let inFieldsCount = 0;
    fc.assert(
      fc.property(bodyText, (body) => {
        const bytes = Buffer.from(body);
        if (expectSameOutcome(bytes) !== null && parseInFields(scanBody(bytes)) !== null) inFieldsCount += 1;
      }),
      { numRuns: 600 },
    );
    expect(inFieldsCount).toBeGreaterThan(25);
  });

  it("is refused for the same reason when a byte of it is wrong", () => {
    fc.assert(
      fc.property(bodyText, fc.nat(), fc.nat({ max: 255 }), (body, at, byte) => {
        const bytes = Buffer.from(body);
        bytes[at % bytes.length] = byte;
        expectSameOutcome(bytes);
      }),
      { numRuns: 600 },
    );
  });

  it("means the same where long texts are left in it", () => {
    let unreadCount = 0;
    fc.assert(
      fc.property(longBodyText, (body) => {
        const read = expectSameOutcome(Buffer.from(body));
        unreadCount += read?.chat.messages.filter(isUnread).length ?? 0;
      }),
      { numRuns: 600 },
    );
    expect(unreadCount).toBeGreaterThan(100);
  });

  const longBody = (content: string) =>
    Buffer.from(`{"messages":[{"role":"user","content":"${content.padEnd(8_000, "x")}"}]}`);

  it("is refused where a long text has a break of a line or a tab in it", () => {
    for (const wrong of ["a\nb", "a\tb"]) {
      expect(readInFields(longBody(wrong))).toEqual(readWhole(longBody(wrong)));
    }
  });

  it("refuses a mistake in a long text", () => {
    for (const wrong of ["a\\xb", "a\u0001b", "a\\u12", "é\\8"]) {
      expect(readInFields(longBody(wrong))).toEqual({
        refusal: [400, "The body is not valid JSON.", "invalid_json", undefined],
      });
    }
  });

  it("keeps its messages as they came where they are no list", () => {
    const content = "x".repeat(2_000);
    const bytes = Buffer.from(JSON.stringify({ messages: { a: { content } } }).padEnd(6_000));
    expect(parseInFields(scanBody(bytes))).toEqual({ messages: { a: { content } } });
  });

  it("parses no long text to measure it, or to send it on", () => {
    const messages = Array.from({ length: 9 }, (_, at) => ({
      role: at === 4 ? "assistant" : "user",
      content: `${at} é\n`.repeat(400),
    }));
    const scanned = scanBody(Buffer.from(JSON.stringify({ messages: [...messages, { role: "user", content: "Hi" }] })));
    const parse = vi.spyOn(JSON, "parse");
    try {
      const request = openaiChat.readRequest(scanned.source, parseInFields(scanned) ?? {});
      estimateInputTokens(request.chat);
      featuresOf(request.chat, null);
      request.chat.messages.flatMap(partsOf);
      newestAsk(request.chat.messages);
      openaiChat.passRequest({ request, model: makeModel(), refusedFields: [] });
      expect(parse.mock.calls.filter(([source]) => source.length > 1_500)).toEqual([]);
      expect(request.chat.messages[0]?.content).toContain("0 ");
      expect(parse.mock.calls.filter(([source]) => source.length > 1_500)).toHaveLength(1);
    } finally {
      parse.mockRestore();
    }
  });

  it.each([
    ["Größere Städte überraschen müde Gäste, für die sonst nichts zählt. "],
    ["会议讨论了预算，并同意下个月再看一次。"],
    ["Проверка завершена, ошибок не найдено. "],
    ["naïve café 😀 plain English words in between "],
    ['if (a) {\n\treturn "b\\n";\n}\n'],
  ])("has about as many tokens and characters as it has when it is parsed: %s", (sentence) => {
    const messages = Array.from({ length: 12 }, () => ({ role: "user", content: sentence.repeat(60) }));
    expectSizes(Buffer.from(JSON.stringify({ messages })));
    // As clients write it that keep to ASCII.
    const escaped = JSON.stringify({ messages }).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    expectSizes(Buffer.from(escaped));
  });

  function expectSizes(bytes: Buffer): void {
    const scanned = scanBody(bytes);
    const read = (body: ReturnType<typeof parseInFields>) => openaiChat.readRequest(scanned.source, body ?? {}).chat;
    const whole = read(parseBody(bytes).body);
    const inFields = read(parseInFields(scanned));
    const tokens = estimateInputTokens(whole);
    expect(Math.abs(estimateInputTokens(inFields) - tokens)).toBeLessThan(tokens * 0.05);
    const { userChars } = featuresOf(whole, null) as { readonly userChars: number };
    const counted = (featuresOf(inFields, null) as { readonly userChars: number }).userChars;
    expect(Math.abs(counted - userChars)).toBeLessThan(userChars * 0.05);
  }
});
