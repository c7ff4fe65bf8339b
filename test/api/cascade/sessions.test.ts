// Cascades inside conversations: a cheaper answer never moves the next turn below its tier or away from a warm cache, and no
// cascade begins lower where a cold model below costs more than the warm one.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { says } from "../../support/cascade.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
});
beforeEach(async () => {
  provider.reset();
  gateway = await startGateway({ yaml: yaml() });
  return () => gateway.stop();
});
afterAll(() => provider.close());

function yaml(): string {
  const row = (id: string, tier: string, usd: number): string =>
    `  - { id: ${id}, provider: lab, tier: ${tier}, price: { input: ${usd}, output: ${usd * 3}, cacheRead: ${usd / 10} }, context: 200000, capabilities: [json, tools] }`;
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${provider.url}", apiKey: lab-secret } }`,
    "models:",
    row("tiny", "NANO", 0.2),
    row("small", "LIGHT", 1),
    row("large", "COMPLEX", 3),
    "tiers: { NANO: [tiny], SIMPLE: [tiny], LIGHT: [small], STANDARD: [large], COMPLEX: [large] }",
    "routing: { baseline: large, markup: 0 }",
  ].join("\n");
}

const RULES = { role: "system", content: "The harbour opens at dawn and closes at dusk. ".repeat(900) };
const FIRST = { role: "user", content: "Write an email to my boss asking for a day off" };
const NEXT = [
  { role: "assistant", content: "Fine." },
  { role: "user", content: "Write another email to my landlord about the broken heating in my flat" },
];
const CASCADE = { service_cascade: { pattern: "Fine" } };

interface Reply {
  readonly model: string;
  readonly service: { readonly tier: string; readonly cascade?: readonly { readonly model: string }[] };
}

async function ask(messages: readonly object[], extra: object = {}): Promise<Reply> {
  const response = await gateway.post("/v1/chat/completions", { model: "auto", messages, ...extra });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

const counting = (cached: number) =>
  says("Fine.", { prompt_tokens: 10_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: cached } });

it("a cheaper answer leaves the next turn at its tier", async () => {
  provider.on("*", counting(0));
  const first = await ask([RULES, FIRST], CASCADE);
  expect(first).toMatchObject({ model: "tiny", service: { tier: "SIMPLE" } });
  expect(await ask([RULES, FIRST, ...NEXT])).toMatchObject({ model: "small", service: { tier: "LIGHT" } });
});

it("a cheaper answer leaves the warm cache of a dearer model to the turn after it", async () => {
  provider.on("*", counting(0));
  expect((await ask([RULES, FIRST])).model).toBe("small");
  provider.on("*", counting(9_900));
  // Asked for below its tier without a cascade, the conversation goes elsewhere once.
  await ask([RULES, FIRST, ...NEXT], { service_tier_ceiling: "SIMPLE" });
  const debugged = await gateway.post("/v1/routing/debug", { prompt: " ", messages: [RULES, FIRST, ...NEXT, ...NEXT] });
  expect(await debugged.json()).toMatchObject({ decision: { model: "small", session: "switched" } });
});

it("a warm model is not preceded by a cold one below that costs more", async () => {
  provider.on("*", counting(0));
  expect((await ask([RULES, FIRST])).model).toBe("small");
  provider.on("*", counting(9_900));
  const { service } = await ask([RULES, FIRST, ...NEXT], CASCADE);
  // The decided tier begins, so the first answer is that of the warm model.
  expect(service).toMatchObject({ tier: "LIGHT", cascade: [{ model: "small" }] });
});

it("an open tool loop begins with its own model", async () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  provider.on("*", ({ request, response }) => {
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "x", object: "chat.completion", model: request.body.model, choices, usage }));
  });
  const opened = await ask([FIRST], { tools, service_tier_floor: "LIGHT" });
  expect(opened.model).toBe("small");
  const answered = [FIRST, { role: "assistant", content: null, tool_calls: [call] }];
  const result = { role: "tool", tool_call_id: "call_1", content: "nothing" };
  const { service } = await ask([...answered, result], { tools, service_cascade: true });
  expect(service.cascade?.[0]).toMatchObject({ model: "small" });
});
