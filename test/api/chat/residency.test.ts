// Regions, zero retention and providers as hard rules over real HTTP: of a request and of a profile, in chains, by name,
// at endpoints other than chat, after failures and in the debug endpoint. Behaviour 5.31.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

let gateway: TestGateway;
const fakes: Record<string, FakeProvider> = {};

beforeAll(async () => {
  fakes.us = await startFakeProvider(answers("from us"));
  fakes.de = await startFakeProvider(answers("from de"));
  fakes.broken = await startFakeProvider(fails(500));
  fakes.anywhere = await startFakeProvider(answers("from anywhere"));
  const provider = (id: string, facts: string) =>
    `  ${id}: { kind: openai, baseUrl: "${fakes[id]?.url}", apiKey: sk-${id}${facts} }`;
  const price = (usd: number) => `price: { input: ${usd}, output: ${usd} }`;
  const yaml = [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "routing: { baseline: alpha, markup: 0 }",
    "providers:",
    provider("us", ", regions: [us]"),
    provider("de", ", regions: [eu-central-1], zeroRetention: true"),
    provider("broken", ", regions: [fr]"),
    provider("anywhere", ""),
    "models:",
    `  - { id: alpha, ${price(1)}, hosts: [{ provider: us }, { provider: de, ${price(2)} }, { provider: anywhere, ${price(3)} }] }`,
    `  - { id: beta, ${price(1)}, hosts: [{ provider: broken }, { provider: us, ${price(5)} }] }`,
    `  - { id: gamma, ${price(1)}, hosts: [{ provider: us, regions: [de] }] }`,
    `  - { id: vectors, ${price(1)}, capabilities: [embeddings], hosts: [{ provider: us }, { provider: de, ${price(2)} }] }`,
    "tiers: { NANO: [beta, alpha], SIMPLE: [beta, alpha], LIGHT: [beta, alpha], STANDARD: [beta, alpha], COMPLEX: [beta, alpha] }",
  ].join("\n");
  gateway = await startGateway({ yaml, creditsUsd: "10" });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(fakes).map((fake) => fake.close()));
});

interface Answer {
  readonly status: number;
  readonly body: {
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
    readonly error?: { readonly message: string; readonly code: string };
    readonly decision?: {
      readonly filteredChain: readonly string[];
      readonly hosts?: Readonly<Record<string, readonly string[]>>;
      readonly hostsLeftOut?: readonly { readonly model: string; readonly host: string; readonly because: string }[];
    };
  };
}

async function post(path: string, body: object, key?: string): Promise<Answer> {
  const response = await gateway.post(path, body, ...(key === undefined ? [] : [{ authorization: `Bearer ${key}` }]));
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const chat = (extra: object, key?: string) =>
  post("/v1/chat/completions", { messages: [{ role: "user", content: "Say ok" }], model: "auto", ...extra }, key);
const textOf = ({ body }: Answer) => body.choices?.[0]?.message.content ?? body.error?.message;

test("a region keeps a request inside, also when the first host fails", async () => {
  const calls = fakes.us?.requests.length;
  expect(textOf(await chat({ service_regions: ["eu"] }))).toBe("from de");
  expect(textOf(await chat({ service_regions: ["DE"] }))).toBe("from de");
  expect(textOf(await chat({ service_zero_retention: true }))).toBe("from de");
  expect(textOf(await chat({ service_providers: ["de", "broken"] }))).toBe("from de");
  expect(fakes.us?.requests.length).toBe(calls);
  expect(textOf(await chat({ service_excluded_providers: ["us", "de"] }))).toBe("from anywhere");
});

test("a host's own region outweighs that of its provider", async () => {
  const direct = { model: "gamma", service_profile: "direct" };
  expect(textOf(await chat({ ...direct, service_regions: ["de"] }))).toBe("from us");
  expect((await chat({ ...direct, service_regions: ["us"] })).status).toBe(400);
});

test.each([
  [{ service_regions: ["jp"] }, "No connected model answers in jp alone."],
  [{ service_regions: ["us"], service_zero_retention: true }, "No connected model answers in us alone and keeps no"],
  [{ service_providers: ["nobody"] }, "No connected model is served by nobody."],
  [{ model: "alpha", service_profile: "direct", service_regions: ["jp"] }, 'No host of "alpha" answers in jp alone.'],
])("a request that leaves nobody gets 400 with the reason: %j", async (fields, message) => {
  const { status, body } = await chat(fields);
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: "no_capable_model", message: expect.stringContaining(message) });
});

test.each([
  { service_regions: "eu" },
  { service_regions: [] },
  { service_regions: ["e u"] },
  { service_zero_retention: "yes" },
])("a wrong value is refused by name: %j", async (fields) => {
  const { status, body } = await chat(fields);
  expect([status, body.error]).toEqual([400, expect.objectContaining({ param: Object.keys(fields)[0] })]);
});

test("embeddings go only where they may", async () => {
  const calls = fakes.us?.requests.length;
  const ask = (extra: object) => post("/v1/embeddings", { model: "vectors", input: "hello", ...extra });
  await ask({ service_regions: ["eu"] });
  expect(fakes.us?.requests.length).toBe(calls);
  const { status, body } = await ask({ service_regions: ["jp"] });
  expect([status, body.error?.message]).toEqual([400, "No connected model answers in jp alone."]);
});

test("the debug endpoint names the hosts that are left out, with the reason", async () => {
  const { body } = await post("/v1/routing/debug", { prompt: "Say ok", service_regions: ["eu"] });
  const { hosts, hostsLeftOut = [] } = body.decision ?? {};
  expect(hosts).toEqual({ alpha: ["de"] });
  expect(hostsLeftOut.map(({ model, host, because }) => `${model} ${host}: ${because}`).sort()).toEqual([
    "alpha anywhere: anywhere does not say where it answers, and eu is required",
    "alpha us: us answers in us, and eu is required",
    "beta us: us answers in us, and eu is required",
  ]);
});

