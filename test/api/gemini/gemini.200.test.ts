// Gemini's endpoints over HTTP, on a model of chat-completions and one of Messages: whole and streamed in both framings,
// tool loops, counting, the models list, fallback and money.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failsNatively, saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import {
  answers,
  chunk,
  completion,
  type FakeProvider,
  fails,
  type ReceivedRequest,
  sends,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { type Bank, bankOf, owed } from "../../support/stores/money.ts";

type Json = Record<string, unknown>;

let mixed: Mixed;
let bank: Bank;
beforeAll(async () => {
  mixed = await startMixed();
  bank = bankOf(mixed.openai, mixed.gateway);
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const ASK = { contents: [{ role: "user", parts: [{ text: "What is the capital of France?" }] }] };
const LONG = { contents: [{ role: "user", parts: [{ text: "word ".repeat(2000) }] }] };
const DIRECT = { service_profile: "direct" };
const ask = (call: string, body: object = ASK, headers: Record<string, string> = {}): Promise<Response> =>
  mixed.gateway.post(`/v1beta/models/${call}`, body, headers);
const generate = async (model: string, body: object): Promise<Json> =>
  (await (await ask(`${model}:generateContent`, { ...ASK, ...DIRECT, ...body })).json()) as Json;
const partsIn = (responses: readonly Json[]): readonly Json[] =>
  responses.flatMap(({ candidates }) =>
    (candidates as readonly { content: { parts: readonly Json[] } }[]).flatMap(({ content }) => content.parts),
  );
const lastBody = ({ requests }: FakeProvider): { messages: readonly Json[] } =>
  (requests.at(-1) as ReceivedRequest).body as unknown as { messages: readonly Json[] };
const eventsIn = (body: string): readonly Json[] =>
  body
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => JSON.parse(event.slice("data: ".length)) as Json);

describe.each(["alpha", "claude"])("on %s", (model) => {
  it("a whole response names model, usage and service", async () => {
    const response = await generate(model, {});
    expect(response).toMatchObject({
      candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
      modelVersion: model,
      service: { model, profile: "direct", fallback: false },
    });
  });

  it("a stream is events with alt=sse, and the same responses as an array without", async () => {
    mixed.openai.on("*", answers("The capital is Paris."));
    mixed.anthropic.on("*", saysBlocks([text("The capital is Paris.")]));
    const sse = await ask(`${model}:streamGenerateContent?alt=sse`, { ...ASK, ...DIRECT });
    expect(sse.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const array = await ask(`${model}:streamGenerateContent`, { ...ASK, ...DIRECT });
    expect(array.headers.get("content-type")).toBe("application/json; charset=utf-8");
    for (const events of [eventsIn(await sse.text()), (await array.json()) as readonly Json[]]) {
      expect(
        partsIn(events)
          .map((part) => part.text)
          .join(""),
      ).toBe("The capital is Paris.");
      expect(events.length).toBeGreaterThan(3);
      expect(events[0]).toMatchObject({ modelVersion: model, service: { model } });
      expect(events.at(-1)).toMatchObject({
        candidates: [{ finishReason: "STOP" }],
        usageMetadata: { totalTokenCount: 17 },
        service: { model },
      });
    }
  });

  it.each([
    { isStream: false, role: "user" },
    { isStream: true, role: "user" },
    { isStream: false, role: "tool" },
    { isStream: false, role: "function" },
  ])("a tool loop with calls in parallel and no ids: %o", async ({ isStream, role }) => {
    const cities = ["Rome", "Oslo"];
    const calls = cities.map((city, index) => ({
      index,
      id: `call_${city}`,
      type: "function",
      function: { name: "weather", arguments: JSON.stringify({ city }) },
    }));
    const message = { role: "assistant", content: null, tool_calls: calls };
    mixed.openai.once(
      "alpha-1",
      isStream
        ? streams([...calls.map((call) => chunk("m", { tool_calls: [call] })), chunk("m", {}, "tool_calls")], {
            usage: USAGE,
          })
        : sends(200, completion("", "m", { choices: [{ index: 0, message, finish_reason: "tool_calls" }] })),
    );
    mixed.anthropic.once(
      "claude-real-1",
      saysBlocks(cities.map((city) => toolUse(`toolu_${city}`, "weather", { city }))),
    );
    const tools = [
      {
        functionDeclarations: [
          { name: "weather", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } },
        ],
      },
    ];
    const method = isStream ? "streamGenerateContent" : "generateContent";
    const first = await (await ask(`${model}:${method}`, { ...ASK, ...DIRECT, tools })).json();
    const parts = partsIn([first].flat() as readonly Json[]);
    const called = parts.filter(({ functionCall }) => functionCall !== undefined);
    expect(called.map(({ functionCall }) => (functionCall as Json).args)).toEqual([{ city: "Rome" }, { city: "Oslo" }]);
    const withoutId = ({ functionCall }: Json): object => ({
      functionCall: { ...(functionCall as Json), id: undefined },
    });
    const contents = [
      ...ASK.contents,
      { role: "model", parts: called.map(withoutId) },
      {
        role,
        parts: cities.map((city) => ({ functionResponse: { name: "weather", response: { output: `20 in ${city}` } } })),
      },
    ];
    const answered = await ask(`${model}:${method}`, { contents, ...DIRECT, tools });
    expect(answered.status, await answered.text()).toBe(200);
    const provider = model === "alpha" ? mixed.openai : mixed.anthropic;
    const { messages } = lastBody(provider);
    const sent = JSON.stringify(messages);
    expect(sent.indexOf("20 in Rome")).toBeGreaterThan(0);
    expect(sent.indexOf("20 in Oslo")).toBeGreaterThan(sent.indexOf("20 in Rome"));
    const ids = [...sent.matchAll(/"(?:tool_call_id|tool_use_id)":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(sent).toContain(`"id":"${id}"`);
  });

  it("money is that of the same chat request", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 7, total_tokens: 1007 };
    mixed.openai.on("*", sends(200, completion("fine", "m", { usage })));
    mixed.anthropic.on("*", saysBlocks([text("fine")], { usage: { input_tokens: 1000, output_tokens: 7 } }));
    const chat = { model, ...DIRECT, messages: [{ role: "user", content: LONG.contents[0]?.parts[0]?.text }] };
    const spentOnChat = await bank.spentBy(async () => (await mixed.gateway.post("/v1/chat/completions", chat)).text());
    const spent = await bank.spentBy(async () =>
      (await ask(`${model}:generateContent`, { ...LONG, ...DIRECT })).text(),
    );
    expect(spent).toBe(spentOnChat);
    expect(spent).toBeGreaterThan(0n);
  });
});

it("signed thinking of another vendor comes back to it", async () => {
  const blocks = [thinking("Hm.", "EqQB"), toolUse("toolu_1", "look", {})];
  mixed.anthropic.once("claude-real-1", saysBlocks(blocks));
  const tools = [{ functionDeclarations: [{ name: "look" }] }];
  const generationConfig = { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } };
  const first = await generate("claude", { tools, generationConfig });
  const [thought, call] = partsIn([first]);
  expect(thought).toMatchObject({ text: "Hm.", thought: true });
  const contents = [
    ...ASK.contents,
    { role: "model", parts: [thought, call] },
    { role: "user", parts: [{ functionResponse: { id: "toolu_1", name: "look", response: { output: "done" } } }] },
  ];
  await generate("claude", { contents, tools, generationConfig });
  const { messages } = lastBody(mixed.anthropic);
  expect(messages[1]).toMatchObject({ role: "assistant", content: blocks });
});

