// Cached contents through Google's own client: kept by the gateway and put into requests for any vendor's model. Behaviour
// 10.17.

import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { says } from "../../support/providers/fake-gemini.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";

let world: GeminiGateway;
let client: GoogleGenAI;
let stranger: GoogleGenAI;
beforeAll(async () => {
  world = await startGeminiGateway();
  const { gateway } = world;
  const of = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } });
  client = of(gateway.key);
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "Eve" })).json()) as { id: string };
  const made = await gateway.api("POST", `/api/keys?account=${id}`, { name: "stranger" });
  stranger = of(((await made.json()) as { key: string }).key);
});
beforeEach(() => world.reset());
afterAll(() => world.close());

const BOOK = "Call me Ishmael.";
const TOOL = { functionDeclarations: [{ name: "look", parametersJsonSchema: { type: "object", properties: {} } }] };
const direct = { httpOptions: { extraBody: { service_profile: "direct" } } };
const create = (config: object = {}) =>
  client.caches.create({
    model: "gem",
    config: { contents: BOOK, systemInstruction: "You know the book.", tools: [TOOL], displayName: "book", ...config },
  });
const wait = { status: 404 };

describe("a cached content", () => {
  it("is created, read, listed, extended and deleted", async () => {
    const made = await create({ ttl: "600s" });
    expect(made).toMatchObject({ displayName: "book", model: "models/gem" });
    expect(made.usageMetadata?.totalTokenCount).toBeGreaterThan(5);
    const name = made.name as string;
    const endOf = async () => Date.parse((await client.caches.get({ name })).expireTime as string);
    const end = await endOf();
    expect(end - Date.parse(made.createTime as string)).toBe(600_000);
    await client.caches.update({ name, config: { ttl: "7200s" } });
    expect(await endOf()).toBeGreaterThan(end);
    await client.caches.update({ name, config: { expireTime: "2199-01-01T00:00:00Z" } });
    // Nothing is kept for longer than stored responses are.
    expect(await endOf()).toBeLessThan(Date.now() + 31 * 24 * 3_600_000);
    const second = await create();
    const names: unknown[] = [];
    for await (const each of await client.caches.list({ config: { pageSize: 1 } })) names.push(each.name);
    expect(names).toEqual([name, second.name]);
    await client.caches.delete({ name });
    await expect(client.caches.get({ name })).rejects.toMatchObject(wait);
    await client.caches.delete({ name: second.name as string });
  });

  it("begins the prompt of a model of any vendor, whole, streamed and counted", async () => {
    const cachedContent = (await create()).name as string;
    world.gemini.on("*", says("A whale."));
    const config = { cachedContent, ...direct };
    const native = await client.models.generateContent({ model: "gem", contents: "Who hunts whom?", config });
    expect(native.text).toBe("A whale.");
    expect(world.gemini.requests.at(-1)?.body).toMatchObject({
      contents: [{ parts: [{ text: BOOK }] }, { parts: [{ text: "Who hunts whom?" }] }],
      systemInstruction: { parts: [{ text: "You know the book." }] },
      tools: [{ functionDeclarations: [{ name: "look" }] }],
    });
    expect(world.gemini.requests.at(-1)?.body).not.toHaveProperty("cachedContent");

    world.openai.on("*", answers("Ahab."));
    const converted = await client.models.generateContent({ model: "alpha", contents: "Who hunts whom?", config });
    expect(converted.text).toBe("Ahab.");
    const sent = world.openai.requests.at(-1)?.body as unknown as { messages: object[]; tools: object[] };
    expect(sent.messages).toEqual([
      { role: "system", content: "You know the book." },
      { role: "user", content: BOOK },
      { role: "user", content: "Who hunts whom?" },
    ]);
    expect(sent.tools).toHaveLength(1);

    let streamed = "";
    const stream = await client.models.generateContentStream({ model: "alpha", contents: "Who?", config });
    for await (const piece of stream) streamed += piece.text ?? "";
    expect(streamed).toBe("Ahab.");

    const count = async (body: object): Promise<number> => {
      const answer = await world.gateway.post("/v1beta/models/gem:countTokens", body);
      return ((await answer.json()) as { totalTokens: number }).totalTokens;
    };
    const bare = { contents: [{ parts: [{ text: "Who?" }] }] };
    expect(await count({ ...bare, cachedContent })).toBeGreaterThan((await count(bare)) + 5);
  });

  it("is nobody else's, and costs a stranger without credits nothing", async () => {
    const name = (await create()).name as string;
    await expect(stranger.caches.get({ name })).rejects.toMatchObject(wait);
    await expect(stranger.caches.update({ name, config: { ttl: "60s" } })).rejects.toMatchObject(wait);
    await expect(stranger.caches.delete({ name })).rejects.toMatchObject(wait);
    const used = stranger.models.generateContent({ model: "gem", contents: "Who?", config: { cachedContent: name } });
    await expect(used).rejects.toMatchObject(wait);
    await expect(stranger.caches.create({ model: "gem", config: { contents: BOOK } })).rejects.toMatchObject({
      status: 402,
    });
    expect(world.gemini.requests).toHaveLength(0);
  });

  it("may be instructions alone, and the debug endpoint explains requests that name it", async () => {
    const cache = await client.caches.create({ model: "gem", config: { systemInstruction: `${BOOK} `.repeat(2_000) } });
    const tier = { service_profile: "tier", service_tier: "STANDARD" };
    const body = { contents: [{ parts: [{ text: "Who?" }] }], ...tier, cachedContent: cache.name };
    expect((await world.gateway.post("/v1beta/models/auto:generateContent", body)).status).toBe(200);
    const debugged = await world.gateway.post("/v1/routing/debug", body, { "x-goog-api-key": world.gateway.key });
    const { decision } = (await debugged.json()) as { decision: { filteredChain: string[]; costEstimate: number } };
    expect(decision.filteredChain).toContain("alpha");
    const { contents } = body;
    const bare = await world.gateway.post(
      "/v1/routing/debug",
      { contents, ...tier },
      { "x-goog-api-key": world.gateway.key },
    );
    const { decision: other } = (await bare.json()) as { decision: { costEstimate: number } };
    expect(decision.costEstimate).toBeGreaterThan(other.costEstimate);
  });

  it("that was made at Google goes there", async () => {
    world.gemini.on("*", says("A whale."));
    const config = { cachedContent: "cachedContents/abc", ...direct };
    await client.models.generateContent({ model: "gem", contents: "Who?", config });
    expect(world.gemini.requests.at(-1)?.body).toMatchObject({ cachedContent: "cachedContents/abc" });
  });
});

