// What models of a Gemini provider cost, to the nano-USD, and what happens when Google fails: fallback in both
// directions, limits that say how long to wait, a refused key, and streams that break.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failsNatively as claudeFails } from "../../support/providers/fake-anthropic.ts";
import {
  chunksOf,
  failsNatively,
  generated,
  googleError,
  says,
  saysParts,
  streamsChunks,
  text,
  thought,
} from "../../support/providers/fake-gemini.ts";
import { answers, type Behaviour, cuts, fails, sends } from "../../support/providers/fake-provider.ts";
import { GEM_PRICE, type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";
import { readStream } from "../../support/providers/streams.ts";
import { type Bank, bankOf, owed, type Tokens } from "../../support/stores/money.ts";

let world: GeminiGateway;
let bank: Bank;
beforeAll(async () => {
  world = await startGeminiGateway();
  bank = bankOf(world.gemini, world.gateway);
});
beforeEach(() => world.reset());
afterAll(() => world.close());

// Long enough that the counts below can be true.
const LONG = { max_tokens: 2000, messages: [{ role: "user", content: "word ".repeat(2000) }] };
const ON_GEM = { model: "gem", service_profile: "direct" };
const tier = (name: string): object => ({ service_profile: "tier", service_tier: name });
const ask = (body: object, path = "/v1/chat/completions"): Promise<Response> =>
  world.gateway.post(path, { ...LONG, ...body });
const spend = (body: object, path?: string): Promise<bigint> =>
  bank.spentBy(async () => {
    const answer = await ask(body, path);
    await answer.text();
  });

describe("usage", () => {
  const CASES: readonly (readonly [string, object, Tokens])[] = [
    ["plain", { promptTokenCount: 12, candidatesTokenCount: 5 }, { input: 12, output: 5 }],
    [
      "cached",
      { promptTokenCount: 1000, cachedContentTokenCount: 900, candidatesTokenCount: 5 },
      { input: 100, cacheRead: 900, output: 5 },
    ],
    [
      "thinking",
      { promptTokenCount: 12, candidatesTokenCount: 5, thoughtsTokenCount: 70, totalTokenCount: 87 },
      { input: 12, output: 75 },
    ],
    [
      "brought in by tools",
      { promptTokenCount: 12, toolUsePromptTokenCount: 30, candidatesTokenCount: 5 },
      { input: 42, output: 5 },
    ],
  ];
  it.each(CASES)("%s", async (_name, usage, tokens) => {
    world.gemini.on("*", saysParts([thought("Hm."), text("All fine.")], { usage }));
    const expected = owed(tokens, GEM_PRICE);
    expect(await spend(ON_GEM)).toBe(expected);
    expect(await spend({ ...ON_GEM, stream: true })).toBe(expected);
    expect(await spend(ON_GEM, "/v1/messages")).toBe(expected);
  });

  it("of a blocked prompt is its input", async () => {
    world.gemini.on(
      "*",
      sends(200, { promptFeedback: { blockReason: "OTHER" }, usageMetadata: { promptTokenCount: 12 } }),
    );
    expect(await spend(ON_GEM)).toBe(owed({ input: 12, output: 0 }, GEM_PRICE));
  });

  it("that is missing is estimated, and the request says so", async () => {
    world.gemini.on("*", saysParts([text("All fine.")], { usage: null }));
    expect(await spend(ON_GEM)).toBeGreaterThan(0n);
    expect(await spend({ ...ON_GEM, stream: true })).toBeGreaterThan(0n);
  });

  it("after the end of a stream counts", async () => {
    const last = { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 9 } };
    world.gemini.on("*", streamsChunks([...chunksOf([text("All fine.")]), last]));
    expect(await spend({ ...ON_GEM, stream: true })).toBe(owed({ input: 12, output: 9 }, GEM_PRICE));
  });
});

describe("fallback", () => {
  const FAILURES: readonly (readonly [string, Behaviour])[] = [
    ["500", failsNatively(500)],
    ["503", failsNatively(503, { words: "The model is overloaded." })],
    ["429", failsNatively(429, { words: "You exceeded your current quota.", retryDelay: "30s" })],
    ["a refused key", failsNatively(400, { words: "API key not valid.", reason: "API_KEY_INVALID" })],
    ["an unknown model", failsNatively(404)],
    ["a cut", cuts],
    ["an empty answer", saysParts([text("")], { usage: { promptTokenCount: 5 } })],
    ["a malformed call", saysParts([text("")], { finishReason: "MALFORMED_FUNCTION_CALL" })],
    ["an error in place of an answer", sends(200, googleError(500))],
    ["no JSON", sends(200, "<html>")],
    ["no candidates", sends(200, {})],
  ];
  it.each(FAILURES)("from Google after %s, whole and streamed", async (_name, behaviour) => {
    world.gemini.on("*", behaviour);
    world.openai.on("*", answers("from alpha"));
    expect(await (await ask(tier("LIGHT"))).json()).toMatchObject({
      model: "alpha",
      choices: [{ message: { content: "from alpha" } }],
      service: { model: "gem", fallback: true },
    });
    const { chunks, isDone } = await readStream(await ask({ ...tier("LIGHT"), stream: true }));
    expect(isDone).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("from alpha");
  });

  it.each<readonly [string, Behaviour]>([
    ["an error event", streamsChunks([googleError(503)])],
    ["no event", streamsChunks([])],
    ["counts only", streamsChunks([{ usageMetadata: { promptTokenCount: 3 } }])],
    ["a cut", streamsChunks([{ usageMetadata: { promptTokenCount: 3 } }], { ending: "cut" })],
  ])("from a stream that has %s before its first content", async (_name, behaviour) => {
    world.gemini.on("*", behaviour);
    world.openai.on("*", answers("from alpha"));
    const { chunks } = await readStream(await ask({ ...tier("LIGHT"), stream: true }));
    expect(chunks[0]).toMatchObject({ model: "alpha" });
  });

  it.each(["STANDARD", "COMPLEX"])("to Google from another format, in tier %s", async (name) => {
    world.openai.on("*", fails(500));
    world.anthropic.on("*", claudeFails(529));
    world.gemini.on("*", says("from gem"));
    expect(await (await ask(tier(name))).json()).toMatchObject({ model: "gem", service: { fallback: true } });
    expect(await (await ask(tier(name), "/v1/messages")).json()).toMatchObject({
      model: "gem",
      content: [{ type: "text", text: "from gem" }],
    });
  });

  it("costs only the attempt that answered", async () => {
    world.anthropic.on("*", claudeFails(529));
    world.gemini.on("*", says("from gem"));
    expect(await spend(tier("COMPLEX"))).toBe(owed({ input: 12, output: 5 }, GEM_PRICE));
  });
});

