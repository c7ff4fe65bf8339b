// Models that a provider lists and a feed prices may be called at once, whatever else the check finds.

import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { genai, litellm, type Prices } from "../../support/providers/price-feeds.ts";

const TIERS = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"];
const NOW: Prices = { alpha: [1, 2], "in-file": [1, 3] };

let groq: FakeProvider;
let first: FakeProvider;
let second: FakeProvider;
let offered: readonly object[];

beforeAll(async () => {
  groq = await startListing(() => offered);
  [first, second] = [await startFakeProvider(), await startFakeProvider()];
});
afterAll(() => Promise.all([groq.close(), first.close(), second.close()]));

beforeEach(() => {
  offered = ["alpha", "in-file"].map((id) => ({ id }));
  first.reset();
  second.reset();
  second.on("*", sends(200, genai(NOW)));
});

/** A provider that answers everything and lists these models. */
function startListing(models: () => readonly object[]): Promise<FakeProvider> {
  return startFakeProvider((exchange) => {
    const isList = exchange.request.raw === "";
    return (isList ? sends(200, { object: "list", data: models() }) : answers("ok"))(exchange);
  });
}

function yaml(): string {
  return [
    "catalog: none",
    "routing: { markup: 0 }",
    `providers: { groq: { kind: openai, baseUrl: "${groq.url}", apiKey: groq-secret } }`,
    "models: [{ id: in-file, provider: groq, price: { input: 2, output: 3 } }]",
    `tiers: { ${TIERS.map((tier) => `${tier}: [in-file]`).join(", ")} }`,
  ].join("\n");
}

/** Checks are made by hand, and take over what they find. */
const FEEDS = (): Record<string, string> => ({
  SWITCHYARD_PRICES_CHECK: "daily",
  SWITCHYARD_PRICES_CHECK_HOURS: "0",
  SWITCHYARD_PRICES_URL: first.url,
  SWITCHYARD_PRICES_GENAI_URL: second.url,
});

async function started(more: Record<string, string> = {}, settings = yaml()): Promise<TestGateway> {
  const gateway = await startGateway({ yaml: settings, env: { ...FEEDS(), ...more } });
  onTestFinished(() => gateway.stop());
  const listed = { id: "alpha", provider: "groq", price: { input: 2, output: 4 }, priceSource: "LiteLLM" };
  await call(gateway, "POST", "/api/models", listed);
  return gateway;
}

async function call(gateway: TestGateway, method: string, path: string, body?: unknown) {
  const response = await gateway.api(method, path, body);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text);
}

const check = (gateway: TestGateway) => call(gateway, "POST", "/api/prices/check");
const versionOf = async (gateway: TestGateway): Promise<number> =>
  (await call(gateway, "GET", "/api/configuration")).version;

async function modelNamed(gateway: TestGateway, id: string) {
  const { data } = await call(gateway, "GET", "/api/models");
  return data.find((model: { id: string }) => model.id === id);
}