describe("refused with a reason", () => {
  it.each([
    [{}, "'contents' or 'systemInstruction' is missing."],
    [{ contents: [{ parts: [{ text: 1 }] }] }, "text"],
    [{ contents: BOOK, ttl: "soon" }, "'ttl' must be a number of seconds"],
    [{ contents: BOOK, ttl: "60s", expireTime: "2199-01-01T00:00:00Z" }, "Send either"],
    [{ contents: BOOK, expireTime: "2001-01-01T00:00:00Z" }, "a time in the future"],
    [{ contents: BOOK, model: "models/a\u0000" }, "the name of a model"],
    [{ contents: BOOK, model: "m".repeat(257) }, "the name of a model"],
    [{ contents: BOOK, displayName: "d".repeat(513) }, "512 characters"],
  ])("%o", async (body, words) => {
    const given = "contents" in body && body.contents === BOOK ? { contents: [{ parts: [{ text: BOOK }] }] } : {};
    const answer = await world.gateway.post("/v1beta/cachedContents", { model: "models/gem", ...body, ...given });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toContain(words);
  });

  it("a request that repeats what is cached, and an update of anything but the end", async () => {
    const { gateway } = world;
    const cachedContent = (await create()).name as string;
    const contents = [{ parts: [{ text: "Who?" }] }];
    const twice = { contents, cachedContent, systemInstruction: { parts: [{ text: "Be brief." }] } };
    const answer = await gateway.post("/v1beta/models/gem:generateContent", twice);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("belongs into the cached content"),
    ]);
    const renamed = await fetch(`${gateway.url}/v1beta/${cachedContent}`, {
      method: "PATCH",
      headers: { "x-goog-api-key": gateway.key, "content-type": "application/json" },
      body: JSON.stringify({ displayName: "other" }),
    });
    expect([renamed.status, await renamed.text()]).toEqual([
      400,
      expect.stringContaining("Only 'ttl' or 'expireTime'"),
    ]);
  });

  it("the Interactions API, with what to use instead", async () => {
    const answer = await world.gateway.post("/v1beta/interactions", { model: "gem", input: "hi" });
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining("Interactions API is not served"),
    ]);
  });
});
