// What /v1/responses costs, to the nano-USD: as much as the same chat request, and nothing where that costs nothing.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { EXPECTED_OUTPUT_TOKENS } from "../../../src/routing/cost.ts";
import { expectError } from "../../support/errors.ts";
import { eventsOf, failsNatively, saysBlocks, streamsEvents, text } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, completion, cuts, fails, sends, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, outputText, readResponseEvents } from "../../support/providers/responses.ts";
import { type Bank, bankOf, owed, type PriceText } from "../../support/stores/money.ts";

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
const LONG = "word ".repeat(2000);
const CHAT = { messages: [{ role: "user", content: LONG }] };
const on = (model: string): object => ({ model, service_profile: "direct" });
const STANDARD = { service_profile: "tier", service_tier: "STANDARD" };
const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  mixed.gateway.post("/v1/responses", { model: "auto", input: LONG, ...body }, headers);
const spend = (asking: () => Promise<Response>): Promise<bigint> =>
  bank.spentBy(async () => {
    await (await asking()).text();
  });

test.each([false, true])("the same as the same chat request, stream %s", async (stream) => {
  const usage = {
    prompt_tokens: 900,
    completion_tokens: 70,
    total_tokens: 970,
    prompt_tokens_details: { cached_tokens: 80 },
  };
  mixed.openai.on(
    "*",
    stream
      ? streams([chunk("alpha-1", { content: "fine" }), { ...chunk("alpha-1", {}, "stop"), usage }])
      : sends(200, completion("fine", "alpha-1", { usage })),
  );
  const native = { input_tokens: 300, cache_read_input_tokens: 500, cache_creation_input_tokens: 40, output_tokens: 9 };
  mixed.anthropic.on("*", saysBlocks([text("fine")], { usage: native }));
  for (const model of ["alpha", "claude"]) {
    const chat = await spend(() => mixed.gateway.post("/v1/chat/completions", { ...CHAT, ...on(model), stream }));
    expect(chat).toBeGreaterThan(0n);
    expect(await spend(() => ask({ ...on(model), stream }))).toBe(chat);
  }
  expect(await spend(() => ask({ ...on("claude"), stream }))).toBe(
    owed({ input: 300, cacheRead: 500, cacheWrite: 40, output: 9 }, CLAUDE),
  );
});

describe("fallback", () => {
  it("costs the attempt that answered, and all failed nothing", async () => {
    mixed.anthropic.on("*", failsNatively(529));
    mixed.openai.on("*", answers("from alpha"));
    const cost = owed({ input: 12, output: 5 }, ALPHA);
    expect(await spend(() => ask(STANDARD))).toBe(cost);
    expect(await spend(() => ask({ ...STANDARD, stream: true }))).toBe(cost);
    mixed.openai.on("*", fails(500));
    expect(await spend(() => ask(STANDARD))).toBe(0n);
    await expectError(await ask({ ...STANDARD, stream: true }), { status: 503 });
  });

  it.each([
    ["a cut", cuts],
    [
      "an error event",
      streamsEvents(['event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n']),
    ],
    ["a stream without content", streamsEvents(eventsOf([text("Hello")], "m").slice(0, 2))],
  ])("before the first content is invisible in a stream: %s", async (_name, behaviour) => {
    mixed.anthropic.on("*", behaviour);
    mixed.openai.on("*", answers("from alpha"));
    const response = finalResponse(await readResponseEvents(await ask({ ...STANDARD, stream: true })));
    expect([response.model, outputText(response)]).toEqual(["alpha", "from alpha"]);
    expect(response.service).toMatchObject({ model: "claude", fallback: true });
  });
});

it("a stream that breaks costs nothing and ends with error and response.failed", async () => {
  mixed.openai.on("*", streams([chunk("alpha-1", { content: "Hel" })], { ending: "cut" }));
  let types: readonly string[] = [];
  const spent = await bank.spentBy(async () => {
    const events = await readResponseEvents(await ask({ ...on("alpha"), stream: true }));
    types = events.map(({ type }) => type);
    expect(events.at(-1)).toMatchObject({ response: { status: "failed", error: { code: "server_error" } } });
  });
  expect(types.slice(-2)).toEqual(["error", "response.failed"]);
  expect(spent).toBe(0n);
});

describe("Idempotency-Key", () => {
  it.each([false, true])("gives the same answer again for one charge, stream %s", async (stream) => {
    const headers = { "idempotency-key": `again-${stream}` };
    const texts: string[] = [];
    const spent = await bank.spentBy(async () => {
      for (let round = 0; round < 2; round += 1)
        texts.push(await (await ask({ ...on("claude"), stream }, headers)).text());
    });
    expect(texts[1]).toBe(texts[0]);
    expect(spent).toBe(owed({ input: 12, output: 5 }, CLAUDE));
    expect(mixed.anthropic.requests).toHaveLength(1);
  });

  it("is not shared with other formats", async () => {
    const headers = { "idempotency-key": "both" };
    const body = { ...on("claude"), input: "hi", messages: [{ role: "user", content: "hi" }] };
    expect(await (await mixed.gateway.post("/v1/responses", body, headers)).json()).toHaveProperty("output");
    expect(await (await mixed.gateway.post("/v1/chat/completions", body, headers)).json()).toHaveProperty("choices");
  });
});

describe("a lack of credits", () => {
  it("is 402 before anything is sent, and an output cap that money demands reaches the provider", async () => {
    const poor = await startMixed({ creditsUsd: "0.02" });
    const answer = await poor.gateway.post("/v1/responses", {
      ...on("claude"),
      input: "hi",
      max_output_tokens: 60_000,
    });
    await expectError(answer, { status: 402, code: "insufficient_quota" });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect((await poor.gateway.post("/v1/responses", { ...on("claude"), input: "hi" })).status).toBe(200);
    expect(poor.anthropic.requests).toHaveLength(1);
    expect(poor.anthropic.requests[0]?.body.max_tokens).toBeLessThan(EXPECTED_OUTPUT_TOKENS.COMPLEX);
    await poor.close();
  });
});