it("the model in the path counts only with 'direct'; slashes, escapes and other versions are taken", async () => {
  for (const call of ["nothing:generateContent", "vendor/model:generateContent", "models%2Fauto:generateContent"]) {
    expect((await ask(call)).status).toBe(200);
  }
  for (const path of [
    "/v1/models/alpha:generateContent",
    "/v1beta//models/models/alpha:generateContent",
    "/v1/v1beta/models/alpha:generateContent",
    "/v1beta1/projects/p/locations/l/publishers/google/models/alpha:generateContent",
    "/v1beta/models/alpha%3AgenerateContent/",
  ]) {
    const response = await mixed.gateway.post(path, { ...ASK, ...DIRECT });
    expect([path, await response.json()]).toMatchObject([path, { modelVersion: "alpha" }]);
  }
});

it("service_* controls count, and no provider receives one", async () => {
  const body = { ...ASK, service_profile: "tier", service_tier: "COMPLEX" };
  expect(await (await ask("auto:generateContent", body)).json()).toMatchObject({ service: { tier: "COMPLEX" } });
  expect(mixed.anthropic.requests.at(-1)?.raw).not.toContain("service_");
});

it("a stream falls back before its first content, and only the answering model is charged", async () => {
  mixed.anthropic.on("*", failsNatively(529));
  const body = { ...LONG, service_profile: "tier", service_tier: "STANDARD" };
  let events: readonly Json[] = [];
  const spent = await bank.spentBy(async () => {
    events = eventsIn(await (await ask("auto:streamGenerateContent?alt=sse", body)).text());
  });
  expect(events[0]).toMatchObject({ modelVersion: "alpha", service: { model: "claude", fallback: true } });
  expect(spent).toBe(owed({ input: 12, output: 5 }, { input: "1", output: "3" }));
});

