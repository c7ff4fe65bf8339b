// The effort of a chain entry as each provider is asked for it, and the wish of a client that has its own.

import { describe, expect, it, test } from "vitest";
import type { Dialect } from "../../../src/core/model.ts";
import type { Effort } from "../../../src/core/requests/effort.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { mayLeaveOut, writeProviderRequest } from "../../../src/formats/bridge.ts";
import type { ClientFormat, ProviderFormat } from "../../../src/formats/format.ts";
import { gemini } from "../../../src/formats/gemini/codec.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { openaiResponses } from "../../../src/formats/openai-responses/codec.ts";
import { makeModel } from "../../support/catalog.ts";

type Form = ClientFormat & ProviderFormat;
const ASK: Readonly<Record<string, readonly [Form, object]>> = {
  chat: [openaiChat, { model: "m", messages: [{ role: "user", content: "Hi" }] }],
  messages: [anthropicMessages, { model: "m", max_tokens: 9000, messages: [{ role: "user", content: "Hi" }] }],
  responses: [openaiResponses, { model: "m", input: "Hi", store: false }],
  gemini: [gemini, { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { temperature: 1 } }],
};

const EFFORTS: readonly Effort[] = ["none", "low", "medium", "high"];
const modelWith = (dialect: Partial<Dialect> = {}) =>
  makeModel({ id: "m", capabilities: ["reasoning"], dialect: { efforts: EFFORTS, thinking: "level", ...dialect } });
const adaptive = modelWith({ thinking: "adaptive" });

function readAs(client: string, extra: object = {}) {
  const [format, body] = ASK[client] as readonly [Form, object];
  const { source, body: parsed } = parseBody(Buffer.from(JSON.stringify({ ...body, ...extra })));
  return { format, request: format.readRequest(source, parsed) };
}

function sent(
  client: string,
  provider: string,
  effort: Effort,
  model = provider === "messages" ? adaptive : modelWith(),
) {
  const asked = readAs(client);
  const [to] = ASK[provider] as readonly [Form, object];
  const { body, conversions = [] } = writeProviderRequest(asked, to, { model, refusedFields: [], effort });
  return { body: JSON.parse(body.toString()), conversions };
}

const CLIENTS = Object.keys(ASK);

describe.each(CLIENTS)("a %s client", (client) => {
  test.each([
    ["chat", { reasoning_effort: "high" }],
    ["messages", { output_config: { effort: "high" } }],
    ["responses", { reasoning: { effort: "high" } }],
    ["gemini", { generationConfig: expect.objectContaining({ thinkingConfig: { thinkingLevel: "HIGH" } }) }],
  ])("is asked for it at a %s provider, without a note", (provider, fields) => {
    const { body, conversions } = sent(client, provider, "high");
    expect(body).toMatchObject(fields);
    expect(conversions).toEqual([]);
  });

  test.each([
    ["chat", { reasoning_effort: "none" }],
    ["messages", { thinking: { type: "disabled" } }],
    ["responses", { reasoning: { effort: "none" } }],
  ])("has thinking switched off at a %s provider", (provider, fields) => {
    expect(sent(client, provider, "none").body).toMatchObject(fields);
  });

  it("has thinking off under the name that its model knows", () => {
    const model = modelWith({ thinking: "adaptive", thinkingOff: "between_tools" });
    expect(sent(client, "messages", "none", model).body.thinking).toEqual({ type: "between_tools" });
  });

  it("gets the nearest effort of a host that takes others, and none of one that does not reason", () => {
    expect(sent(client, "chat", "high", modelWith({ efforts: ["low"] })).body.reasoning_effort).toBe("low");
    expect(sent(client, "chat", "high", makeModel({ id: "m" })).body).not.toHaveProperty("reasoning_effort");
  });

  it("goes without the field where a provider refuses it", () => {
    const { format, request } = readAs(client);
    const refused = { chat: "reasoning_effort", messages: "output_config", responses: "reasoning" };
    for (const [provider, field] of Object.entries(refused)) {
      const [to] = ASK[provider] as readonly [Form, object];
      expect(mayLeaveOut(field, { format, request }, { provider: to, model: modelWith() }), field).toBe(true);
      const terms = { model: modelWith(), refusedFields: [field], effort: "high" } as const;
      const { body } = writeProviderRequest({ format, request }, to, terms);
      expect(JSON.parse(body.toString())).not.toHaveProperty(field);
    }
  });
});

test("native fields beside the effort stay", () => {
  expect(sent("gemini", "gemini", "low").body.generationConfig).toEqual({
    temperature: 1,
    thinkingConfig: { thinkingLevel: "LOW" },
  });
});

test.each([
  ["chat", {}, undefined],
  ["chat", { reasoning_effort: "high" }, "high"],
  ["chat", { reasoning: { effort: "low" } }, "low"],
  ["chat", { thinking: { type: "enabled" } }, "own"],
  ["messages", { thinking: null }, undefined],
  ["messages", { thinking: { type: "adaptive" } }, "own"],
  ["messages", { thinking: { type: "disabled" } }, "none"],
  ["messages", { thinking: { type: "enabled", budget_tokens: 2000 } }, "low"],
  ["messages", { output_config: { effort: "max" } }, "max"],
  ["responses", { reasoning: { summary: "auto" } }, undefined],
  ["responses", { reasoning: { effort: "xhigh" } }, "xhigh"],
  ["gemini", { generationConfig: { thinkingConfig: { includeThoughts: true } } }, undefined],
  ["gemini", { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, "none"],
  ["gemini", { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } }, "low"],
  ["gemini", { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, "own"],
])("a %s client that sends %j wishes %s", (client, extra, effort) => {
  expect(readAs(client, extra).request.chat.effort).toBe(effort);
});
