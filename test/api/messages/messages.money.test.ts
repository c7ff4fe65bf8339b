// What /v1/messages costs, to the nano-USD: native usage with its cache buckets, converted usage, and who leaves early.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { EXPECTED_OUTPUT_TOKENS } from "../../../src/routing/cost.ts";
import { eventsOf, failsNatively, saysBlocks, streamsEvents, text } from "../../support/providers/fake-anthropic.ts";
import { completion, fails, sends } from "../../support/providers/fake-provider.ts";
import { ASK } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { type Bank, bankOf, owed, type PriceText, type Tokens } from "../../support/stores/money.ts";

const ALPHA: PriceText = { input: "1", output: "3" };
const CLAUDE: PriceText = { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75" };

let mixed: Mixed;
let bank: Bank;
beforeAll(async () => {
  mixed = await startMixed();
  bank = bankOf(mixed.anthropic, mixed.gateway);
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

// Long enough that the counts below can be true.
const LONG = { messages: [{ role: "user", content: "word ".repeat(2000) }] };
const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  mixed.gateway.post("/v1/messages", { ...ASK, ...LONG, ...body }, headers);
const on = (model: string): object => ({ model, service_profile: "direct" });
const spend = (body: object): Promise<bigint> =>
  bank.spentBy(async () => {
    const answer = await ask(body);
    await answer.text();
  });

describe("native usage", () => {
  const written = (short: number, long: number): object => ({
    cache_creation_input_tokens: short + long,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  });
  const CASES: readonly (readonly [string, object, Tokens, PriceText])[] = [
    ["plain", { input_tokens: 12, output_tokens: 5 }, { input: 12, output: 5 }, CLAUDE],
    [
      "nulls",
      { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: null, cache_creation_input_tokens: null },
      { input: 12, output: 5 },
      CLAUDE,
    ],
    [
      "cache read",
      { input_tokens: 3, cache_read_input_tokens: 1111, output_tokens: 7 },
      { input: 3, cacheRead: 1111, output: 7 },
      CLAUDE,
    ],
    [
      "cache write",
      { input_tokens: 3, cache_creation_input_tokens: 333, output_tokens: 7 },
      { input: 3, cacheWrite: 333, output: 7 },
      CLAUDE,
    ],
    [
      "5 minutes",
      { input_tokens: 3, ...written(333, 0), output_tokens: 7 },
      { input: 3, cacheWrite: 333, output: 7 },
      CLAUDE,
    ],
    [
      "an hour",
      { input_tokens: 3, ...written(0, 333), output_tokens: 7 },
      { input: 3, cacheWrite: 333, output: 7 },
      { ...CLAUDE, cacheWrite: "6" },
    ],
    [
      "both",
      { input_tokens: 3, cache_read_input_tokens: 5, ...written(100, 300), output_tokens: 7 },
      { input: 3, cacheRead: 5, cacheWrite: 400, output: 7 },
      { ...CLAUDE, cacheWrite: "5.4375" },
    ],
    [
      "thinking",
      { input_tokens: 12, output_tokens: 90, output_tokens_details: { thinking_tokens: 80 } },
      { input: 12, output: 90 },
      CLAUDE,
    ],
  ];
  test.each(CASES)("%s", async (_name, usage, tokens, price) => {
    mixed.anthropic.on("*", saysBlocks([text("fine")], { usage }));
    const expected = owed(tokens, price);
    expect(await spend(on("claude"))).toBe(expected);
    expect(await spend({ ...on("claude"), stream: true })).toBe(expected);
  });

  it("is charged the same to a chat-completions client", async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 50, ...written(0, 40), output_tokens: 7 };
    mixed.anthropic.on("*", saysBlocks([text("fine")], { usage }));
    let shown: unknown;
    const spent = await bank.spentBy(async () => {
      const answer = await mixed.gateway.post("/v1/chat/completions", { ...ASK, ...LONG, ...on("claude") });
      shown = ((await answer.json()) as { usage: unknown }).usage;
    });
    expect(spent).toBe(owed({ input: 3, cacheRead: 50, cacheWrite: 40, output: 7 }, { ...CLAUDE, cacheWrite: "6" }));
    expect(shown).toMatchObject({
      prompt_tokens: 93,
      completion_tokens: 7,
      total_tokens: 100,
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 40 },
    });
  });
});