it("a limit rests the model for as long as Google says", async () => {
  world.gemini.on("*", failsNatively(429, { words: "You exceeded your current quota.", retryDelay: "40s" }));
  world.openai.on("*", answers("from alpha"));
  await (await ask(tier("LIGHT"))).text();
  const row = async (): Promise<{ isResting: boolean; nextTryAt: string | null }> => {
    const { data } = (await (await world.gateway.api("GET", "/api/models")).json()) as {
      data: readonly { id: string; health: { isResting: boolean; nextTryAt: string | null } }[];
    };
    return data.find(({ id }) => id === "gem")?.health as { isResting: boolean; nextTryAt: string | null };
  };
  const { isResting, nextTryAt } = await row();
  expect(isResting).toBe(true);
  expect(Date.parse(String(nextTryAt)) - Date.now()).toBeGreaterThan(20_000);
  await (await ask(tier("LIGHT"))).text();
  expect(world.gemini.callsTo("gem-1")).toBe(1);
});

describe("a stream that breaks", () => {
  it.each<readonly [string, Behaviour]>([
    ["without a finish reason", saysParts([text("one two three")], { ending: "unfinished" })],
    ["by a cut", saysParts([text("one two three")], { ending: "cut", finishReason: null })],
    ["by an error", streamsChunks([generated([text("one")], { finishReason: null }), googleError(500)])],
    [
      "by a malformed call",
      streamsChunks([
        generated([text("one")], { finishReason: null }),
        generated([], { finishReason: "MALFORMED_FUNCTION_CALL" }),
      ]),
    ],
    ["by nonsense", streamsChunks([generated([text("one")], { finishReason: null }), "data: {oops\n\n"])],
  ])("%s costs nothing and says so", async (_name, behaviour) => {
    world.gemini.on("*", behaviour);
    let read: Awaited<ReturnType<typeof readStream>> | undefined;
    const spent = await bank.spentBy(async () => {
      read = await readStream(await ask({ ...ON_GEM, stream: true }));
    });
    expect(spent).toBe(0n);
    expect(read).toMatchObject({ isDone: false, error: { code: "stream_interrupted" } });
  });
});

describe("what Google refuses", () => {
  it("a wrong key is for the operator to fix: 503, and no supplier is named", async () => {
    world.gemini.on(
      "*",
      failsNatively(400, { words: "API key not valid. Please pass a valid API key.", reason: "API_KEY_INVALID" }),
    );
    const answer = await ask(ON_GEM);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([503, "false"]);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toContain("only the operator of this gateway can fix it");
    expect(error.message).not.toMatch(/google|key|doctor/i);
    expect(world.gemini.requests).toHaveLength(1);
  });

  it("a request of the client's is the client's: 400 with Google's words, and no other model", async () => {
    world.gemini.on("*", failsNatively(400, { words: "Please use a valid role." }));
    const answer = await ask(tier("LIGHT"));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("Please use a valid role.");
    expect(world.openai.requests).toHaveLength(0);
  });

  it("a prompt that is too long: 400, since no model of the chain has a larger window", async () => {
    const words = "The input token count (99) exceeds the maximum number of tokens allowed (9).";
    world.gemini.on("*", failsNatively(400, { words }));
    expect((await ask(tier("LIGHT"))).status).toBe(400);
  });

  it.each([
    ["thinking", "Thinking level is not supported for this model.", { reasoning_effort: "high" }, "thinkingConfig"],
    ["a penalty", "Penalty is not enabled for models/gem-1", { presence_penalty: 1, frequency_penalty: 1 }, "Penalty"],
  ])("%s is left out, and the request is sent once more", async (_what, words, body, gone) => {
    world.gemini.once("gem-1", failsNatively(400, { words }));
    expect((await ask({ ...ON_GEM, ...body })).status).toBe(200);
    expect(world.gemini.requests.map(({ raw }) => raw.includes(gone))).toEqual([true, false]);
  });

  it("a signature of another model is replaced, and the request is sent once more", async () => {
    const call = {
      id: "c1",
      type: "function",
      function: { name: "one", arguments: "{}" },
      extra_content: { google: { thought_signature: "OLD" } },
    };
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "1" },
    ];
    world.gemini.once("gem-1", failsNatively(400, { words: "Corrupted thought signature." }));
    expect((await ask({ ...ON_GEM, messages })).status).toBe(200);
    expect(world.gemini.requests.map(({ raw }) => raw.includes("OLD"))).toEqual([true, false]);
  });
});