async function ask(gateway: TestGateway, model: string) {
  const response = await gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct" });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe("a model that a provider lists and a feed prices", () => {
  const newer = { ...NOW, newer: [0.5, 2], older: [5, 25] } as const;
  beforeEach(() => {
    first.on("*", sends(200, litellm(newer)));
    offered = [...offered, { id: "newer", created: Date.now() / 1000 }, { id: "older", created: 1_600_000_000 }];
  });

  test("is callable by name at once, marked everywhere, and in no chain", async () => {
    const gateway = await started();
    expect((await ask(gateway, "newer")).status).toBe(404);
    const { provisional } = await check(gateway);
    expect(provisional).toMatchObject([
      { model: "newer", provider: "groq", upstream: "newer", price: { input: 0.5, output: 2 }, priceSource: "LiteLLM" },
      { model: "older" },
    ]);
    const { status, body } = await ask(gateway, "newer");
    expect([status, body.model]).toEqual([200, "newer"]);
    expect(body.service.notes).toContainEqual({ code: "model_provisional", message: expect.stringContaining("newer") });
    expect((await ask(gateway, "alpha")).body.service.notes ?? []).toEqual([]);
    const { data } = JSON.parse(await (await gateway.get("/v1/models")).text());
    const marks = data.map(({ id, service }: { id: string; service: object }) => [id, "provisional" in service]);
    expect(Object.fromEntries(marks)).toMatchObject({ newer: true, older: true, alpha: false });
    const shown = await modelNamed(gateway, "newer");
    expect(shown).toMatchObject({ chains: [], tier: "LIGHT", service: { provisional: true }, capabilities: ["tools"] });
    // Removed by the operator, it stays away.
    await call(gateway, "DELETE", "/api/models/newer");
    await check(gateway);
    expect((await ask(gateway, "newer")).status).toBe(404);
  });

  test("is one model with two hosts where two providers list it, at once or one after the other", async () => {
    const hall = await startListing(() => [{ id: "lab/Newer-2" }, { id: "newer-3" }]);
    onTestFinished(() => hall.close());
    const added = `, hall: { kind: openai, baseUrl: "${hall.url}", apiKey: hall-secret } }`;
    const settings = yaml().replace("groq-secret } }", `groq-secret }${added}`);
    const rows = { ...litellm({ ...NOW, "newer-2": [1, 2], "newer-3": [1, 3] }) };
    const ofHall = { ...litellm({ "lab/Newer-2": [0.5, 1], "newer-3": [1, 3] }, "hall") };
    first.on("*", sends(200, { ...rows, ...ofHall }));
    offered = [...offered, { id: "newer-2" }];
    const gateway = await started({}, settings);
    const hostsOf = async (id: string) =>
      (await modelNamed(gateway, id)).service.hosts.map(({ host }: { host: string }) => host);
    await check(gateway);
    expect(await hostsOf("newer-2")).toEqual(["groq", "hall"]);
    expect(await hostsOf("newer-3")).toEqual(["hall"]);
    const version = await versionOf(gateway);
    // The other provider follows a day later.
    offered = [...offered, { id: "newer-3" }];
    await check(gateway);
    expect(await hostsOf("newer-3")).toEqual(["hall", "groq"]);
    expect(await versionOf(gateway)).toBe(version + 1);
    const { data } = JSON.parse(await (await gateway.get("/v1/models")).text());
    expect(data.filter(({ id }: { id: string }) => /newer/i.test(id))).toHaveLength(2);
    for (const name of ["newer-2", "lab/Newer-2"]) expect((await ask(gateway, name)).body.model).toBe("newer-2");
    // Each host has its own price: the cheaper one is asked first.
    expect((await ask(gateway, "newer-2")).body.service).toMatchObject({ host: "hall", costUsd: "0.000011" });
    await check(gateway);
    expect(await versionOf(gateway)).toBe(version + 1);
  });

  test("stays provisional when its price changes", async () => {
    const gateway = await started();
    await check(gateway);
    const changed = { ...newer, newer: [0.6, 2] } as const;
    first.on("*", sends(200, litellm(changed)));
    second.on("*", sends(200, genai(changed)));
    await check(gateway);
    expect(await modelNamed(gateway, "newer")).toMatchObject({
      priceSource: "LiteLLM and genai-prices",
      service: { provisional: true },
    });
  });

  test("joins the chain of its price behind the others with catalog.adopt: auto, if it is new", async () => {
    const gateway = await started({ SWITCHYARD_CATALOG_ADOPT: "auto" });
    await check(gateway);
    expect((await modelNamed(gateway, "newer")).chains).toMatchObject([{ tier: "LIGHT", place: 2, of: 2 }]);
    expect((await modelNamed(gateway, "older")).chains).toEqual([]);
  });

  test("takes over no name under which clients know another model", async () => {
    const hall = `, hall: { kind: openai, baseUrl: "${groq.url}", apiKey: hall-secret } }`;
    const settings = yaml()
      .replace("groq-secret } }", `groq-secret }${hall}`)
      .replace("id: in-file,", "id: in-file, upstream: lab/known,");
    first.on("*", sends(200, litellm({ unknown: [1, 3], "lab/known": [1, 3], "groq/in-file": [1, 3] }, "hall")));
    offered = ["unknown", "lab/known", "groq/in-file"].map((id) => ({ id }));
    const gateway = await started({}, settings);
    const { provisional } = await check(gateway);
    expect(provisional.map(({ model }: { model: string }) => model)).toEqual(["unknown"]);
    for (const name of ["lab/known", "groq/in-file"]) expect((await ask(gateway, name)).body.model).toBe("in-file");
  });

  test("is left alone with catalog.adopt: off", async () => {
    const gateway = await started({ SWITCHYARD_CATALOG_ADOPT: "off" });
    expect(await check(gateway)).toMatchObject({ provisional: [] });
    expect((await ask(gateway, "newer")).status).toBe(404);
  });
});
