// What single models refuse, and what is sent instead: forced tools, and thinking that is bound to a model and an account.

import { describe, expect, it, test } from "vitest";
import { forcesTool } from "../../../src/core/chat.ts";
import type { Dialect } from "../../../src/core/model.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { writeProviderRequest } from "../../../src/formats/bridge.ts";
import type { ClientFormat, ProviderFormat } from "../../../src/formats/format.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { decide } from "../../../src/routing/decide.ts";
import { makeCatalog, makeModel, makeQuestion, makeTool } from "../../support/catalog.ts";

type Form = ClientFormat & ProviderFormat;
const schema = { type: "object", properties: {} };
const named = { type: "function", function: { name: "look" } };
const FORCED: Readonly<Record<string, readonly [Form, object]>> = {
  chat: [
    openaiChat,
    {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "look", parameters: schema } }],
      tool_choice: named,
    },
  ],
  messages: [
    anthropicMessages,
    {
      ...{
        max_tokens: 100,
        messages: [{ role: "user", content: "Hi" }],
        tools: [{ name: "look", input_schema: schema }],
      },
      tool_choice: { type: "tool", name: "look", disable_parallel_tool_use: true },
    },
  ],
  responses: [
    openaiResponses,
    { input: "Hi", tools: [{ type: "function", name: "look", parameters: schema }], tool_choice: "required" },
  ],
};

function sent(client: string, to: Form, dialect: Partial<Dialect>, extra: object = {}) {
  const [format, body] = FORCED[client] as readonly [Form, object];
  const parsed = parseBody(Buffer.from(JSON.stringify({ model: "m", ...body, ...extra })));
  const request = format.readRequest(parsed.source, parsed.body);
  const terms = { model: makeModel({ id: "m", capabilities: ["tools", "reasoning"], dialect }), refusedFields: [] };
  const written = writeProviderRequest({ format, request }, to, terms);
  return { body: JSON.parse(written.body.toString()), notes: (written.conversions ?? []).map(({ code }) => code) };
}

describe.each(Object.keys(FORCED))("a tool that a %s client forces", (client) => {
  it("is left to a model that cannot be forced, with a note", () => {
    const quirk = { takesForcedTools: false };
    expect(sent(client, openaiChat, quirk)).toEqual({
      body: expect.objectContaining({ tool_choice: "auto" }),
      notes: ["option_changed"],
    });
    const { body, notes } = sent(client, anthropicMessages, quirk);
    expect(body.tool_choice).toMatchObject({ type: "auto" });
    expect(body.tool_choice).not.toHaveProperty("name");
    expect(notes).toEqual(["option_changed"]);
  });

  it("is forced at every other model", () => {
    const { body, notes } = sent(client, anthropicMessages, {});
    expect(["any", "tool"]).toContain(body.tool_choice.type);
    expect(notes).toEqual([]);
  });
});

test.each([
  ["required", true],
  ["any", true],
  ["auto", false],
  [null, false],
  [{ type: "any" }, true],
  [{ type: "none" }, false],
  [named, true],
  [{ type: "allowed_tools", allowed_tools: { mode: "required" } }, true],
  [{ type: "allowed_tools", mode: "auto" }, false],
])("the choice %j forces a tool: %s", (choice, isForced) => {
  expect(forcesTool(choice)).toBe(isForced);
});

describe("routing a forced tool", () => {
  const free = makeModel({ id: "free", dialect: { takesForcedTools: false } });
  const willing = makeModel({ id: "willing" });
  const route = (models: readonly (typeof free)[], toolChoice: unknown) =>
    decide(
      makeQuestion({ chat: { tools: [makeTool()], toolChoice }, controls: { profile: "tier", forcedTier: "LIGHT" } }),
      makeCatalog({ chains: { LIGHT: models } }),
    );

  it("passes over models that cannot be forced", () => {
    expect(route([free, willing], "required").chain).toEqual(["willing"]);
    expect(route([free, willing], "auto").chain).toEqual(["free", "willing"]);
  });

  it("keeps them where there are no others, and says so", () => {
    const decision = route([free], { type: "tool", name: "look" });
    expect(decision.chain).toEqual(["free"]);
    expect(decision.reasoning).toContain("forced tool ignored: no model qualifies");
  });
});

test("fields that Gemini 3.5 and later deprecate are left out, and reasoning of DeepSeek V4.1 comes back whole", () => {
  const sampling = { refuses: ["temperature", "top_p", "top_k"] };
  expect(sent("chat", openaiChat, sampling, { temperature: 1, tool_choice: "auto" }).body).not.toHaveProperty(
    "temperature",
  );
  const history = [
    { role: "user", content: "a" },
    { role: "assistant", content: "b", reasoning_content: "because" },
    { role: "user", content: "c" },
  ];
  const kept = sent("chat", openaiChat, { reasoningHistory: "keep" }, { messages: history, tool_choice: "auto" });
  expect(kept.body.messages).toEqual(history);
});
