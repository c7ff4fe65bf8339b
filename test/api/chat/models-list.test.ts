// OpenRouter's list `models`, and `provider.order` as a preference, over real HTTP and in every format. Behaviour 5.32.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

let gateway: TestGateway;
/** Gets the model that it names. */
let honoured: string;
const fakes: Record<string, FakeProvider> = {};

beforeAll(async () => {
  for (const id of ["us", "de", "jp"]) fakes[id] = await startFakeProvider();
  const provider = (id: string, facts: string) =>
    `  ${id}: { kind: openai, baseUrl: "${fakes[id]?.url}", apiKey: sk-${id}${facts} }`;
  const price = (usd: number) => `price: { input: ${usd}, output: ${usd} }`;
  const hosts = `hosts: [{ provider: us }, { provider: de, ${price(2)} }, { provider: jp, ${price(3)} }]`;
  const yaml = [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "routing: { baseline: alpha, markup: 0 }",
    "providers:",
    provider("us", ", regions: [us]"),
    provider("de", ", regions: [de]"),
    provider("jp", ", regions: [jp]"),
    "models:",
    `  - { id: alpha, ${price(1)}, ${hosts} }`,
    `  - { id: beta, ${price(4)}, provider: de, capabilities: [vision] }`,
    `  - { id: gamma, ${price(5)}, provider: us }`,
    `  - { id: vectors, ${price(1)}, capabilities: [embeddings], ${hosts} }`,
    "tiers: { NANO: [alpha], SIMPLE: [alpha], LIGHT: [alpha], STANDARD: [alpha], COMPLEX: [alpha] }",
  ].join("\n");
  gateway = await startGateway({ yaml, creditsUsd: "10" });
  const rules = { name: "named", honourModel: true, blockedModels: ["gamma"] };
  const profile = (await (await gateway.api("POST", "/api/profiles", rules)).json()) as { readonly id: string };
  const made = await gateway.api("POST", "/api/keys", { name: "named", profile: profile.id });
  honoured = ((await made.json()) as { readonly key: string }).key;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(fakes).map((fake) => fake.close()));
});
beforeEach(() => {
  for (const [id, fake] of Object.entries(fakes)) {
    fake.reset();
    fake.on("*", answers(`from ${id}`));
  }
});

interface Answer {
  readonly model?: string;
  readonly choices?: readonly { readonly message: { readonly content: string } }[];
  readonly service?: { readonly costUsd: string; readonly notes?: readonly { readonly code: string }[] };
  readonly error?: { readonly message: string; readonly param?: string };
  readonly decision?: {
    readonly filteredChain: readonly string[];
    readonly hosts?: Readonly<Record<string, readonly string[]>>;
    readonly reasoning: string;
  };
}

async function post(path: string, body: object, key = honoured): Promise<Answer & { readonly status: number }> {
  const response = await gateway.post(path, body, { authorization: `Bearer ${key}` });
  return { ...((await response.json()) as Answer), status: response.status };
}

const ASK = "Say ok";
const messages = [{ role: "user", content: ASK }];
const chat = (extra: object, key?: string) => post("/v1/chat/completions", { messages, ...extra }, key);
const notesOf = ({ service }: Answer) => (service?.notes ?? []).map(({ code }) => code);
const sent = () => Object.values(fakes).flatMap(({ requests }) => requests);

const FORMATS = [
  ["/v1/chat/completions", { messages }],
  ["/v1/responses", { input: ASK }],
  ["/v1/messages", { max_tokens: 50, messages }],
  ["/v1beta/models/alpha:generateContent", { contents: [{ role: "user", parts: [{ text: ASK }] }] }],
] as const;

test.each(FORMATS)("the next of the list answers where one fails, at its own price: %s", async (path, body) => {
  for (const fake of Object.values(fakes)) fake.on("alpha", fails(500));
  const answer = await post(path, { model: "alpha", models: ["alpha", "beta"], ...body });
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer)).toContain("from de");
  // 17 tokens at 4 USD per million.
  expect(answer.service?.costUsd).toBe("0.000068");
  expect(fakes.de?.requests.at(-1)?.body.model).toBe("beta");
  for (const { body: received } of sent()) expect(received).not.toHaveProperty("models");
});

