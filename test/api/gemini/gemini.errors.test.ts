// Errors and keys of Gemini's endpoints: Google's shape for every status, the three places of a key, and no trace of a key
// that came in the query.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startCollector } from "../../support/network/collector.ts";
import { type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

type Json = Record<string, unknown>;

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const ASK = { contents: [{ parts: [{ text: "Hi" }] }] };
const GENERATE = "/v1beta/models/auto:generateContent";

async function errorOf(response: Response): Promise<Json> {
  expect(response.headers.get("content-type")).toContain("application/json");
  const { error } = (await response.json()) as { error: Json };
  expect(error).toMatchObject({ code: response.status, message: expect.any(String), status: expect.any(String) });
  expect(JSON.stringify(error.details)).toContain(String(response.headers.get("x-request-id")));
  return error;
}

function send(
  path: string,
  headers: Record<string, string> = {},
  body: unknown = ASK,
  method = "POST",
): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

async function keyWith(fields: object): Promise<string> {
  const made = await gateway.api("POST", "/api/keys", { name: "k", ...fields });
  return ((await made.json()) as { key: string }).key;
}

describe("a key", () => {
  it.each([
    ["in x-goog-api-key", (key: string) => send(GENERATE, { "x-goog-api-key": key })],
    ["in the query", (key: string) => send(`${GENERATE}?key=${key}`)],
    ["in the query among others", (key: string) => send(`${GENERATE}?alt=json&key=${key}&prettyPrint=false`)],
    ["as a bearer", (key: string) => send(GENERATE, { authorization: `Bearer ${key}` })],
    [
      "in all three places",
      (key: string) => send(`${GENERATE}?key=${key}`, { "x-goog-api-key": key, authorization: `Bearer ${key}` }),
    ],
    ["for the models", (key: string) => send(`/v1beta/models?key=${key}`, {}, null, "GET")],
  ])("%s is taken", async (_place, request) => {
    expect((await request(gateway.key)).status).toBe(200);
  });

  it.each([
    ["none", () => send(GENERATE)],
    ["an empty one", () => send(`${GENERATE}?key=`)],
    ["a wrong one", () => send(`${GENERATE}?key=sk-service-wrong`)],
    ["two that differ", (key: string) => send(`${GENERATE}?key=${key}`, { "x-goog-api-key": "sk-service-other" })],
    ["two in the query", (key: string) => send(`${GENERATE}?key=${key}&key=sk-service-other`)],
    ["another bearer", (key: string) => send(`${GENERATE}?key=${key}`, { authorization: "Bearer sk-service-other" })],
    ["Anthropic's header", (key: string) => send(GENERATE, { "x-api-key": key })],
    ["the query of another endpoint", (key: string) => send(`/v1/chat/completions?key=${key}`)],
  ])("%s is 401", async (_what, request) => {
    expect((await request(gateway.key)).status).toBe(401);
  });
});

describe("errors have Google's shape", () => {
  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` });
  it.each([
    [400, "INVALID_ARGUMENT", () => send(GENERATE, bearer(), "{")],
    [400, "INVALID_ARGUMENT", () => send(GENERATE, bearer(), {})],
    [400, "INVALID_ARGUMENT", () => send(GENERATE, bearer(), { ...ASK, tools: [{ googleSearch: {} }] })],
    [401, "UNAUTHENTICATED", () => send(GENERATE)],
    [404, "NOT_FOUND", () => send(GENERATE.replace("auto", "none"), bearer(), { ...ASK, service_profile: "direct" })],
    [404, "NOT_FOUND", () => send("/v1beta/models/none", bearer(), null, "GET")],
    [404, "NOT_FOUND", () => send("/v1beta/tunedModels", bearer())],
    [404, "NOT_FOUND", () => send("/v1beta/models/auto:generateAnswer", bearer())],
    [404, "NOT_FOUND", () => send("/v1beta/models/auto:generateAnswer", bearer(), null, "GET")],
    [405, "UNIMPLEMENTED", () => send(GENERATE, bearer(), ASK, "PUT")],
    [405, "UNIMPLEMENTED", () => send(GENERATE, bearer(), null, "GET")],
    [405, "UNIMPLEMENTED", () => send("/v1/models/a/b:countTokens", bearer(), null, "GET")],
    [415, "INVALID_ARGUMENT", () => send(GENERATE, { ...bearer(), "content-type": "text/plain" })],
  ])("%s %s", async (status, name, request) => {
    const response = await request();
    expect(response.status).toBe(status);
    expect((await errorOf(response)).status).toBe(name);
  });

  it("also for a body that is too large", async () => {
    const small = await startGateway({ env: { SWITCHYARD_BODY_LIMIT_BYTES: "2048" } });
    const response = await small.post(GENERATE, { contents: [{ parts: [{ text: "x".repeat(3000) }] }] });
    expect(response.status).toBe(413);
    expect((await errorOf(response)).status).toBe("INVALID_ARGUMENT");
    await small.stop();
  });

  it("also at the rate limit, with the time to wait", async () => {
    const key = await keyWith({ requestsPerMinute: 1 });
    await (await send(`${GENERATE}?key=${key}`)).text();
    const response = await send(`${GENERATE}?key=${key}`);
    const wait = response.headers.get("retry-after");
    const error = await errorOf(response);
    expect([response.status, error.status]).toEqual([429, "RESOURCE_EXHAUSTED"]);
    expect(error.details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: `${wait}s`,
    });
  });

  it("also when the gateway is overloaded, with the time to wait", async () => {
    const full = await startGateway({ env: { SWITCHYARD_MEMORY_PERCENT: "1" } });
    // Memory is measured a moment after the start.
    await expect.poll(async () => (await full.post(GENERATE, ASK)).status).toBe(503);
    const response = await full.post(GENERATE, ASK);
    const error = await errorOf(response);
    expect([response.status, error.status]).toEqual([503, "UNAVAILABLE"]);
    expect(error.details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: `${response.headers.get("retry-after")}s`,
    });
    await full.stop();
  });

  it("also without credits and when every provider fails", async () => {
    const poor = await startGateway({ yaml: labYaml(provider.url, ["alpha"]), creditsUsd: null });
    const unpaid = await poor.post(GENERATE, ASK);
    expect([unpaid.status, (await errorOf(unpaid)).status]).toEqual([402, "FAILED_PRECONDITION"]);
    await poor.stop();
    provider.on("*", fails(500));
    const failed = await send(GENERATE, bearer());
    expect([failed.status, (await errorOf(failed)).status]).toEqual([503, "UNAVAILABLE"]);
    provider.reset();
  });
});

it("a key in the query is nowhere: not in log, records, traces, metrics, errors or the provider's requests", async () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-gemini-"));
  const collector = await startCollector();
  const logging = "logging: { content: true }";
  const traced = await startGateway({
    yaml: labYaml(provider.url, ["alpha"], logging),
    database: `sqlite:${join(folder, "test.db")}`,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
  });
  const CANARY = "sk-service-canaryOfTheQuery";
  const call = async (path: string, body: unknown, method = "POST"): Promise<string> => {
    const response = await fetch(`${traced.url}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.text()) + JSON.stringify([...response.headers]);
  };
  const seen: string[] = [];
  for (const key of [traced.key, CANARY, `%73k-service-canaryOfTheQuery`]) {
    for (const path of [
      GENERATE,
      "/v1beta/models/auto:streamGenerateContent",
      "/v1beta/models/auto:countTokens",
      "/v1beta/nothing",
      "/v1/models/auto:generateContent",
    ]) {
      seen.push(await call(`${path}?key=${key}`, ASK), await call(`${path}?%6Bey=${key}&alt=sse`, {}));
    }
    seen.push(
      await call(`/v1beta/models?pageSize=x&key=${key}`, null, "GET"),
      await call(`/v1/models?key=${key}`, null, "GET"),
    );
  }
  seen.push(
    await (await traced.api("GET", "/api/requests")).text(),
    await (await traced.api("GET", "/metrics")).text(),
  );
  await traced.stop();
  seen.push(
    JSON.stringify(traced.logged),
    JSON.stringify(collector.spans()),
    JSON.stringify(provider.requests.map(({ path, headers, raw }) => ({ path, headers, raw }))),
  );
  seen.push(...readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1")));
  await collector.close();
  rmSync(folder, { recursive: true, force: true });
  const everything = seen.join("\n");
  expect(everything).toContain(":streamGenerateContent");
  expect(everything).not.toContain(traced.key);
  expect(everything).not.toContain("canaryOfTheQuery");
});
