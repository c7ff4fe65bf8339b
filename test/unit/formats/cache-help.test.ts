// Help for prompt caches is invisible to the model: without its marks and keys, a request is what it would have been.
// Behaviour 5.24.

import { describe, expect, it } from "vitest";
import type { HostedModel } from "../../../src/core/model.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../src/formats/bridge.ts";
import type { CacheHelp, ClientFormat, ProviderFormat } from "../../../src/formats/format.ts";
import { gemini } from "../../../src/formats/gemini/codec.ts";
import { isObject } from "../../../src/formats/json/fields.ts";
import { parseBody, parseFields, scanBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { makeModel } from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const MARK = { type: "ephemeral" };
const words = fc.oneof(
  fc.constantFrom("", " ", "}]", '{"cache": "control"}', "Größe 大 😀", "The harbour opens at dawn. ".repeat(40)),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);
const said = words.map((text) => `x${text}`);
const marked = fc.constantFrom({}, {}, {}, { cache_control: MARK });
const block = fc.tuple(said, marked).map(([text, mark]) => ({ type: "text", text, ...mark }));
const schema = { type: "object", properties: { path: { type: "string" } } };
const turn = fc.tuple(
  fc.constantFrom("user", "assistant"),
  fc.oneof(said, fc.array(block, { minLength: 1, maxLength: 2 })),
);
const talk = fc.array(turn, { maxLength: 5 }).map((turns) => [["user", "Hello"] as const, ...turns]);
const toolTexts = fc.array(fc.tuple(words, fc.boolean()), { maxLength: 3 });
const ownKey = fc.constantFrom({}, {}, { prompt_cache_key: "mine" });

/** Requests as clients of each format write them. */
const BODIES: Readonly<Record<string, readonly [ClientFormat, fc.Arbitrary<object>]>> = {
  Messages: [
    anthropicMessages,
    fc
      .tuple(fc.oneof(words, fc.array(block, { maxLength: 3 }), fc.constant(undefined)), talk, toolTexts, marked)
      .map(([system, turns, tools, mark]) => ({
        ...{ model: "m", max_tokens: 50, system, ...mark },
        messages: turns.map(([role, content]) => ({ role, content })),
        tools: tools.map(([description, isLate], at) => ({
          ...{ name: `t${at}`, description, input_schema: schema },
          ...(isLate ? { defer_loading: true } : {}),
        })),
      })),
  ],
  chat: [
    openaiChat,
    fc.tuple(fc.option(said), talk, toolTexts, ownKey).map(([system, turns, tools, key]) => ({
      ...{ model: "m", ...key },
      messages: [["system", system ?? "Be brief"] as const, ...turns].map(([role, content]) => ({ role, content })),
      tools: tools.map(([description], at) => ({
        type: "function",
        function: { name: `t${at}`, description, parameters: schema },
      })),
    })),
  ],
  Responses: [
    openaiResponses,
    fc.tuple(fc.option(said), talk, toolTexts, ownKey).map(([instructions, turns, tools, key]) => ({
      ...{ model: "m", store: false, instructions, ...key },
      input: turns.map(([role, content]) => ({
        role,
        content: typeof content === "string" ? content : content.map(({ text }) => text).join(""),
      })),
      tools: tools.map(([description], at) => ({ type: "function", name: `t${at}`, description, parameters: schema })),
    })),
  ],
};

const PROVIDERS: readonly ProviderFormat[] = [anthropicMessages, openaiChat, openaiResponses, gemini];
const help: fc.Arbitrary<CacheHelp> = fc.record({
  marks: fc.constantFrom("conversation", "conversation", "instructions", null),
  tokensMin: fc.constantFrom(0, 100, 1024),
  key: fc.constantFrom("s123", null),
});
const model: HostedModel = makeModel({ id: "m", capabilities: ["tools", "json", "vision"] });

/** Without marks and keys. A text as instructions is the same as one block of it. */
function seen(value: unknown, field = ""): unknown {
  if (field === "system" && typeof value === "string") return [{ type: "text", text: value }];
  if (Array.isArray(value)) return value.map((each) => seen(each));
  if (!isObject(value)) return value;
  const shown = Object.entries(value).filter(([name]) => name !== "cache_control" && name !== "prompt_cache_key");
  return Object.fromEntries(shown.map(([name, each]) => [name, seen(each, name)]));
}

function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + marksIn(each), 0);
  if (!isObject(value)) return 0;
  const own = value.cache_control === undefined ? 0 : 1;
  return Object.values(value).reduce((sum: number, each) => sum + marksIn(each), own);
}

/** As a live request is read: what the format leaves unparsed stays so. */
function read(format: ClientFormat, text: string) {
  const bytes = Buffer.from(text);
  const scanned = scanBody(bytes);
  const inFields = format.unread === undefined ? null : parseFields(scanned, format.unread);
  return format.readRequest(scanned.source, inFields ?? parseBody(bytes).body, { headers: {} });
}

describe.each(Object.entries(BODIES))("a request of a %s client", (name, [format, bodies]) => {
  it.each(PROVIDERS.map((provider) => [provider.name, provider] as const))("to %s", (_name, provider) => {
    let helped = 0;
    const kept = fc.property(bodies, help, fc.constantFrom(0, 2), (body, cacheHelp, indent) => {
      const text = JSON.stringify(body, null, indent);
      const send = (given: CacheHelp | null): unknown => {
        const terms = { model, refusedFields: [], cacheHelp: given };
        return JSON.parse(
          writeProviderRequest({ format, request: read(format, text) }, provider, terms).body.toString(),
        );
      };
      const [plain, sent] = [send(null), send(cacheHelp)] as [Record<string, unknown>, Record<string, unknown>];
      expect(seen(sent)).toEqual(seen(plain));
      if (marksIn(plain) > 0) expect(marksIn(sent)).toBe(marksIn(plain));
      else expect(marksIn(sent)).toBeLessThanOrEqual(cacheHelp.marks === null ? 0 : 3);
      const own = "prompt_cache_key" in body ? body.prompt_cache_key : undefined;
      if (plain.prompt_cache_key !== undefined) expect(plain.prompt_cache_key).toBe(own);
      if (own !== undefined) expect(sent.prompt_cache_key).toBe(plain.prompt_cache_key);
      if (JSON.stringify(sent) !== JSON.stringify(plain)) helped += 1;
    });
    fc.assert(kept, { numRuns: 150 });
    // Gemini's hosts cache by themselves.
    if (provider.name === gemini.name) expect(helped, name).toBe(0);
    else expect(helped, name).toBeGreaterThan(10);
  });
});