test("the first of a list stands for a model that is not named, and one of the router's names stays the router", async () => {
  expect((await chat({ models: ["beta", "alpha"] })).model).toBe("beta");
  const routed = await chat({ model: "auto", models: ["beta"] });
  expect([routed.model, notesOf(routed)]).toEqual(["alpha", ["models_ignored"]]);
});

test("without a key that honours names the list is told to be ignored, and with direct it counts", async () => {
  const ignored = await chat({ model: "beta", models: ["beta"] }, gateway.key);
  expect(ignored.model).toBe("alpha");
  expect(notesOf(await chat({ model: "beta", models: ["alpha"] }, gateway.key))).toEqual(["models_ignored"]);
  const direct = { service_profile: "direct", model: "beta", models: ["alpha"] };
  fakes.de?.on("beta", fails(500));
  expect(await chat(direct, gateway.key)).toMatchObject({ model: "alpha", service: { fallback: true } });
});

test("models that cannot be used are left out with the reason, and a wrong first name is told", async () => {
  const answer = await chat({ model: "alpha", models: ["nobody", "gamma", "beta"], service_regions: ["de"] });
  expect(answer.model).toBe("alpha");
  expect(notesOf(answer)).toEqual(["model_left_out", "model_left_out"]);
  const image = { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] };
  expect((await chat({ model: "alpha", models: ["beta"], messages: [image] })).model).toBe("beta");
  expect((await chat({ model: "alpha", models: ["beta"], service_regions: ["fr"] })).status).toBe(400);
  expect((await chat({ model: "nobody", models: ["beta"] })).status).toBe(404);
});

test.each([
  ["models", { models: [1] }],
  ["models", { models: Array(100).fill("alpha") }],
])("a wrong list is refused by name: %s", async (param, extra) => {
  const { status, error } = await chat({ model: "alpha", ...extra });
  expect([status, error]).toEqual([400, expect.objectContaining({ param })]);
});

test("the debug endpoint shows the same chain and hosts as a live request", async () => {
  const asked = { model: "alpha", models: ["nobody", "beta"], provider: { order: ["jp", "US"] } };
  const { decision } = await post("/v1/routing/debug", { prompt: ASK, ...asked });
  expect(decision?.filteredChain).toEqual(["alpha", "beta"]);
  expect(decision?.hosts?.alpha).toEqual(["jp", "us", "de"]);
  expect(decision?.reasoning).toContain("left nobody out of 'models': not available to this key");
  expect(decision?.reasoning).toContain("host: jp (in the order of the request), fallbacks us, de");
});

test.each(FORMATS)("provider.order is a preference: %s", async (path, body) => {
  const order = { model: "alpha", provider: { order: ["jp/fp8", "de"] }, ...body };
  for (const key of [honoured, gateway.key]) expect(JSON.stringify(await post(path, order, key))).toContain("from jp");
  fakes.jp?.on("*", fails(500));
  expect(JSON.stringify(await post(path, order))).toContain("from de");
  fakes.de?.on("*", fails(500));
  expect(JSON.stringify(await post(path, order))).toContain("from us");
  for (const { body: received } of sent()) expect(received).not.toHaveProperty("provider");
});

test("without fallbacks only the hosts that are named are asked, or the first where none is", async () => {
  for (const id of ["us", "jp"]) fakes[id]?.on("*", fails(500));
  const ask = (provider: object) => chat({ model: "alpha", provider });
  expect((await ask({ order: ["jp", "us"], allow_fallbacks: false })).status).toBe(503);
  expect(fakes.de?.requests).toEqual([]);
  expect((await ask({ allow_fallbacks: false })).status).toBe(503);
  expect(fakes.de?.requests).toEqual([]);
  expect((await ask({ order: ["jp", "us"] })).status).toBe(200);
});

test("embeddings keep to the order, and fields of these names in another form are passed on", async () => {
  const vector = {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [1] }],
    usage: { prompt_tokens: 1 },
  };
  for (const fake of Object.values(fakes)) {
    fake.on("vectors", ({ response }) => void response.writeHead(200).end(JSON.stringify(vector)));
  }
  await post("/v1/embeddings", { model: "vectors", input: "hello", provider: { order: ["jp"] } });
  expect(fakes.jp?.requests).toHaveLength(1);
  await chat({ model: "alpha", provider: "mine", models: "mine" });
  expect(fakes.us?.requests[0]?.body).toMatchObject({ provider: "mine", models: "mine" });
});
