// The debug endpoint for Messages clients: asked with `anthropic-version` it explains a request to /v1/messages, and says
// what conversion would change for the model that was chosen. The log of a live request says the same.

import { afterAll, beforeAll, beforeEach, expect, it, test } from "vitest";
import { VERSION } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({ lines: ["logging: { retentionDays: 1 }"] });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

interface Decision {
  readonly model: string;
  readonly tier: string;
  readonly reasoning: string;
  readonly filteredChain: readonly string[];
  readonly droppedFields: readonly string[];
  readonly conversions: readonly string[];
}

async function debug(body: object, headers: Record<string, string> = VERSION): Promise<Decision> {
  const answer = await mixed.gateway.post("/v1/routing/debug", { prompt: " ", ...body }, headers);
  const told = (await answer.json()) as { decision: Decision };
  expect([answer.status, told]).toEqual([200, expect.anything()]);
  return told.decision;
}

const CALL = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "t", input: {} }] };
const RESULT = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "22" }] };
const ask = (content: unknown): object => ({ role: "user", content });

test.each<readonly [string, object]>([
  ["a question", { messages: [ask("What is the capital of France?")] }],
  ["a hard one", { messages: [ask("Prove that the scheduler is deadlock-free and derive its worst-case latency.")] }],
  ["a tool result", { messages: [ask("Hi"), CALL, RESULT], tools: [{ name: "t", input_schema: { type: "object" } }] }],
  ["what only Anthropic can open", { messages: [ask([{ type: "document", source: { type: "file", file_id: "f" } }])] }],
  ["controls", { messages: [ask("Hi")], service_tier_floor: "COMPLEX" }],
  ["an image", { messages: [ask([{ type: "image", source: { type: "url", url: "https://x/y.png" } }])] }],
])("decides as live does: %s", async (_name, request) => {
  const decision = await debug({ max_tokens: 50, ...request });
  const live = await mixed.gateway.post("/v1/messages", { max_tokens: 50, ...request });
  const { service } = (await live.json()) as { service: { model: string; tier: string } };
  expect(service).toMatchObject({ model: decision.model, tier: decision.tier });
});

it("tells what conversion would change, and only of fields that a live request has", async () => {
  const fields = { max_tokens: 50, top_k: 5, speed: "fast", messages: [ask("Hi")] };
  const converted = await debug({ ...fields, model: "alpha", service_profile: "direct" });
  expect(converted.conversions).toEqual([
    "dropped 'top_k': the host does not take it",
    "dropped 'speed': only Anthropic has it",
  ]);
  const native = await debug({
    ...fields,
    model: "claude",
    profile: "direct",
    system_prompt: "Be brief.",
    max_output_tokens: 9,
  });
  expect(native).toMatchObject({ conversions: [], droppedFields: [] });
  const chat = await debug({ model: "claude", profile: "direct", seed: 7, system_prompt: "Be brief." }, {});
  expect(chat).toMatchObject({
    droppedFields: ["seed"],
    conversions: ["dropped 'seed': the Messages format has no counterpart"],
  });
});

it("explains a conversation alone, and needs one of the two, as in the other format", async () => {
  const { gateway } = mixed;
  expect((await gateway.post("/v1/routing/debug", { messages: [ask("Hi")] }, VERSION)).status).toBe(200);
  expect((await gateway.post("/v1/routing/debug", {}, VERSION)).status).toBe(400);
});
