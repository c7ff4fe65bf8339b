// Input tokens counted without a model, through the official client; and what compaction asks of a request.

import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
let client: OpenAI;
beforeAll(async () => {
  mixed = await startMixed();
  client = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: mixed.gateway.key, maxRetries: 0 });
});
afterAll(() => mixed.close());

const LONG = "The quick brown fox jumps over the lazy dog. ".repeat(100);
type Count = OpenAI.Responses.InputTokenCountParams;

const count = async (params: Count = {}): Promise<number> => {
  const counted = await client.responses.inputTokens.count(params);
  expect(counted).toEqual({ object: "response.input_tokens", input_tokens: expect.any(Number) });
  return counted.input_tokens;
};
const balance = async (): Promise<unknown> => (await mixed.gateway.api("GET", "/api/credits")).json();

it("counts input, instructions and tools, free of charge", async () => {
  const before = await balance();
  const short = await count({ model: "auto", input: "Hi" });
  expect(await count()).toBeLessThan(short);
  const tool = { type: "function" as const, name: "find", description: LONG, parameters: null, strict: null };
  const longer: readonly Count[] = [
    { input: LONG },
    { input: [{ role: "user", content: [{ type: "input_text", text: LONG }] }] },
    { input: "Hi", instructions: LONG },
    { input: "Hi", tools: [tool] },
  ];
  for (const params of longer) expect(await count({ model: "auto", ...params })).toBeGreaterThan(short + 500);
  expect(await balance()).toEqual(before);
  expect(mixed.openai.requests).toHaveLength(0);
});

it("counts the history that is continued", async () => {
  mixed.openai.once("alpha-1", answers(LONG));
  const params = { model: "alpha", service_profile: "direct", input: "Tell me." };
  const first = await client.responses.create(params as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  expect(await count({ input: "Go on.", previous_response_id: first.id })).toBeGreaterThan(900);
  const { id } = await client.conversations.create({ items: [{ type: "message", role: "user", content: LONG }] });
  expect(await count({ input: "Go on.", conversation: id })).toBeGreaterThan(900);
  await expect(count({ previous_response_id: "resp_none" })).rejects.toMatchObject({
    status: 400,
    code: "previous_response_not_found",
  });
  await expect(count({ input: [7] as unknown as "" })).rejects.toMatchObject({ status: 400 });
});

it("needs a model to compact, as the vendor does", async () => {
  const refused = await mixed.gateway.post("/v1/responses/compact", { input: "Long story." });
  await expectError(refused, { status: 400, param: "model" });
});