it.each(["?alt=sse", ""])(
  "a stream that breaks ends with an error in its framing and costs nothing (%s)",
  async (query) => {
    mixed.openai.on("*", streams([chunk("m", { content: "Hel" }), chunk("m", { content: "lo" })], { ending: "cut" }));
    let body = "";
    const spent = await bank.spentBy(async () => {
      body = await (await ask(`alpha:streamGenerateContent${query}`, { ...ASK, ...DIRECT })).text();
    });
    const events = query === "" ? (JSON.parse(body) as readonly Json[]) : eventsIn(body);
    expect(events.at(-1)).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
    expect(JSON.stringify(events)).not.toContain("finishReason");
    expect(spent).toBe(0n);
  },
);

it("a client that leaves pays what came so far, and the provider's call is cancelled", async () => {
  mixed.openai.on("*", streams([chunk("m", { content: "abcd" })], { ending: "hang" }));
  const spent = await bank.spentBy(async () => {
    const received = mixed.openai.nextRequest();
    const controller = new AbortController();
    const response = await fetch(
      `${mixed.gateway.url}/v1beta/models/alpha:streamGenerateContent?key=${mixed.gateway.key}`,
      {
        method: "POST",
        signal: controller.signal,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...LONG, ...DIRECT }),
      },
    );
    await response.body?.getReader().read();
    controller.abort();
    expect(await (await received).closed).toEqual({ wasCut: true });
  });
  expect(spent).toBeGreaterThan(0n);
});

it("an Idempotency-Key repeats the response, and tells a stream from a whole one", async () => {
  const headers = { "idempotency-key": "gemini-1" };
  const first = await (await ask("alpha:generateContent", { ...ASK, ...DIRECT }, headers)).text();
  const spent = await bank.spentBy(async () => {
    expect(await (await ask("alpha:generateContent", { ...ASK, ...DIRECT }, headers)).text()).toBe(first);
  });
  expect(spent).toBe(0n);
  expect((await ask("alpha:streamGenerateContent", { ...ASK, ...DIRECT }, headers)).status).toBe(422);
  const stream = { "idempotency-key": "gemini-2" };
  const streamed = await ask("alpha:streamGenerateContent", { ...ASK, ...DIRECT }, stream);
  const text = await streamed.text();
  const again = await ask("alpha:streamGenerateContent", { ...ASK, ...DIRECT }, stream);
  expect(again.headers.get("content-type")).toBe(streamed.headers.get("content-type"));
  expect(await again.text()).toBe(text);
});

it("counting is free and takes a prompt or a whole request", async () => {
  const spent = await bank.spentBy(async () => {
    const counts = [];
    for (const body of [LONG, { generateContentRequest: { model: "models/auto", ...LONG } }]) {
      counts.push(((await (await ask("auto:countTokens", body)).json()) as Json).totalTokens);
    }
    expect(counts[0]).toBeGreaterThan(1000);
    expect(counts[1]).toBe(counts[0]);
  });
  expect(spent).toBe(0n);
  expect((await ask("auto:countTokens", { ...LONG, generateContentRequest: LONG })).status).toBe(400);
});

it("the models list has Google's shape under /v1beta, and pages", async () => {
  const page = (await (await mixed.gateway.get("/v1beta/models?pageSize=1")).json()) as Json;
  expect(page).toMatchObject({ models: [{ name: "models/alpha" }], nextPageToken: "alpha" });
  const next = (await (await mixed.gateway.get("/v1beta/models?pageToken=alpha")).json()) as Json;
  expect(JSON.stringify(next)).not.toContain("models/alpha");
  expect(await (await mixed.gateway.get("/v1beta/models/claude")).json()).toMatchObject({ name: "models/claude" });
  expect(await (await mixed.gateway.get("/v1/models")).json()).toMatchObject({ object: "list" });
  const google = { "x-goog-api-key": mixed.gateway.key };
  expect(await (await mixed.gateway.get("/v1/models", google)).json()).toMatchObject({ models: expect.any(Array) });
});

it("the debug endpoint takes Gemini's fields", async () => {
  const asked = { prompt: "Hi", contents: LONG.contents, generationConfig: { topK: 3 }, service_tier_floor: "COMPLEX" };
  const response = await mixed.gateway.post("/v1/routing/debug", asked);
  expect(await response.json()).toMatchObject({ decision: { tier: "COMPLEX", model: "claude" } });
});

it("a request is recorded under the name of its endpoint", async () => {
  await (await ask("alpha:generateContent", { ...ASK, ...DIRECT }, { "x-request-id": "recorded" })).text();
  mixed.openai.on("*", fails(500));
  await (await ask("alpha:generateContent", { ...ASK, ...DIRECT })).text();
  const record = await (await mixed.gateway.api("GET", "/api/requests/recorded")).json();
  expect(record).toMatchObject({ route: "/v1beta/models/{model}:generateContent", status: 200 });
});
