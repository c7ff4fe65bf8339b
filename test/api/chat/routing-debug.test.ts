// POST /v1/routing/debug: the decision, without a provider call. Behaviour 5.9.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { fc } from "../../support/property.ts";
import { type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { readStream } from "../../support/providers/streams.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: yaml(provider.url), env: { SWITCHYARD_REQUESTS_PER_MINUTE: "100000" } });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** Every tier has models of its own, with prices, scores and capabilities that make each filter matter. */
function yaml(url: string): string {
  const rows = TIERS.flatMap((tier, rank) =>
    [0, 1, 2].map((place) => {
      const price = `{ input: ${(rank + 1) * (place + 1) * 0.1}, output: ${(rank + 1) * (place + 1) * 0.4} }`;
      const score = 30 + ((rank * 17 + place * 29) % 60);
      const capabilities = place === 1 ? "[tools]" : place === 2 ? "[tools, vision, json]" : "[json]";
      return `  - { id: ${tier.toLowerCase()}-${place}, provider: lab, price: ${price}, context: ${place === 0 ? 4000 : 128000}, maxOutput: 4000, capabilities: ${capabilities}, bfcl: { overall: ${score}, single: ${score + 5}, multi_turn: ${90 - score} } }`;
    }),
  );
  return [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${url}", apiKey: k } }`,
    "models:",
    ...rows,
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${[0, 1, 2].map((place) => `${tier.toLowerCase()}-${place}`).join(", ")}]`),
    "routing: { baseline: complex-2 }",
    // Models that keep failing are to stay in their places here.
    "health: { failuresInRow: 100000, callsMin: 100000 }",
  ].join("\n");
}

interface Decision {
  readonly tier: string;
  readonly model: string;
  readonly confidence: number;
  readonly method: string;
  readonly profile: string;
  readonly savings: number;
  readonly filteredChain: readonly string[];
  readonly [field: string]: unknown;
}

async function debug(body: object): Promise<Decision> {
  const answer = await gateway.post("/v1/routing/debug", body);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { decision: Decision }).decision;
}

describe("the answer", () => {
  it("has every field of the specification, and no provider is called", async () => {
    const answer = await gateway.post("/v1/routing/debug", { prompt: "What is the capital of France?" });
    expect(await answer.json()).toEqual({
      decision: {
        tier: expect.stringMatching(/^(NANO|SIMPLE)$/),
        confidence: expect.any(Number),
        model: expect.stringMatching(/-0$/),
        category: "simple_qa",
        method: expect.stringMatching(/^(rules|model|hybrid)$/),
        reasoning: expect.stringMatching(/score -?\d+\.\d\d/),
        costEstimate: expect.any(Number),
        baselineCost: expect.any(Number),
        baselineModel: "complex-2",
        baselinePrice: { input: 1.5, output: 6, asOf: expect.stringMatching(/^20\d\d-/) },
        savings: expect.any(Number),
        filteredChain: expect.any(Array),
        profile: "auto",
        historyFloor: null,
        hostPolicies: [{ host: "lab", region: null, dataPolicy: null, regions: null, zeroRetention: null }],
        toolScenario: null,
        bfclScore: null,
        weakModelFails: expect.any(Number),
        session: "started",
        droppedFields: [],
        conversions: [],
      },
    });
    expect(provider.requests).toEqual([]);
  });

  it("follows the length of system prompt and output", async () => {
    const short = await debug({ prompt: "Hi" });
    const system = await debug({ prompt: "Hi", system_prompt: "word ".repeat(2000) });
    const output = await debug({ prompt: "Hi", max_output_tokens: 4000 });
    expect(system.costEstimate).toBeGreaterThan(short.costEstimate as number);
    expect(output.costEstimate).toBeGreaterThan(short.costEstimate as number);
    const beyond = await debug({ prompt: "Hi", system_prompt: "word ".repeat(20_000) });
    expect(beyond.filteredChain.some((id) => id.endsWith("-0"))).toBe(false);
  });

  it("classifies the prompt, with the messages as its history", async () => {
    const prompt = "Prove that the square root of 2 is irrational, with every step justified.";
    const past = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
    ];
    const alone = await debug({ prompt });
    const beside = await debug({ prompt, messages: past });
    expect(beside).toMatchObject({ tier: alone.tier, category: "math", confidence: alone.confidence });
    // A full conversation says the same, and a whole message counts once.
    const full = await debug({ prompt, messages: [...past, { role: "user", content: prompt }] });
    expect(full).toEqual(beside);
    const parts = [{ role: "user", content: [{ type: "text", text: prompt }] }];
    expect((await debug({ prompt, messages: [...past, ...parts] })).tier).toBe(beside.tier);
  });

  it("takes a conversation alone, in any format", async () => {
    const prompt = "Prove that the square root of 2 is irrational, with every step justified.";
    const question = { role: "user", content: prompt };
    const past = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
    ];
    expect(await debug({ messages: [question] })).toEqual(await debug({ prompt }));
    expect(await debug({ messages: [...past, question] })).toEqual(await debug({ prompt, messages: past }));
    const message = { messages: [...past, question], max_tokens: 500 };
    const asMessages = await gateway.post("/v1/routing/debug", message, { "anthropic-version": "2023-06-01" });
    expect(asMessages.status).toBe(200);
    expect(((await asMessages.json()) as { decision: Decision }).decision.category).toBe("math");
    expect((await debug({ input: prompt })).category).toBe("math");
    expect((await gateway.post("/v1/routing/debug", { messages: [] })).status).toBe(422);
  });

  it("knows the history of the messages", async () => {
    const messages = [
      { role: "user", content: "Prove that the square root of 2 is irrational, with every step justified." },
      { role: "assistant", content: "Suppose it were p/q in lowest terms…" },
      { role: "user", content: "go on" },
    ];
    const decision = await debug({ prompt: "go on", messages });
    expect(decision.historyFloor).not.toBeNull();
  });

  it("names a misspelled control, and a live request is answered without it", async () => {
    const misspelled = { service_teir_floor: "COMPLEX" };
    const plain = await debug({ prompt: "Hi" });
    const { reasoning, tier } = await debug({ prompt: "Hi", ...misspelled });
    expect(tier).toBe(plain.tier);
    expect(reasoning).toBe(`${plain.reasoning}; unknown fields ignored: service_teir_floor`);
    const live = { messages: [{ role: "user", content: "Hi" }], ...misspelled };
    expect((await gateway.post("/v1/chat/completions", live)).status).toBe(200);
  });

  it("takes `profile` and every control", async () => {
    expect(await debug({ prompt: "Hi", profile: "tier", service_tier: "LIGHT" })).toMatchObject({
      tier: "LIGHT",
      profile: "tier",
      confidence: 1,
    });
    expect(await debug({ prompt: "Hi", service_tier_floor: "COMPLEX" })).toMatchObject({ tier: "COMPLEX" });
    expect(await debug({ prompt: "Hi", profile: "direct", model: "light-1" })).toMatchObject({
      filteredChain: ["light-1"],
    });
    const tools = [{ type: "function", function: { name: "get_weather", description: "Weather of a city" } }];
    const withTools = await debug({ prompt: "What is the weather in Rome?", tools });
    expect(withTools.toolScenario).toBe("single");
    expect(withTools.bfclScore).toEqual(expect.any(Number));
  });
});

const tier = fc.constantFrom(...TIERS);
const text = fc.oneof(
  fc.constantFrom(
    "Hi!",
    "thanks, go on",
    "What is 17 * 23?",
    "Write a Python function that merges two sorted lists and add tests.",
    "Prove that there are infinitely many primes.",
    "Translate 'good morning' into French.",
    "Summarise the following text in three sentences.",
    "今天天气怎么样？",
    "Search the web for the latest news about rust and compare the weather in Rome, Paris and Oslo.",
    "Fix this: TypeError: undefined is not a function at app.ts:12",
  ),
  fc.lorem({ maxCount: 30 }),
  fc.string({ maxLength: 60 }),
);
const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
const content = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 1, arbitrary: text.map((value) => [{ type: "text", text: value }, image]) },
);
const history = fc.array(
  fc.oneof(
    content.map((value) => ({ role: "user", content: value })),
    text.map((value) => ({ role: "assistant", content: value })),
    text.map((value) => ({ role: "system", content: value })),
    fc.constant({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
    }),
    text.map((value) => ({ role: "tool", tool_call_id: "c1", content: value })),
  ),
  { maxLength: 5 },
);
const tool = fc.constantFrom("get_weather", "web_search", "remember", "f").map((name) => ({
  type: "function",
  function: {
    name,
    description: `Does ${name}`,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
}));
const routing = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: tier.map((service_tier) => ({ service_profile: "tier", service_tier })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("nano-1", "complex-2").map((model) => ({ service_profile: "direct", model })),
  },
);
const controls = fc.record(
  {
    service_tier_floor: tier,
    service_tier_ceiling: tier,
    service_max_cost: fc.constantFrom(0, 0.0001, 0.001, 1),
    service_bfcl_min: fc.constantFrom(0, 50, 70, 100),
    service_code_quality: fc.constantFrom(0, 1, 2),
    service_chat_quality: fc.constantFrom(0, 1, 2),
    max_tokens: fc.integer({ min: 1, max: 8000 }),
    n: fc.constantFrom(1, 2),
    tools: fc.array(tool, { maxLength: 3 }),
    tool_choice: fc.constantFrom("auto", "none", "required"),
  },
  { requiredKeys: [] },
);
/** The newest question, as the debug endpoint asks for it beside the conversation. */
function asked<Body extends { readonly messages: readonly object[] }>(body: Body): Body & { readonly prompt: string } {
  const { content: last } = body.messages.at(-1) as { content: string | readonly { text: string }[] };
  const prompt = typeof last === "string" ? last : (last[0]?.text ?? "");
  return { prompt: prompt === "" ? " " : prompt, ...body };
}

const input = fc.tuple(history, content, controls, routing).map(([past, last, options, profile]) => ({
  messages: [...past, { role: "user", content: last }],
  ...options,
  ...profile,
}));

describe("the same input", () => {
  it("gets the same decision here and live", async () => {
    await fc.assert(
      fc.asyncProperty(input, async (request) => {
        const decision = await debug(asked(request));
        const whole = await gateway.post("/v1/chat/completions", request);
        const { service } = (await whole.json()) as { service: object };
        const { tier: placed, model, confidence, method, profile, session } = decision;
        expect(service).toMatchObject({ tier: placed, model, confidence, method, profile, session, fallback: false });
        const { chunks } = await readStream(await gateway.post("/v1/chat/completions", { ...request, stream: true }));
        const savingsPct = Math.round(decision.savings * 10_000) / 100;
        expect(chunks[0]?.service).toEqual({
          tier: placed,
          model,
          confidence,
          method,
          profile,
          savingsPct,
          fallback: false,
          session: "stayed",
        });
      }),
      { numRuns: 60 },
    );
  });

  it("gets the same estimate whatever else the body has", async () => {
    for (const lines of [150, 250, 290, 300, 330, 400]) {
      const content = Array.from({ length: lines }, (_, at) => `line ${at}: "größer"\t{ return cache.get(key${at}); }`);
      const messages = [{ role: "user", content: content.join("\n") }];
      const { costEstimate } = await debug({ prompt: " ", messages });
      const body = { prompt: content.join("\n"), messages };
      expect((await debug(body)).costEstimate).toBe(costEstimate);
      expect((await debug({ ...body, user: "u".repeat(200) })).costEstimate).toBe(costEstimate);
    }
  });

  it("gets the chain that is then tried, in that order", async () => {
    provider.on("*", fails(501));
    await fc.assert(
      fc.asyncProperty(input, async (request) => {
        const { filteredChain } = await debug(asked(request));
        provider.requests.length = 0;
        const answer = await gateway.post("/v1/chat/completions", request);
        expect(answer.status).toBe(503);
        expect(provider.requests.map(({ body }) => body.model)).toEqual(filteredChain);
      }),
      { numRuns: 40 },
    );
  });
});

describe("any JSON object", () => {
  it("is answered with a decision or a client's error, never with a 500", async () => {
    const names = [
      "prompt",
      "messages",
      "tools",
      "model",
      "service_profile",
      "service_tier",
      "max_tokens",
      "n",
      "stream",
      "tool_choice",
      "functions",
      "stream_options",
    ];
    const value = fc.oneof(fc.jsonValue({ maxDepth: 4 }), history, content, fc.array(tool));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), value), async (body) => {
        const answer = await gateway.post("/v1/routing/debug", {
          prompt: "x",
          messages: [{ role: "user", content: "Hi" }],
          ...body,
        });
        expect([answer.status < 500, await answer.text()]).toEqual([true, expect.any(String)]);
      }),
      { numRuns: 150 },
    );
  });

  it("as messages with odd fields is answered, never with a 500", async () => {
    const odd = fc.oneof(fc.constantFrom(null, 5, true, {}, [], "x"), fc.jsonValue({ maxDepth: 2 }));
    const role = fc.constantFrom("system", "user", "assistant", "tool", "function", "developer");
    const message = fc.record(
      {
        role,
        content: fc.oneof(text, odd),
        name: odd,
        tool_calls: fc.oneof(fc.array(fc.record({ id: odd, function: odd }, { requiredKeys: [] })), odd),
        tool_call_id: odd,
      },
      { requiredKeys: ["role", "content"] },
    );
    const tools = fc.array(
      fc.record(
        {
          type: odd,
          function: fc.oneof(fc.record({ name: odd, description: odd, parameters: odd }, { requiredKeys: [] }), odd),
        },
        { requiredKeys: [] },
      ),
    );
    provider.on("*", fails(501));
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 3 }), tools, async (messages, offered) => {
        const answer = await gateway.post("/v1/chat/completions", { messages, tools: offered });
        expect([answer.status, await answer.text()]).not.toEqual([500, expect.any(String)]);
      }),
      { numRuns: 150 },
    );
  });
});
