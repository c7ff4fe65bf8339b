// Prices of the last check: what differs and what is unpriced, adopted with one call, charged from then on, and dated.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const TODAY = new Date().toISOString().slice(0, 10);
const rowOf = (input: number, more: object = {}) => ({
  ...{ litellm_provider: "groq", mode: "chat", input_cost_per_token: input, output_cost_per_token: 3e-6 },
  ...more,
});
const NEWER = { max_input_tokens: 65_536, max_output_tokens: 4096, supports_function_calling: true };
const LIST = {
  "groq/alpha": rowOf(2e-6),
  "groq/in-file": rowOf(5e-6),
  "groq/newer": rowOf(4e-6, NEWER),
  "groq/painter": rowOf(4e-6, { mode: "image_generation" }),
  "groq/gone": rowOf(4e-6),
  "groq/twin-a": rowOf(7e-6),
  "groq/twin-b": rowOf(8e-6),
  "other/alpha": { ...rowOf(9e-6), litellm_provider: "other" },
};
const OFFERED = [
  ...["alpha", "alpha-2026-01-31", "in-file", "newer", "twin-a", "twin-b"].map((id) => ({ id })),
  { id: "own-price", context_length: 8192, pricing: { prompt: "0.0000002", completion: "0.0000004" } },
  { id: "unknown" },
];

let groq: FakeProvider;
let list: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  const offers = sends(200, { object: "list", data: OFFERED });
  groq = await startFakeProvider((exchange) => (exchange.request.raw === "" ? offers : answers("ok"))(exchange));
  list = await startFakeProvider();
});
afterAll(() => Promise.all([groq.close(), list.close()]));

beforeEach(async () => {
  list.on("*", sends(200, LIST));
  gateway = await startGateway({ yaml: yaml(), env: { SWITCHYARD_PRICES_URL: list.url } });
  await call("POST", "/api/models", { id: "alpha", provider: "groq", price: { input: 1, output: 3 } });
  return () => gateway.stop();
});

function yaml(): string {
  return [
    "catalog: none",
    "routing: { markup: 0 }",
    `providers: { groq: { kind: openai, baseUrl: "${groq.url}", apiKey: groq-secret } }`,
    "models: [{ id: in-file, provider: groq, price: { input: 1, output: 3 } }]",
    `tiers: { ${["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `${tier}: [in-file]`).join(", ")} }`,
  ].join("\n");
}

async function call(method: string, path: string, body?: unknown) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: await response.json() };
}

const adopt = (...hosts: readonly object[]) => call("POST", "/api/prices/adopt", { hosts });
const at = (upstream: string, more: object = {}) => ({ provider: "groq", upstream, ...more });
const names = (rows: readonly { readonly upstream: string }[]) => rows.map(({ upstream }) => upstream);

async function modelNamed(id: string) {
  const { data } = (await call("GET", "/api/models")).body;
  return data.find((model: { id: string }) => model.id === id);
}

describe("a check", () => {
  test("shows what differs with source and date, and what nobody has priced", async () => {
    const before = await call("GET", "/api/prices");
    expect(before.body).toMatchObject({ checkedAt: null, everyHours: 0, feeds: [], changes: [] });
    const { body } = await call("POST", "/api/prices/check");
    expect(body).toMatchObject({ checkedAt: expect.stringContaining(TODAY), refused: [] });
    expect(body.feeds).toEqual([
      {
        ...{ feed: "litellm", label: "LiteLLM", source: list.url, readAt: expect.stringContaining(TODAY) },
        ...{ changedAt: expect.stringContaining(TODAY), isStale: false, problem: null, models: 6, lost: [] },
      },
    ]);
    const inFile = body.changes.find((change: { model: string }) => change.model === "in-file");
    expect(inFile.locked).toMatchObject({ path: "models.in-file", origin: "file" });
    expect(body.changes.find((change: { model: string }) => change.model === "alpha")).toEqual({
      ...at("alpha", { model: "alpha", percent: 100, locked: null, isOwn: true, startsOn: null, confirmed: null }),
      ...{ price: { input: 1, output: 3, cacheRead: null, cacheWrite: null }, priceAsOf: TODAY },
      ...{ priceSource: "run-time configuration", listed: { input: 2, output: 3, cacheRead: null, cacheWrite: null } },
      ...{
        standing: "single",
        feeds: [{ feed: "litellm", isSame: false, price: expect.objectContaining({ input: 2 }) }],
      },
    });
    // A dated name of a known model is no new one, and what the provider does not offer is none either.
    expect(names(body.unpriced)).toEqual(["newer", "twin-a", "twin-b", "own-price", "unknown"]);
    expect(body.unpriced[0]).toMatchObject({ context: 65_536, capabilities: ["tools"], listed: { input: 4 } });
    expect(body.unpriced[3]).toMatchObject({ context: 8192, listed: { input: 0.2, output: 0.4 } });
    expect(body.unpriced[4]).toMatchObject({ listed: null, model: null });
    expect((await call("GET", "/api/prices")).body).toEqual(body);
  });

  test("that fails says why, and leaves what was found before", async () => {
    const { body: good } = await call("POST", "/api/prices/check");
    list.on("*", sends(500, "down"));
    const { status, body } = await call("POST", "/api/prices/check");
    expect([status, body.feeds[0].problem]).toEqual([200, `${list.url} answered 500.`]);
    const [feed] = body.feeds;
    expect({ ...body, checkedAt: good.checkedAt, feeds: [{ ...feed, problem: null }] }).toEqual(good);
  });

  test("can be asked for six times a minute", async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 7; index += 1) statuses.push((await call("POST", "/api/prices/check")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
  });
});

