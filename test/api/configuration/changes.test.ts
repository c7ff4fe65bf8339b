// Changes of the configuration at run time over HTTP: what they do to requests, what is refused, and who did it.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

const KEY = "sk-canary-0123456789-WXYZ";
const PRICE = { input: 2, output: 6 };

let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
  gateway = await startGateway({ yaml: labYaml(lab.url, ["alpha"]) });
});
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});
/** Each test begins with an empty run-time configuration. */
beforeEach(async () => {
  await change("POST", "/api/versions/0/rollback");
  lab.reset();
});

async function call(method: string, path: string, body?: unknown) {
  const response = await gateway.api(method, path, body);
  return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
}

async function change(method: string, path: string, body?: unknown) {
  const answer = await call(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
}

async function versionNow(): Promise<number> {
  return (await call("GET", "/api/configuration")).body.version;
}

/** A second server with its own key and model. */
async function addOther(extra: object = {}): Promise<void> {
  await change("POST", "/api/providers", { id: "other", kind: "openai", baseUrl: lab.url, apiKey: KEY, ...extra });
  await change("POST", "/api/models", { id: "beta", provider: "other", price: PRICE });
}

const DIRECT = { ...HELLO, model: "beta", service_profile: "direct" };

describe("a change", () => {
  test("adds a provider and a model that requests reach without a restart, with its key", async () => {
    expect((await gateway.post("/v1/chat/completions", DIRECT)).status).toBe(404);
    await addOther();
    const answer = await gateway.post("/v1/chat/completions", DIRECT);
    expect(answer.status).toBe(200);
    expect(lab.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    const models = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toContain("beta");
  });

  test("of a field keeps the others, and null takes one out", async () => {
    await addOther({ timeouts: { connectMs: 1000, totalMs: 5000 } });
    await change("PATCH", "/api/providers/other", { timeouts: { totalMs: null, idleMs: 700 } });
    const { document } = (await call("GET", "/api/configuration")).body;
    expect(document.providers.other.timeouts).toEqual({ connectMs: 1000, idleMs: 700 });
    await gateway.post("/v1/chat/completions", DIRECT);
    expect(lab.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test("of a price counts for requests from then on, and its date is noted", async () => {
    await addOther();
    await change("PATCH", "/api/models/beta", { price: { input: 20 } });
    const { document } = (await call("GET", "/api/configuration")).body;
    expect(document.models).toEqual([
      expect.objectContaining({ id: "beta", price: { input: 20, output: 6 }, priceAsOf: expect.stringMatching(/^20/) }),
    ]);
  });

  test("without a difference makes no version", async () => {
    await addOther();
    const before = await versionNow();
    const { version, changes } = await change("PATCH", "/api/models/beta", { price: PRICE });
    expect([version.number, changes]).toEqual([before, []]);
  });

  test("is removed again, and what used it is named when that is not possible", async () => {
    await addOther();
    const refused = await call("DELETE", "/api/providers/other");
    expect(refused.status).toBe(422);
    expect(refused.body.error.problems).toEqual([
      { place: "models.beta.provider", message: 'there is no provider "other"', suggestion: null },
    ]);
    await change("DELETE", "/api/models/beta");
    await change("DELETE", "/api/providers/other");
    expect((await call("DELETE", "/api/providers/other")).status).toBe(404);
    expect((await gateway.post("/v1/chat/completions", DIRECT)).status).toBe(404);
  });

  test("says who made it and what it did, in the history and in the log", async () => {
    const start = await versionNow();
    await addOther();
    await change("PATCH", "/api/providers/other", { timeouts: { connectMs: 900 }, note: "Slow network" });
    await change("PATCH", "/api/providers/other", { apiKey: "sk-canary-9876543210-ABCD" });
    const { data } = (await call("GET", "/api/versions?limit=4")).body;
    expect(data.map((row: { number: number }) => row.number - start)).toEqual([4, 3, 2, 1]);
    expect(data.map((row: { summary: string }) => row.summary)).toEqual([
      "providers.other.apiKey: replaced (ends in ABCD)",
      "providers.other.timeouts.connectMs: not set → 900",
      "added model beta",
      "added provider other",
    ]);
    expect(data[1]).toMatchObject({ author: "admin token", note: "Slow network" });
    const lines = gateway.logged.filter(({ fields }) => fields.event === "config.published");
    expect(lines.at(-1)?.fields).toMatchObject({ author: "admin token", version: start + 4 });
  });
});

describe("what is refused", () => {
  test("a document with problems, all of them at once and each with its place", async () => {
    const before = await versionNow();
    const document = {
      providers: { other: { kind: "opnai", baseUrl: "ftp://x", apiKey: "has space" } },
      models: [{ id: "beta", provider: "nobody", price: { input: -1, output: 1 } }],
      tiers: { SIMPEL: ["alpha"] },
      routing: { markup: "a lot", port: 1 },
      server: { port: 1 },
    };
    const { status, body } = await call("PUT", "/api/configuration", { document, base: before });
    expect(status).toBe(422);
    expect(body.error.code).toBe("invalid_configuration");
    const places = body.error.problems.map(({ place }: { place: string }) => place);
    expect(places).toEqual(
      expect.arrayContaining([
        "server",
        "routing.port",
        "routing.markup",
        "tiers.SIMPEL",
        "models.beta.price.input",
        "models.beta.provider",
        "providers.other.kind",
        "providers.other.baseUrl",
        "providers.other.apiKey",
      ]),
    );
    expect(JSON.stringify(body)).not.toContain("has space");
    expect(await versionNow()).toBe(before);
  });

  test.each([
    ["PATCH", "/api/providers/lab", { baseUrl: "http://127.0.0.1:1/v1" }, "providers.lab"],
    ["POST", "/api/models", { id: "alpha", provider: "lab", price: PRICE }, "models.alpha"],
    ["PUT", "/api/chains", { chains: { SIMPLE: ["alpha"] } }, "tiers.SIMPLE"],
    ["PATCH", "/api/routing", { baseline: "alpha" }, "routing.baseline"],
  ])("%s %s, because the file sets it", async (method, path, body, locked) => {
    const answer = await call(method, path, body);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([409, "locked", locked]);
    expect(answer.body.error.message).toContain("switchyard.yaml:");
    const { locked: all } = (await call("GET", "/api/configuration")).body;
    expect(all).toContainEqual(expect.objectContaining({ path: locked, origin: "file" }));
  });

  test("a change that started from another version, with what happened since", async () => {
    const base = await versionNow();
    await change("PATCH", "/api/routing", { markup: 0.2, base });
    const late = await call("PATCH", "/api/routing", { markup: 0.3, base });
    expect([late.status, late.body.error.code]).toEqual([409, "version_conflict"]);
    expect(late.body.error.message).toContain("routing.markup: not set → 0.2");
    const headers = {
      authorization: "Bearer test-admin-token",
      "content-type": "application/json",
      "if-match": `"${base}"`,
    };
    const init = { method: "PATCH", headers, body: JSON.stringify({ markup: 0.4 }) };
    expect((await fetch(`${gateway.url}/api/routing`, init)).status).toBe(409);
  });

  test("a whole document without the version it started from", async () => {
    const answer = await call("PUT", "/api/configuration", { document: {} });
    expect([answer.status, answer.body.error.code]).toEqual([400, "base_missing"]);
  });

  test("nesting without end", async () => {
    const draft = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`);
    expect((await call("POST", "/api/replay", { draft })).status).toBe(400);
    expect((await call("PATCH", "/api/providers/lab", { headers: draft })).status).toBe(400);
  });
});

test("two editors at the same moment both get their change in", async () => {
  const before = await versionNow();
  await Promise.all([
    change("PATCH", "/api/routing", { markup: 0.25 }),
    change("PATCH", "/api/routing", { unsureTier: "NANO" }),
    change("POST", "/api/providers", { id: "third", kind: "openai", baseUrl: lab.url }),
  ]);
  const { version, document } = (await call("GET", "/api/configuration")).body;
  expect(version).toBe(before + 3);
  expect(document).toMatchObject({ routing: { markup: 0.25, unsureTier: "NANO" }, providers: { third: {} } });
});

test("a roll-back makes a new version equal to the old one, its key included", async () => {
  await addOther();
  const good = await versionNow();
  await change("PATCH", "/api/providers/other", { apiKey: "sk-wrong-000000000000" });
  const { version } = await change("POST", `/api/versions/${good}/rollback`, { note: "Wrong key" });
  expect(version.number).toBe(good + 2);
  await gateway.post("/v1/chat/completions", DIRECT);
  expect(lab.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  const [old, now] = await Promise.all([good, version.number].map((number) => call("GET", `/api/versions/${number}`)));
  expect(now?.body.document).toEqual(old?.body.document);
  expect((await call("POST", "/api/versions/999999/rollback")).status).toBe(404);
});

test("options that a version sets are shown as such", async () => {
  await change("PATCH", "/api/routing", { markup: 0.25 });
  const { options, markup } = (await call("GET", "/api/settings")).body;
  expect(markup).toBe(0.25);
  expect(options.find(({ name }: { name: string }) => name === "markup")).toMatchObject({
    value: "0.25",
    origin: "version",
    place: "routing.markup",
  });
});