test("a profile's rules hold for its key, and a request can only narrow them", async () => {
  const rules = { name: "eu", regions: ["eu"], zeroRetention: true };
  const profile = (await (await gateway.api("POST", "/api/profiles", rules)).json()) as { readonly id: string };
  expect(profile).toMatchObject({ regions: ["eu"], zeroRetention: true, providers: null });
  const made = await gateway.api("POST", "/api/keys", { name: "eu", profile: profile.id });
  const { key } = (await made.json()) as { readonly key: string };
  expect(textOf(await chat({}, key))).toBe("from de");
  expect(textOf(await chat({ service_zero_retention: false, service_regions: ["de"] }, key))).toBe("from de");
  expect((await chat({ service_regions: ["us"] }, key)).status).toBe(400);
  expect((await chat({ model: "gamma", service_profile: "direct" }, key)).status).toBe(400);
});

async function make(path: string, body: object): Promise<{ readonly id: string; readonly key: string }> {
  const made = await gateway.api("POST", path, body);
  expect(made.status).toBe(201);
  return (await made.json()) as { readonly id: string; readonly key: string };
}

test("what a key, its team, the team around it and the request require holds all at once", async () => {
  const outer = await make("/api/teams", { name: "outer", requires: { regions: ["eu", "us"] } });
  const team = await make("/api/teams", { name: "inner", parent: outer.id, requires: { excludedProviders: ["us"] } });
  const { key, id } = await make("/api/keys", { name: "bound", team: team.id, requires: { zeroRetention: true } });
  const calls = [fakes.us, fakes.anywhere].map((fake) => fake?.requests.length);
  for (const extra of [{}, { service_regions: ["de"] }]) expect(textOf(await chat(extra, key))).toBe("from de");
  expect((await chat({ service_excluded_providers: ["de"] }, key)).status).toBe(400);
  expect((await post("/v1/embeddings", { model: "vectors", input: "hello" }, key)).status).not.toBe(400);
  expect([fakes.us, fakes.anywhere].map((fake) => fake?.requests.length)).toEqual(calls);
  const { body } = await post("/v1/routing/debug", { prompt: "Say ok" }, key);
  expect(body.decision?.hostsLeftOut?.map(({ host, because }) => `${host}: ${because}`)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^us: /), expect.stringMatching(/^anywhere: /)]),
  );
  const rotated = await gateway.api("POST", `/api/keys/${id}/rotate`, { graceHours: 0 });
  const next = (await rotated.json()) as { readonly key: string; readonly id: string };
  expect(next).toMatchObject({ requires: { zeroRetention: true } });
  await gateway.api("PATCH", `/api/teams/${team.id}`, { requires: null });
  expect((await chat({ service_providers: ["us"] }, next.key)).status).toBe(400);
  await gateway.api("PATCH", `/api/keys/${next.id}`, { requires: { zeroRetention: false } });
  expect(textOf(await chat({ service_providers: ["us"] }, next.key))).toBe("from us");
  expect((await chat({ service_providers: ["anywhere"] }, next.key)).status).toBe(400);
});

test.each([{ regions: "eu" }, { regions: [] }, { regions: ["e u"] }, { region: ["eu"] }])(
  "a wrong requirement is refused: %j",
  async (requires) => {
    for (const path of ["/api/keys", "/api/teams"]) {
      expect((await gateway.api("POST", path, { name: "odd", requires })).status).toBe(400);
    }
  },
);

test.each([
  [{ only: ["DE", "broken"] }, "from de"],
  [{ ignore: ["us/fp8", "de"] }, "from anywhere"],
  [{ zdr: true }, "from de"],
  [{ data_collection: "deny" }, "from de"],
  [{ order: ["anywhere"], allow_fallbacks: false }, "from anywhere"],
  [{ only: [], sort: "price", data_collection: "allow" }, "from us"],
])("OpenRouter's rules are understood in every format: %j", async (provider, text) => {
  const input = { model: "auto", provider };
  const messages = [{ role: "user", content: "Say ok" }];
  const [excluded] = ["us", "de", "anywhere"].filter((name) => text !== `from ${name}`);
  expect(textOf(await chat({ provider }))).toBe(text);
  for (const [path, body] of [
    ["/v1/responses", { ...input, input: "Say ok" }],
    ["/v1/messages", { ...input, max_tokens: 50, messages }],
    ["/v1beta/models/auto:generateContent", { provider, contents: [{ role: "user", parts: [{ text: "Say ok" }] }] }],
  ] as const) {
    expect(JSON.stringify((await post(path, body)).body)).toContain(text);
  }
  expect((await chat({ provider, service_providers: [excluded] })).status).toBe(text === "from us" ? 200 : 400);
});

test("OpenRouter's rules keep embeddings inside, and a wrong one is refused by name", async () => {
  const ask = (provider: object) => post("/v1/embeddings", { model: "vectors", input: "hello", provider });
  expect((await ask({ only: ["nobody"] })).status).toBe(400);
  const { status, body } = await chat({ provider: { only: "de" } });
  expect([status, body.error]).toEqual([400, expect.objectContaining({ param: "provider.only" })]);
  const debug = await post("/v1/routing/debug", { prompt: "Say ok", provider: { ignore: ["us"] } });
  expect(debug.body.decision?.hostsLeftOut?.map(({ host }) => host)).toEqual(["us", "us"]);
});