describe("adopting", () => {
  test("a price: charged from the next request on, with the list as its source", async () => {
    await call("POST", "/api/prices/check");
    const { body } = await adopt(at("alpha"));
    expect(body.version).toMatchObject({ number: 2, author: "admin token" });
    expect(body.changes.map(({ path }: { path: string }) => path)).toContain("models.alpha.price.input");
    expect(await modelNamed("alpha")).toMatchObject({
      pricing: { prompt: "0.000002" },
      priceSource: "LiteLLM",
      service: { priceAsOf: TODAY },
    });
    expect(names((await call("GET", "/api/prices")).body.changes)).toEqual(["in-file"]);
    // Adopted twice is adopted once.
    expect((await adopt(at("alpha"))).body).toMatchObject({ version: { number: 2 }, changes: [] });
    await call("POST", "/api/versions/1/rollback");
    expect((await modelNamed("alpha")).pricing.prompt).toBe("0.000001");
  });

  test("a model: asked for by name at once, with what the list says of it", async () => {
    const direct = { model: "newer", service_profile: "direct", messages: [{ role: "user", content: "Hi" }] };
    await call("POST", "/api/prices/check");
    expect((await gateway.post("/v1/chat/completions", direct)).status).toBe(404);
    expect((await adopt(at("newer"), at("own-price", { id: "mine" }))).status).toBe(200);
    expect((await gateway.post("/v1/chat/completions", direct)).status).toBe(200);
    expect(await modelNamed("newer")).toMatchObject({
      ...{ isRoutable: true, context_length: 65_536, max_output_tokens: 4096, capabilities: ["tools"] },
      ...{ pricing: { prompt: "0.000004" }, priceSource: "LiteLLM" },
    });
    expect(await modelNamed("mine")).toMatchObject({
      ...{ upstream: "own-price", context_length: 8192, priceSource: "model list of groq" },
      pricing: { prompt: "0.0000002" },
    });
    expect(names((await call("GET", "/api/prices")).body.unpriced)).toEqual(["twin-a", "twin-b", "unknown"]);
  });

  test("a model that no list prices needs a price of the operator's", async () => {
    await call("POST", "/api/prices/check");
    const without = await adopt(at("unknown"));
    expect([without.status, without.body.error.code, without.body.error.param]).toEqual([
      ...[422, "price_needed", "hosts[0].price"],
    ]);
    for (const input of [0.000_000_1, 1e-10]) {
      const tooFine = await adopt(at("unknown", { price: { input, output: 1 } }));
      expect([tooFine.status, tooFine.body.error.code]).toEqual([422, "price_needed"]);
      expect(tooFine.body.error.message).toContain("the smallest price is 0.000001");
    }
    expect((await adopt(at("unknown", { price: { input: 0.5, output: 1 } }))).status).toBe(200);
    expect(await modelNamed("unknown")).toMatchObject({
      ...{ pricing: { prompt: "0.0000005" }, priceSource: "run-time configuration" },
      service: { priceAsOf: TODAY },
    });
  });

  test("both hosts of one model in one version, each with its own price", async () => {
    const hosts = [at("twin-a"), at("twin-b", { price: { input: 1, output: 1 } })];
    await call("POST", "/api/models", { id: "twin", price: { input: 1, output: 1 }, hosts });
    // A price that is written for a host is dated like any other.
    expect((await modelNamed("twin")).hosts[1]).toMatchObject({
      ...{ priceAsOf: TODAY, priceSource: "run-time configuration" },
    });
    await call("POST", "/api/prices/check");
    expect((await adopt(at("twin-a"), at("twin-b", { price: { input: 6, output: 6 } }))).status).toBe(200);
    expect((await modelNamed("twin")).hosts).toMatchObject([
      { upstream: "twin-a", pricing: { prompt: "0.000007" }, priceSource: "LiteLLM" },
      { upstream: "twin-b", pricing: { prompt: "0.000006" }, priceSource: "run-time configuration" },
    ]);
  });

  test("is refused for what the file sets, for taken ids, and for providers that are not there", async () => {
    await call("POST", "/api/prices/check");
    const locked = await adopt(at("in-file"));
    expect([locked.status, locked.body.error.code]).toEqual([409, "locked"]);
    const taken = await adopt(at("newer", { id: "alpha" }));
    expect([taken.status, taken.body.error.param]).toEqual([400, "hosts[0].id"]);
    const twice = await adopt(at("newer", { id: "n" }), at("twin-a", { id: "n" }));
    expect([twice.status, twice.body.error.param]).toEqual([400, "hosts[1].id"]);
    const nobody = await adopt({ provider: "nobody", upstream: "x", price: { input: 1, output: 1 } });
    expect([nobody.status, nobody.body.error.code]).toEqual([422, "invalid_configuration"]);
    expect((await call("GET", "/api/configuration")).body.version).toBe(1);
  });
});