it("converted usage costs what the provider counted, and is shown in Anthropic's buckets", async () => {
  const usage = {
    prompt_tokens: 1000,
    completion_tokens: 7,
    total_tokens: 1007,
    prompt_tokens_details: { cached_tokens: 900 },
  };
  mixed.openai.on("*", sends(200, completion("fine", "alpha-1", { usage })));
  expect(await spend(on("alpha"))).toBe(owed({ input: 1000, output: 7 }, ALPHA));
  expect(await (await ask(on("alpha"))).json()).toMatchObject({
    usage: { input_tokens: 100, cache_read_input_tokens: 900 },
  });
});

it("a fallback costs the attempt that answered, a failure nothing", async () => {
  mixed.anthropic.on("*", failsNatively(529));
  const tier = { service_profile: "tier", service_tier: "STANDARD" };
  expect(await spend(tier)).toBe(owed({ input: 12, output: 5 }, ALPHA));
  mixed.openai.on("*", fails(500));
  expect(await spend(tier)).toBe(0n);
});

it("a broken stream costs nothing", async () => {
  mixed.anthropic.on("*", streamsEvents(eventsOf([text("Hello there")], "m").slice(0, 4)));
  expect(await spend({ ...on("claude"), stream: true })).toBe(0n);
});

it("a client that leaves pays the input as counted, cached as cached, and the output so far", async () => {
  const usage = { input_tokens: 3, cache_read_input_tokens: 2000, output_tokens: 50 };
  const half = eventsOf([text("abcd efgh")], "m", { usage }).slice(0, 4);
  mixed.anthropic.on("*", streamsEvents(half, { ending: "hang" }));
  const spent = await bank.spentBy(async () => {
    const received = mixed.anthropic.nextRequest();
    const controller = new AbortController();
    const answer = await fetch(`${mixed.gateway.url}/v1/messages`, {
      method: "POST",
      signal: controller.signal,
      headers: { "x-api-key": mixed.gateway.key, "content-type": "application/json" },
      body: JSON.stringify({ ...ASK, ...LONG, ...on("claude"), stream: true }),
    });
    await answer.body?.getReader().read();
    controller.abort();
    await (await received).closed;
  });
  expect(spent).toBe(owed({ input: 3, cacheRead: 2000, output: 1 }, CLAUDE));
});

describe("Idempotency-Key", () => {
  it.each([false, true])("gives the same answer again for one charge, stream %s", async (stream) => {
    const headers = { "idempotency-key": `again-${stream}` };
    const body = { ...on("claude"), stream };
    const texts: string[] = [];
    const spent = await bank.spentBy(async () => {
      for (let round = 0; round < 2; round += 1) texts.push(await (await ask(body, headers)).text());
    });
    expect(texts[1]).toBe(texts[0]);
    expect(spent).toBe(owed({ input: 12, output: 5 }, CLAUDE));
    expect(mixed.anthropic.requests).toHaveLength(1);
  });

  it("is not shared between the two formats", async () => {
    const headers = { "idempotency-key": "both" };
    const body = { ...ASK, ...on("claude") };
    expect(await (await mixed.gateway.post("/v1/messages", body, headers)).json()).toHaveProperty("content");
    expect(await (await mixed.gateway.post("/v1/chat/completions", body, headers)).json()).toHaveProperty("choices");
  });
});

it("an output cap that money demands reaches a native provider too", async () => {
  const poor = await startMixed({ creditsUsd: "0.02" });
  const messages = [{ role: "user", content: "hi" }];
  const body = { ...on("claude"), messages };
  expect((await poor.gateway.post("/v1/chat/completions", body)).status).toBe(200);
  expect((await poor.gateway.post("/v1/messages", body)).status).toBe(200);
  for (const { body: sent } of poor.anthropic.requests) {
    expect(sent.max_tokens).toBeGreaterThanOrEqual(EXPECTED_OUTPUT_TOKENS.COMPLEX / 2);
    expect(sent.max_tokens).toBeLessThan(EXPECTED_OUTPUT_TOKENS.COMPLEX);
  }
  await poor.close();
});
