// A long request that has let its messages go: a later reader gets what was there before.

import { expect, it, vi } from "vitest";
import { isUndecoded } from "../../../src/core/chat.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import type { ClientRequest, Format } from "../../../src/formats/format.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { letGo } from "../../../src/formats/released.ts";
import { parseFields, type UndecodedPart } from "../../../src/formats/wire/body-fields.ts";
import { parseBody, scanBody } from "../../../src/formats/wire/json-source.ts";
import { fc } from "../../support/property.ts";

const LONG = "x".repeat(16 * 1024);

/** Read as the server reads it, or decoded as a whole. */
function read(format: Format, body: string, isDecoded = false): ClientRequest {
  const scanned = scanBody(Buffer.from(body));
  const fields = isDecoded ? null : parseFields(scanned, format.undecoded as UndecodedPart);
  return format.readRequest(scanned.source, fields ?? parseBody(scanned.source.bytes).body, { headers: { a: "b" } });
}

function isHeld({ chat }: ClientRequest): boolean {
  return Object.getOwnPropertyDescriptor(chat, "messages")?.get === undefined;
}

const text = fc.array(fc.constantFrom("word ", "größer", "日本", "😀", "\n", '"', "\\", "\\u00e9"), { maxLength: 8 });
const said = text.map((parts) => parts.join(""));
const content = fc.oneof(
  said,
  fc.array(
    said.map((part) => ({ type: "text", text: part })),
    { minLength: 1, maxLength: 3 },
  ),
);
const turns = fc.array(fc.record({ role: fc.constantFrom("user", "assistant"), content }), {
  minLength: 1,
  maxLength: 5,
});

it.each([
  ["chat-completions", openaiChat],
  ["Messages", anthropicMessages],
])("a %s body is read as before", (_, format) => {
  fc.assert(
    fc.property(turns, content, fc.boolean(), (messages, system, isDecoded) => {
      const body = {
        model: "auto",
        messages: [{ role: "user", content: LONG }, ...messages],
        max_tokens: 5,
        user: "me",
      };
      const text = JSON.stringify(format === openaiChat ? body : { system, ...body });
      const kept = read(format, text, isDecoded);
      const released = read(format, text, isDecoded);
      letGo({ format, request: released });
      expect(isHeld(released)).toBe(false);
      expect(Object.keys(released.body)).toEqual(Object.keys(kept.body));
      expect(isUndecoded(released.body)).toBe(isUndecoded(kept.body));
      expect(released.chat.messages.map(isUndecoded)).toEqual(kept.chat.messages.map(isUndecoded));
      expect({ ...released.body }).toEqual(kept.body);
      expect({ ...released.chat }).toEqual(kept.chat);
    }),
    { numRuns: 60 },
  );
});

it("a request is read again once, however often it is asked", () => {
  const format = { ...openaiChat, readRequest: vi.fn(openaiChat.readRequest) };
  const request = read(format, JSON.stringify({ messages: [{ role: "user", content: LONG }], stream: true }));
  letGo({ format, request });
  expect(request.chat.isStream).toBe(true);
  expect(format.readRequest).toHaveBeenCalledTimes(1);
  expect(request.chat.messages).toBe(request.chat.messages);
  expect(request.body.messages).toBe(request.chat.messages);
  expect(format.readRequest).toHaveBeenCalledTimes(2);
});

it("a short request keeps its messages, and so does one whose response repeats parts of it", () => {
  const short = read(openaiChat, JSON.stringify({ messages: [{ role: "user", content: "Hi" }] }));
  letGo({ format: openaiChat, request: short });
  expect(isHeld(short)).toBe(true);
  const repeated = read(openaiResponses, JSON.stringify({ input: LONG, instructions: "Be brief." }));
  letGo({ format: openaiResponses, request: repeated });
  expect(isHeld(repeated)).toBe(true);
});
